"""Build the JSON Schemas of the bodies of ARM types, for `spec.body` of an AzureResource.

They mark what a check of the body finds for certain, and members that a type requires. Limits and patterns, where the
facts are less exact, are only described. A text may have a variable, or be an object of one of the words that stand
for a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitsync.desired.catalog.any_type import TypeAndVersion, list_fixed_names
from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import OWN_NAMES
from gitsync.desired.catalog.body_types import BodyMember, BodyType
from gitsync.desired.catalog.body_words import escape
from gitsync.desired.catalog.refused_types import find_refusal
from gitsync.desired.catalog.type_words import describe_shape, join_with_or
from gitsync.desired.editor.kind_schemas import DEFINITIONS, DRAFT, VARIABLE, Schema, ignore_case
from gitsync.desired.validation.explain import ALL_CHOICES
from gitsync.desired.validation.explain_type import describe_body_type, describe_member

_WORD: Final[Schema] = {"$ref": f"{DEFINITIONS}bodyWord"}
_EXPRESSION: Final[Schema] = {"$ref": f"{DEFINITIONS}bodyExpression"}
_SHAPES: Final[Mapping[str, str]] = {"integer": "number", "boolean": "boolean"}
_POINTER: Final = "#/definitions/"


def list_body_files(types: Iterable[TypeAndVersion]) -> Iterator[tuple[TypeAndVersion, str]]:
    """List the types that the facts have a body of, each with the path of its schema, sorted and once."""
    found = {}
    for wanted in types:
        arm_type = open_arm_types().find_type(wanted.arm_type)
        if arm_type is not None and open_arm_types().find_body(*wanted) is not None:
            # A manifest may spell a type in any case, and all spellings share one file.
            exact = TypeAndVersion(arm_type.name, wanted.api_version.lower())
            found[exact] = f"azure.gitsync/{'.'.join(exact.arm_type.lower().split('/'))}_{exact.api_version}.json"
    yield from sorted(found.items())


def list_newest_types() -> list[str]:
    """List the types that can be written, each at its newest version, for an editor to offer."""
    types = filter(None, map(open_arm_types().find_type, open_arm_types().list_names()))
    newest = ((arm_type.name, arm_type.newest_stable or arm_type.newest_preview) for arm_type in types)
    return [f"{name}@{version}" for name, version in newest if version and find_refusal(name) is None]


def select_bodies(files: Iterable[tuple[TypeAndVersion, str]]) -> list[Schema]:
    """Build the conditions of a manifest that select the schema of its body by `spec.type`; of a type whose members
    the name decides, by that too.
    """
    conditions = []
    for wanted, path in files:
        name = path.rpartition("/")[2]
        conditions.append(_select({"type": str.join("@", wanted)}, name))
        body = open_arm_types().find_body(*wanted)
        if body is not None and body.by == "name":
            conditions += [
                _select({"type": str.join("@", wanted), "azureName": value}, f"{name}{_POINTER}{value}")
                for value in list_fixed_names(*wanted)
            ]
    return conditions


def _select(texts: Mapping[str, str], target: str) -> Schema:
    rules = {key: {"type": "string", "pattern": f"^{ignore_case(text)}$"} for key, text in texts.items()}
    spec = {"type": "object", "required": sorted(rules), "properties": rules}
    return {
        "if": {"required": ["spec"], "properties": {"spec": spec}},
        "then": {"properties": {"spec": {"properties": {"body": {"$ref": target}}}}},
    }


def build_body_schema(wanted: TypeAndVersion) -> Schema:
    """Build the schema of the body of a type that the facts have."""
    body = open_arm_types().find_body(*wanted)
    builder = _Builder()
    if body is None:
        return {"$schema": DRAFT, "type": "object"}
    top = f"Body of a {wanted.arm_type} at {wanted.api_version}."
    if body.by == "name":  # the conditions of the manifest select a variant
        schema: Schema = {"type": "object"}
        for name, variant in zip(body.variant_names, body.list_variants(), strict=True):
            builder.definitions[name] = builder.build_object((body, variant), own=OWN_NAMES)
    else:
        schema = builder.build_object((body,), own=OWN_NAMES)
    return {"$schema": DRAFT, "description": top, **schema, "definitions": builder.definitions}


@dataclass(slots=True)
class _Builder:
    """Builds the schemas of one body. Each object is a definition of its own, since types contain themselves."""

    definitions: dict[str, Schema] = field(default_factory=dict)
    names: dict[BodyType, str] = field(default_factory=dict)  # of the definitions

    def build_object(self, types: tuple[BodyType, ...], own: frozenset[str] = frozenset()) -> Schema:
        """Build an object, without its `own` members. `types` are its type and, if that is chosen, its variant; else
        each variant is a condition.
        """
        members = {member.name: member for type_ in types for member in type_.members.values()}
        shown = {name: member for name, member in members.items() if name.casefold() not in own}
        schema: Schema = {
            "type": ["object", "null"],
            "properties": {escape(name): self._build_member(shown[name]) for name in sorted(shown)},
        }
        if required := [name for name in shown if shown[name].is_required and not shown[name].is_read_only]:
            schema["required"] = sorted(required)
        (decided, *chosen) = types
        if not chosen and decided.by and decided.by.casefold() not in own:
            return self._add_variants(schema, decided, own)
        others = next((type_.others for type_ in types if type_.others is not None), None)
        schema["additionalProperties"] = self._build_value(others) if others is not None else False
        return schema

    def _add_variants(self, schema: Schema, type_: BodyType, own: frozenset[str]) -> Schema:
        """Add what each value of the deciding member adds. Any other value is not checked further."""
        by, names = type_.by, list(type_.variant_names)
        choice = self._build_choice(names, f"{by} must be {join_with_or(names, ALL_CHOICES)}.")
        conditions = [
            {
                "if": {
                    "required": [by],
                    "properties": {by: {"type": "string", "pattern": f"^{ignore_case(name)}$"}},
                },
                "then": self._refer((type_, variant), own),
            }
            for name, variant in zip(names, type_.list_variants(), strict=True)
        ]
        properties = {**schema["properties"], by: {"description": "string; required", **choice}}
        required = sorted({*schema.get("required", ()), by})
        return {**schema, "properties": properties, "required": required, "allOf": conditions}

    def _refer(self, types: tuple[BodyType, ...], own: frozenset[str] = frozenset()) -> Schema:
        """Refer to the definition of an object, which is built the first time."""
        key = types[-1]
        if key not in self.names:
            self.names[key] = name = f"type{len(self.names) + 1}"
            # The entry holds the name while the object is built: a type that contains itself then refers to it.
            self.definitions[name] = {}
            self.definitions[name] = self.build_object(types, own)
        return {"$ref": f"{_POINTER}{self.names[key]}"}

    def _build_member(self, member: BodyMember) -> Schema:
        notes = [note for note in describe_member(member) if not note.startswith(("one of", "such as", "always"))]
        described: Schema = {"description": "; ".join([describe_body_type(member.type), *notes])}
        # A body must have what is required, so editors offer it even if Azure sets it.
        if member.is_read_only and not member.is_required:
            described |= {"readOnly": True, "doNotSuggest": True}
        return {**described, **self._build_value(member.type, member.name)}

    def _build_value(self, type_: BodyType, name: str = "") -> Schema:
        where = name or "The value"
        if type_.item is not None:
            return {"type": ["array", "null"], "items": self._build_value(type_.item)}
        if type_.is_object:
            return self._refer((type_,))
        if type_.shape == "choice":
            return self._build_choice(type_.choices, f"{where} must be {join_with_or(type_.choices, ALL_CHOICES)}.")
        if type_.shape == "string":
            return self._build_text(type_, f"{where} must be {describe_shape('string')}. Quote it.")
        shape = _SHAPES.get(type_.shape)
        if shape is None:
            return {}
        message = f"{where} must be {describe_shape(shape)}."
        plain = {"type": [shape, "string", "null"], "pattern": VARIABLE, "errorMessage": message}
        return {"anyOf": [plain, _EXPRESSION]}

    def _build_text(self, type_: BodyType, message: str) -> Schema:
        text: Schema = {"type": ["string", "null"], "errorMessage": message}
        # Choices of a text are only those that are known, so an editor offers them and accepts others.
        return {"anyOf": [{**text, **({"examples": list(type_.choices)} if type_.choices else {})}, _WORD]}

    def _build_choice(self, choices: Iterable[str], message: str) -> Schema:
        """Build a choice, in any case: an editor offers the first alternative."""
        shown = list(choices)
        others = "|".join(map(ignore_case, shown))
        in_any_case = {"type": ["string", "null"], "pattern": f"^(?:{others})?$|{VARIABLE}", "errorMessage": message}
        return {"anyOf": [{"enum": shown, "errorMessage": message}, in_any_case, _WORD]}
