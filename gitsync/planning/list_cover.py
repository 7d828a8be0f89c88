"""Which lists may replace the single reads of a run: a cover of the resources, from the counts of the plan.

A list can only say of a resource that it is unchanged. So it covers those that the last run left Ready, and that only
their state in Azure decides about; the others are read by themselves in any case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from gitsync.catalog.collections import Collection
from gitsync.formats.arm_path import find_collection_type, is_same_id, normalize_id
from gitsync.model.facts import ListLevel
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceList:
    """One list that a run may ask for: its path as a manifest spells it, and normalized. `principal` stands for the
    credential that asks.
    """

    path: str = field(compare=False)
    place: str
    level: ListLevel
    api_version: str
    principal: Hashable

    @property
    def family(self) -> Hashable:
        """What the lists that a server offers or refuses alike have in common."""
        return (find_collection_type(self.place), self.level, self.api_version, self.principal)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedResource:
    """A resource that lists may show: `collections` are those that it is in, the narrowest first."""

    key: Key
    arm_id: str
    api_version: str
    principal: Hashable
    collections: tuple[Collection, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCover:
    """`chains` has the lists to ask for each resource, the widest first: the next one if a server refuses the first.

    `wanted` has the ids that a list is asked for, each with the request that would be needed for it otherwise, and
    `versions` the api-version of every covered id. Ids are normalized.
    """

    chains: Mapping[Key, tuple[ResourceList, ...]] = field(default_factory=dict)
    wanted: Mapping[ResourceList, Mapping[str, Hashable]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def find_cover(resources: Iterable[ListedResource]) -> ListCover:
    """Cover resources with lists. A list is worth asking for if it replaces two requests or more: narrower lists, or
    reads.
    """
    resources = tuple(resources)
    narrow_first = {one.key: _find_lists(one) for one in resources}
    wanted: defaultdict[ResourceList, dict[str, Hashable]] = defaultdict(dict)
    for one in resources:
        instead: Hashable = one.key
        for resource_list in narrow_first[one.key]:
            wanted[resource_list][normalize_id(one.arm_id)] = instead
            instead = resource_list
    worthy = {resource_list for resource_list, ids in wanted.items() if len(set(ids.values())) > 1}
    return ListCover(
        chains={key: tuple(one for one in reversed(lists) if one in worthy) for key, lists in narrow_first.items()},
        wanted={resource_list: wanted[resource_list] for resource_list in worthy},
        versions={normalize_id(one.arm_id): one.api_version for one in resources},
    )


def _find_lists(resource: ListedResource) -> tuple[ResourceList, ...]:
    """The lists of a resource, the narrowest first. That of a scope may be that of a subscription."""
    collections = {normalize_id(one.path): one for one in resource.collections}
    return tuple(
        ResourceList(
            path=one.path,
            place=place,
            level=one.level,
            api_version=resource.api_version,
            principal=resource.principal,
        )
        for place, one in collections.items()
    )


def may_be_listed(apply: Apply) -> bool:
    """Tell whether a list may approve a resource: the last run left it Ready, at the same id and api-version, and this
    one writes it only if Azure has changed.
    """
    record, prepared = apply.record, apply.prepared
    if record is None or apply.held or apply.moved_from or not (prepared.is_valid and prepared.is_written):
        return False
    is_complete = record.claim.is_ours and record.applied is not None and record.baseline is not None
    is_settled = record.operation is None and record.condition is not None and record.condition.is_ready
    is_same = record.arm_api_version == prepared.api_version and is_same_id(record.arm_id, prepared.arm_id or "")
    return is_complete and is_settled and is_same and not (prepared.is_watched or prepared.id_doubt)
