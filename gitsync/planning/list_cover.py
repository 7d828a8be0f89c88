"""Which lists may replace the single reads of a run: a cover of the resources, from the counts of the plan.

A list can only show that a resource is unchanged. So it covers those that the last run left Ready and that nothing but
their state in Azure decides about; the others are read by themselves in any case.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import cast
from zlib import crc32

from gitsync.desired.catalog.collections import Collection
from gitsync.desired.formats.arm_path import read_collection_type
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.facts import ListLevel
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply


@dataclass(kw_only=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class ResourceList:
    """One list that a run may request."""

    path: str = field(compare=False)  # as a manifest spells it
    folded_path: str  # the same, normalized
    level: ListLevel
    api_version: str
    principal: Hashable  # stands for the credential that requests it

    @cached_property
    def family(self) -> Hashable:
        """What the lists that a server offers or refuses alike have in common."""
        return (read_collection_type(self.folded_path), self.level.value, self.api_version, self.principal)


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class ListedResource:
    """A resource that lists may show."""

    key: Key
    arm_id: ArmId  # as its manifest spells it
    api_version: str
    principal: Hashable  # stands for the credential that reads it
    collections: tuple[Collection, ...]  # those that it is in, the narrowest first


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCover:
    """The lists of a run. Ids are normalized."""

    chains: Mapping[Key, tuple[ResourceList, ...]] = field(default_factory=dict)
    """The lists for each resource, the widest first: the next one is used if a server refuses the first."""

    wanted: Mapping[ResourceList, Mapping[IdKey, Hashable]] = field(default_factory=dict)
    """The ids that each list must show, each with the request that it replaces."""

    versions: Mapping[IdKey, str] = field(default_factory=dict)  # the api-version of every covered id


def choose_cover(resources: Iterable[ListedResource]) -> ListCover:
    """Cover resources with lists. A list is worth its request if it replaces two requests or more: narrower lists, or
    reads.
    """
    candidates: dict[Hashable, _Candidate] = {}
    narrow_first: dict[Key, tuple[_Candidate, ...]] = {}
    versions: dict[IdKey, str] = {}
    for resource in resources:
        arm_id, instead = resource.arm_id.key, cast("Hashable", resource.key)
        versions[arm_id] = resource.api_version
        narrow_first[resource.key] = found = _list_candidates(resource, candidates)
        for candidate in found:
            candidate.wanted[arm_id] = instead
            instead = candidate.resource_list
    worthy = {candidate for candidate in candidates.values() if candidate.replaces_two}
    return ListCover(
        chains={
            key: tuple(candidate.resource_list for candidate in reversed(found) if candidate in worthy)
            for key, found in narrow_first.items()
        },
        wanted={candidate.resource_list: candidate.wanted for candidate in worthy},
        versions=versions,
    )


@dataclass(slots=True, eq=False)
class _Candidate:
    """A list, with the ids that it would show, each with the request that it replaces. Mutable while resources are
    added.
    """

    resource_list: ResourceList
    wanted: dict[IdKey, Hashable] = field(default_factory=dict)

    @property
    def replaces_two(self) -> bool:
        first, *others = self.wanted.values()
        # Nearly always they are one object, and to compare equal lists field by field takes longer.
        return any(other is not first and other != first for other in others)


def _list_candidates(resource: ListedResource, candidates: dict[Hashable, _Candidate]) -> tuple[_Candidate, ...]:
    """List the lists of a resource, the narrowest first, each made once. That of a scope may be that of a
    subscription.
    """
    collections = {ArmId(collection.path).key: collection for collection in resource.collections}
    found = []
    for folded_path, (path, level) in collections.items():
        identity = (folded_path, level.value, resource.api_version, resource.principal)
        if identity not in candidates:
            candidates[identity] = _Candidate(
                ResourceList(
                    path=path,
                    folded_path=folded_path,
                    level=level,
                    api_version=resource.api_version,
                    principal=resource.principal,
                )
            )
        found.append(candidates[identity])
    return tuple(found)


def may_be_listed(apply: Apply) -> bool:
    """Return whether a list may approve a resource: the last run left it Ready, at the same id and api-version, and
    this run writes it only if it changed in Azure.
    """
    record, prepared = apply.record, apply.prepared
    # What a run writes or reports anyway is read: a list only saves the read of what is unchanged.
    if record is None or apply.skipped_because or apply.moved_from or not (prepared.is_valid and prepared.is_written):
        return False
    is_complete = record.claim.is_ours and record.spec.applied is not None and record.spec.baseline is not None
    is_settled = record.writes.operation is None and record.condition is not None and record.condition.is_ready
    is_same = record.arm_api_version == prepared.api_version and record.arm_id.is_same(prepared.arm_id)
    return is_complete and is_settled and is_same and not (prepared.is_watched or prepared.id_doubt)


# The sample of listed resources that a run also reads singly, so that a list which does not change is noticed.


ROTATION = 50
"""Days in which every resource is in the sample once; so one in fifty is each day."""


def is_sampled(key: Key, day: date) -> bool:
    """Return whether a resource is in the sample of a day."""
    # Not `hash`, which Python seeds differently in each process: workers and repeated runs of a day must agree.
    return (crc32(str(key).encode()) + day.toordinal()) % ROTATION == 0
