"""Converts the spec of a manifest to the body of a PUT, with placeholders
(docs/reference/reconciliation.md#request-bodies).

The facts give the location of every field in the ARM body, and one of five ways to make its value. Fields that the
facts do not have are left out, and a value of the wrong type is passed on: validation reports both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.version_annotation import BODY
from gitsync.desired.formats.ignored_paths import Paths
from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.formats.list_pairing import OPEN_LISTS
from gitsync.desired.problems.field_path import FieldPath, find_member
from gitsync.desired.request.any_body import convert_body, find_body_field
from gitsync.desired.request.arm_id_builder import AzureName
from gitsync.desired.validation.body_annotation import BODY_PATH, has_path, read_body
from gitsync.desired.validation.directory_links import find_link_field
from gitsync.desired.validation.references import add_group
from gitsync.errors import UnusableReferenceError
from gitsync.model.arm_id import ArmId
from gitsync.model.facts import Field, FieldType, Kind, TypeFacts
from gitsync.model.gvk import Key
from gitsync.model.provider import Provider
from gitsync.model.resource import Resource
from gitsync.model.template import (
    ComputedValue,
    ConfigMapKeyRef,
    ReferenceKeys,
    ResourceRef,
    SecretKeyRef,
    SecretMapRef,
)

_EMPTY: Final[Mapping[str, Callable[[], Any]]] = {"list": list, "map": dict}

KEPT: Final = "kept"
"""An empty list or map of such a field is sent, if the manifest has it: it removes all entries."""

_LISTS_OF_CHILDREN: Final = OPEN_LISTS | {"endpoints", "extensions"}
"""Lists whose entries may have manifests of their own, so that an empty one in the parent removes none."""


# No tuples, which take four times as long to give a member: each field of a manifest needs some.


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class FieldForm:
    """One field that is sent."""

    name: str
    parents: tuple[str, ...]  # the members around its value in the body of its type, outermost first
    last: str  # the member that has its value
    type: FieldType
    mode: str | None  # how the value is made, None for a plain one
    is_plain: bool  # its value is sent as it is
    collection: Callable[[], Any] | None  # makes an empty list or map if the field has one; None for all others
    when_empty: str | None  # what ASO sends for an empty value
    default: Any  # stands for an absent value
    signs_in: bool  # it is not part of the resource, but defines how to reach it


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class TypeForm:
    """The form of a type in a body."""

    fields: tuple[FieldForm, ...]  # those that are sent, in the order of the facts
    is_union: bool
    sent_empty: tuple[FieldForm, ...]  # those that ASO sends even if they are empty


class Forms(dict[str, TypeForm]):
    """What the conversion needs of the facts of a kind: the forms of its types by their names, each made once, when it
    is used.
    """

    def __init__(self, types: Mapping[str, TypeFacts]) -> None:
        super().__init__()
        self._types = types

    def __missing__(self, name: str) -> TypeForm:
        form = self[name] = _make_form(self._types[name])
        return form


@cache
def collect_forms(kind: Kind) -> Forms:
    """Return the forms of the types of a kind."""
    return Forms(kind.types)


def _make_form(facts: TypeFacts) -> TypeForm:
    fields = facts["fields"].items()
    forms = tuple(_make_field(name, field) for name, field in fields if "arm" in field and not field.get("meta"))
    return TypeForm(
        fields=forms,
        is_union=bool(facts.get("oneOf")),
        sent_empty=tuple(form for form in forms if form.collection and form.when_empty not in {None, KEPT}),
    )


def _make_field(name: str, field: Field) -> FieldForm:
    *parents, last = field["arm"].split("/")
    type_, mode = field["type"], field.get("mode")
    own = type_
    while isinstance(own, Mapping) and "base" in own:
        own = own["base"]
    word = next((word for word in _EMPTY if word in own), None) if isinstance(own, Mapping) else None
    return FieldForm(
        name=name,
        parents=tuple(parents),
        last=last,
        type=type_,
        mode=mode,
        is_plain=mode is None and isinstance(own, str),
        collection=_EMPTY[word] if word else None,
        when_empty=field.get("whenEmpty"),
        default=field.get("default"),
        signs_in=bool(field.get("signsIn")),
    )


@cache
def collect_sign_in_paths(kind: Kind) -> Paths:
    """Find the paths in a body that define how to reach the resource, such as the login of an administrator: they are
    neither compared nor recorded.
    """
    # Only what is outside of ARM, such as a database, is reached by a login in its spec.
    return tuple(sorted(_list_sign_in_paths(collect_forms(kind), kind.spec))) if not kind.is_arm else ()


def _list_sign_in_paths(forms: Forms, name: str) -> Iterator[tuple[str, ...]]:
    for field in forms[name].fields:
        path = (*field.parents, field.last)
        if field.signs_in:
            yield path
        elif isinstance(field.type, Mapping) and "ref" in field.type:
            yield from ((*path, *inner) for inner in _list_sign_in_paths(forms, field.type["ref"]))


class Converted(NamedTuple):
    """A body with placeholders, and the ARM ids that the manifest contains."""

    body: Mapping[str, Any]
    arm_ids: tuple[ArmId, ...]


def convert(kind: Kind, spec: Mapping[str, Any], name: AzureName, namespace: str) -> Converted:
    """Return the body of a PUT. `name` is the name in Azure.

    Raises UnusableReferenceError if a reference has an invalid form.
    """
    if kind.is_any_type:
        return convert_words(spec.get("body") or {}, namespace)
    conversion = _Conversion(collect_forms(kind), namespace)
    body = conversion.mapping(kind.spec, spec)
    # Other providers have the name among the fields of the spec.
    if kind.is_arm:
        body["name"] = name
    return Converted(body, tuple(conversion.arm_ids))


def convert_words(body: Mapping[str, Any], namespace: str) -> Converted:
    """Return what is written as ARM has it, with placeholders for its words.

    Raises UnusableReferenceError for a word without a value.
    """
    conversion = _Conversion(_NO_FORMS, namespace)
    words = {word: partial(make, conversion) for word, make in _WORDS.items()}
    return Converted(convert_body(body, words), tuple(conversion.arm_ids))


class _Conversion:
    """The conversion of one spec, with what all of its parts need."""

    def __init__(self, forms: Forms, namespace: str) -> None:
        self.forms = forms
        self.namespace = namespace
        self.arm_ids: list[ArmId] = []

    def mapping(self, type_name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Convert named fields. A union becomes the content of the field that is set."""
        body: dict[str, Any] = {}
        form = self.forms[type_name]
        for field in form.fields:
            value = spec.get(field.name)
            if value is None:
                value = field.default
            # Most fields are copied as they are, without a call for each.
            if value is not None and not field.is_plain:
                value = self.field(field, value)
            if value is None:
                continue
            if form.is_union:
                body.update(value if isinstance(value, dict) else {})
            else:
                _put(body, field, value)
        for field in form.sent_empty:
            _put_empty(body, field)
        return body

    def field(self, field: FieldForm, value: Any) -> Any:
        """Convert the value of a field; None if it is not sent.

        An empty list removes all entries; ASO does not distinguish it from an absent one. An empty map removes nothing:
        entries of a map that git does not set are not git's.
        """
        if field.mode is not None:
            return _MODES[field.mode](self, field.type, value)
        converted = self.value(field.type, value)
        if field.collection is None or field.when_empty == KEPT:
            return converted
        is_left_out = converted == {} or (converted == [] and field.last in _LISTS_OF_CHILDREN)
        return None if is_left_out else converted

    def value(self, type_: FieldType, value: Any) -> Any:
        if isinstance(type_, str):
            return value
        if "base" in type_:
            return self.value(type_["base"], value)
        if "ref" in type_:
            return self.mapping(type_["ref"], value) if isinstance(value, Mapping) else value
        if "list" in type_:
            return [self.value(type_["list"], v) for v in value] if isinstance(value, list) else value
        if not isinstance(value, Mapping):
            return value
        # An API server prunes null members, so ASO never sends them.
        return {key: self.value(type_["map"], v) for key, v in value.items() if v is not None}

    def reference(self, type_: FieldType, value: Any) -> Any:
        """An ARM id as written, or a placeholder for that of another manifest; a list or map of such, by its type."""
        if isinstance(type_, Mapping) and "list" in type_ and isinstance(value, list):
            return [self.reference(type_["list"], v) for v in value]
        if isinstance(type_, Mapping) and "map" in type_ and isinstance(value, Mapping):
            return {key: self.reference(type_["map"], v) for key, v in value.items() if v is not None} or None
        return self.arm_id(value) if type_ == "string" else self.single(value)

    def single(self, value: Any) -> str | ResourceRef | ComputedValue:
        reference = _require_mapping(value)
        # It wins over the other members, as in ASO.
        if reference.get("wellKnownName"):
            return _require_text(reference, "wellKnownName")
        if reference.get("armId"):
            return self.arm_id(reference["armId"])
        group, kind, name = (_require_text(reference, member) for member in ("group", "kind", "name"))
        return ResourceRef(Key(group, kind, self.namespace, name))

    def arm_id(self, value: Any) -> str | ComputedValue:
        if isinstance(value, ComputedValue):
            return value
        if not isinstance(value, str):
            raise UnusableReferenceError
        self.arm_ids.append(ArmId(value))
        return value

    def identities(self, _type: FieldType, value: Any) -> ReferenceKeys | None:
        """Convert a list of references that ARM takes as the keys of a map."""
        entries = value if isinstance(value, list) else [value]
        references = tuple(self.single(_require_mapping(entry).get("reference")) for entry in entries)
        return ReferenceKeys(references) if references else None


