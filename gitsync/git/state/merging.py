"""What an update changes, and how it is merged with concurrent updates of others.

Separate from the stores, because this decides whether there is a commit: a run that changes nothing makes none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from gitsync.git.state.store import Update
from gitsync.model.export import Address, Export, Leftover
from gitsync.model.gvk import Key
from gitsync.model.record import Record, State, Trust

Records = Mapping[Key, Record]

_Name = TypeVar("_Name", Key, Address)
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The entries that an update changes; None (of `leftovers`: False) for those to remove. Sorted."""

    records: Mapping[Key, Record | None]
    config_maps: Mapping[Address, Export | None]
    leftovers: Mapping[Leftover, bool] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.records or self.config_maps or self.leftovers)


def find_changes(base: State, update: Update) -> Changes:
    """The changes of an update."""
    config_maps = {
        address: export
        for address, export in sorted(update.config_maps.items())
        if base.config_maps.get(address) != export
    }
    leftovers = {one: is_there for one, is_there in update.leftovers.items() if is_there != (one in base.leftovers)}
    return Changes(
        records=find_changed_records(base.records, update.records), config_maps=config_maps, leftovers=leftovers
    )


def merge(theirs: State, ours: Changes, revision: str | None, agent: str = "") -> State:
    """Their state, with our changes. `revision` is that of `agent`."""
    after = State(
        overlay(theirs.records, ours.records),
        revision,
        overlay(theirs.config_maps, ours.config_maps),
        leftovers=(theirs.leftovers - ours.leftovers.keys())
        | {one for one, is_there in ours.leftovers.items() if is_there},
    )
    return replace(after, revisions=_merge_revisions(theirs, after, agent) if agent else theirs.revisions)


def _merge_revisions(theirs: State, after: State, agent: str) -> dict[str, str]:
    """The revisions by agent; empty while one agent alone has records, whose revision is that of the state."""
    known = dict(theirs.revisions)
    if not known and theirs.revision and len(theirs.agents) == 1:
        known = dict.fromkeys(theirs.agents, theirs.revision)
    known.pop(agent, None)
    if not known and after.agents <= {agent}:
        return {}
    return dict(sorted({**known, **({agent: after.revision} if after.revision else {})}.items()))


def find_changed_records(base: Records, records: Mapping[Key, Record | None]) -> Mapping[Key, Record | None]:
    """The records that differ from `base`, and None for those to forget, sorted by key.

    A condition's time and request id alone are not a change. If only other fields changed, the condition keeps its
    time. A record with a refused seal stays as it is, unless the new one is vouched for (`Trust.SIGNED`), or it is
    forgotten and was signed by an older version; a record that was signed with the previous key is signed again.
    """
    changed: dict[Key, Record | None] = {}
    for key, new in sorted(records.items()):
        old = base.get(key)
        is_vouched_for = new.trust is Trust.SIGNED if new else old is not None and old.trust is Trust.UNPLACED
        if old is not None and old.trust.is_refused and not is_vouched_for:
            continue
        if new is None:
            if old is not None:
                changed[key] = None
        elif old is None or not _is_same(new, old) or _must_sign(new, old):
            changed[key] = _keep_time(new, old)
    return changed


def overlay(theirs: Mapping[_Name, _Value], ours: Mapping[_Name, _Value | None]) -> dict[_Name, _Value]:
    """Their entries, replaced by ours where we have some; sorted."""
    merged: dict[_Name, _Value | None] = {**theirs, **ours}
    return {name: value for name, value in sorted(merged.items()) if value is not None}


def _is_same(new: Record, old: Record) -> bool:
    return new == old or _drop_times(new) == _drop_times(old)


def _must_sign(new: Record, old: Record) -> bool:
    return old.trust is Trust.SIGNED_BEFORE or (old.trust.is_refused and new.trust is Trust.SIGNED)


def _drop_times(record: Record) -> Record:
    if record.condition is None:
        return record
    return replace(record, condition=replace(record.condition, time="", request_id=""))


def _keep_time(new: Record, old: Record | None) -> Record:
    if old is None or old.condition is None or new.condition is None or not new.condition.says_the_same(old.condition):
        return new
    return replace(new, condition=replace(new.condition, time=old.condition.time))
