"""What a record keeps of the values beside git's, and the outside changes that follow from it.

Secrets and long values are kept as keyed digests (`desired.request.secret_digest`), so that a record shows whether they
changed, and not what they are. Without a key a digest is empty, and whether the value changed is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import select_writable
from gitsync.desired.catalog.body_types import BodyType
from gitsync.desired.catalog.children import list_embedding
from gitsync.desired.catalog.weakening_fields import explain_weakening
from gitsync.desired.formats.ignored_paths import Paths, remove_paths
from gitsync.desired.formats.json_pointer import JsonPath, format_pointer
from gitsync.desired.formats.leaf_changes import LeafChange
from gitsync.desired.formats.list_pairing import find_key, find_key_field, index_by_key, is_ordered
from gitsync.desired.request.secret_digest import (
    SEAL_MEMBER,
    Digests,
    has_secrets,
    iterate_seals,
    mask_digests,
    seal_body,
    unescape,
)
from gitsync.model.arm_id import ArmId
from gitsync.model.edit import REMOVED
from gitsync.model.facts import Kind
from gitsync.model.outside import OutsideChange, RecordedOutside
from gitsync.model.secret import MASKED, Secret, list_inner_secrets
from gitsync.planning.diff.hints import Hints, make_kind_hints
from gitsync.planning.diff.projection import select_desired
from gitsync.planning.diff.rules.masks import is_secret
from gitsync.planning.outside.outside_values import carry_values, find_covers, list_outside_changes, select_outside
from gitsync.planning.outside.silent_changes import Silence, drop_unknown

_PASSING: Final = frozenset({"etag", "eTag", "systemData"})
"""Members that are new after each write, also after one that changed nothing."""

LONGEST: Final = 1000
"""How many characters of JSON a value may have that a record keeps itself."""


@dataclass(slots=True, kw_only=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class OutsideView:
    """One resource, as its values beside git's are selected, recorded and compared."""

    kind: Kind
    arm_id: ArmId  # digests are bound to it, and its name chooses the variant of some types
    digests: Digests
    ignored: Paths = ()  # of the body: by annotations and rules, and what git hands over
    told: Iterable[tuple[str, str]] = ()  # what other manifests set for the resource (`catalog.handed_over`)

    @property
    def arm_type(self) -> str:
        return self.kind.arm_type

    @property
    def body_type(self) -> BodyType | None:
        """ARM's type of the body; None if the facts do not have it, so that nothing shows what can be written."""
        return _make_hints(self.kind).body_type

    def select_writable(self, live: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the part of a live body that can be written, as ARM's type spells it; {} if the type is not known."""
        own = _drop_children(live, self.arm_type)
        return select_writable(own, self.body_type, name=self.arm_id.name) if self.body_type else {}

    def mask(self, path: JsonPath, value: Any) -> Any:
        """Return a value at a path with MASKED in place of secrets."""
        return _mask(value, _make_hints(self.kind), path)

    def is_plainly_unchanged(self, recorded: RecordedOutside, live: Mapping[str, Any]) -> bool:
        """Return whether a body is the one that was last compared, and showed no outside change. Nearly all are, so a
        silent run selects nothing, and reads none of ARM's types.
        """
        return not recorded.changed and recorded.read == self._digest(live)

    def record(self, live: Mapping[str, Any], cover: Mapping[str, Any], *, is_written: bool = False) -> RecordedOutside:
        """Return what to record after a write (with `is_written`, a PUT), an adoption or an acknowledgement; `cover` is
        the body that git sets.
        """
        return RecordedOutside(
            values=self._select(live, (cover,)),
            types=open_arm_types().revision,
            read=self._digest_safely(live),
            is_written=is_written,
        )

    def find_changes(
        self,
        recorded: RecordedOutside | None,
        live: Mapping[str, Any],
        covers: Sequence[Mapping[str, Any]],
        *,
        is_partial: bool = False,
    ) -> tuple[OutsideChange, ...]:
        """Return the changes since the record was made, those that weaken the estate first. None can be found without a
        record, or with one by other types: its members were selected in another way.

        `covers` are the bodies that git sets and last sent. With `is_partial`, `live` is an entry of a list: what it
        lacks is unknown.
        """
        if recorded is None or not is_current(recorded):
            return ()
        shown = self._select(live, covers)
        before, now = (remove_paths(side, self.ignored) for side in (recorded.values, shown))
        known = [
            (_restore_indexes(path, now, shown), old, new)
            for path, old, new in map(_read_seals, list_outside_changes(before, now, covers))
            if _is_known(old, new)
        ]
        if not known:
            return ()
        silence = Silence(hints=self.hints, live=self.select_writable(live), covers=covers, told=dict(self.told))
        shown_changes = drop_unknown(known, silence.live) if is_partial else known
        changes = filter(None, (_describe(change, silence) for change in shown_changes))
        return tuple(sorted(changes, key=lambda change: (not change.weakens, change.path)))

    def renew(
        self,
        recorded: RecordedOutside | None,
        live: Mapping[str, Any],
        old_cover: Mapping[str, Any],
        new_cover: Mapping[str, Any],
        changes: tuple[OutsideChange, ...],
    ) -> RecordedOutside:
        """Return what to record after a run that wrote nothing: the former values, unless git sets them now."""
        if recorded is None or not is_current(recorded):
            return self.record(live, new_cover)
        # Without a change, a new record equals the old one, and follows what git sets now.
        renewed = self.record(live, new_cover, is_written=recorded.is_written)
        changed = tuple(sorted(change.path for change in changes))
        if not changed:
            return renewed
        values = carry_values(recorded.values, renewed.values, old_cover, new_cover)
        return replace(renewed, values=values, changed=changed)

    def _select(self, live: Mapping[str, Any], covers: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Select the part of a live body that can be written and that none of `covers` sets, as a record keeps it."""
        hints = _make_hints(self.kind)
        if hints.body_type is None:
            return {}
        own = _drop_children(live, self.arm_type)
        values = select_outside(own, covers, hints.body_type, self.arm_id.name)
        hidden = _hide(values, hints, [select_desired(cover) for cover in covers])
        return seal_body(hidden, self.arm_id.key, self.digests, in_any_order=True)

    def _digest(self, live: Mapping[str, Any]) -> str:
        lasting = {name: value for name, value in live.items() if name not in _PASSING}
        text = _write(_drop_children(lasting, self.arm_type))
        # With the revision of the types, an upgrade makes the digest differ, and the values are selected again.
        return self.digests.fingerprint(self.arm_id.key, f"{open_arm_types().revision} {text}")

    def _digest_safely(self, live: Mapping[str, Any]) -> str:
        """Return the digest of a body; "" if one that is not keyed would let somebody guess a secret."""
        # A short secret can be guessed until its plain digest is found.
        is_safe = self.digests.key is not None or not has_secret(live, _make_hints(self.kind), ())
        return self._digest(live) if is_safe else ""

    @property
    def hints(self) -> Hints:
        return _make_hints(self.kind)


def _describe(change: LeafChange, silence: Silence) -> OutsideChange | None:
    """Describe a change; None for one that no one made."""
    path, before, now = change
    pointer, old, new = format_pointer(path), mask_digests(before), mask_digests(now)
    sides = (REMOVED if side is None else side for side in (old, new))
    weakens = explain_weakening(silence.hints.arm_type, pointer, *sides, is_gone=False)
    # A change that weakens the estate is reported even if it looks like one of Azure's own.
    if silence.is_spelling(change) or (not weakens and silence.is_silent((path, old, new))):
        return None
    return OutsideChange(path=pointer, before=old, now=new, weakens=weakens, is_restorable=not has_secrets(before))


def is_current(recorded: RecordedOutside) -> bool:
    """Return whether the members were selected by the types of today, so that they can be compared."""
    return recorded.types == open_arm_types().revision


@cache
def _make_hints(kind: Kind) -> Hints:
    """The hints of a kind, always with ARM's type of its body."""
    return replace(make_kind_hints(kind), body_type=open_arm_types().find_body(kind.arm_type, kind.api_version))


def _drop_children(body: Mapping[str, Any], arm_type: str) -> Mapping[str, Any]:
    """Return a body without lists of resources of their own, which have manifests and records of their own."""
    own: Mapping[str, Any] = remove_paths(body, _list_child_paths(arm_type))
    return own


@cache
def _list_child_paths(arm_type: str) -> Paths:
    return tuple(tuple(path.split("/")) for path in sorted(list_embedding(arm_type)))


def _hide(value: Any, hints: Hints, covers: Sequence[Any], path: JsonPath = ()) -> Any:
    """Return a value with a `Secret` in place of secrets, and of long values that git does not set in part."""
    if isinstance(value, Mapping):  # member by member, since git may set some of them
        inside = path[-1] if path else ""
        return {
            key: _hide(child, hints, find_covers(covers, key, inside), (*path, key)) for key, child in value.items()
        }
    # What git sets in part is kept entry by entry, since one digest of all would hide which part changed.
    is_long = not covers and isinstance(value, str | list) and len(_write(value)) > LONGEST
    if is_long or (value is not None and _is_hidden(path, value, hints)):
        return Secret(_write(_sort(value, path)))
    if isinstance(value, list):
        return [_hide(entry, hints, (), (*path, index)) for index, entry in enumerate(value)]
    return value


def _is_hidden(path: JsonPath, value: Any, hints: Hints) -> bool:
    """Return whether a value is a secret, or a text with one inside, such as a URL with a signature."""
    return is_secret(path, hints) or (isinstance(value, str) and any(list_inner_secrets(value)))


def _sort(value: Any, path: JsonPath) -> Any:
    """Return a value with its lists in an order of their own, unless their order counts: Azure keeps them in any."""
    if isinstance(value, Mapping):
        return {key: _sort(child, (*path, key)) for key, child in value.items()}
    if isinstance(value, list):
        entries = [_sort(entry, path) for entry in value]
        return entries if is_ordered(path) else sorted(entries, key=_write)
    return value


def _mask(value: Any, hints: Hints, path: JsonPath) -> Any:
    if _is_hidden(path, value, hints):
        return MASKED
    if isinstance(value, Mapping):
        return {key: _mask(child, hints, (*path, key)) for key, child in value.items()}
    return [_mask(entry, hints, (*path, at)) for at, entry in enumerate(value)] if isinstance(value, list) else value


def has_secret(value: Any, hints: Hints, path: JsonPath) -> bool:
    if path and _is_hidden(path, value, hints):
        return True
    if isinstance(value, Mapping):
        return any(has_secret(child, hints, (*path, key)) for key, child in value.items())
    return isinstance(value, list) and any(has_secret(entry, hints, (*path, at)) for at, entry in enumerate(value))


_write = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False).encode
"""Writes equal values as equal texts. One encoder for all, since a fingerprint is made of each resource. Values of JSON
and YAML are trees.
"""


def _read_seals(change: LeafChange) -> LeafChange:
    """Return a change of a digest as one of the value that it stands for."""
    path, before, now = change
    if path[-1] != SEAL_MEMBER:
        return tuple(map(unescape, path)), before, now
    old, new = (None if side is None else {SEAL_MEMBER: side} for side in (before, now))
    return tuple(map(unescape, path[:-1])), old, new


def _restore_indexes(path: JsonPath, reduced: Any, full: Any) -> JsonPath:
    """Return a path into a body without ignored entries as one into the body that has them."""
    restored: list[str | int] = []
    for step in path:
        at = step
        if isinstance(step, int) and isinstance(reduced, list) and isinstance(full, list):
            at = _find_index(step, reduced, full)
        reduced, full = (_step_into(side, to) for side, to in ((reduced, step), (full, at)))
        restored.append(at)
    return tuple(restored)


def _find_index(index: int, reduced: list[Any], full: list[Any]) -> int:
    """Return the index of an entry in the complete list; one that is gone is behind the last."""
    if index >= len(reduced):
        return index - len(reduced) + len(full)
    field = find_key_field(full) if len(full) > len(reduced) else None
    return index_by_key(full, field)[find_key(reduced[index], field) or ""][0] if field else index


def _step_into(value: Any, step: str | int) -> Any:
    if isinstance(value, list) and isinstance(step, int):
        return value[step] if step < len(value) else None
    return value.get(step) if isinstance(value, Mapping) else None


def _is_known(before: Any, now: Any) -> bool:
    """Return whether two values show that one changed: not if a digest was made without a key, or with two. A value
    that came or went has changed, whatever it is.
    """
    if before is None or now is None:
        return True
    keys = [{seal.rpartition(":")[0] for _, _, seal in iterate_seals(side)} for side in (before, now)]
    # A value that one side has itself and the other as a digest has changed, whatever the key.
    return "" not in keys[0] | keys[1] and (not keys[0] or not keys[1] or keys[0] == keys[1])