_MODES: Final[Mapping[str, Callable[[_Conversion, FieldType, Any], Any]]] = {
    "reference": _Conversion.reference,
    "identityMap": _Conversion.identities,
    "secret": lambda _, _type, value: SecretKeyRef(_require_text(value, "name"), _require_text(value, "key")),
    "secretMap": lambda _, _type, value: SecretMapRef(_require_text(value, "name")),
    "configMap": lambda _, _type, value: ConfigMapKeyRef(_require_text(value, "name"), _require_text(value, "key")),
}


_WORDS: Final[Mapping[str, Callable[[_Conversion, Any], Any]]] = {
    "$reference": lambda conversion, value: conversion.single(add_group(_require_mapping(value))),
    "$secret": lambda conversion, value: _MODES["secret"](conversion, "", value),
    "$configMap": lambda conversion, value: _MODES["configMap"](conversion, "", value),
}
"""How the value is made that a word in the body of an AzureResource stands for, from what the word has."""


_NO_FORMS: Final = Forms({})


def find_field(kind: Kind, path: JsonPath, resource: Resource) -> FieldPath | None:
    """Find the field of a manifest that a path in the body of a PUT comes from; None if none is known.

    The spec decides between the members of a union, whose content is the body.
    """
    if kind.provider is Provider.ENTRA and (field := find_link_field(path, resource)):
        return field
    patch, spec = read_body(resource) if resource.annotations.get(BODY) else {}, resource.spec
    # The annotation is applied over the converted spec, so its values win.
    if has_path(patch, path, is_leaf=True):
        return (*BODY_PATH, *path)
    if kind.is_any_type:
        return ("spec", "body", *find_body_field(spec.get("body"), path))
    inside = _find_in_type(collect_forms(kind), kind.spec, path, spec)
    if inside is None and has_path(patch, path):
        return (*BODY_PATH, *path)
    return None if inside is None else ("spec", *inside)


