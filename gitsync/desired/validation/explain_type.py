"""Describe an ARM type at one api-version, or a member of its body, as `explain` describes ASO's kinds.

The manifests are those of the kind AzureResource. Uses the facts only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gitsync.desired.catalog.any_type import NameSteps, TypeAndVersion, list_fixed_names, split_name
from gitsync.desired.catalog.arm_types import ArmType, open_arm_types
from gitsync.desired.catalog.body_paths import OWN_NAMES
from gitsync.desired.catalog.body_types import BodyMember, BodyType
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.refused_types import find_refusal
from gitsync.desired.catalog.type_paths import TypeMatch
from gitsync.desired.catalog.type_words import join_with_or
from gitsync.desired.formats.secret_names import is_secret_name
from gitsync.desired.validation.any_type_rules import describe_any_owner
from gitsync.desired.validation.explain import (
    ALL_CHOICES,
    Explanation,
    FieldRow,
    describe_name_rules,
    describe_rules,
    make_no_field,
)
from gitsync.model.facts import Kind

_BODY: Final = "spec.body"
_SHAPES: Final[Mapping[str, str]] = {"choice": "string", "integer": "number", "any": "any value"}
"""Shapes as `explain` names them. The source has one type for all numbers."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A member of a body, or the body."""

    name: str
    types: tuple[BodyType, ...]  # more than one if the variants of the object around it differ
    member: BodyMember | None = None  # as the first of the variants has it; None for the body itself
    by: str = ""  # the member that decides whether an object has this one; "" if all have it
    values: tuple[str, ...] = ()  # the values of `by` with which an object has it
    choices: int = 0  # how many values `by` can have


def explain_type(match: TypeMatch, catalog: Catalog, *, recursive: bool = False) -> Explanation:
    """Explain a type or a member of its body, in any case. ConfigError if the body has no such member."""
    body = open_arm_types().find_body(match.type.name, match.version.api_version)
    part, path = _Part("", () if body is None else (body,)), _BODY
    for name in _skip_body(match.fields, body):
        part = _descend(part, name, path)
        path = f"{path}.{part.name}"
    return Explanation(
        facts=tuple(describe_arm_type(match, catalog)),
        field=path,
        type=_describe_type(part.types),
        notes=tuple(_describe_part(part)),
        rows=tuple(_make_rows(part, deep=recursive, is_body=path == _BODY)),
    )


