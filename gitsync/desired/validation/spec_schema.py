"""Check the shape that a kind requires of a spec: types, unknown and missing fields, unions, pairs of fields.

As strict as an API server with `--validate=strict` (docs/reference/reconciliation.md#validation-rules). `constraints`
checks the values of the right type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Final

from gitsync.desired.catalog.aso_types import SECRET_TYPES
from gitsync.desired.catalog.body_words import EXPRESSION, find_word
from gitsync.desired.catalog.braced_text import find_braced_text
from gitsync.desired.catalog.positions import find_root
from gitsync.desired.catalog.spec_visitor import Visit
from gitsync.desired.catalog.type_words import (
    describe_actual,
    describe_expected,
    join_with_and,
    join_with_or,
    quote_scalar,
)
from gitsync.desired.formats.long_text import cut_middle
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.problems.suggest import suggest
from gitsync.model.facts import Field, Kind
from gitsync.model.problem import Level
from gitsync.model.resource import Resource

_OWNER_HINTS = {
    "knownOwner": "Add `owner: {name: …}`, or `owner: {armId: …}` for an owner that no manifest declares.",
    "namedOwner": "Add `owner: {name: …}`: the `metadata.name` of the manifest that owns it.",
    "azureOwner": "Add `owner: {group: …, kind: …, name: …}`, or `owner: {armId: …}`.",
    "arbitraryOwner": "Add `owner: {group: …, kind: …, name: …}`, or `owner: {armId: …}`.",
}
_SPARE = frozenset({"group", "kind"})
"""Fields that an owner of a fixed kind does not have; `references` names the right owner."""

_MOVES: Final[Mapping[FieldPath, str]] = {
    (): "Remove it: a manifest has apiVersion, kind, metadata and spec.",
    ("metadata",): "Move it into metadata.labels or metadata.annotations, or remove it.",
}
"""What to do with an unknown field beside the spec, unless it is one of the spec."""

_COMMON = frozenset({"id", "kind", "key", "name", "properties", "type", "value"})
"""Names that many objects have, so that one inside another does not show what was meant."""

_TEXTS: Final = frozenset({"string", "integer", "number", "boolean", "list"})
"""Shapes: a mapping of one null instead of such a value is a placeholder."""

_NOT_SEARCHED = frozenset({"operatorSpec", "owner"})
_NOT_IN_PLACE: Final = (
    f"Use the annotation gitsync/set: {EXPRESSION} is for spec.body, spec.owner.armId and spec.azureName of an "
    "AzureResource."
)
_MOST_LEVELS = 3
_LONGEST_SHOWN = 300


def check_shape(visit: Visit, unknown: Level, kind: Kind | None = None) -> Iterator[Finding]:
    """Check the shape of one value: its type, then its fields. `unknown` is the level of an unknown field. `kind` gives
    the right level of a field that is too high.
    """
    if not visit.fits:
        # An unfilled template is the cause, so the wrong type is not reported as well.
        if placeholders := tuple(check_placeholder(visit)):
            yield from placeholders
            return
        yield Finding(
            code="WrongType",
            path=visit.path,
            message=f"{format_field(visit.path)} must be {describe_expected(visit)}, but is {describe_actual(visit)}.",
            hint=_suggest_form(visit),
            retyped=visit.value if _is_retyped(visit) else None,
        )
        return
    if visit.facts is None:
        return
    fields, spare = visit.fields, _SPARE if visit.name == "knownOwner" else frozenset()
    if not visit.value.keys() <= fields.keys():  # few have unknown fields
        others = [key for key in visit.value if key not in fields and key not in spare]
        yield from (_make_unknown_field(visit, key, unknown, kind) for key in others)
    for name in visit.required:
        if visit.value.get(name) is None:
            yield _make_missing(visit, name, fields[name])
    if visit.facts.get("oneOf"):
        yield from _check_union(visit)


def check_placeholder(visit: Visit) -> Iterator[Finding]:
    """Report a placeholder in braces, which YAML reads as a mapping."""
    if visit.shape in _TEXTS and (text := find_braced_text(visit.value)):
        yield Finding(
            code="PlaceholderNotReplaced",
            path=visit.path,
            message=f"{format_field(visit.path)} is {cut_middle(text, _LONGEST_SHOWN)}, a placeholder.",
            hint="Write the value in its place, or a variable: ${NAME}. Quote a text that has braces of its own.",
        )


def check_missing_spec(resource: Resource, kind: Kind) -> Iterator[Finding]:
    """Check that a manifest has a spec if its kind requires one: one finding, not one for every field."""
    finding = _make_missing_spec(kind)
    # A spec that the reader has refused is there, so it is not missing.
    if finding and not any(problem.field == "spec" for problem in resource.problems):
        yield finding


@cache
def _make_missing_spec(kind: Kind) -> Finding | None:
    required = sorted(name for name, field in kind.types[kind.spec]["fields"].items() if field.get("required"))
    hint = f"Add spec, with {join_with_and(required)}."
    return Finding(code="MissingField", path=("spec",), message="spec is required.", hint=hint) if required else None


def _is_retyped(visit: Visit) -> bool:
    return visit.shape == "string" and isinstance(visit.value, bool | int | float)


def _suggest_form(visit: Visit) -> str:
    value = visit.value
    if find_word(value) == EXPRESSION:
        return _NOT_IN_PLACE
    if _is_retyped(visit):
        return f'Put it in quotes: "{quote_scalar(value)}".'
    # A text that reads as a number was quoted by mistake. Any other text needs another value.
    if visit.shape in {"integer", "number", "boolean"} and isinstance(value, str):
        return "Write it without quotes." if reads_as(visit.shape, value) else ""
    if value is None:
        return "Remove the empty item, or give it a value."
    return _suggest_nesting(visit)


def _suggest_nesting(visit: Visit) -> str:
    if visit.name in SECRET_TYPES:
        return "Move the value to a Secret and reference it here: a value in the manifest would be readable in git."
    if visit.shape == "list" and not isinstance(visit.value, Mapping):
        return "Write it as a list, with a dash before each item."
    if visit.shape == "map":
        return "Write it as lines of `key: value`."
    return f"Known fields: {join_with_or(sorted(visit.fields))}." if visit.fields else ""


def reads_as(shape: str, text: str) -> bool:
    if shape == "boolean":
        return text.casefold() in {"true", "false"}
    try:
        number = float(text)
    except ValueError:
        return False
    return shape == "number" or number.is_integer()


def _make_unknown_field(visit: Visit, key: str, level: Level, kind: Kind | None) -> Finding:
    path = (*visit.path, key)
    if kind and (parent := _find_level_of(visit.path, key, kind)):
        message = f"{format_field(path)} is at the wrong level: {kind.gvk.kind} has {format_field((*parent, key))}."
        hint = f"Move it into {format_field(parent)}."
    else:
        message = f"{format_field(path)} is an unknown field."
        hint = _NOT_IN_PLACE if key == EXPRESSION else _suggest_field(visit, key, level)
    return Finding(code="UnknownField", path=path, message=message, hint=hint, level=level)


def _find_level_of(path: FieldPath, key: str, kind: Kind) -> FieldPath | None:
    """Find the object below a path that has a field which the path lacks: the highest, if there is just one."""
    position = find_root(kind)
    if path in _MOVES:
        # A field of the spec that is outside of it was not indented.
        if key in position.fields:
            return ("spec",)
        path = ("spec",)
    if key in _COMMON or path[0] != "spec":
        return None
    for step in path[1:]:
        position = position.members[str(step)] if position.shape == "mapping" else position.entry
    objects = {path: position}
    for _ in range(_MOST_LEVELS):
        objects = {
            (*above, name): outer.members[name]
            for above, outer in objects.items()
            for name in sorted(outer.fields)
            if name not in _NOT_SEARCHED and outer.members[name].shape == "mapping"
        }
        if levels := [found for found, inner in objects.items() if key in inner.fields]:
            return levels[0] if len(levels) == 1 else None
    return None


def _suggest_field(visit: Visit, key: str, level: Level) -> str:
    if close := suggest(key, visit.fields):
        case = " Case counts." if close.casefold() == key.casefold() else ""
        return f"Did you mean {close}?{case}"
    # Manifests that are copied from Azure's documentation have ARM's names.
    if names := sorted(name for name, field in visit.fields.items() if field.get("arm", "").split("/")[-1] == key):
        return f"Use {join_with_or(names)}: this is ASO's name of {key}."
    if visit.path in _MOVES:
        return _MOVES[visit.path]
    # ASO has the members of ARM's `properties` one level higher.
    if key == "properties":
        return f"Move the members of properties directly into {format_field(visit.path)}."
    known = f"Known fields: {join_with_or(sorted(visit.fields))}."
    return f"{known} To drop it as an API server does, use --unknown-fields warn." if level is Level.ERROR else known


def _make_missing(visit: Visit, name: str, field: Field) -> Finding:
    path = (*visit.path, name)
    type_ = field["type"]
    hint = _OWNER_HINTS.get(type_) if isinstance(type_, str) else None
    return Finding(
        code="MissingField",
        path=path,
        message=f"{format_field(path)} is required.",
        hint=hint or f"Add {name} to {format_field(visit.path)}.",
    )


def _check_union(visit: Visit) -> Iterator[Finding]:
    """Check that exactly one member of a union is set. The enum of its discriminator checks the rest."""
    members = [name for name, field in sorted(visit.fields.items()) if not field.get("meta")]
    set_members = [name for name in members if visit.value.get(name) is not None]
    if len(set_members) != 1:
        count_text = f"it sets {join_with_and(set_members)}" if set_members else "it sets none"
        yield Finding(
            code="UnionMembers",
            path=visit.path,
            message=f"{format_field(visit.path)} must set exactly one of its members; {count_text}.",
            hint="Split it into one entry for each." if set_members else f"Members: {join_with_or(members)}.",
        )


# Pairs of fields of which only one may be set: `x`, and `xFromConfig` or `xFromSecret`
# (docs/reference/reconciliation.md#secret-and-config-map-inputs).


SOURCES = ("FromConfig", "FromSecret")
"""The ends of names of fields that take the value of another one from elsewhere."""


def check_pairs(visit: Visit) -> Iterator[Finding]:
    """Report every pair of which a mapping sets both."""
    if not any(name.endswith(SOURCES) for name in visit.value):
        return  # most mappings: their pairs are not looked for
    for value_field, source_field in list_pairs(visit.present, visit.fields):
        yield Finding(
            code="BothOfPair",
            path=(*visit.path, source_field),
            message=f"cannot specify both {value_field} and {source_field}.",
            hint=f"Remove {value_field} to take the value from elsewhere, "
            f"or {source_field} to keep it in the manifest.",
        )


def check_tag_names(visit: Visit, kind: Kind) -> Iterator[Finding]:
    """Report every name of a tag that differs from an earlier one by case alone: to Azure they are one tag."""
    if kind.arm_type in _TAGS_WITH_CASE:
        return
    first_names: dict[str, str] = {}
    for name in visit.value:
        first = first_names.setdefault(name.casefold(), name)
        if first != name:
            yield Finding(
                code="TagTwice",
                path=(*visit.path, name),
                message=f"{name} and {first} are one tag: names of tags have no case in Azure.",
                hint=f"Remove {name} or {first}.",
            )


_TAGS_WITH_CASE: Final = frozenset(
    {
        "Microsoft.AppConfiguration/configurationStores/keyValues",
        "Microsoft.AppConfiguration/configurationStores/snapshots",
    }
)
"""Types whose tags are data of their own (App Configuration's), and not those of ARM."""


def list_pairs(present: Collection[str], fields: Mapping[str, Field]) -> Iterator[tuple[str, str]]:
    """List the pairs of a field and its source among those that are present. `azureName` is in none: it wins over
    `azureNameFromConfig` (docs/reference/reconciliation.md#azure-names).
    """
    for source_field in sorted(name for name in present if name.endswith(SOURCES)):
        value_field = source_field.removesuffix("FromConfig").removesuffix("FromSecret")
        if value_field in present and not fields[value_field].get("meta"):
            yield value_field, source_field
