"""The possible paths in the body of a kind: where a manifest's fields are in ARM, as one tree.

Separate from the conversion, which makes a body from a manifest: this checks whether a field exists for a path, and
finds the path of a field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import find_facts
from gitsync.desired.catalog.body_words import unescape
from gitsync.desired.formats.json_pointer import ANY
from gitsync.desired.problems.field_path import EVERY, Entry, FieldPattern
from gitsync.model.facts import Field, FieldType, Kind, TypeFacts

_Position = tuple[tuple[str, ...], Field]
"""The remaining path of a field in the body, and the field."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """The first step of a path that does not exist."""

    step: int  # its number, from 0
    members: tuple[str, ...]  # those that exist instead
    is_list: bool = False  # the parent is a list, where steps choose entries


def find_misfit(kind: Kind, path: Iterable[str], *, any_step: str, chooses: Callable[[str], bool]) -> Misfit | None:
    """The first step of a path that the kind does not have; None if it has all.

    `any_step` stands for every member or entry, and `chooses` returns whether a step names entries of a list.
    """
    if kind.is_any_type:
        return _find_any_misfit(kind, [EVERY if step == any_step or chooses(step) else step for step in path])
    positions: list[_Position] = [((), {"type": {"ref": kind.spec}})]
    for number, step in enumerate(path):
        expanded = list(_expand(positions, kind.types))
        # Anything is allowed below free JSON, and in maps whose keys a reference or a secret gives.
        if any(
            field.get("mode") in {"identityMap", "secretMap"} or _resolve_base(field["type"]) == "any"
            for rest, field in expanded
            if not rest
        ):
            return None
        lists = [inner for rest, field in expanded if not rest for inner in _list_inner_fields(field, "list")]
        maps = [inner for rest, field in expanded if not rest for inner in _list_inner_fields(field, "map")]
        matching = [(rest[1:], field) for rest, field in expanded if rest and step in {rest[0], any_step}]
        positions = [
            *matching,
            *(((), inner) for inner in [*maps, *(lists if step == any_step or chooses(step) else [])]),
        ]
        if not positions:
            return Misfit(number, tuple(sorted({rest[0] for rest, _ in expanded if rest})), is_list=bool(lists))
    return None


def _expand(positions: Iterable[_Position], types: Mapping[str, TypeFacts]) -> Iterator[_Position]:
    """Replace fields without a remaining path, whose type is an object, with the members of that object."""
    for rest, field in positions:
        type_ = _resolve_base(field["type"])
        if rest or field.get("mode") or not isinstance(type_, Mapping) or "ref" not in type_:
            yield rest, field
            continue
        facts = types[type_["ref"]]
        inner = [f for f in facts["fields"].values() if "arm" in f and not f.get("meta")]
        if facts.get("oneOf"):  # the content of the set member replaces the object
            yield from _expand([((), f) for f in inner], types)
        else:
            yield from ((tuple(f["arm"].split("/")), f) for f in inner)


def _list_inner_fields(field: Field, shape: str) -> list[Field]:
    type_ = _resolve_base(field["type"])
    return [{"type": type_[shape]}] if isinstance(type_, Mapping) and shape in type_ else []


def _resolve_base(type_: FieldType) -> Any:
    while isinstance(type_, Mapping) and "base" in type_:
        type_ = type_["base"]
    return type_


def find_body_path(kind: Kind, field: FieldPattern) -> FieldPattern | Misfit:
    """Find where a field of a manifest, whose path begins with `spec`, is in the body; or the first step below `spec`
    that the kind does not have, from 0. A value that is not copied, such as a reference, has one place with all below.
    """
    if kind.is_any_type:
        return _find_in_any_body(kind, field[1:])
    return _find_in_body(kind.types, {"ref": kind.spec}, field[1:])


def _find_in_body(types: Mapping[str, TypeFacts], type_: FieldType, field: FieldPattern) -> FieldPattern | Misfit:
    path: FieldPattern = ()
    for number, step in enumerate(field):
        resolved = _resolve_base(type_)
        shapes = resolved if isinstance(resolved, Mapping) else {}
        if resolved == "any":  # free JSON: all that is below it is too
            return (*path, *field[number:])
        if "ref" in shapes:
            facts = types[shapes["ref"]]
            inner = facts["fields"].get(step) if isinstance(step, str) else None
            # A field that is not in the body is never sent, so no path of the body can mean it.
            if inner is None or "arm" not in inner or inner.get("meta"):
                return Misfit(number, _list_sent(facts))
            # The content of the member of a union replaces the union.
            path = path if facts.get("oneOf") else (*path, *inner["arm"].split("/"))
            if inner.get("mode"):
                return path
            type_ = inner["type"]
        elif "list" in shapes and (step is EVERY or isinstance(step, Entry)):
            type_ = shapes["list"]
            path = (*path, _find_entry(types, type_, step) if isinstance(step, Entry) else step)
        elif "map" in shapes and (step is EVERY or isinstance(step, str)):
            type_, path = shapes["map"], (*path, step)
        else:
            return Misfit(number, (), is_list="list" in shapes)
    return path


def _find_in_any_body(kind: Kind, field: FieldPattern) -> FieldPattern | Misfit:
    """Find where a field of an AzureResource is in its body, which begins below `body`."""
    if field[:1] != ("body",):
        return Misfit(0, ("body",))
    path = tuple(unescape(step) if isinstance(step, str) else step for step in field[1:])
    misfit = _find_any_misfit(kind, [EVERY if isinstance(step, Entry) else step for step in path])
    return replace(misfit, step=misfit.step + 1) if misfit else path


def _find_any_misfit(kind: Kind, path: Sequence[Any]) -> Misfit | None:
    """Find the first step that the type of ARM does not have; none if the type is not known."""
    body_type = open_arm_types().find_body(kind.arm_type, kind.api_version)
    steps = tuple(ANY if step is EVERY else step for step in path)
    for number in range(len(steps) if body_type else 0):
        above = find_facts(body_type, steps[:number]) if body_type else None
        types = above.types if above else ()
        is_list = any(type_.item for type_ in types)
        if (is_list and path[number] is not EVERY) or (
            body_type and find_facts(body_type, steps[: number + 1]) is None
        ):
            return Misfit(number, tuple(sorted({name for type_ in types for name in type_.members})), is_list=is_list)
    return None


def _find_entry(types: Mapping[str, TypeFacts], type_: FieldType, entry: Entry) -> Entry:
    """Find the same entry of the list in the body, whose fields may have other names."""
    steps = _find_in_body(types, type_, tuple(entry.field.split(".")))
    return entry if isinstance(steps, Misfit) else Entry(".".join(map(str, steps)), entry.value)


def _list_sent(facts: TypeFacts) -> tuple[str, ...]:
    """List the fields of a type that are sent."""
    return tuple(sorted(name for name, field in facts["fields"].items() if "arm" in field and not field.get("meta")))
