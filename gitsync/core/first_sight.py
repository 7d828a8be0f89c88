"""Compare git with Azure where nothing is remembered of the resource: an adoption, or a new api-version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gitsync.core.equality import Hints, equal_leaf
from gitsync.core.lists import OPEN_LISTS, by_key, key_field, member
from gitsync.core.pointer import Path, pointer
from gitsync.model.secret import MASKED, Secret
from gitsync.model.verdict import Difference

RULE = "differs from git"


@dataclass(frozen=True, slots=True)
class Unverified:
    """A path of what git asks for and Azure does not return."""

    path: str


def first_sight(desired: Any, live: Any, hints: Hints, path: Path = ()) -> Iterator[Difference | Unverified]:
    """Yield how the asked-for leaves differ from Azure's, and which of them Azure does not return."""
    if isinstance(desired, Secret):
        yield Unverified(pointer(path))
    elif live is None:
        yield from _absent(desired, path)
    elif isinstance(desired, dict) and isinstance(live, dict):
        for key, value in desired.items():
            yield from first_sight(value, member(live, key), hints, (*path, key))
    elif isinstance(desired, list) and isinstance(live, list):
        yield from _lists(desired, live, hints, path)
    elif not equal_leaf(path, desired, live, hints):
        yield Difference(pointer(path), shown(desired), live, RULE)


def shown(value: Any) -> Any:
    """Return a value as a report may show it."""
    if isinstance(value, Secret):
        return MASKED
    if isinstance(value, dict):
        return {key: shown(child) for key, child in value.items()}
    if isinstance(value, list):
        return [shown(child) for child in value]
    return value


def equal(path: Path, desired: Any, live: Any, hints: Hints) -> bool:
    """Tell whether Azure has a value already: nothing differs, and nothing is left to be verified."""
    return next(first_sight(desired, live, hints, path), None) is None


def _absent(desired: Any, path: Path) -> Iterator[Difference | Unverified]:
    """Azure always returns tags and the ids that belong to a resource; of other leaves it keeps some to itself."""
    if desired in ([], ""):
        return
    if path[0] == "tags" or str(path[-1]).startswith("/"):
        yield Difference(pointer(path), shown(desired), None, RULE)
    else:
        yield Unverified(pointer(path))


def _lists(desired: list[Any], live: list[Any], hints: Hints, path: Path) -> Iterator[Difference | Unverified]:
    field = key_field(desired, live)
    if field is not None and desired:
        yield from _keyed(desired, live, field, hints, path)
    elif not any(isinstance(entry, Mapping) for entry in desired):
        if not _same_entries(desired, live, hints, path):
            yield Difference(pointer(path), shown(desired), live, RULE)
    elif len(desired) != len(live):
        yield Difference(pointer(path), shown(desired), live, RULE)
    else:
        for index, (wanted, found) in enumerate(zip(desired, live, strict=True)):
            yield from first_sight(wanted, found, hints, (*path, index))


def _keyed(
    desired: list[Any], live: list[Any], field: str, hints: Hints, path: Path
) -> Iterator[Difference | Unverified]:
    wanted, found = by_key(desired, field), by_key(live, field)
    for key, (index, entry) in wanted.items():
        if key in found:
            asked = {name: value for name, value in entry.items() if name != field}
            yield from first_sight(asked, found[key][1], hints, (*path, index))
        else:
            yield Difference(pointer((*path, index)), shown(entry), None, RULE)
    if path[-1] not in OPEN_LISTS:
        for key, (index, entry) in found.items():
            if key not in wanted:
                yield Difference(pointer((*path, index)), None, entry, RULE)


def _same_entries(desired: list[Any], live: list[Any], hints: Hints, path: Path) -> bool:
    """Equal as sets with repeats: Azure keeps many lists of plain values in an order of its own."""
    left = list(live)
    for wanted in desired:
        match = next((i for i, found in enumerate(left) if equal_leaf(path, wanted, found, hints)), None)
        if match is None:
            return False
        del left[match]
    return not left
