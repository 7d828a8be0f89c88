"""Describe a kind, or a field of it: types, constraints, and its path in the ARM body.

Uses the facts only. `gitsync explain` shows the result, and the schemas for editors describe the same fields in the
same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.catalog.aso_types import ASO_TYPES
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.everyday_names import GroupKind, list_everyday_names
from gitsync.desired.catalog.handed_over import UPGRADE_CHANNEL, select_rows
from gitsync.desired.catalog.kind_names import KindMatch
from gitsync.desired.catalog.name_alphabets import find_alphabet
from gitsync.desired.catalog.packed_tables import is_immutable
from gitsync.desired.catalog.reference_targets import find_target, list_children, list_referrers
from gitsync.desired.catalog.releases import UNRELEASED, describe_lifetime, find_lifetime
from gitsync.desired.catalog.type_words import PROVIDER_NAMES, add_article, describe_type, join_with_or
from gitsync.desired.problems.problem_codes import describe_common_field
from gitsync.desired.problems.suggest import suggest
from gitsync.desired.validation.name_rules import is_uuid_named
from gitsync.desired.validation.references import REFERENCES
from gitsync.errors import ConfigError
from gitsync.model.facts import Field, FieldType, Kind, Scope, TypeFacts

_MOST_CHILDREN = 20
_TOP = ("spec", "status")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRow:
    """One field."""

    depth: int  # below the requested one
    name: str
    type: str  # in a word
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What is known of a kind, or of a part of it."""

    facts: tuple[tuple[str, str], ...]  # pairs of a heading and a text, about the kind
    field: str  # the requested one, "spec" for the kind itself
    type: str
    notes: tuple[str, ...]  # its constraints
    rows: tuple[FieldRow, ...]  # what is inside it
    referrers: tuple[str, ...] = ()  # what refers to the kind in other kinds, if nothing of the kind was requested


def explain_kind(match: KindMatch, catalog: Catalog, *, recursive: bool = False) -> Explanation:
    """Explain a kind or a field. The fields may omit `spec`. Raises ConfigError if a field does not exist."""
    kind = match.kind
    kind_field = _descend(kind, match.fields if match.fields and match.fields[0] in _TOP else ("spec", *match.fields))
    words = describe_common_field(kind_field.path) if kind_field.path.startswith("spec.") else ""
    notes = _describe_with_changes(kind_field, kind)
    if find_named_type(kind_field.facts["type"]) in REFERENCES and (
        target := find_target(kind, kind_field.path, catalog)
    ):
        notes = (*notes, f"refers to {add_article(format_group_kind(target, kind.gvk.group))}")
    relations: tuple[tuple[str, str], ...] = ()
    referrers: tuple[str, ...] = ()
    if not match.fields:
        relations = tuple(_describe_relations(kind, catalog))
        referrers = tuple(
            f"{format_group_kind((referrer.group, referrer.kind), kind.gvk.group)}.{referrer.path}"
            for referrer in list_referrers((kind.gvk.group, kind.gvk.kind), catalog)
        )
    return Explanation(
        facts=(*describe_kind(kind, catalog), *relations, *((("means", words),) if words else ())),
        field=kind_field.path,
        type=describe_type(kind_field.facts["type"]),
        notes=notes,
        rows=tuple(_make_rows(kind_field, kind, deep=recursive)),
        referrers=referrers,
    )


def _descend(kind: Kind, fields: tuple[str, ...]) -> KindField:
    field: Field = {"type": {"ref": kind.spec if fields[0] == "spec" else kind.status}}
    kind_field = KindField(name=fields[0], path=fields[0], arm="", facts=field)
    for name in fields[1:]:
        inner_fields = {inner.name: inner for inner in list_fields(kind_field, kind)}
        if name not in inner_fields:
            raise make_no_field(kind_field.path, name, inner_fields)
        kind_field = inner_fields[name]
    return kind_field


def make_no_field(path: str, name: str, field_names: Iterable[str]) -> ConfigError:
    """Make the error about a field that does not exist. `field_names` are those that do."""
    close = suggest(name, field_names)
    if close:
        hint = f"Did you mean {path}.{close}?"
    else:
        hint = (
            f"Known fields: {join_with_or(sorted(field_names), ALL_CHOICES)}."
            if field_names
            else f"{path} has no fields of its own."
        )
    return ConfigError(f"There is no field {path}.{name}.", hint=hint)


def _make_rows(
    kind_field: KindField, kind: Kind, *, deep: bool, containing_types: tuple[TypeFacts, ...] = ()
) -> Iterator[FieldRow]:
    """Make the rows of the fields inside a field; if `deep`, of all below, except inside a type that contains
    itself.
    """
    facts = find_type_facts(kind_field.facts["type"], kind)
    # A scalar, or a type inside of itself.
    if facts is None or any(facts is containing for containing in containing_types):
        return
    for inner in list_fields(kind_field, kind):
        name = inner.name
        yield FieldRow(
            depth=len(containing_types),
            name=name,
            type=describe_type(inner.facts["type"]),
            notes=_describe_with_changes(inner, kind),
        )
        if deep:
            yield from _make_rows(inner, kind, deep=True, containing_types=(*containing_types, facts))


