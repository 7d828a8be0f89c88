"""What the facts of a kind tell a comparison: which leaves are enumerations, and which are secrets.

By path and not by value: a word that is an enumeration's in one place is somebody's own text in another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal

from gitsync.formats.json_pointer import JsonPath
from gitsync.model.facts import Field, FieldType, Kind, TypeFacts

Told = Literal["enum", "secret"]

ANY: Final = "*"
"""Stands for every index of a list, and every key of a map."""

_SECRET_MODES: Final = frozenset({"secret", "secretMap"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """`arm_type` is the resource's; `own_id` its ARM id; `leaves` a tree of steps, with the hints at its leaves."""

    arm_type: str = ""
    own_id: str = ""
    leaves: Mapping[str, Any] = field(default_factory=dict)

    def told(self, path: JsonPath) -> Told | None:
        """The hint of the leaf at a path; everything below a secret is one."""
        node: Any = self.leaves
        for step in path:
            if isinstance(node, str):
                break
            known = isinstance(step, str) and step in node
            node = node.get(step if known else ANY)
            if node is None:
                return None
        return node if isinstance(node, str) else None  # type: ignore[return-value]  # leaves are made below alone


@cache
def find_kind_hints(kind: Kind) -> Hints:
    """What is known of a kind. Kept, because a kind has thousands of fields, and hundreds of resources."""
    return Hints(arm_type=kind.arm_type, leaves=_of_type(kind.types[kind.spec], kind.types, (kind.spec,)))


def _of_type(facts: TypeFacts, types: Mapping[str, TypeFacts], above: tuple[str, ...]) -> dict[str, Any]:
    """The tree of one type. `above` names the types that it stands in: one that holds itself is looked into once."""
    tree: dict[str, Any] = {}
    for entry in facts["fields"].values():
        found = _of_field(entry, types, above) if "arm" in entry and not entry.get("meta") else None
        if not found:
            continue
        if facts.get("oneOf"):
            _merge(tree, found if isinstance(found, dict) else {})
        else:
            _put(tree, entry["arm"].split("/"), found)
    return tree


def _of_field(entry: Field, types: Mapping[str, TypeFacts], above: tuple[str, ...]) -> dict[str, Any] | str:
    return "secret" if entry.get("mode") in _SECRET_MODES else _of_value(entry["type"], types, above)


def _of_value(type_: FieldType, types: Mapping[str, TypeFacts], above: tuple[str, ...]) -> dict[str, Any] | str:
    if isinstance(type_, str):
        return {}
    if "enum" in type_:
        return "enum"
    if "base" in type_:
        return _of_value(type_["base"], types, above)
    if "ref" in type_:
        name = type_["ref"]
        return {} if name in above or name not in types else _of_type(types[name], types, (*above, name))
    inner = _of_value(type_.get("list", type_.get("map", "any")), types, above)
    return {ANY: inner} if inner else {}


def _put(tree: dict[str, Any], steps: list[str], found: dict[str, Any] | str) -> None:
    *above, last = steps
    for step in above:
        tree = tree.setdefault(step, {})
    if isinstance(found, dict) and isinstance(tree.get(last), dict):
        _merge(tree[last], found)
    else:
        tree[last] = found


def _merge(tree: dict[str, Any], other: Mapping[str, Any]) -> None:
    """Take over what the other members of a union tell; where two disagree, the first counts."""
    for step, found in other.items():
        there = tree.setdefault(step, found)
        if there is not found and isinstance(there, dict) and isinstance(found, Mapping):
            tree[step] = dict(there)
            _merge(tree[step], found)
