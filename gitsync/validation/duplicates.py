"""Do two manifests declare the same thing: one resource twice, or one ARM id under two names
(docs/reference/design.md#duplicate-resources).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from gitsync.catalog.type_words import format_short_key
from gitsync.problems.finding import Finding
from gitsync.validation.member import Member


def check_duplicates(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """Findings of each of the manifests that collide; of many, each names the first of the others."""
    yield from _same_key(members)
    yield from _same_arm_id(members)


def _same_key(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
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


def _same_arm_id(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """What is declared twice is left out: until one of the two is gone it is refused, and is no other's double."""
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
            given = bool(member.resource.spec.get("azureName"))
            yield (
                member,
                Finding(
                    code="ArmIdTwice",
                    path=("spec", "azureName") if given else ("metadata", "name"),
                    message=f"{_called(member, other)} and {_called(other, member)} ({other.resource.source}) "
                    f"declare the same resource in Azure: {member.arm_id}.",
                    hint="Remove one of them, or set different Azure names or owners.",
                ),
            )


def _called(member: Member, beside: Member) -> str:
    """What a manifest is called beside another that may have the same name in another namespace."""
    called = format_short_key(member.key)
    return called if called != format_short_key(beside.key) else f"{called} of namespace {member.key.namespace}"
