"""Build the JSON Schema of one kind at one version, and of its fields: a whole manifest, as an editor reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from gitsync.desired.catalog.aso_types import BODY, SCALARS
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.name_alphabets import BLANKS, find_alphabet
from gitsync.desired.catalog.reference_targets import find_target
from gitsync.desired.catalog.type_words import describe_shape, describe_type, join_with_or
from gitsync.desired.manifests.yaml_documents import ENCRYPTED
from gitsync.desired.validation.explain import (
    ALL_CHOICES,
    KindField,
    describe_field,
    describe_kind,
    describe_name_rules,
    describe_rules,
    find_named_type,
    find_spec,
    list_fields,
    list_members,
    resolve_rules,
)
from gitsync.desired.validation.name_rules import LONGEST_NAME, NEVER_IN_NAMES, is_uuid_named
from gitsync.desired.validation.references import REFERENCES
from gitsync.desired.validation.spec_schema import list_pairs
from gitsync.model.facts import Field, Kind, TypeFacts

Schema = dict[str, Any]

DRAFT: Final = "http://json-schema.org/draft-07/schema#"
"""The newest draft that all editors read."""

DEFINITIONS: Final = "../definitions.json#/definitions/"
"""Where the schemas of ASO's own types are, as a schema of a kind refers to them."""


def build_kind_schema(kind: Kind, api_versions: Iterable[str], catalog: Catalog, unserved: str = "") -> Schema:
    """Build the schema of a manifest of a kind. `api_versions` are those that it may give: the spellings of one
    version, of which ASO may not serve one.
    """
    spec = build_spec(find_spec(kind), kind, catalog)
    name = kind.gvk.kind
    served = [version for version in api_versions if version != unserved]
    message = f"apiVersion of this {name} must be {join_with_or(served)}."
    versions = offer_versions(served, [unserved] if unserved else [], message)
    schema: Schema = {
        "$schema": DRAFT,
        "description": _describe_kind(kind, catalog),
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", *(["spec"] if spec.get("required") else [])],
        "properties": {
            "apiVersion": {"description": "Group and version of the kind.", **versions},
            "kind": {"description": _describe_kind(kind, catalog), "const": name},
            "metadata": {"$ref": f"{DEFINITIONS}metadata"},
            "spec": {**spec, "description": f"Desired state of the {name}: {kind.arm_type or 'any type'} in Azure."},
            "status": {"description": "Written by a cluster; gitsync does not read it."},
            ENCRYPTED: {"description": "Written by SOPS.", "doNotSuggest": True},
        },
        "additionalProperties": False,
    }
    if conditions := list(_check_default_name(kind)):
        schema["allOf"] = conditions
    return schema


def offer_versions(served: Iterable[str], unserved: Iterable[str], message: str) -> Schema:
    """Build the choice of an apiVersion. Editors offer those that ASO serves, and accept the others too. `message` is
    what they show for any other text.
    """
    others = "|".join(re.escape(version) for version in sorted(unserved))
    choice: Schema = {"enum": sorted(served), "errorMessage": message}
    return {"anyOf": [choice, {"type": "string", "pattern": f"^(?:{others})$"}]} if others else choice


def _describe_kind(kind: Kind, catalog: Catalog) -> str:
    facts: Mapping[str, Any] = dict(describe_kind(kind, catalog))
    origin = f"ARM: {facts['ARM']}" if kind.is_arm else f"In {facts['in']}"
    parts = (origin, f"Owner: {facts['owner']}", f"Name in Azure: {facts['name']}")
    return ".\n\n".join(parts) + "."


def _check_default_name(kind: Kind) -> Iterator[Schema]:
    """Build the rules of the name in Azure for a manifest without azureName: there metadata.name is checked."""
    rules = "; ".join(describe_name_rules(kind))
    # A fixed name, or a UUID, does not come from metadata.name.
    if kind.fixed_azure_name is not None or is_uuid_named(kind) or not rules:
        return
    named = {"anyOf": [require("azureName"), require("azureNameFromConfig")]}
    yield {
        "if": {"required": ["spec"], "properties": {"spec": {"not": named}}},
        "then": {
            "properties": {
                "metadata": {
                    "properties": {
                        "name": {
                            "type": "string",
                            **_build_name_limits(kind),
                            "errorMessage": f"metadata.name is the name in Azure, which must be: {rules}. "
                            "Set spec.azureName, or rename the manifest.",
                        }
                    }
                }
            }
        },
    }


