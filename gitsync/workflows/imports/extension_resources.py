"""Find extension resources: those that extend resources of any kind, such as role assignments."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from gitsync.desired.catalog.children import KindTree
from gitsync.model.arm_id import ArmId
from gitsync.model.facts import Kind
from gitsync.workflows.imports.acceptance import Acceptance
from gitsync.workflows.imports.conversion.found_resources import FoundResource
from gitsync.workflows.imports.conversion.scope import Filters, ImportScope
from gitsync.workflows.imports.descendants import look_around, look_everywhere, make_found, reads_all
from gitsync.workflows.imports.resource_reader import Body, ResourceReader

INHERITED: Final = "inherited from above"
ORPHAN: Final = "extends a resource that is not imported"

_LISTED: Final = (
    "Microsoft.Authorization/locks",
    "Microsoft.Authorization/policyAssignments",
    "Microsoft.Authorization/policyExemptions",
    "Microsoft.Authorization/roleAssignments",
    "Microsoft.EventGrid/eventSubscriptions",
)
"""Extensions that a list of a subscription, of a group or of a resource shows, with those of what is below it."""

_ROLES: Final = "Microsoft.Authorization/roleDefinitions"
_BUDGETS: Final = "Microsoft.Consumption/budgets"
"""Each scope lists its own alone."""
_GROUPS: Final = "microsoft.resources/resourcegroups"

_CUSTOM: Final = {"$filter": "type eq 'CustomRole'"}

_CLUSTERS: Final = "microsoft.containerservice/managedclusters"
_MACHINES: Final = ("microsoft.compute/virtualmachines", "microsoft.compute/virtualmachinescalesets")
_EVENT_SOURCES: Final = (
    "microsoft.apimanagement/service",
    "microsoft.appconfiguration/configurationstores",
    "microsoft.cache/redis",
    "microsoft.containerregistry/registries",
    _CLUSTERS,
    "microsoft.devices/iothubs",
    "microsoft.eventgrid/domains",
    "microsoft.eventgrid/topics",
    "microsoft.eventhub/namespaces",
    "microsoft.keyvault/vaults",
    "microsoft.machinelearningservices/workspaces",
    "microsoft.servicebus/namespaces",
    "microsoft.signalrservice/signalr",
    "microsoft.storage/storageaccounts",
    "microsoft.web/serverfarms",
    "microsoft.web/sites",
)
"""Types that Azure Event Grid has events of: the list of a group shows the subscriptions to the group's own alone."""

_HIDDEN: Final[Mapping[str, tuple[str, ...]]] = {
    _BUDGETS: (_GROUPS,),
    "Microsoft.EventGrid/eventSubscriptions": _EVENT_SOURCES,
    "Microsoft.Insights/dataCollectionRuleAssociations": (*_MACHINES, _CLUSTERS),
    "Microsoft.Insights/diagnosticSettings": (),
    "Microsoft.KubernetesConfiguration/extensions": (_CLUSTERS,),
    "Microsoft.KubernetesConfiguration/fluxConfigurations": (_CLUSTERS,),
}
"""Extensions that only a list of the extended resource shows, and the types that have them; none stands for all."""

_WITHOUT_SETTINGS: Final = frozenset(
    {
        "microsoft.compute/disks",
        "microsoft.compute/images",
        "microsoft.compute/snapshots",
        "microsoft.insights/actiongroups",
        "microsoft.insights/metricalerts",
        "microsoft.insights/scheduledqueryrules",
        "microsoft.managedidentity/userassignedidentities",
        "microsoft.network/natgateways",
        "microsoft.network/privateendpoints",
        "microsoft.network/routetables",
    }
)
"""Types that Azure Monitor's list of supported resources does not have: they have no diagnostic settings."""


