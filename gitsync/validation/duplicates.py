"""Manifests that declare the same: one resource twice, or one ARM id under two names
(docs/reference/design.md#duplicate-resources).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from gitsync.catalog.type_words import format_short_key
from gitsync.problems.finding import Finding
from gitsync.validation.member import Member


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
    by_id = defaultdict(list)
    for member in members:
        if member.arm_id is not None and counts[member.key] == 1:
            by_id[member.arm_id.casefold()].append(member)
    for same in by_id.values():
        for member in same:
            other = next((m for m in same if m.key != member.key), None)
            if other is None:
                continue
            has_azure_name = bool(member.resource.spec.get("azureName"))
            yield (
                member,
                Finding(
                    code="ArmIdTwice",
                    path=("spec", "azureName") if has_azure_name else ("metadata", "name"),
                    message=f"{_format_distinct(member, other)} and {_format_distinct(other, member)} "
                    f"({other.resource.source}) declare the same resource in Azure: {member.arm_id}.",
                    hint="Remove one of them, or set different Azure names or owners.",
                ),
            )


def _format_distinct(member: Member, other: Member) -> str:
    """Name a manifest next to another, with its namespace if that has the same name in another namespace."""
    name = format_short_key(member.key)
    return name if name != format_short_key(other.key) else f"{name} of namespace {member.key.namespace}"
