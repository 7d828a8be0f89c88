"""The fields of a kind, each with its path in the manifest, its path in the ARM body, and its rules in words.

Separate from `explain`, since the schemas for editors describe the same fields in the same words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gitsync.catalog.aso_types import ASO_TYPES
from gitsync.catalog.type_words import join_with_or
from gitsync.model.facts import Field, FieldType, Kind, TypeFacts

ALL_CHOICES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPlace:
    """A field with its path in the manifest, and in the ARM body ("" if it is not sent)."""

    name: str  # the last step of the path; it may have dots itself
    path: str
    arm: str
    field: Field


def find_spec(kind: Kind) -> FieldPlace:
    """The place of a kind's spec."""
    return FieldPlace(name="spec", path="spec", arm="", field={"type": {"ref": kind.spec}})


def list_fields(place: FieldPlace, kind: Kind) -> Iterator[FieldPlace]:
    """The fields inside a field, sorted. A union has no path in the ARM body: it is the content of its member."""
    type_ = place.field["type"]
    facts = find_type_facts(type_, kind)
    if facts is None:
        return
    collection = _format_collection(type_)
    for name, field in sorted(facts["fields"].items()):
        own = "" if facts.get("oneOf") and not field.get("meta") else field.get("arm", "")
        is_sent = bool(field.get("arm")) and (bool(place.arm) or "." not in place.path)
        arm = "/".join(filter(None, (place.arm + collection, own))) if is_sent else ""
        yield FieldPlace(name=name, path=f"{place.path}.{name}", arm=arm, field=field)


def find_type_facts(type_: FieldType, kind: Kind) -> TypeFacts | None:
    """The named fields of a type, or of the members of a list or map; None for a scalar."""
    while isinstance(type_, Mapping) and "ref" not in type_:
        type_ = next(type_[word] for word in ("base", "list", "map") if word in type_)
    if isinstance(type_, str):
        return ASO_TYPES.get(type_)
    return kind.types[type_["ref"]]


def find_named_type(type_: FieldType) -> str:
    """The type of ASO that a field has, or the members of its lists and maps; "" for none."""
    while isinstance(type_, Mapping) and "ref" not in type_:
        type_ = next(type_[word] for word in ("base", "list", "map") if word in type_)
    return type_ if isinstance(type_, str) and type_ in ASO_TYPES else ""


def resolve_rules(field: Field) -> tuple[FieldType, Mapping[str, Any]]:
    """The type of a field without the constraints around it, and all constraints of the field."""
    rules: dict[str, Any] = dict(field)
    type_ = rules.pop("type")
    while isinstance(type_, Mapping) and "base" in type_:
        rules |= {name: limit for name, limit in type_.items() if name != "base"}
        type_ = type_["base"]
    return type_, rules


def list_members(facts: TypeFacts) -> list[str]:
    """The members of a union, of which exactly one is set."""
    return [name for name, field in sorted(facts["fields"].items()) if not field.get("meta")]


def describe_place(place: FieldPlace, kind: Kind) -> tuple[str, ...]:
    """The rules of a field in words, and its path in the ARM body."""
    type_, rules = resolve_rules(place.field)
    notes = [*describe_rules(rules)]
    facts = find_type_facts(type_, kind)
    if facts and facts.get("oneOf"):
        notes.append(f"exactly one of {join_with_or(list_members(facts), ALL_CHOICES)}")
    if rules.get("optionalConfigMapPair"):
        name = place.name
        other = name.removesuffix("FromConfig") if name.endswith("FromConfig") else f"{name}FromConfig"
        notes.append(f"either this or {other}")
    if place.arm:
        notes.append(f"ARM: {place.arm}")
    return tuple(notes)


def describe_rules(rules: Mapping[str, Any]) -> Iterator[str]:
    """Constraints in words, one phrase for each."""
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
    """How the ARM path shows a list or a map."""
    if isinstance(type_, str) or "ref" in type_:
        return ""
    return _format_collection(type_["base"]) if "base" in type_ else "[]" if "list" in type_ else "/*"
