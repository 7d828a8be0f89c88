"""What Azure has in a scope, and which of it git does not have: by ARM's lists, or by Resource Graph.

Both ways decide by the same tables as an import, so what Azure made by itself is not a stray.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gitsync.agent.attribution.resource_graph import query_rows
from gitsync.agent.checks.check_requests import CheckRequests
from gitsync.desired.catalog.children import KindTree, find_only_name, is_made_by_azure
from gitsync.desired.formats.json_members import read_mapping, read_text
from gitsync.desired.problems.field_path import find_member
from gitsync.extensions.registry import Registry
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.facts import Kind
from gitsync.model.gvk import AZURE_RESOURCE
from gitsync.workflows.imports.acceptance import BY_AZURE, Acceptance
from gitsync.workflows.imports.conversion.found_resources import FoundResource, Omission, SearchResult
from gitsync.workflows.imports.conversion.imported_manifests import is_as_made
from gitsync.workflows.imports.conversion.scope import Filters, ImportScope
from gitsync.workflows.imports.extension_resources import INHERITED, ORPHAN
from gitsync.workflows.imports.import_report import is_refusal
from gitsync.workflows.imports.resource_discovery import MANAGED, RESOURCES_VERSION, Discovery
from gitsync.workflows.imports.resource_reader import Body, ResourceReader
from gitsync.workflows.unmanaged.inventory import Inventory
from gitsync.workflows.unmanaged.subscription_scope import ASSIGNMENTS, list_at_subscription, read_role_names

MADE_BY_OWNER: Final = "made by the resource that manages it"

_UNSAID: Final = frozenset({INHERITED, ORPHAN})
"""Reasons of an import to leave something out that are none here."""

_AZURES_GROUPS: Final = re.compile(
    r"NetworkWatcherRG|cloud-shell-storage-\w+|DefaultResourceGroup-\w+|AzureBackupRG_\w+|Default-ActivityLogAlerts",
    re.IGNORECASE,
)
"""Groups that Azure services make by themselves, by the pages of Network Watcher, Cloud Shell, Azure Monitor and Azure
Backup.
"""

_DISKS: Final = "microsoft.compute/disks"
_MOST_GROUPS = 300  # of one query
_MOST_PAGES = 100  # of 1,000 rows
_UNQUOTABLE = re.compile(r"[^\w.()-]")
_QUERY = """\
Resources
| where resourceGroup in~ ({groups})
| project id
| order by id asc"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stray:
    """A resource that git does not have."""

    arm_id: ArmId
    arm_type: str
    kind: str  # "" if gitsync does not manage its type
    body: Mapping[str, Any]  # what Azure showed of it, which may be little
    created: str = ""  # the time of its creation if a list has it
    role: str = ""  # the name of the role of a role assignment, "" if it is not known

    @property
    def group(self) -> str:
        """The name of its resource group."""
        return self.arm_id.resource_group or ""

    @property
    def label(self) -> str:
        """Its kind, or its type if no kind has this type alone."""
        return self.kind if self.kind not in {"", AZURE_RESOURCE[1]} else self.arm_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Estate:
    """What is in the scope."""

    strays: tuple[Stray, ...] = ()  # sorted by ARM id
    managed: Mapping[str, int]  # how many resources of each kind git has
    left_out: tuple[Omission, ...] = ()
    unread: tuple[str, ...] = ()  # what was not read, since a sample had nothing
    gaps: tuple[str, ...] = ()  # what could not be read: there may be strays
    groups: tuple[str, ...] = ()  # the names of those that were looked into
    closed: int = 0  # how many groups that git does not have were not looked into

    def add_refusals(self, lines: Iterable[str]) -> Estate:
        """Return the same with what Azure refused to read, of which a missing right is a gap."""
        return replace(self, gaps=tuple(sorted({*self.gaps, *filter(is_refusal, lines)})))


