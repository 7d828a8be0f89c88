"""The JSON Schema of a field of a kind: its type and constraints, described by its type and its path in the ARM body.

Each field has a schema of its own, instead of one for each type, so that its description has the whole path. Only a
type that contains itself is referred to. A text with a variable fits everywhere, and null wherever an API server drops
it: in a field that is not required, and in a map.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from gitsync.catalog.aso_types import SCALARS
from gitsync.catalog.catalog import Catalog
from gitsync.catalog.reference_targets import find_target
from gitsync.catalog.type_words import describe_shape, describe_type, join_with_or
from gitsync.editor.patterns import VARIABLE, allow_variables, spell_out
from gitsync.model.facts import Field, Kind, TypeFacts
from gitsync.validation.explain import (
    ALL_CHOICES,
    FieldPlace,
    describe_place,
    describe_rules,
    find_named_type,
    list_fields,
    list_members,
    resolve_rules,
)
from gitsync.validation.name_rules import LONGEST_NAME, NEVER_IN_NAMES
from gitsync.validation.references import REFERENCES
from gitsync.validation.schema import find_pairs

Schema = dict[str, Any]

DEFINITIONS: Final = "../definitions.json#/definitions/"
"""Where the schemas of ASO's own types are, as a schema of a kind refers to them."""

OR_NULL: Final = "OrNull"
"""The end of the names of those that take null as well."""

TEXT_OR_NULL: Final[Schema] = {"not": {"type": ["array", "boolean", "number", "object"]}}
"""A text or null, without naming the types: an editor would offer null as a value, beside the choices."""

_INTEGERS: Final = {"minimum": -(2**63), "maximum": 2**63 - 1}
_COUNTS: Final = ("minLength", "maxLength", "minItems", "maxItems")
_NUMBERS: Final = ("minimum", "maximum", "multipleOf")


@dataclass(frozen=True, slots=True)
class _Outer:
    """The types around a field, and where their schemas are: for a type that contains itself."""

    kind: Kind
    catalog: Catalog
    pointers: Mapping[int, str]

    def find(self, facts: TypeFacts) -> str | None:
        return self.pointers.get(id(facts))

    def enter(self, facts: TypeFacts, pointer: str) -> _Outer:
        return _Outer(self.kind, self.catalog, {**self.pointers, id(facts): pointer})


def build_spec(place: FieldPlace, kind: Kind, catalog: Catalog) -> Schema:
    """The schema of a kind's spec."""
    is_required = any(field.get("required") for field in kind.types[kind.spec]["fields"].values())
    spec = replace(place, field={**place.field, "required": is_required})
    return _build_field(spec, _Outer(kind, catalog, {}), "#/properties/spec")


def build_limits(rules: Mapping[str, Any], type_: str = "") -> Schema:
    """The constraints of a field as JSON Schema has them, and those of its type: an integer has 64 bits."""
    rules = {**_INTEGERS, **rules} if type_ == "integer" else rules
    limits: Schema = {name: int(rules[name]) for name in _COUNTS if name in rules}
    limits |= {name: _to_number(rules[name]) for name in _NUMBERS if name in rules}
    if "enum" in rules:
        limits["enum"] = list(rules["enum"])
    if "pattern" in rules:
        limits["pattern"] = allow_variables(spell_out(rules["pattern"]))
    return limits


def forbid(message: str) -> Schema:
    """The schema of a value that must not be there. Null counts as absent."""
    return {"type": "null", "errorMessage": message}


def given(*names: str) -> Schema:
    """The condition that an object has some fields."""
    return {"required": list(names), "properties": {name: {"not": {"type": "null"}} for name in names}}


def allow_null(schema: Schema) -> Schema:
    """The schema of a field that takes null as well. Its own type stays the first: an editor fills in that one."""
    if schema.get("$ref", "").startswith(DEFINITIONS):
        return {"$ref": f"{schema['$ref']}{OR_NULL}"}
    if "anyOf" in schema:
        return {**schema, "anyOf": [schema["anyOf"][0], {**TEXT_OR_NULL, "pattern": VARIABLE}]}
    if "type" not in schema:
        return schema
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*types, "null"]}


def refuse(pattern: str, message: str) -> Schema:
    """The keywords that refuse a text which a pattern matches. Not every engine of patterns has a look-ahead."""
    return {"if": {"type": "string", "pattern": pattern}, "then": forbid(message)}


def _build_field(place: FieldPlace, outer: _Outer, pointer: str) -> Schema:
    if place.path == "spec.azureName":
        value = _build_name(outer.kind)
    else:
        value = _build_value(place.field, place, outer, pointer)
    if not place.field.get("required"):
        value = allow_null(value)
    return {"description": _describe(place, outer), **value}


def _build_name(kind: Kind) -> Schema:
    """The name in Azure, by the rules of the kind and of a segment of an ARM id. An empty one counts as absent."""
    rules = "; ".join(describe_rules(kind.azure_name))
    message = f"spec.azureName must be {'; '.join(filter(None, ('a string', rules)))}."
    never = r"spec.azureName must not have any of < > % & \ ? / #, nor be dots only."
    limits = {
        "maxLength": LONGEST_NAME,
        **build_limits(kind.azure_name),
        "errorMessage": message,
        **refuse(rf"[{NEVER_IN_NAMES}]|^\.{{1,2}}$", never),
    }
    return {"type": "string", "errorMessage": message, "if": {"minLength": 1}, "then": limits}