def describe_kind(kind: Kind, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """List facts about a kind, as pairs of a heading and a text."""
    yield "kind", kind.gvk.kind
    yield "apiVersion", kind.gvk.api_version
    others = [v for v in reversed(catalog.versions(kind.gvk.group, kind.gvk.kind)) if v != kind.gvk.version]
    if others:
        yield "also", ", ".join(others)
    if lifetime := find_lifetime(kind.gvk):
        yield "served", describe_lifetime(lifetime)
    elif kind.gvk in UNRELEASED:
        yield "served", "by no release of ASO yet, only by its main branch"
    if kind.is_any_type:
        yield "ARM", "any type at any api-version, as spec.type names them"
    elif kind.is_arm:
        yield "ARM", f"{kind.arm_type}, api-version {kind.api_version}"
    else:
        yield "in", PROVIDER_NAMES[kind.provider]
    yield "owner", _describe_owner(kind)
    yield "name", _describe_name(kind)
    yield (
        f"{'Azure' if kind.is_arm else 'gitsync'} can",
        ", ".join(sorted(operation.lower() for operation in kind.operations)),
    )


def _describe_relations(kind: Kind, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """Describe what people call a kind, and the kinds that it owns."""
    group_kind = (kind.gvk.group, kind.gvk.kind)
    if names := list_everyday_names(group_kind):
        yield "called", ", ".join(names)
    if children := list_children(group_kind, catalog):
        more = f" and {len(children) - _MOST_CHILDREN} more kinds" if len(children) > _MOST_CHILDREN else ""
        yield "owns", ", ".join(format_group_kind(child, group_kind[0]) for child in children[:_MOST_CHILDREN]) + more


def format_group_kind(group_kind: GroupKind, group: str) -> str:
    """Format a kind, with its group unless that is `group`."""
    return group_kind[1] if group_kind[0] == group else f"{group_kind[1]}.{group_kind[0]}"


def _describe_owner(kind: Kind) -> str:
    if kind.any_owner:
        return "any resource, by group, kind and name, or by armId"
    if kind.owner is not None:
        return f"{add_article(kind.owner[1])} ({kind.owner[0]}) by name{'' if kind.owner_is_named else ', or by armId'}"
    return "none: it is in the subscription" if kind.scope is Scope.LOCATION else "none: it is in the tenant"


def _describe_name(kind: Kind) -> str:
    if kind.fixed_azure_name is not None:
        return f"always {kind.fixed_azure_name}"
    if "azureName" not in kind.types[kind.spec]["fields"]:
        return "metadata.name"
    default = "a UUID made of the owner and metadata.name" if is_uuid_named(kind) else "metadata.name"
    return "; ".join([f"spec.azureName, else {default}", *describe_name_rules(kind)])


def describe_name_rules(kind: Kind) -> list[str]:
    """Describe what a free name of a kind must be like."""
    alphabet = find_alphabet(kind.arm_type)
    return [*describe_rules(kind.azure_name), *([f"made of {alphabet.words}"] if alphabet else [])]


# The fields of a kind, each with its path in the manifest, its path in the ARM body, and its rules in words.


ALL_CHOICES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class KindField:
    """A leaf or a part of a spec."""

    name: str  # the last step of the path; it may have dots itself
    path: str  # in the manifest
    arm: str  # in the ARM body, "" if it is not sent
    facts: Field


def find_spec(kind: Kind) -> KindField:
    """Return the spec of a kind as a field."""
    return KindField(name="spec", path="spec", arm="", facts={"type": {"ref": kind.spec}})


def list_fields(kind_field: KindField, kind: Kind) -> Iterator[KindField]:
    """List the fields inside a field, sorted. A union has no path in the ARM body: it is the content of its member."""
    type_ = kind_field.facts["type"]
    facts = find_type_facts(type_, kind)
    if facts is None:
        return
    collection = _format_collection(type_)
    for name, field in sorted(facts["fields"].items()):
        # The body of a union is that of its member: the name of the member is in no path.
        own = "" if facts.get("oneOf") and not field.get("meta") else field.get("arm", "")
        is_sent = bool(field.get("arm")) and (bool(kind_field.arm) or "." not in kind_field.path)
        arm = "/".join(filter(None, (kind_field.arm + collection, own))) if is_sent else ""
        yield KindField(name=name, path=f"{kind_field.path}.{name}", arm=arm, facts=field)


def find_type_facts(type_: FieldType, kind: Kind) -> TypeFacts | None:
    """Find the named fields of a type, or of the members of a list or map; None for a scalar."""
    while isinstance(type_, Mapping) and "ref" not in type_:
        type_ = next(type_[word] for word in ("base", "list", "map") if word in type_)
    if isinstance(type_, str):
        return ASO_TYPES.get(type_)
    return kind.types[type_["ref"]]


def find_named_type(type_: FieldType) -> str:
    """Find the type of ASO that a field has, or the members of its lists and maps; "" for none."""
    while isinstance(type_, Mapping) and "ref" not in type_:
        type_ = next(type_[word] for word in ("base", "list", "map") if word in type_)
    return type_ if isinstance(type_, str) and type_ in ASO_TYPES else ""


def resolve_rules(field: Field) -> tuple[FieldType, Mapping[str, Any]]:
    """Resolve the type of a field without the constraints around it, and all constraints of the field."""
    rules: dict[str, Any] = dict(field)
    type_ = rules.pop("type")
    while isinstance(type_, Mapping) and "base" in type_:
        rules |= {name: limit for name, limit in type_.items() if name != "base"}
        type_ = type_["base"]
    return type_, rules


def list_members(facts: TypeFacts) -> list[str]:
    """List the members of a union, of which exactly one is set."""
    return [name for name, field in sorted(facts["fields"].items()) if not field.get("meta")]


def describe_field(kind_field: KindField, kind: Kind) -> tuple[str, ...]:
    """Describe the rules of a field in words, and its path in the ARM body."""
    type_, rules = resolve_rules(kind_field.facts)
    notes = [*describe_rules(rules)]
    facts = find_type_facts(type_, kind)
    if facts and facts.get("oneOf"):
        notes.append(f"exactly one of {join_with_or(list_members(facts), ALL_CHOICES)}")
    if rules.get("optionalConfigMapPair"):
        name = kind_field.name
        other = name.removesuffix("FromConfig") if name.endswith("FromConfig") else f"{name}FromConfig"
        notes.append(f"either this or {other}")
    if "default" in rules and rules["default"] != {}:
        notes.append(f"{_format_default(rules['default'])} by default")
    if kind.is_any_type:
        notes.extend(filter(None, [_OF_ANY_TYPE.get(kind_field.path)]))
    if kind_field.arm and kind.is_arm:
        notes.append(f"ARM: {kind_field.arm}")
    return tuple(notes)


_OF_ANY_TYPE: Final[Mapping[str, str]] = {
    "spec.body": "as ARM's reference has it, without id, name and type; `gitsync explain TYPE` lists its fields; "
    "{$reference: …}, {$secret: …} and {$configMap: …} stand for values",
    "spec.operatorSpec.secretAction": "a POST whose answer is `secret` in expressions, such as listKeys",
    "spec.type": "an ARM type and its api-version, such as Microsoft.Logic/workflows@2019-05-01",
}
"""What the fields of an AzureResource hold, by their path."""


def _describe_with_changes(kind_field: KindField, kind: Kind) -> tuple[str, ...]:
    """Describe a field, and say so if it cannot change once Azure has the resource, or if Azure may set it."""
    notes = (*describe_field(kind_field, kind), *_describe_handed_over(kind_field, kind))
    is_identity = kind_field.path in {"spec.azureName", "spec.owner"}
    is_fixed = is_identity or kind_field.arm == "location" or is_immutable(kind.arm_type, f"/{kind_field.arm}")
    return (*notes, "cannot be changed after the create") if is_fixed else notes


def _describe_handed_over(kind_field: KindField, kind: Kind) -> Iterator[str]:
    """Explain what hands the field over to Azure (docs/drift.md#what-a-manifest-hands-over-to-azure)."""
    path = tuple(kind_field.arm.replace("[]", "/*").split("/"))
    for row in select_rows(kind.arm_type, (UPGRADE_CHANNEL,)):
        if row.path == path:
            yield f"Azure sets it with {row.by}"


def _format_default(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    return ", ".join(str(entry).lower() if isinstance(entry, bool) else str(entry) for entry in values)


def describe_rules(rules: Mapping[str, Any]) -> Iterator[str]:
    """Put constraints into words, one phrase for each."""
    if rules.get("required"):
        yield "required"
    if "enum" in rules:
        yield f"{'one of' if len(rules['enum']) > 1 else 'always'} {join_with_or(rules['enum'], ALL_CHOICES)}"
    for least, most, unit in (("minLength", "maxLength", " characters"), ("minItems", "maxItems", " items")):
        yield from _describe_range(rules.get(least), rules.get(most), unit)
    yield from _describe_range(rules.get("minimum"), rules.get("maximum"), "")
    if "multipleOf" in rules:
        yield f"a multiple of {rules['multipleOf']}"
    if "pattern" in rules:
        yield f"matches {rules['pattern']}"


def _describe_range(least: Any, most: Any, unit: str) -> Iterator[str]:
    if least is not None and most is not None:
        yield f"{least} to {most}{unit}"
    elif least is not None:
        yield f"at least {least}{unit}"
    elif most is not None:
        yield f"at most {most}{unit}"


def _format_collection(type_: FieldType) -> str:
    """Return how the ARM path shows a list or a map."""
    if isinstance(type_, str) or "ref" in type_:
        return ""
    return _format_collection(type_["base"]) if "base" in type_ else "[]" if "list" in type_ else "/*"