class EstateSearch:
    """The search in one subscription. `is_full` reads every collection, and not a sample of those with many parents.
    `looks_beyond` the groups of the scope: for others of the subscription, and for what is directly in it.
    """

    def __init__(
        self,
        reader: ResourceReader,
        registry: Registry,
        tree: KindTree,
        inventory: Inventory,
        *,
        is_full: bool,
        looks_beyond: bool,
    ) -> None:
        def is_untouched(resource: FoundResource) -> bool:
            # Of a type without a kind in ASO, it is not known what Azure sets in the one that comes with its parent.
            is_open = resource.kind.is_any_type and bool(find_only_name(resource.kind))
            return (is_open or is_as_made(resource)) and not inventory.has(resource.arm_id)

        self._gaps: list[str] = []
        self._looks_beyond = looks_beyond
        self._reader = reader
        self._tree = tree
        self._inventory = inventory
        self._acceptance = Acceptance(registry, Filters(), is_untouched, is_sparing=not is_full)
        self._discovery = Discovery(reader, tree, self._acceptance)

    async def search_lists(self, scope: ImportScope) -> Estate:
        """Search by ARM's lists. Raises SourceError if the scope cannot be read, and ArmError."""
        await self._discovery.search(scope)
        return await self._finish(scope)

    async def search_graph(self, scope: ImportScope, requests: CheckRequests) -> Estate:
        """Search by Resource Graph, which has neither children nor extension resources and is hours late: what git does
        not have is read by itself. Raises SourceError if the groups cannot be read, and ArmError.
        """
        groups = await self._discovery.search_groups(scope)
        ids = await self._query(groups, scope, requests)
        managed: Counter[str] = Counter()
        known, foreign = [], []
        for arm_id in ids:
            arm_type = arm_id.arm_type
            kind = self._tree.find(arm_type)
            if self._inventory.has(arm_id):
                managed[kind.gvk.kind if kind and not kind.is_any_type else arm_type] += 1
            elif kind:
                known.append((kind, _spell_type(arm_id, kind.arm_type)))
            else:
                foreign.append(arm_id)
        bodies = await asyncio.gather(*(self._reader.try_read(arm_id, kind.api_version) for kind, arm_id in known))
        await self._acceptance.accept(
            [
                FoundResource(kind=kind, arm_id=arm_id, owner_id=arm_id.parent, body=body)
                for (kind, arm_id), body in zip(known, bodies, strict=True)
                if body is not None  # Resource Graph is late: it is gone
            ]
        )
        await self._confirm_foreign(foreign, scope)
        return await self._finish(scope, managed)

    @property
    def missing(self) -> tuple[str, ...]:
        """The names and patterns of the scope that no group has."""
        return self._discovery.missing_groups

    async def _finish(self, scope: ImportScope, managed: Mapping[str, int] | None = None) -> Estate:
        """Look beyond the groups, by ARM's lists, and separate what git has from what it does not."""
        closed = 0
        if self._looks_beyond:
            closed = await self._accept_new(self._discovery.other_groups)
            self._gaps += await list_at_subscription(scope.root, self._reader, self._tree, self._acceptance)
        estate = self._conclude(self._acceptance.finish(), managed)
        named = await self._name_roles(scope, estate.strays)
        return replace(estate, strays=named, groups=self._discovery.groups, closed=closed)

    async def _accept_new(self, groups: Sequence[FoundResource]) -> int:
        """Take groups that git does not have for strays, except those that are Azure's. Returns how many are."""
        made = {
            group.arm_id: MANAGED if group.body.get("managedBy") else BY_AZURE for group in groups if _is_azures(group)
        }
        for arm_id, reason in made.items():
            self._acceptance.leave_out(arm_id, reason)
        return len(await self._acceptance.accept([group for group in groups if group.arm_id not in made]))

    async def _name_roles(self, scope: ImportScope, strays: tuple[Stray, ...]) -> tuple[Stray, ...]:
        """Name the roles of role assignments: one list has all of them."""
        if not any(stray.arm_type == ASSIGNMENTS for stray in strays):
            return strays
        names = await read_role_names(scope.root, self._reader)

        def find_role(stray: Stray) -> str:
            role_id = read_text(read_mapping(stray.body, "properties"), "roleDefinitionId")
            return names.get(ArmId(role_id).name.casefold(), "")

        return tuple(
            replace(stray, role=find_role(stray)) if stray.arm_type == ASSIGNMENTS else stray for stray in strays
        )

    async def _query(self, groups: Sequence[FoundResource], scope: ImportScope, requests: CheckRequests) -> list[ArmId]:
        """Query the ARM ids of the resources in groups, sorted, with the groups as they are spelled themselves."""
        by_name = {group.name.casefold(): group.arm_id for group in groups if not _UNQUOTABLE.search(group.name)}
        for group in groups:
            if group.name.casefold() not in by_name:
                self._gaps.append(f"{group.arm_id}: its name cannot be part of a query; run without --fast")
        names, ids = sorted(by_name), dict[IdKey, ArmId]()
        for start in range(0, len(names), _MOST_GROUPS):
            literals = ",".join(f"'{name}'" for name in names[start : start + _MOST_GROUPS])
            query = _QUERY.format(groups=literals)
            found = await query_rows(query, [scope.subscription], requests, most_pages=_MOST_PAGES)
            if found.gap:
                self._gaps.append(f"Resource Graph: {found.gap}")
            for arm_id in (ArmId(read_text(row, "id")) for row in found.rows):
                folder = by_name.get((arm_id.resource_group or "").casefold(), "")
                # Resource Graph has lower-case names of groups, so its ids get the spelling of ARM.
                if folder and arm_id.is_below(ArmId(f"{folder}/providers")):
                    ids[arm_id.key] = ArmId(f"{folder}/{arm_id.split('/', 5)[5]}")
        return [ids[arm_id] for arm_id in sorted(ids)]

    async def _confirm_foreign(self, arm_ids: Iterable[ArmId], scope: ImportScope) -> None:
        """Note those of the resources without a kind that ARM lists: no api-version is known to read one by itself."""
        by_type: dict[str, list[ArmId]] = {}
        for arm_id in arm_ids:
            by_type.setdefault(arm_id.arm_type.casefold(), []).append(arm_id)
        # A quote would end the text in the filter.
        queries = [{"$filter": f"resourceType eq '{arm_type}'"} for arm_type in sorted(by_type) if "'" not in arm_type]
        lists = await asyncio.gather(
            *(self._reader.read_list(f"{scope.root}/resources", RESOURCES_VERSION, query) for query in queries)
        )
        listed = {ArmId(entry.get("id", "")).key: entry for entries in lists for entry in entries}
        for arm_id in (arm_id for same_type in by_type.values() for arm_id in same_type):
            if entry := listed.get(arm_id.key):
                self._acceptance.note_foreign(arm_id, entry, self._tree.explain_missing(arm_id.arm_type))

    def _conclude(self, result: SearchResult, managed: Mapping[str, int] | None = None) -> Estate:
        """Separate what git has from what it does not. `managed` are those that a search has not looked at."""
        # One that is as Azure made it is here if something is below it.
        known = [resource for resource in result.resources if self._acceptance.is_set(resource)]
        found = [_make_stray(resource.arm_id, resource.kind, resource.body, resource.created) for resource in known]
        found += [_make_stray(resource.arm_id, None, resource.entry) for resource in result.foreign]
        # An import cannot declare an extension without what it extends, but in Azure it is a stray anyway.
        orphans = [ArmId(omission.subject) for omission in result.left_out if omission.reason == ORPHAN]
        found += [_make_stray(arm_id, self._tree.find(arm_id.arm_type), {}) for arm_id in orphans]
        counts = Counter(managed or {})
        unsaid = _UNSAID | {self._tree.explain_missing(resource.arm_id.arm_type) for resource in result.foreign}
        left_out = [omission for omission in result.left_out if omission.reason not in unsaid]
        strays: dict[IdKey, Stray] = {}
        for stray in found:
            if self._inventory.has(stray.arm_id):
                counts[stray.label] += 1
            elif reason := _describe_maker(stray):
                left_out.append(Omission(reason, stray.arm_id))
            else:
                strays[stray.arm_id.key] = stray
        return Estate(
            strays=tuple(strays[arm_id] for arm_id in sorted(strays)),
            managed=dict(sorted(counts.items())),
            left_out=tuple(sorted(left_out)),
            unread=result.unread,
            gaps=tuple(sorted(self._gaps)),
        )


