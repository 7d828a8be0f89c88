"""Values that were removed from git: which of them Azure still has after a write, and how the next write removes them.

Many providers keep what a PUT leaves out. They remove an entry of a map for a null, and a list for an empty one; a
PATCH replaces all tags (docs/decisions/comparing.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.catalog.children import list_embedding
from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.formats.leaf_changes import compute_changes, find, find_removed
from gitsync.desired.formats.list_pairing import (
    OPEN_LISTS,
    TAGS,
    find_key,
    find_key_field,
    find_member,
    index_by_key,
    is_plain,
)
from gitsync.desired.request.secret_digest import is_seal, mask_digests
from gitsync.planning.diff.first_sight import format_value, is_equal
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.projection import project, select_desired

KEPT: Final = "KeptByAzure"
"""Reason of a resource that still has what was removed from git, although a write asked for its removal."""

IDENTITY: Final = "identity"


@dataclass(frozen=True, slots=True)
class KeptValue:
    """Something that was removed from git and that Azure still has."""

    path: JsonPath  # in the desired body; the index of a list entry is that in the body sent before
    live: Any  # what Azure shows there; of a list that git still has, only the surplus
    is_part: bool = False  # `live` is only the surplus of a list

    @property
    def is_tag(self) -> bool:
        return self.path[0] == TAGS

    @property
    def can_be_demanded(self) -> bool:
        """Return whether a body can request the removal. A list that git has requests it by itself."""
        return not self.is_part and isinstance(self.path[-1], str)


def list_kept(
    desired: Mapping[str, Any], before: Mapping[str, Any], live: Mapping[str, Any], hints: Hints
) -> tuple[KeptValue, ...]:
    """List what the body sent before had, the desired one has not, and Azure still shows as it was.

    `before` is a sealed body. Entries of lists that hold resources of their own kind are left out: another manifest may
    have them, and a PUT of their parent keeps them.
    """
    requested, given_up = select_desired(format_value(desired)), select_desired(mask_digests(before))
    owned = list_embedding(hints.arm_type)
    changes = compute_changes(requested, given_up)
    return tuple(
        kept
        for path, now, old in changes
        if not (_holds_resources(path, owned) or hints.is_set_by_azure(path))
        and not _is_desired_beside(path, old, requested)
        for kept in _list_kept_at(
            _spell_id(path, live, requested), now, old, find_removed(live, path, requested, given_up), hints
        )
    )


def _list_kept_at(path: JsonPath, now: Any, old: Any, live: Any, hints: Hints) -> Iterator[KeptValue]:
    if isinstance(old, list) and isinstance(live, list) and isinstance(now, list | None):
        gone = [entry for entry in old if not _has(now or [], entry)]
        still_there = [entry for entry in live if any(_is_entry(element, entry) for element in gone)]
        if still_there:
            yield KeptValue(path, still_there, is_part=now is not None)
    elif now is not None or live is None:
        return
    # Another value than the one that was sent is Azure's default, or somebody else's, and not what git gave up.
    elif isinstance(old, Mapping) or is_equal(path, old, live, hints):
        yield KeptValue(path, live)


def _spell_id(path: JsonPath, live: Mapping[str, Any], requested: Mapping[str, Any]) -> JsonPath:
    """Return the path of an entry whose name is an ARM id, in Azure's spelling: Azure may accept no other."""
    last = path[-1]
    parent = find(live, path[:-1], requested) if isinstance(last, str) and last.startswith("/") else None
    names = (name for name in parent or () if name.casefold() == str(last).casefold())
    return (*path[:-1], next(names, last))


def _has(entries: list[Any], entry: Any) -> bool:
    return any(_spell(other) == _spell(entry) for other in entries)


def _is_entry(old: Any, live: Any) -> bool:
    """Return whether an entry in Azure is one that was sent before. Azure may add members to it."""
    return _spell(project(old, live)) == _spell(old)


def _spell(value: Any) -> str | None:
    """Return an entry in one spelling: a plain value as keys of entries are compared."""
    return find_key({"value": value}, "value") or json.dumps(value, sort_keys=True, default=str).casefold()


def _holds_resources(path: JsonPath, owned: frozenset[str]) -> bool:
    names = [step for step in path if isinstance(step, str)]
    return bool(names) and ("/".join(names) in owned or names[-1] in OPEN_LISTS)


def _is_desired_beside(path: JsonPath, old: Any, requested: Mapping[str, Any]) -> bool:
    """Return whether git has a text in another field of the same object: Azure shows some texts in two fields
    (addressPrefix and addressPrefixes).
    """
    beside = find(requested, path[:-1], requested) if isinstance(old, str) and path[0] != TAGS else None
    values = beside.values() if isinstance(beside, Mapping) else ()
    return any(old == value or (isinstance(value, list) and old in value) for value in values)


def retain_removed(now: Any, before: Any) -> Any:
    """Return a sealed body with what only the one before has. A record keeps it until a read shows that it is gone:
    after an interrupted run, nothing else shows that it was removed from git.
    """
    # A digest is one value, whose members must not be merged with those of another.
    if isinstance(now, dict) and isinstance(before, dict) and not (is_seal(now) or is_seal(before)):
        further = {name: value for name, value in before.items() if find_member(now, name) is None}
        return {name: retain_removed(value, find_member(before, name)) for name, value in now.items()} | further
    if not (isinstance(now, list) and isinstance(before, list)):
        return now
    field = find_key_field(now, before)
    if field is None:
        # Positions pair entries without a key: only a shorter list shows that some were removed.
        is_shorter = is_plain(now, before) or len(now) < len(before)
        return [*now, *(entry for entry in before if entry not in now)] if is_shorter else now
    old, keys = index_by_key(before, field), [find_key(entry, field) for entry in now]
    known = [
        retain_removed(entry, old[key][1]) if key in old else entry for key, entry in zip(keys, now, strict=True) if key
    ]
    return [*known, *(entry for key, (_, entry) in old.items() if key not in keys)]


def demand_removal(body: Mapping[str, Any], kept: Iterable[KeptValue], desired: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the body of a PUT that removes each kept value: by null, an empty list, or the identity None. Indexes in
    the paths are those of `desired`.
    """
    for value in kept:
        # ARM removes an identity for the type None.
        if value.path[0] == IDENTITY and IDENTITY not in desired:
            body = {**body, IDENTITY: {"type": "None"}}
        else:
            body = _put(body, value.path, [] if isinstance(value.live, list) else None, desired)
    return body


def _put(value: Any, path: JsonPath, new: Any, reference: Any) -> Any:
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        entry = find(value, (step,), reference)
        inside = reference[step] if isinstance(reference, list) and isinstance(step, int) else None
        return [_put(element, rest, new, inside) if element is entry else element for element in value]
    members = value if isinstance(value, Mapping) else {}
    name = str(step)
    inner = _put(members.get(name), rest, new, find_member(reference or {}, name)) if rest else new
    return {**members, name: inner}
