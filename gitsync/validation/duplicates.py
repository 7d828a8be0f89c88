"""Manifests that declare the same: one resource twice, or one ARM id under several names with different bodies
(docs/reference/design.md#duplicate-resources).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gitsync.catalog.type_words import format_short_key, quote_scalar
from gitsync.diff.leaf_changes import LeafChange, find_changes
from gitsync.formats.json_pointer import format_pointer
from gitsync.model.gvk import Key
from gitsync.model.template import (
    ConfigMapHole,
    ReferenceHole,
    ReferenceKeys,
    SecretHole,
    SecretMapHole,
    Text,
)
from gitsync.problems.finding import Finding
from gitsync.validation.member import Member

_MOST_CHANGES: Final = 3
"""Differences that a message shows."""

_SET_APART: Final = (
    "Make the bodies equal, set the reconcile policy skip on all but one, or set different Azure names or owners."
)


def check_duplicates(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """A finding for each of the manifests that collide, which names the first of the others."""
    yield from _check_keys(members)
    yield from _check_arm_ids(members)


def _check_keys(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    by_key = defaultdict(list)
    for member in members:
        by_key[member.key].append(member)
    for key, same in by_key.items():
        for member in same if len(same) > 1 else ():
            other = next(m for m in same if m is not member)
            yield (
                member,
                Finding(
                    code="ManifestTwice",
                    path=("metadata", "name"),
                    message=f"{format_short_key(key)} in namespace {key.namespace} is declared more than once: also "
                    f"in {other.resource.source} ({other.resource.gvk.api_version}).",
                    hint="Remove one of them: a resource has one manifest, at one version.",
                ),
            )


def _check_arm_ids(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """Check the ARM ids of all keys that are declared once; duplicate keys are reported already."""
    counts = Counter(member.key for member in members)
    arm_ids = {member.key: member.arm_id for member in members if member.arm_id}
    by_id = defaultdict(list)
    for member in members:
        if member.arm_id is not None and member.is_written and member.body is not None and counts[member.key] == 1:
            by_id[member.arm_id.casefold()].append(member)
    for same in by_id.values():
        if len(same) > 1:
            yield from _compare_bodies(same, [_make_comparable(member.body, arm_ids) for member in same])


def _compare_bodies(same: Sequence[Member], bodies: Sequence[Any]) -> Iterator[tuple[Member, Finding]]:
    """A finding for each manifest of one resource, with the difference to another one; none if all bodies are equal."""
    first, *rest = zip(same, bodies, strict=True)
    unequal = next((pair for pair in rest if _is_different(pair[1], first[1])), None)
    if unequal is None:
        return
    yield first[0], _make_different(first, unequal)
    for pair in rest:
        yield pair[0], _make_different(pair, first if _is_different(pair[1], first[1]) else unequal)


def _is_different(left: Any, right: Any) -> bool:
    return next(find_changes(left, right), None) is not None


def _make_different(here: tuple[Member, Any], there: tuple[Member, Any]) -> Finding:
    (member, body), (other, other_body) = here, there
    changes = list(find_changes(body, other_body))
    names = f"{_format_distinct(member, other)} and {_format_distinct(other, member)} ({other.resource.source})"
    shown = ", ".join(_format_change(change) for change in changes[:_MOST_CHANGES])
    more = f" and {len(changes) - _MOST_CHANGES} more" if len(changes) > _MOST_CHANGES else ""
    return Finding(
        code="ArmIdTwice",
        path=("spec", "azureName") if member.resource.spec.get("azureName") else ("metadata", "name"),
        message=f"{names} declare the same resource in Azure, {member.arm_id}, with different bodies: {shown}{more}.",
        hint=_SET_APART,
    )


def _format_change(change: LeafChange) -> str:
    path, here, there = change
    return f"{format_pointer(path)} is {_format_side(here)} here and {_format_side(there)} there"


def _format_side(value: Any) -> str:
    return "absent" if value is None else quote_scalar(value)


def _make_comparable(value: Any, arm_ids: Mapping[Key, str]) -> Any:
    """A body as plain values: a reference is its ARM id if that is known, another placeholder is its text."""
    match value:
        case dict():
            return {key: _make_comparable(child, arm_ids) for key, child in value.items()}
        case list():
            return [_make_comparable(child, arm_ids) for child in value]
        case ReferenceKeys():
            return sorted(str(_make_comparable(one, arm_ids)).casefold() for one in value.references)
        case ReferenceHole(key):
            return arm_ids.get(key, str(key))
        case SecretHole() | SecretMapHole() | ConfigMapHole() | Text():
            return f"<{value}>"
        case _:
            return value


def _format_distinct(member: Member, other: Member) -> str:
    """Name a manifest next to another, with its namespace if that has the same name in another namespace."""
    name = format_short_key(member.key)
    return name if name != format_short_key(other.key) else f"{name} of namespace {member.key.namespace}"