# The schema of a field of a kind: its type and constraints, described by its type and its path in the ARM body.
#
# Each field has a schema of its own, instead of one for each type, so that its description has the whole path. Only a
# type that contains itself is referred to. A text with a variable fits everywhere, and null wherever an API server
# drops it: in a field that is not required, and in a map.


OR_NULL: Final = "OrNull"
"""The end of the names of those that take null as well."""

TEXT_OR_NULL: Final[Schema] = {"not": {"type": ["array", "boolean", "number", "object"]}}
"""A text or null, without naming the types: an editor would offer null as a value, beside the choices."""

_INTEGERS: Final = {"minimum": -(2**63), "maximum": 2**63 - 1}
_COUNTS: Final = ("minLength", "maxLength", "minItems", "maxItems")
_NUMBERS: Final = ("minimum", "maximum", "multipleOf")


@dataclass(frozen=True, slots=True)
class _Context:
    """The types around a field, and where their schemas are: for a type that contains itself."""

    kind: Kind
    catalog: Catalog
    pointers: Mapping[int, str]

    def find(self, facts: TypeFacts) -> str | None:
        return self.pointers.get(id(facts))

    def enter(self, facts: TypeFacts, pointer: str) -> _Context:
        return _Context(self.kind, self.catalog, {**self.pointers, id(facts): pointer})


def build_spec(kind_field: KindField, kind: Kind, catalog: Catalog) -> Schema:
    """Build the schema of a kind's spec."""
    is_required = any(field.get("required") for field in kind.types[kind.spec]["fields"].values())
    spec = replace(kind_field, facts={**kind_field.facts, "required": is_required})
    return _build_field(spec, _Context(kind, catalog, {}), "#/properties/spec")


def build_limits(rules: Mapping[str, Any], type_: str = "") -> Schema:
    """Build the constraints of a field as JSON Schema has them, and those of its type: an integer has 64 bits."""
    rules = {**_INTEGERS, **rules} if type_ == "integer" else rules
    limits: Schema = {name: int(rules[name]) for name in _COUNTS if name in rules}
    for name in _NUMBERS:
        if name in rules:
            exact = Fraction(str(rules[name]))  # the facts have some limits as texts
            limits[name] = int(exact) if exact.denominator == 1 else float(exact)
    if "enum" in rules:
        limits["enum"] = list(rules["enum"])
    if "pattern" in rules:
        limits["pattern"] = allow_variables(spell_out(rules["pattern"]))
    return limits


def forbid(message: str) -> Schema:
    """Build the schema of a value that must not be there. Null counts as absent."""
    return {"type": "null", "errorMessage": message}


def require(*names: str) -> Schema:
    """Build the condition that an object has some fields."""
    return {"required": list(names), "properties": {name: {"not": {"type": "null"}} for name in names}}


def allow_null(schema: Schema) -> Schema:
    """Allow null in the schema of a field. Its own type stays the first: an editor fills in that one."""
    if schema.get("$ref", "").startswith(DEFINITIONS):
        return {"$ref": f"{schema['$ref']}{OR_NULL}"}
    if "anyOf" in schema:
        # Null goes with the alternative for variables, since an editor offers the choices as they are.
        return {**schema, "anyOf": [schema["anyOf"][0], {**TEXT_OR_NULL, "pattern": VARIABLE}]}
    if "type" not in schema:
        return schema
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*types, "null"]}


def refuse(pattern: str, message: str) -> Schema:
    """Build the keywords that refuse a text which a pattern matches. Not every engine of patterns has a look-ahead."""
    return {"if": {"type": "string", "pattern": pattern}, "then": forbid(message)}


def _build_field(kind_field: KindField, context: _Context, pointer: str) -> Schema:
    if kind_field.path == "spec.azureName":
        value = _build_name(context.kind)
    else:
        value = _build_value(kind_field.facts, kind_field, context, pointer)
    if not kind_field.facts.get("required"):
        value = allow_null(value)
    if kind_field.path == "spec.azureName" and context.kind.is_any_type:
        value = {"anyOf": [value, {"$ref": f"{DEFINITIONS}bodyExpression"}]}
    return {"description": _describe_field(kind_field, context), **value}


