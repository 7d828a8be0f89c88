"""A walk over a manifest, side by side with the types of its kind.

Each check looks at visits and at nothing else, so that types, unions, maps, lists and nulls are understood once. Null
counts as absent in a mapping, as an API server prunes it; in a list it stays and has the wrong type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.catalog.aso_types import BODY, SCALARS
from gitsync.desired.catalog.body_words import BODY_WORDS, find_word
from gitsync.desired.catalog.positions import HEADER, SpecPosition, find_root, make_position
from gitsync.desired.problems.field_path import FieldPath
from gitsync.model.facts import Field, FieldType, Kind, TypeFacts
from gitsync.model.secret import Placeholder, Secret

_ANYTHING: Final = SpecPosition(types={}, shape="any", rules={})
_WORDS: Final = {word: make_position({}, {"type": type_}) for word, type_ in BODY_WORDS.items()}


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Visit:
    """One value, and the position of its field."""

    path: FieldPath
    value: Any
    position: SpecPosition
    fits: bool = True  # the value has the shape of its position; only then it has children

    @property
    def shape(self) -> str:
        """A scalar's name, "mapping" (with `facts`), "map" or "list" (of `inner`)."""
        return self.position.shape

    @property
    def name(self) -> str:
        """The name of the type, "" if it has none."""
        return self.position.name

    @property
    def rules(self) -> Mapping[str, Any]:
        """The constraints of the field and of its type."""
        return self.position.rules

    @property
    def facts(self) -> TypeFacts | None:
        """The facts about the type of a mapping."""
        return self.position.facts

    @property
    def inner(self) -> FieldType:
        """The type of the values of a map or the items of a list."""
        return self.position.inner

    @property
    def required(self) -> tuple[str, ...]:
        """The members that must be set."""
        return self.position.required

    @property
    def fields(self) -> Mapping[str, Field]:
        """The named fields that are allowed here."""
        return self.position.fields

    @property
    def present(self) -> Mapping[str, Any]:
        """The known fields that are set here."""
        fields = self.fields
        members = self.value.items() if fields else ()
        return {key: value for key, value in members if value is not None and key in fields}


def visit_spec(kind: Kind, spec: Any) -> list[Visit]:
    """Every value of a spec that its kind has a field for, parents first, in the order of the manifest."""
    visits: list[Visit] = []
    _visit(visits, find_root(kind), ("spec",), spec)
    return visits


def visit_body(body: Mapping[str, Any], path: FieldPath) -> list[Visit]:
    """Every value that a word gives in what is written as ARM has it. `path` is the field that has it."""
    visits: list[Visit] = []
    _visit_body(visits, path, body)
    return visits


def visit_header(fields: Mapping[str, Any]) -> list[Visit]:
    """Every value of the fields of a manifest beside its spec, in the same order."""
    visits: list[Visit] = []
    if fields:  # nearly all manifests have none that need a check
        _visit(visits, HEADER, (), fields)
    return visits


def fits(shape: str, value: Any) -> bool:
    """Return whether an API server accepts the value for the shape: no string for a number, no boolean for a string; a
    number without a fraction is an integer, and an integer is a number.
    """
    match shape:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            # In Python, a boolean is an integer.
            return not isinstance(value, bool) and (
                isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            )
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "list":
            return isinstance(value, list)
        case "mapping" | "map" | "armBody":
            return isinstance(value, dict)
        case _:
            return True


def _visit(visits: list[Visit], position: SpecPosition, path: FieldPath, value: Any) -> None:
    visit = make_visit(position, path, value)
    visits.append(visit)
    if visit.fits and visit.shape not in SCALARS:
        for key, child, inner in list_children(position, value):
            _visit(visits, inner, (*path, key), child)
    elif visit.shape == BODY and visit.fits:
        _visit_body(visits, path, value)


def _visit_body(visits: list[Visit], path: FieldPath, value: Any) -> None:
    """Visit what the words of a body have: the body itself is ARM's, and has no fields of its own here."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        if (word := find_word(child)) in _WORDS:
            _visit(visits, _WORDS[word], (*path, key, word), child[word])
        elif isinstance(child, dict | list):
            _visit_body(visits, (*path, key), child)


def make_visit(position: SpecPosition, path: FieldPath, value: Any) -> Visit:
    # A check that read the value would repeat it in its message.
    if isinstance(value, Placeholder) or (isinstance(value, Secret) and position.shape == "string"):
        return Visit(path, value, _ANYTHING)  # its text is not known, or not looked at
    return Visit(path, value, position, fits(position.shape, value))


def list_children(position: SpecPosition, value: Any) -> Iterator[tuple[str | int, Any, SpecPosition]]:
    """The parts of a value that has the shape of its field, each with its key and its own position."""
    if position.shape == "mapping":
        fields, members = position.fields, position.members
        return ((key, child, members[key]) for key, child in value.items() if child is not None and key in fields)
    if position.shape == "map":
        return ((key, child, position.entry) for key, child in value.items() if child is not None)
    return ((index, child, position.entry) for index, child in enumerate(value))