def _describe(place: FieldPlace, outer: _Outer) -> str:
    """The type and the rules in words; without choices, which editors list by themselves."""
    notes = [note for note in describe_place(place, outer.kind) if not note.startswith(("one of", "always"))]
    type_ = resolve_rules(place.field)[0]
    words = [describe_type(type_)]
    if find_named_type(type_) in REFERENCES and (target := find_target(outer.kind, place.path, outer.catalog)):
        words.append(f"to a {target[1]} ({target[0]})")
    return "; ".join([" ".join(words), *notes])


def _build_value(field: Field, place: FieldPlace, outer: _Outer, pointer: str) -> Schema:
    """The schema of a field, or of a member of its lists and maps."""
    type_, rules = resolve_rules(field)
    if isinstance(type_, str):
        return _build_named(type_, rules, place, outer)
    if "ref" in type_:
        return _build_object(type_["ref"], place, outer, pointer)
    word, member = ("items", "list") if "list" in type_ else ("additionalProperties", "map")
    members = _build_value({"type": type_[member]}, place, outer, f"{pointer}/{word}")
    if member == "list":
        return {"type": "array", word: members, **build_limits(rules)}
    return {"type": "object", word: allow_null(members), **build_limits(rules)}


def _build_named(name: str, rules: Mapping[str, Any], place: FieldPlace, outer: _Outer) -> Schema:
    """A scalar, or one of ASO's own types."""
    if name == "any":
        return {}
    if name in SCALARS:
        return _build_scalar(name, rules, _make_message(name, rules, place))
    return _build_owner(outer.kind) if name == "knownOwner" else {"$ref": f"{DEFINITIONS}{name}"}


def _build_scalar(name: str, rules: Mapping[str, Any], message: str) -> Schema:
    """A scalar, or a text with a variable in its place."""
    limits = build_limits(rules, name)
    if "enum" in limits:
        variable = {"type": "string", "pattern": VARIABLE}
        return {"anyOf": [{"enum": limits["enum"], "errorMessage": message}, variable]}
    if name == "string":
        return {"type": name, **limits, "errorMessage": message}
    return {"type": [name, "string"], **limits, "pattern": VARIABLE, "errorMessage": message}


def _make_message(name: str, rules: Mapping[str, Any], place: FieldPlace) -> str:
    """What an editor says of a scalar that does not fit. It names the field, which a squiggle alone does not."""
    if "enum" in rules:
        return f"{place.path} must be {join_with_or(rules['enum'], ALL_CHOICES)}."
    wanted = [note for note in describe_rules(rules) if note != "required"]
    return f"{place.path} must be {'; '.join([describe_shape(name), *wanted])}."


def _build_object(name: str, place: FieldPlace, outer: _Outer, pointer: str) -> Schema:
    facts = outer.kind.types[name]
    if (known := outer.find(facts)) is not None:
        return {"$ref": known}
    inside = outer.enter(facts, pointer)
    fields = {
        one.name: _build_field(one, inside, f"{pointer}/properties/{one.name}")
        for one in list_fields(place, outer.kind)
    }
    schema: Schema = {"type": "object", "properties": fields, "additionalProperties": False}
    if required := sorted(name for name, field in facts["fields"].items() if field.get("required")):
        schema["required"] = required
    if conditions := [*_exclude_pairs(facts, place), *_require_member(facts, place)]:
        schema["allOf"] = conditions
    return schema


def _exclude_pairs(facts: TypeFacts, place: FieldPlace) -> list[Schema]:
    """The source of a value is empty if the value is there. A condition names the field, as `not` would not."""
    return [
        {
            "if": given(value, source),
            "then": {"properties": {source: forbid(f"Set {place.path}.{value} or {source}, not both.")}},
        }
        for value, source in find_pairs(facts["fields"], facts["fields"])
    ]


def _require_member(facts: TypeFacts, place: FieldPlace) -> list[Schema]:
    """Exactly one member of a union. Its other fields are not members."""
    if not facts.get("oneOf"):
        return []
    members = list_members(facts)
    message = f"{place.path} must set exactly one of {join_with_or(members, ALL_CHOICES)}."
    one = {"oneOf": [given(member) for member in members], "errorMessage": message}
    return [{"if": {"type": "object"}, "then": one}]


def _build_owner(kind: Kind) -> Schema:
    """An owner whose kind is fixed: by its name, or by an ARM id."""
    name = kind.owner[1] if kind.owner else "resource"
    return {
        "type": "object",
        "properties": {
            "name": {"type": ["string", "null"], "description": f"Name of the manifest of the {name}."},
            "armId": {"$ref": f"{DEFINITIONS}armId{OR_NULL}"},
        },
        "additionalProperties": False,
        "if": given("armId"),
        "then": {"properties": {"name": forbid("Set name or armId of the owner, not both.")}},
        "else": {**given("name"), "properties": {"name": {"type": "string", "minLength": 1}}},
    }


def _to_number(limit: Any) -> int | float:
    """A limit as a number of JSON; the facts have some as texts."""
    exact = Fraction(str(limit))
    return int(exact) if exact.denominator == 1 else float(exact)