class ExtensionSearch:
    """The search for what extends the resources that were found before."""

    def __init__(self, reader: ResourceReader, tree: KindTree, acceptance: Acceptance) -> None:
        self._reader = reader
        self._tree = tree
        self._acceptance = acceptance

    async def find(self, scope: ImportScope, roots: Sequence[FoundResource]) -> None:
        """Find what extends the scope, and what is in it. `roots` are groups, and resources directly in groups."""
        bases = [scope.root]
        if not scope.is_complete:  # a list of a group shows what extends the resources in it
            groups = [root for root in roots if not root.owner_id]
            bases = [root.arm_id for root in roots if not any(root.arm_id.is_below(group.arm_id) for group in groups)]
        searches = [self._find_listed(arm_type, bases, scope) for arm_type in _LISTED]
        if scope.is_complete:
            searches.append(self._find_listed(_ROLES, bases, scope, _CUSTOM))
            searches.append(self._find_listed(_BUDGETS, bases, scope))
        searches += [self._find_hidden(arm_type, types, roots) for arm_type, types in _HIDDEN.items()]
        await asyncio.gather(*searches)

    def _choose(self, arm_type: str) -> Kind | None:
        return self._tree.find(arm_type) if self._acceptance.filters.admits_type(arm_type) else None

    async def _find_listed(
        self, arm_type: str, bases: Sequence[ArmId], scope: ImportScope, query: Mapping[str, str] | None = None
    ) -> None:
        kind = self._choose(arm_type)
        if kind is None:
            return
        paths = [f"{base}/providers/{kind.arm_type}" for base in bases]
        lists = await asyncio.gather(*(self._reader.try_list(path, kind, query) for path in paths))
        extensions = [
            self._add(kind, base, entry, scope) for base, entries in zip(bases, lists, strict=True) for entry in entries
        ]
        await self._acceptance.accept(
            # Lists of a group and of a resource in it show the same extension.
            list({resource.arm_id.key: resource for resource in extensions if resource}.values())
        )

    def _add(self, kind: Kind, base: ArmId, entry: Body, scope: ImportScope) -> FoundResource | None:
        """Return an extension with what it extends as its owner; None if that is not imported, or is above the scope of
        the list.
        """
        arm_id = ArmId(entry.get("id", ""))
        extended = ArmId(arm_id[: max(arm_id.key.rfind("/providers/"), 0)])
        known = self._acceptance.find(extended)
        is_root = scope.is_complete and extended.is_same(scope.root)
        # A list shows role assignments of management groups too, which no manifest of this scope can declare.
        if not (extended.is_below(base) or extended.is_same(base)):
            self._acceptance.leave_out(arm_id, INHERITED)
            return None
        # A type that is named is imported in full, also on resources that are not imported.
        if not (known or is_root or self._acceptance.filters.names_type(kind.arm_type)):
            self._acceptance.leave_out(arm_id, ORPHAN)
            return None
        owner = known.arm_id if known else extended
        own_id = ArmId(f"{owner}/providers/{kind.arm_type}/{arm_id.name}")
        return FoundResource(kind=kind, arm_id=own_id, owner_id=owner, body=entry)

    async def _find_hidden(self, arm_type: str, types: tuple[str, ...], roots: Iterable[FoundResource]) -> None:
        kind = self._choose(arm_type)
        if kind is None:
            return
        by_type: dict[str, list[FoundResource]] = {}
        for root in roots:
            extended = root.kind.arm_type.casefold()
            if extended in types or (not types and root.owner_id and extended not in _WITHOUT_SETTINGS):
                by_type.setdefault(root.kind.arm_type, []).append(root)

        async def look(parent: FoundResource) -> list[FoundResource]:
            path = f"{parent.arm_id}/providers/{kind.arm_type}"
            entries = await self._reader.try_list(path, kind)
            listed = {ArmId(f"{path}/{ArmId(entry.get('id', '')).name}"): entry for entry in entries}
            bodies = await self._reader.complete(kind, listed)
            return await self._acceptance.accept(make_found(kind, bodies, parent.arm_id))

        for extended in sorted(by_type):
            if reads_all([kind], self._acceptance):
                await look_everywhere(by_type[extended], look)
            else:
                await look_around(by_type[extended], look, f"{arm_type} of {extended}", self._acceptance)


def has_hidden_types(filters: Filters) -> bool:
    """Return whether filters name a type that only the extended resources show."""
    return any(map(filters.names_type, _HIDDEN))
