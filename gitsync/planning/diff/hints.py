"""Hints for a comparison from the facts of a kind: which leaves are enumerations, which are secrets, and, of ARM's
types, which Azure alone sets.

By path and not by value: a word of an enumeration in one place may be free text in another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final, Literal

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import PathFacts, find_facts
from gitsync.desired.catalog.body_types import BodyType
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.formats.json_pointer import ANY, JsonPath
from gitsync.desired.formats.list_pairing import TAGS
from gitsync.model.facts import FieldType, Kind, TypeFacts

Told = Literal["enum", "secret"]

_SECRET_MODES: Final = frozenset({"secret", "secretMap"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What a comparison gets about a resource in addition to its values."""

    arm_type: str = ""  # of the resource
    own_id: str = ""  # the ARM id of the resource
    leaves: Mapping[str, Any] = field(default_factory=dict)  # a tree of steps, with the hints at its leaves
    answer: Mapping[str, Any] = field(default_factory=dict)  # all that Azure returned, for values that it has twice
    body_type: BodyType | None = None  # ARM's type of the body; None for one of ASO's kinds

    def told(self, path: JsonPath) -> Told | None:
        """The hint of the leaf at a path; everything below a secret is one."""
        if told := _read_facts(self._find_facts(path)):
            return told
        node: Any = self.leaves
        for step in path:
            if isinstance(node, str):
                break
            # An index, and a key that people chose, is any entry of a list or a map.
            has_step = isinstance(step, str) and step in node
            node = node.get(step if has_step else ANY)
            if node is None:
                return None
        return node if isinstance(node, str) else None  # type: ignore[return-value]  # only the functions below make leaves

    def is_unproven(self, path: JsonPath, desired: Any) -> bool:
        """Return whether a difference at first sight proves nothing: Azure withholds the value, or git has the empty
        text, by which many services mean their default. Only ARM's types show the first. Tags are free text.
        """
        if self.body_type is None or path[0] == TAGS:
            return False
        facts = self._find_facts(path)
        return desired == "" or (facts is not None and facts.is_withheld)

    def is_set_by_azure(self, path: JsonPath) -> bool:
        """Return whether Azure alone sets the value at a path, as ARM's type states it."""
        facts = self._find_facts(path)
        return facts is not None and facts.is_read_only

    def _find_facts(self, path: JsonPath) -> PathFacts | None:
        return find_facts(self.body_type, path) if self.body_type is not None else None


def _read_facts(facts: PathFacts | None) -> Told | None:
    if facts is None:
        return None
    return "secret" if facts.is_secret else "enum" if facts.has_no_case else None


def make_type_hints(arm_type: str, api_version: str) -> Hints:
    """The hints of an ARM type at an api-version, as ARM's own types have them; none of one that they do not have."""
    return Hints(arm_type=arm_type, body_type=open_arm_types().find_body(arm_type, api_version))


@cache
def make_kind_hints(kind: Kind) -> Hints:
    """The hints of a kind. Cached, because a kind has thousands of fields, and hundreds of resources."""
    if kind.is_any_type:
        # ASO's kind of the type marks secrets that ARM's types do not.
        counterpart = open_catalog().newest(*kind.counterpart) if kind.counterpart else None
        leaves = make_kind_hints(counterpart).leaves if counterpart else {}
        return replace(make_type_hints(kind.arm_type, kind.api_version), leaves=leaves)
    return Hints(arm_type=kind.arm_type, leaves=_build_type_tree(kind.types[kind.spec], kind.types, (kind.spec,)))


def _build_type_tree(facts: TypeFacts, types: Mapping[str, TypeFacts], containing: tuple[str, ...]) -> dict[str, Any]:
    """The tree of one type. `containing` names the types around it: a type that contains itself is visited once."""
    tree: dict[str, Any] = {}
    for entry in facts["fields"].values():
        # What is not part of the body, such as the owner, can be no leaf of it.
        if "arm" not in entry or entry.get("meta"):
            continue
        is_secret = entry.get("mode") in _SECRET_MODES
        subtree = "secret" if is_secret else _build_value_tree(entry["type"], types, containing)
        if not subtree:
            continue
        # The members of a union have no step of their own in ARM's body, so their hints share one level.
        if facts.get("oneOf"):
            _merge(tree, subtree if isinstance(subtree, dict) else {})
        else:
            _put(tree, entry["arm"].split("/"), subtree)
    return tree


def _build_value_tree(
    type_: FieldType, types: Mapping[str, TypeFacts], containing: tuple[str, ...]
) -> dict[str, Any] | str:
    if isinstance(type_, str):
        return {}
    if "enum" in type_:
        return "enum"
    if "base" in type_:
        return _build_value_tree(type_["base"], types, containing)
    if "ref" in type_:
        name = type_["ref"]
        return (
            {} if name in containing or name not in types else _build_type_tree(types[name], types, (*containing, name))
        )
    inner = _build_value_tree(type_.get("list", type_.get("map", "any")), types, containing)
    return {ANY: inner} if inner else {}


def _put(tree: dict[str, Any], steps: list[str], subtree: dict[str, Any] | str) -> None:
    *parents, last = steps
    for step in parents:
        tree = tree.setdefault(step, {})
    if isinstance(subtree, dict) and isinstance(tree.get(last), dict):
        _merge(tree[last], subtree)
    else:
        tree[last] = subtree


def _merge(tree: dict[str, Any], other: Mapping[str, Any]) -> None:
    """Add the hints of another member of a union; if two disagree, the first one counts."""
    for step, subtree in other.items():
        existing = tree.setdefault(step, subtree)
        if existing is not subtree and isinstance(existing, dict) and isinstance(subtree, Mapping):
            tree[step] = dict(existing)
            _merge(tree[step], subtree)