def _build_name(kind: Kind) -> Schema:
    """Build the name in Azure, by the rules of the kind and of a segment of an ARM id. An empty one counts as
    absent.
    """
    message = f"spec.azureName must be {'; '.join(filter(None, ('a string', *describe_name_rules(kind))))}."
    never = r"spec.azureName must not have any of < > % & \ ? / #, nor a blank at an end, nor be dots only."
    forbidden = NEVER_IN_NAMES
    if kind.is_any_type:  # its name may begin with those of its parents
        forbidden, never = forbidden.replace("/", ""), never.replace(" /", "")
    limits = {
        "maxLength": LONGEST_NAME,
        **_build_name_limits(kind),
        "errorMessage": message,
        **refuse(rf"[{forbidden}]|^\.{{1,2}}$|^[{BLANKS}]|[{BLANKS}]$", never),
    }
    return {"type": "string", "errorMessage": message, "if": {"minLength": 1}, "then": limits}


def _build_name_limits(kind: Kind) -> Schema:
    """Build the limits on a name: those of the facts, and those of the alphabet of its type."""
    limits, alphabet = build_limits(kind.azure_name), find_alphabet(kind.arm_type)
    if alphabet is None:
        return limits
    most = min(filter(None, (limits.get("maxLength"), alphabet.most)), default=None)
    limits |= {} if most is None else {"maxLength": most}
    pattern = allow_variables(alphabet.pattern)
    # A second pattern has a message of its own in editors.
    further = {"pattern": pattern} if limits.get("pattern", pattern) == pattern else {"allOf": [{"pattern": pattern}]}
    return {**limits, **further}


def _describe_field(kind_field: KindField, context: _Context) -> str:
    """Describe the type and the rules in words; without choices, which editors list by themselves."""
    notes = [note for note in describe_field(kind_field, context.kind) if not note.startswith(("one of", "always"))]
    type_ = resolve_rules(kind_field.facts)[0]
    words = [describe_type(type_)]
    if find_named_type(type_) in REFERENCES and (target := find_target(context.kind, kind_field.path, context.catalog)):
        words.append(f"to a {target[1]} ({target[0]})")
    return "; ".join([" ".join(words), *notes])


def _build_value(field: Field, kind_field: KindField, context: _Context, pointer: str) -> Schema:
    """Build the schema of a field, or of a member of its lists and maps."""
    type_, rules = resolve_rules(field)
    if isinstance(type_, str):
        return _build_named(type_, rules, kind_field, context)
    if "ref" in type_:
        return _build_object(type_["ref"], kind_field, context, pointer)
    keyword, member = ("items", "list") if "list" in type_ else ("additionalProperties", "map")
    members = _build_value({"type": type_[member]}, kind_field, context, f"{pointer}/{keyword}")
    if member == "list":
        return {"type": "array", keyword: members, **build_limits(rules)}
    return {"type": "object", keyword: allow_null(members), **build_limits(rules)}


def _build_named(name: str, rules: Mapping[str, Any], kind_field: KindField, context: _Context) -> Schema:
    """Build a scalar, or one of ASO's own types."""
    if name == "any":
        return {}
    if name == BODY:  # the conditions on the type of the manifest have its members
        return {"type": "object"}
    if name in SCALARS:
        return _build_scalar(name, rules, _make_message(name, rules, kind_field))
    build_owner = _OWNERS.get(name)
    return build_owner(context.kind) if build_owner else {"$ref": f"{DEFINITIONS}{name}"}


def _build_scalar(name: str, rules: Mapping[str, Any], message: str) -> Schema:
    """Build a scalar, or a text with a variable in its place."""
    limits = build_limits(rules, name)
    # The choices stand first: an editor offers what the first alternative has.
    if "enum" in limits:
        variable = {"type": "string", "pattern": VARIABLE}
        return {"anyOf": [{"enum": limits["enum"], "errorMessage": message}, variable]}
    if name == "string":
        return {"type": name, **limits, "errorMessage": message}
    return {"type": [name, "string"], **limits, "pattern": VARIABLE, "errorMessage": message}


def _make_message(name: str, rules: Mapping[str, Any], kind_field: KindField) -> str:
    """Return the message of an editor for a scalar that does not fit. It names the field, which a squiggle alone does
    not.
    """
    if "enum" in rules:
        return f"{kind_field.path} must be {join_with_or(rules['enum'], ALL_CHOICES)}."
    wanted = [note for note in describe_rules(rules) if note != "required"]
    return f"{kind_field.path} must be {'; '.join([describe_shape(name), *wanted])}."