def _find_in_type(forms: Forms, name: str, path: JsonPath, spec: Any) -> FieldPath | None:
    form = forms[name]
    members = spec if isinstance(spec, Mapping) else {}
    if form.is_union:
        fields = [field for field in form.fields if members.get(field.name) is not None]
        inner = (_find_in_value(forms, field, field.type, path, members[field.name]) for field in fields)
        return next(
            ((field.name, *found) for field, found in zip(fields, inner, strict=True) if found is not None), None
        )
    fits = [field for field in form.fields if path[: len(field.parents) + 1] == (*field.parents, field.last)]
    if not fits:
        return None
    # A value and its reference to a config map have one place; the manifest has one of them.
    field = max(fits, key=lambda form: (len(form.parents), members.get(form.name) is not None))
    found = _find_in_value(forms, field, field.type, path[len(field.parents) + 1 :], members.get(field.name))
    return None if found is None else (field.name, *found)


def _find_in_value(forms: Forms, field: FieldForm, type_: FieldType, rest: JsonPath, value: Any) -> FieldPath | None:
    """Find what is below a field; the field itself where its value is made and not copied."""
    if not rest or field.mode is not None:
        return ()
    if isinstance(type_, str):
        return rest
    if "base" in type_:
        return _find_in_value(forms, field, type_["base"], rest, value)
    if "ref" in type_:
        return _find_in_type(forms, type_["ref"], rest, value)
    step, below = rest[0], type_["list"] if "list" in type_ else type_["map"]
    is_index = isinstance(step, int)
    if is_index is not ("list" in type_):
        return None
    found = _find_in_value(forms, field, below, rest[1:], find_member(value, step))
    return None if found is None else (step, *found)


def _put(body: dict[str, Any], field: FieldForm, value: Any) -> None:
    for step in field.parents:
        body = body.setdefault(step, {})
    body[field.last] = value


def _put_empty(body: dict[str, Any], field: FieldForm) -> None:
    """Put an empty collection into the body, as ASO sends it: never if its parent is absent."""
    for step in field.parents:
        if step not in body:
            return
        body = body[step]
    if field.last not in body:
        body[field.last] = field.collection() if field.collection and field.when_empty != "null" else None


def _require_mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UnusableReferenceError
    return value


def _require_text(value: Any, member: str) -> str:
    text = _require_mapping(value).get(member)
    if not isinstance(text, str) or not text:
        raise UnusableReferenceError
    return text