def _is_azures(group: FoundResource) -> bool:
    """Return whether Azure made a group, for a resource or by itself."""
    return bool(group.body.get("managedBy")) or _AZURES_GROUPS.fullmatch(group.name) is not None


def _make_stray(arm_id: ArmId, kind: Kind | None, body: Body, created: str = "") -> Stray:
    return Stray(
        arm_id=arm_id,
        arm_type=kind.arm_type if kind else arm_id.arm_type,
        kind=kind.gvk.kind if kind else "",
        body=body,
        created=created or read_text(body, "createdTime") or read_text(read_mapping(body, "properties"), "createdOn"),
    )


def _spell_type(arm_id: ArmId, arm_type: str) -> ArmId:
    """Spell the type in the id of a resource in a group as the catalog does. Resource Graph spells it in any way."""
    group, _, path = arm_id.partition("/providers/")
    namespace, *types = arm_type.split("/")
    pairs = zip(types, path.split("/")[2::2], strict=True)
    return ArmId("/".join((group, "providers", namespace, *(f"{step}/{name}" for step, name in pairs))))


def _describe_maker(stray: Stray) -> str:
    """Describe who made a resource with another one, so that it is not a stray; "" for a stray. A disk that a machine
    boots from comes and goes with it; a data disk names its machine, too, but somebody made it.
    """
    if is_made_by_azure(stray.arm_type, stray.arm_id.name, stray.body):
        return BY_AZURE
    is_data_disk = stray.arm_type.casefold() == _DISKS and not find_member(stray.body, "properties", "osType")
    return MADE_BY_OWNER if stray.body.get("managedBy") and not is_data_disk else ""