def _build_object(name: str, kind_field: KindField, context: _Context, pointer: str) -> Schema:
    facts = context.kind.types[name]
    if (known := context.find(facts)) is not None:  # a type inside of itself would have no end
        return {"$ref": known}
    inside = context.enter(facts, pointer)
    fields = {
        field.name: _build_field(field, inside, f"{pointer}/properties/{field.name}")
        for field in list_fields(kind_field, context.kind)
    }
    schema: Schema = {"type": "object", "properties": fields, "additionalProperties": False}
    if required := sorted(name for name, field in facts["fields"].items() if field.get("required")):
        schema["required"] = required
    if conditions := [*_exclude_pairs(facts, kind_field), *_require_member(facts, kind_field)]:
        schema["allOf"] = conditions
    return schema


def _exclude_pairs(facts: TypeFacts, kind_field: KindField) -> list[Schema]:
    """Require that the source of a value is empty if the value is there. A condition names the field, as `not` would
    not.
    """
    return [
        {
            "if": require(value, source),
            "then": {"properties": {source: forbid(f"Set {kind_field.path}.{value} or {source}, not both.")}},
        }
        for value, source in list_pairs(facts["fields"], facts["fields"])
    ]


def _require_member(facts: TypeFacts, kind_field: KindField) -> list[Schema]:
    """Require exactly one member of a union. Its other fields are not members."""
    if not facts.get("oneOf"):
        return []
    members = list_members(facts)
    message = f"{kind_field.path} must set exactly one of {join_with_or(members, ALL_CHOICES)}."
    choice = {"oneOf": [require(member) for member in members], "errorMessage": message}
    return [{"if": {"type": "object"}, "then": choice}]


def _build_owner(kind: Kind) -> Schema:
    """Build an owner whose kind is fixed: by its name, or by an ARM id."""
    return {
        "type": "object",
        "properties": {
            "name": {"type": ["string", "null"], **_describe_owner_name(kind)},
            "armId": {"$ref": f"{DEFINITIONS}armId{OR_NULL}"},
        },
        "additionalProperties": False,
        "if": require("armId"),
        "then": {"properties": {"name": forbid("Set name or armId of the owner, not both.")}},
        "else": {**require("name"), "properties": {"name": {"type": "string", "minLength": 1}}},
    }


def _build_named_owner(kind: Kind) -> Schema:
    """Build an owner that can only be named."""
    return {
        "type": "object",
        "properties": {"name": {**_describe_owner_name(kind), "type": "string", "minLength": 1}},
        "additionalProperties": False,
        "required": ["name"],
    }


def _describe_owner_name(kind: Kind) -> Schema:
    return {"description": f"Name of the manifest of the {kind.owner[1] if kind.owner else 'resource'}."}


_OWNERS: Final[Mapping[str, Callable[[Kind], Schema]]] = {"knownOwner": _build_owner, "namedOwner": _build_named_owner}
"""The types of owners that differ by kind, so that they are in the schema of each."""


# Patterns of RE2 as every engine of JSON Schema reads them: those of JavaScript, Go and Python.
#
# The patterns of the facts are RE2's, where `\d`, `\w` and `\s` are of ASCII. Other engines differ in them, so they are
# spelled out.


VARIABLE: Final = r"\$\{"
"""In every text with a variable, such as `${location}`."""

_CLASSES: Final = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
_TOKEN: Final = re.compile(r"\\.|\[\^?\]?|\]|[^\\\[\]]+", re.DOTALL)


def spell_out(pattern: str) -> str:
    r"""Spell out the short classes of a pattern of RE2, such as `[0-9]` for `\d`."""
    parts, is_inside = [], False
    for token in _TOKEN.findall(pattern):
        letters = _CLASSES.get(token[1:]) if token.startswith("\\") else None
        # A class inside of brackets takes its letters only: brackets do not nest.
        parts.append(token if letters is None else letters if is_inside else f"[{letters}]")
        is_inside = token.startswith("[") or (is_inside and token != "]")  # noqa: S105 - a bracket
    return "".join(parts)


def allow_variables(pattern: str) -> str:
    """Extend a pattern to match a text with a variable as well: its value is not known before the source is built."""
    return f"(?:{pattern})|{VARIABLE}"


def _escape(letter: str) -> str:
    """Escape a letter of a pattern, and none that JavaScript does not let escape."""
    return f"\\{letter}" if letter in r"^$\.*+?()[]{}|" else letter


def ignore_case(text: str) -> str:
    """Make a pattern for a text in any case: patterns of JSON Schema have no flags."""
    return "".join(
        f"[{letter.upper()}{letter.lower()}]" if letter.isascii() and letter.isalpha() else _escape(letter)
        for letter in text
    )
