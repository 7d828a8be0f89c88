"""What the conversion of a spec to a body needs of the facts of a kind, found once for each type of the kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from gitsync.model.facts import Field, FieldType, Kind, TypeFacts

_EMPTY: Final[Mapping[str, Callable[[], Any]]] = {"list": list, "map": dict}


class FieldForm(NamedTuple):
    """One field that is sent: where its value goes in the body of its type, and how it is made.

    `is_plain`: its value is sent as it is. `collection` makes an empty list or map if the field has one; None for all
    others.
    """

    name: str
    parents: tuple[str, ...]
    last: str
    type: FieldType
    mode: str | None
    is_plain: bool
    collection: Callable[[], Any] | None
    when_empty: str | None


class TypeForm(NamedTuple):
    """The fields of a type that are sent, in the order of the facts; `sent_empty` are those that ASO sends even if
    they are empty.
    """

    fields: tuple[FieldForm, ...]
    is_union: bool
    sent_empty: tuple[FieldForm, ...]


class Forms(dict[str, TypeForm]):
    """The forms of types by their names, made as they are asked for."""

    def __init__(self, types: Mapping[str, TypeFacts]) -> None:
        super().__init__()
        self._types = types

    def __missing__(self, name: str) -> TypeForm:
        form = self[name] = _make_form(self._types[name])
        return form


@cache
def find_forms(kind: Kind) -> Forms:
    """The forms of the types of a kind."""
    return Forms(kind.types)


def _make_form(facts: TypeFacts) -> TypeForm:
    fields = facts["fields"].items()
    forms = tuple(_make_field(name, field) for name, field in fields if "arm" in field and not field.get("meta"))
    return TypeForm(
        fields=forms,
        is_union=bool(facts.get("oneOf")),
        sent_empty=tuple(form for form in forms if form.collection and form.when_empty),
    )


def _make_field(name: str, field: Field) -> FieldForm:
    *parents, last = field["arm"].split("/")
    type_, mode = field["type"], field.get("mode")
    return FieldForm(
        name=name,
        parents=tuple(parents),
        last=last,
        type=type_,
        mode=mode,
        is_plain=mode is None and _is_scalar(type_),
        collection=_find_collection(type_),
        when_empty=field.get("whenEmpty"),
    )


def _strip_base(type_: FieldType) -> FieldType:
    while isinstance(type_, Mapping) and "base" in type_:
        type_ = type_["base"]
    return type_


def _is_scalar(type_: FieldType) -> bool:
    return isinstance(_strip_base(type_), str)


def _find_collection(type_: FieldType) -> Callable[[], Any] | None:
    own = _strip_base(type_)
    word = next((word for word in _EMPTY if word in own), None) if isinstance(own, Mapping) else None
    return _EMPTY[word] if word else None
