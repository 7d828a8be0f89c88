"""Leave paths of a body alone: not there where bodies are compared, and as Azure has them where one is sent.

Separate from the annotation that lists them (validation/ignore_annotation), which knows manifests. A path is a
tuple of steps, and covers everything below it. A step names a member, or is `*` for every member or entry, or
`[name=web]` for the entry of a list that has that value in that field (`[subnet.id=…]`: a dot leads inside). Places in
a list are no steps: an entry that moves would take the path of another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gitsync.diff.list_pairing import find_key, find_key_field, find_member, index_by_key

Steps = tuple[str, ...]
Paths = tuple[Steps, ...]

ANY: Final = "*"
_ENTRY: Final = re.compile(r"\[([^=\[\]]+)=(.+)\]", re.DOTALL)
_COVERED: Final = ()


def parse_entry_step(step: str) -> tuple[str, str] | None:
    """Field and value of a step that chooses entries: `[name=web]` → ("name", "web"); None for any other step."""
    found = _ENTRY.fullmatch(step)
    return (found[1], found[2]) if found else None


def remove_paths(body: Any, paths: Paths) -> Any:
    """Return a body without what the paths cover. Members that become empty stay."""
    if not paths:
        return body
    if isinstance(body, Mapping):
        below = {key: _below(paths, key) for key in body}
        return {key: remove_paths(value, below[key]) for key, value in body.items() if _COVERED not in below[key]}
    if isinstance(body, list):
        chosen = [(entry, _of_entry(paths, entry)) for entry in body]
        return [remove_paths(entry, inner) for entry, inner in chosen if _COVERED not in inner]
    return body


def keep_live_paths(body: Any, live: Any, paths: Paths) -> Any:
    """Return a body that leaves the paths as they are: there it has what `live` has, or nothing where that has nothing.

    Entries of lists are paired by their key, else by their place.
    """
    if not paths:
        return body
    if _COVERED in paths:
        return live
    if isinstance(live, Mapping) and (body is None or isinstance(body, Mapping)):
        return _kept_members(body, live, paths)
    if isinstance(live, list) and isinstance(body, list):
        return _kept_entries(body, live, paths)
    return remove_paths(body, paths)


def _kept_members(body: Mapping[str, Any] | None, live: Mapping[str, Any], paths: Paths) -> dict[str, Any] | None:
    asked = body or {}
    made = {}
    for key in (*asked, *(key for key in live if find_member(asked, key) is None and key not in asked)):
        below = _below(paths, key)
        value = keep_live_paths(asked.get(key), find_member(live, key), below) if below else asked.get(key)
        if value is not None or (key in asked and not below):
            made[key] = value
    return made if made or body is not None else None


def _kept_entries(body: list[Any], live: list[Any], paths: Paths) -> list[Any]:
    """What the paths cover as a whole comes from Azure; the other entries are paired, and keep what is below them."""
    asked = [entry for entry in body if not _is_covered(paths, entry)]
    found = _counterparts(asked, [entry for entry in live if not _is_covered(paths, entry)])
    made = [keep_live_paths(entry, there, _of_entry(paths, entry)) for entry, there in zip(asked, found, strict=True)]
    return [*made, *(entry for entry in live if _is_covered(paths, entry))]


def _is_covered(paths: Paths, entry: Any) -> bool:
    return _COVERED in _of_entry(paths, entry)


def _counterparts(body: list[Any], live: list[Any]) -> list[Any]:
    """For every entry of a body, that of Azure; None where it has none."""
    field = find_key_field(body, live)
    if field is None:
        return [live[place] if place < len(live) else None for place in range(len(body))]
    there = index_by_key(live, field)
    return [there.get(find_key(entry, field) or "", (0, None))[1] for entry in body]


def _below(paths: Paths, key: str) -> Paths:
    """The rest of the paths that go through a member. ARM ids among the keys match in any case."""
    return tuple(path[1:] for path in paths if path and (path[0] == ANY or _same(path[0], key)))


def _of_entry(paths: Paths, entry: Any) -> Paths:
    return tuple(path[1:] for path in paths if path and (path[0] == ANY or _chooses(path[0], entry)))


def _same(step: str, key: str) -> bool:
    return step == key or (key.startswith("/") and step.casefold() == key.casefold())


def _chooses(step: str, entry: Any) -> bool:
    """Whether a step is about an entry, by the spelling that entries are paired by."""
    wanted = parse_entry_step(step)
    if wanted is None:
        return False
    field, value = wanted
    return find_key(entry, field) == find_key(_entry_with(field, value), field)


def _entry_with(field: str, value: str) -> dict[str, Any]:
    """An entry that has nothing but this field; a dot leads inside."""
    step, _, inside = field.partition(".")
    return {step: _entry_with(inside, value) if inside else value}