def describe_arm_type(match: TypeMatch, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """List facts about a type, as pairs of a heading and a text."""
    arm_type, version = match.type, match.version
    kind = catalog.any_type(TypeAndVersion(arm_type.name, version.api_version))
    yield "kind", kind.gvk.kind if version.writable else "none: resources of the type can only be read"
    yield "apiVersion", kind.gvk.api_version
    yield "ARM", f"{arm_type.name}, api-version {version.api_version}"
    yield "versions", _describe_versions(arm_type)
    yield "ASO", _describe_kind(kind, catalog)
    steps = split_name(arm_type.name, "name") or NameSteps("", "")
    yield "owner", describe_any_owner(kind, steps, catalog)[0]
    yield "name", _describe_name(kind)
    yield "Azure can", ", ".join(sorted(map(str.lower, kind.operations))) if version.writable else "get"
    if version.actions:
        yield "actions", ", ".join(version.actions)
    if refusal := find_refusal(arm_type.name):
        yield "refused", refusal.reason


def _describe_versions(arm_type: ArmType) -> str:
    stable, preview = arm_type.newest_stable, arm_type.newest_preview
    count = f"{len(arm_type.versions)} in all"
    if not arm_type.is_writable:
        return count
    newest = (
        f"newest stable {stable}" if stable else "none is stable",
        f"newest preview {preview}" if preview else "",
        count,
    )
    return ", ".join(filter(None, newest))


def _describe_kind(kind: Kind, catalog: Catalog) -> str:
    if kind.counterpart is None:
        return "no kind"
    group, name = kind.counterpart
    versions = catalog.list_api_versions()[catalog.arm_type(group, name) or kind.arm_type]
    return f"{name}.{group}, at {join_with_or(versions, ALL_CHOICES)}"


def _describe_name(kind: Kind) -> str:
    if names := list_fixed_names(kind.arm_type, kind.api_version):
        return join_with_or(names, ALL_CHOICES)
    body = open_arm_types().find_body(kind.arm_type, kind.api_version)
    name = body.find_member("name") if body is not None else None
    rules = [*_describe_rules((name.type,))] if name is not None else []
    return "; ".join(dict.fromkeys(["spec.azureName, else metadata.name", *rules, *describe_name_rules(kind)]))


# The members of a body.


def _skip_body(fields: tuple[str, ...], body: BodyType | None) -> tuple[str, ...]:
    """Return the path of members without `spec.body`, where manifests have them."""
    # A body may have a member `spec` of its own, which comes first.
    is_given = ".".join(fields[:2]).casefold() == _BODY and (body is None or body.find_member("spec") is None)
    return fields[2:] if is_given else fields


def _descend(part: _Part, name: str, path: str) -> _Part:
    """Find a member, in any case. ConfigError if there is none."""
    inner_parts = {inner.name.casefold(): inner for inner in _list_parts(part, is_body=path == _BODY)}
    if (found := inner_parts.get(name.casefold())) is not None:
        return found
    raise make_no_field(path, name, [inner.name for inner in inner_parts.values()])


def _list_parts(part: _Part, *, is_body: bool) -> list[_Part]:
    """List the members of an object, or of the entries of a list or map, sorted."""
    parts: dict[str, _Part] = {}
    for type_ in map(_skip_collections, part.types):
        for member in type_.members.values():
            _add_part(parts, _Part(member.name, (member.type,), member))
        for value in type_.variant_names:
            variant = type_.find_variant(value)
            for member in variant.members.values() if variant is not None else ():
                _add_part(
                    parts, _Part(member.name, (member.type,), member, type_.by, (value,), len(type_.variant_names))
                )
    own = OWN_NAMES if is_body else frozenset()
    return [parts[name] for name in sorted(parts, key=str.casefold) if name.casefold() not in own]


def _add_part(parts: dict[str, _Part], part: _Part) -> None:
    """Add a member to those of other variants."""
    known = parts.setdefault(part.name, part)
    if known is not part:
        types = tuple(dict.fromkeys((*known.types, *part.types)))
        parts[part.name] = replace(known, types=types, values=(*known.values, *part.values))


def _skip_collections(type_: BodyType) -> BodyType:
    """Return the type of the entries of lists and maps."""
    while (inner := _find_entry(type_)) is not None:
        type_ = inner
    return type_


def _find_entry(type_: BodyType) -> BodyType | None:
    """Return the type of the entries of a list or map; None for other types."""
    # An object that allows further members beside its own is not a map.
    return type_.item or (None if type_.members or type_.by else type_.others)


def _make_rows(
    part: _Part, *, deep: bool, is_body: bool, depth: int = 0, around: tuple[BodyType, ...] = ()
) -> Iterator[FieldRow]:
    """Make the rows of the members inside one; if `deep`, of all below, except inside a type that contains itself."""
    types = tuple(map(_skip_collections, part.types))
    if any(type_ in around for type_ in types):
        return
    for inner in _list_parts(part, is_body=is_body):
        yield FieldRow(
            depth=depth,
            name=inner.name,
            type=_describe_type(inner.types),
            notes=tuple(_describe_part(inner)),
        )
        if deep:
            yield from _make_rows(inner, deep=True, is_body=False, depth=depth + 1, around=(*around, *types))


def describe_member(member: BodyMember) -> Iterator[str]:
    """Describe the rules of a member in words."""
    return _describe_part(_Part(member.name, (member.type,), member))


def _describe_type(types: Iterable[BodyType]) -> str:
    """Describe a type in a word: "string", "list of object", "map of string"."""
    return join_with_or(dict.fromkeys(map(describe_body_type, types))) or "nothing"


def describe_body_type(type_: BodyType) -> str:
    """Describe a type in a word."""
    if type_.item is not None:
        return f"list of {describe_body_type(type_.item)}"
    if (entry := _find_entry(type_)) is not None:
        return f"map of {describe_body_type(entry)}"
    return "object" if type_.is_object else _SHAPES.get(type_.shape, type_.shape)


def _describe_part(part: _Part) -> Iterator[str]:
    """Describe the rules of a member in words."""
    member = part.member
    if member is None:
        return
    if member.is_read_only:
        yield "set by Azure" + (", and required" if member.is_required else "")
    elif member.is_required:
        yield "required"
    # A member of all variants does not depend on the choice.
    if part.values and part.by != part.name and len(part.values) < part.choices:
        yield f"if {part.by} is {join_with_or(part.values)}"
    if member.is_write_only:
        yield "Azure does not return it"
    if is_secret_name(part.name) or any(type_.is_sensitive for type_ in part.types):
        yield "may be a secret: use $secret"
    yield from _describe_rules(part.types)


def _describe_rules(types: tuple[BodyType, ...]) -> Iterator[str]:
    """Describe the values and limits of types that one member has."""
    choices = list(dict.fromkeys(choice for type_ in types for choice in type_.choices))
    if choices:
        is_closed = all(type_.shape == "choice" for type_ in types)
        yield from (
            describe_rules({"enum": choices}) if is_closed else (f"such as {join_with_or(choices, ALL_CHOICES)}",)
        )
    # Variants may have different limits, which would contradict each other in one line.
    if len(types) == 1:
        (type_,) = types
        yield from describe_rules({**type_.limits, **({"pattern": type_.pattern} if type_.pattern else {})})
