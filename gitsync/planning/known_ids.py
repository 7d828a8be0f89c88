"""ARM ids of owners and references that no manifest of the source declares, from records: own, and of others
(docs/reference/design.md#owners-outside-the-source).

A record is believed if it fits its kind, if it says that the resource exists, and if its seal is valid as far as one is
demanded. What is not believed is kept with the reason, so that a message can suggest the id.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gitsync.catalog.catalog import Catalog
from gitsync.manifests.units import may_hide
from gitsync.model.gvk import Key
from gitsync.model.manifests import KnownId
from gitsync.model.problem import Problem
from gitsync.model.record import Record, Trust
from gitsync.planning.record_checks import UNTRUSTED, find_contradiction
from gitsync.request.arm_id import is_alias

_SEALED: Final = frozenset({Trust.SIGNED, Trust.SIGNED_BEFORE})


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRecords:
    """Records of one place, whose name is for messages. `needs_seal` says that a seal is demanded of them, `has_key`
    that the run has a key to check it with.
    """

    place: str
    records: Mapping[Key, Record]
    needs_seal: bool
    has_key: bool = True


def find_known_ids(declared: Collection[Key], places: Iterable[KnownRecords], catalog: Catalog) -> dict[Key, KnownId]:
    """The ids of resources that are not `declared`. The first place with a record that is believed decides.

    An alias is left out: its id says nothing of the subscription that it created.
    """
    known: dict[Key, KnownId] = {}
    for place in places:
        for key, record in place.records.items():
            is_settled = key in known and not known[key].doubt
            if key in declared or is_settled or is_alias(key) or not record.arm_id:
                continue
            found = KnownId(arm_id=record.arm_id, place=place.place, doubt=_explain_doubt(record, place, catalog))
            if key not in known or not found.doubt:
                known[key] = found
    return known


def select_hidden(
    records: Mapping[Key, Record], problems: Iterable[Problem], built: Collection[str] = ()
) -> dict[Key, Record]:
    """The records of an agent whose manifests may be hidden by a problem of the source, so that they are not pruned.
    `built` are the names of the units that were built.

    All others without a manifest are about to be pruned.
    """
    problems, units = tuple(problems), {record.unit for record in records.values()} - {""}
    hidden_units = {unit for unit in units if any(may_hide(problem, unit, built) for problem in problems)}
    return {key: record for key, record in records.items() if record.unit in hidden_units}


def _explain_doubt(record: Record, place: KnownRecords, catalog: Catalog) -> str:
    return next((text for rule in _DOUBTS if (text := rule(record, place, catalog))), "")


def _check_id(record: Record, _place: KnownRecords, catalog: Catalog) -> str:
    contradiction = find_contradiction(record, {}, catalog)
    return f"Its record contradicts itself: {contradiction}" if contradiction else ""


def _check_seal(record: Record, place: KnownRecords, _catalog: Catalog) -> str:
    if record.trust in UNTRUSTED:
        return UNTRUSTED[record.trust]
    if not place.needs_seal or record.trust in _SEALED:
        return ""
    if not place.has_key:
        return "Set GITSYNC_DIGEST_KEY to the key of that status, and it is used by itself."
    return "Its record is not signed with the key of this run, so the id is not used by itself."


def _check_existence(record: Record, _place: KnownRecords, _catalog: Catalog) -> str:
    """A resource that is only read, or that another manifest writes, has no claim, but it is Ready if it exists."""
    if record.operation is not None and record.operation.kind == "delete":
        return "It is being deleted."
    is_there = record.claim.is_ours or (record.condition is not None and record.condition.is_ready)
    return "" if is_there else "Its record does not say that it exists yet."


_DOUBTS: tuple[Callable[[Record, KnownRecords, Catalog], str], ...] = (_check_id, _check_seal, _check_existence)
