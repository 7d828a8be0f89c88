"""Finds what exists in Azure: resource groups, the resources in them, what is below those, and what extends them.

A collection of more than `MANY` parents is looked into at `SAMPLE` of them first. If it is empty at all of these, the
others are not asked, and the findings name it: most kinds have collections that hardly anybody uses. A filter that names the
type, or a search that is not `sparing`, asks at all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gitsync.catalog.collections import find_collections
from gitsync.errors import SourceError
from gitsync.extensions.api import Imported, Subject, imported
from gitsync.extensions.registry import Registry
from gitsync.formats.arm_path import find_resource_group, is_below, is_same_id
from gitsync.imports.azure_made import is_made_by_azure
from gitsync.imports.children import KindTree, find_embedded, is_in_parent
from gitsync.imports.filters import EXCLUDED, NO_MATCH, Filters
from gitsync.imports.found import GROUPS, Findings, FoundResource, LeftOut
from gitsync.imports.reading import Body, RefusedListError, ResourceReader
from gitsync.imports.scope import ImportScope
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.live import Live
from gitsync.validation.references import parse_arm_type

MANY: Final = 20
"""Parents that are all asked for a collection."""

SAMPLE: Final = 2
RESOURCES_VERSION: Final = "2021-04-01"
"""ARM's api-version for the list of all resources."""

AS_MADE: Final = "as Azure made it with its parent"
BY_AZURE: Final = "made by Azure"
IN_PARENT: Final = "part of the manifest of its parent"
MANAGED: Final = "resource group that Azure manages"
UNKNOWN: Final = "type without a kind"
UNREADABLE: Final = "kind that Azure does not show"
LEAVING: Final = "being deleted"
ORPHAN: Final = "extends a resource that is not imported"

_ASSIGNMENTS: Final = "Microsoft.Authorization/roleAssignments"
_ROLES: Final = "Microsoft.Authorization/roleDefinitions"
_EVENTS: Final = "Microsoft.EventGrid/eventSubscriptions"
_SETTINGS: Final = "Microsoft.Insights/diagnosticSettings"
_CLUSTERS: Final = "microsoft.containerservice/managedclusters"
_MACHINES: Final = ("microsoft.compute/virtualmachines", "microsoft.compute/virtualmachinescalesets")

_EXTENDED: Final[Mapping[str, tuple[str, ...]]] = {
    _SETTINGS: (),
    "Microsoft.Insights/dataCollectionRuleAssociations": (*_MACHINES, _CLUSTERS),
    "Microsoft.KubernetesConfiguration/extensions": (_CLUSTERS,),
    "Microsoft.KubernetesConfiguration/fluxConfigurations": (_CLUSTERS,),
}
"""Extensions that only the extended resource lists, and the types that have them; all types if none is given."""

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
"""Types for which Azure Monitor has no diagnostic settings (its list of supported resource logs)."""


@dataclass(slots=True)
class _Notes:
    left_out: set[LeftOut] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)


class Discovery:
    """One search. `is_as_made` tells whether nobody has set anything of a resource, so that only what is below it may
    need a manifest; without it, the search leaves out nothing for that reason, and asks for everything.
    """

    def __init__(
        self,
        reader: ResourceReader,
        tree: KindTree,
        registry: Registry,
        filters: Filters,
        is_as_made: Callable[[FoundResource], bool] | None = None,
    ) -> None:
        self._reader = reader
        self._tree = tree
        self._registry = registry
        self._filters = filters
        self._is_as_made = is_as_made or (lambda _: False)
        self._is_sparing = is_as_made is not None
        self._notes = _Notes()
        self._found: dict[str, FoundResource] = {}

    async def search(self, scope: ImportScope) -> Findings:
        """Find what the filters admit. Raises SourceError if the scope cannot be read, and ArmError."""
        try:
            groups = await self._find_groups(scope)
            level = [*await self._find_in_groups(scope, groups), *await self._find_by_id(scope.ids)]
        except RefusedListError as refused:
            raise _make_unreadable(refused) from refused
        roots = list(level)
        while level:
            level = await self._find_below(level)
        await self._find_extensions(scope, [*groups, *roots])
        self._drop_as_made()
        return Findings(
            resources=tuple(self._found[arm_id] for arm_id in sorted(self._found)),
            left_out=tuple(sorted(self._notes.left_out)),
            unread=tuple(sorted(self._notes.unread)),
        )

    def _drop_as_made(self) -> None:
        """Leave out what is as Azure made it, unless it owns something that is imported."""
        owners: set[str] = set()
        for arm_id, one in sorted(self._found.items(), reverse=True):  # children before their parents
            if arm_id not in owners and self._is_as_made(one):
                self._leave_out(self._found.pop(arm_id), AS_MADE)
            else:
                owners.add(one.owner_id.casefold())

    async def _find_groups(self, scope: ImportScope) -> list[FoundResource]:
        """The groups to look into, without those that Azure manages for a resource."""
        kind = self._require_kind(GROUPS)
        named = {name.casefold(): name for name in scope.groups}
        if scope.ids and not named:
            return []
        entries = await self._reader.list(f"{scope.root}/resourcegroups", kind.api_version)
        found = []
        for entry in entries:
            name = str(entry.get("name", ""))
            if named and named.pop(name.casefold(), None) is None:
                continue
            group = FoundResource(kind=kind, arm_id=f"{scope.root}/resourceGroups/{name}", owner_id="", body=entry)
            if entry.get("managedBy"):
                self._leave_out(group, MANAGED)
            elif self._filters.excludes(group.arm_id, GROUPS):
                self._leave_out(group, EXCLUDED)
            else:
                found.append(group)
                if self._filters.admits_type(GROUPS) and self._filters.admits(name, entry.get("tags")):
                    self._found[group.arm_id.casefold()] = group
        if named and not scope.is_whole:
            missing = ", ".join(sorted(named.values()))
            raise SourceError(
                f"There is no resource group {missing} in subscription {scope.subscription}.",
                hint="Check --resource-group and --subscription.",
            )
        return found

    async def _find_in_groups(self, scope: ImportScope, groups: Sequence[FoundResource]) -> list[FoundResource]:
        """The resources directly in the groups, as the filters by name and by tag admit them."""
        folders = {group.arm_id.casefold(): group.arm_id for group in groups}
        places = [scope.root] if len(groups) > 3 or scope.is_whole else list(folders.values())
        lists = await asyncio.gather(*(self._reader.list(f"{one}/resources", RESOURCES_VERSION) for one in places))
        by_type: dict[str, list[str]] = {}
        for entry in (entry for entries in lists for entry in entries):
            arm_id = str(entry.get("id", ""))
            folder = folders.get(f"{scope.root}/resourceGroups/{find_resource_group(arm_id)}".casefold())
            if folder and self._is_wanted(arm_id, entry):
                by_type.setdefault(parse_arm_type(arm_id).casefold(), []).append(f"{folder}/{arm_id.split('/', 5)[5]}")
        kinds = {self._tree.find(arm_type): arm_ids for arm_type, arm_ids in sorted(by_type.items())}
        reads = [self._read_roots(kind, sorted(arm_ids)) for kind, arm_ids in kinds.items() if kind]
        return [one for found in await asyncio.gather(*reads) for one in found]

    def _is_wanted(self, arm_id: str, entry: Body) -> bool:
        """Tell whether a listed resource is read. One below another is found there."""
        arm_type = parse_arm_type(arm_id)
        if arm_type.count("/") > 1:
            return False
        if self._tree.find(arm_type) is None:
            self._notes.left_out.add(LeftOut(UNKNOWN, arm_type))
            return False
        name = arm_id.rpartition("/")[2]
        is_wanted = self._filters.leads_to(arm_type) and self._filters.admits(name, entry.get("tags"))
        if not is_wanted:
            self._notes.left_out.add(LeftOut(NO_MATCH, arm_id))
        return is_wanted

    async def _read_roots(self, kind: Kind, arm_ids: Sequence[str]) -> list[FoundResource]:
        bodies = await self._reader.read_all(kind, arm_ids)
        found = [
            FoundResource(
                kind=kind,
                arm_id=_spell_type(arm_id, kind),
                owner_id=arm_id[: arm_id.casefold().index("/providers/")],
                body=bodies[arm_id.casefold()],
            )
            for arm_id in arm_ids
            if arm_id.casefold() in bodies
        ]
        return await self._accept(found)

    async def _find_by_id(self, arm_ids: Iterable[str]) -> list[FoundResource]:
        """The resources that ids name. Raises SourceError for one that does not exist, or whose type has no kind."""
        return [one for found in await asyncio.gather(*map(self._read_named, arm_ids)) for one in found]

    async def _read_named(self, arm_id: str) -> list[FoundResource]:
        kind = self._tree.find(parse_arm_type(arm_id))
        if kind is None:
            raise SourceError(
                f"The catalog has no kind for {arm_id}.", hint="Run gitsync explain for the kinds that it has."
            )
        body = await self._reader.get(arm_id, kind.api_version)
        if body is None:
            raise SourceError(f"{arm_id} does not exist.", hint="Check the id, --subscription and --endpoint.")
        scope, separator, path = arm_id.rpartition("/providers/")
        is_child = separator and path.count("/") > 2
        owner = arm_id.rsplit("/", 2)[0] if is_child else scope
        return await self._accept([FoundResource(kind=kind, arm_id=arm_id, owner_id=owner, body=body)])

    async def _find_below(self, parents: Sequence[FoundResource]) -> list[FoundResource]:
        """What is directly below some resources, of every kind that the catalog has there."""
        by_type: dict[str, list[FoundResource]] = {}
        for parent in parents:
            by_type.setdefault(parent.kind.arm_type, []).append(parent)
        searches = [
            self._find_children(collection, by_type[arm_type])
            for arm_type in sorted(by_type)
            for collection in self._list_collections(arm_type)
        ]
        return [one for found in await asyncio.gather(*searches) for one in found]

    def _list_collections(self, arm_type: str) -> Iterator[tuple[Kind, ...]]:
        """The kinds below a type that the filters lead to: those that one collection shows are together."""
        together: dict[str, list[Kind]] = {}
        for kind in self._tree.below(arm_type):
            if not self._filters.leads_to(kind.arm_type):
                continue
            if kind.can_get:
                path = find_collections(kind, f"/parent/{kind.arm_type.rpartition('/')[2]}/name")
                together.setdefault(path[0].path if path else kind.arm_type, []).append(kind)
            else:
                self._notes.left_out.add(LeftOut(UNREADABLE, kind.arm_type))
        return iter(tuple(kinds) for kinds in together.values())

    async def _find_children(self, kinds: tuple[Kind, ...], parents: Sequence[FoundResource]) -> list[FoundResource]:
        async def look(parent: FoundResource) -> list[FoundResource]:
            return await self._accept(await self._read_children(kinds, parent))

        asks_all = self._asks_all(kinds)
        if len(parents) > MANY and not asks_all and self._is_container(kinds[0]):
            return await self._find_inside(kinds[0], parents)
        open_ones = [parent for parent in parents if find_embedded(kinds[0], parent.body) is not None]
        closed = [parent for parent in parents if find_embedded(kinds[0], parent.body) is None]
        found = [one for entries in await asyncio.gather(*map(look, open_ones)) for one in entries]
        return [*found, *await self._look_around(closed, look, kinds[0].arm_type, asks_all=asks_all)]

    def _asks_all(self, kinds: Iterable[Kind]) -> bool:
        return not self._is_sparing or any(self._filters.names_type(kind.arm_type) for kind in kinds)

    def _is_container(self, kind: Kind) -> bool:
        """Tell whether a kind is a singleton that others are below, such as the blob service of an account."""
        return bool(kind.fixed_azure_name and self._tree.below(kind.arm_type))

    async def _find_inside(self, kind: Kind, parents: Sequence[FoundResource]) -> list[FoundResource]:
        """What is below the singletons of some parents, and of the singletons those that something is below."""
        inside = {_name_child(parent, kind, kind.fixed_azure_name or ""): parent for parent in parents}
        unread = [
            FoundResource(kind=kind, arm_id=arm_id, owner_id=parent.arm_id, body={})
            for arm_id, parent in inside.items()
        ]
        found = await self._find_below(unread)
        owners = sorted({one.owner_id for one in found})
        bodies = await asyncio.gather(*(self._read_children((kind,), inside[arm_id]) for arm_id in owners))
        await self._accept([one for entries in bodies for one in entries])
        if len(owners) < len(parents):
            self._notes.unread.add(
                f"{kind.arm_type}: read at {len(owners)} of {len(parents)}, because nothing is below the others"
            )
        return found

    async def _look_around(
        self,
        parents: Sequence[FoundResource],
        look: Callable[[FoundResource], Any],
        what: str,
        *,
        asks_all: bool,
    ) -> list[FoundResource]:
        """Look at all parents, or only at a sample of them if nothing is there."""
        count = len(parents) if asks_all or len(parents) <= MANY else SAMPLE
        places = {number * len(parents) // count for number in range(count)}
        seen = await asyncio.gather(*(look(parents[place]) for place in sorted(places)))
        found = [one for entries in seen for one in entries]
        others = [parent for place, parent in enumerate(parents) if place not in places]
        if others and not any(not self._is_as_made(one) for one in found):
            self._notes.unread.add(
                f"{what}: not looked for at {len(others)} of {len(parents)}, because the others have none"
            )
            return found
        rest = await asyncio.gather(*map(look, others))
        return [*found, *(one for entries in rest for one in entries)]

    async def _read_children(self, kinds: tuple[Kind, ...], parent: FoundResource) -> list[FoundResource]:
        kind = kinds[0]
        if kind.fixed_azure_name:
            arm_id = _name_child(parent, kind, kind.fixed_azure_name)
            body = await self._reader.get(arm_id, kind.api_version)
            return [FoundResource(kind=kind, arm_id=arm_id, owner_id=parent.arm_id, body=body)] if body else []
        embedded = find_embedded(kind, parent.body)
        if embedded is not None:
            listed = {_name_child(parent, kind, str(entry["id"]).rpartition("/")[2]): entry for entry in embedded}
            return _make_found(kind, listed, parent.arm_id)
        entries = await self._list(find_collections(kind, _name_child(parent, kind, "-"))[0].path, kind)
        by_type = {one.arm_type.casefold(): one for one in kinds}
        found: dict[str, tuple[Kind, dict[str, Body]]] = {}
        for entry in entries:
            arm_type = parse_arm_type(str(entry.get("id", "")))
            if one := by_type.get(arm_type.casefold()):
                arm_id = _name_child(parent, one, str(entry["id"]).rpartition("/")[2])
                found.setdefault(one.arm_type, (one, {}))[1][arm_id] = entry
            elif self._tree.find(arm_type) is None:
                self._notes.left_out.add(LeftOut(UNKNOWN, arm_type))
        return [one for pair in found.values() for one in await self._complete(*pair, parent.arm_id)]

    async def _complete(self, kind: Kind, listed: Mapping[str, Body], owner_id: str) -> list[FoundResource]:
        bodies = await self._reader.complete(kind, listed)
        known = {arm_id: bodies[arm_id.casefold()] for arm_id in listed if arm_id.casefold() in bodies}
        return _make_found(kind, known, owner_id)

    async def _list(self, path: str, kind: Kind, query: Mapping[str, str] | None = None) -> list[Body]:
        """A list, or nothing if it is refused, which the findings say."""
        try:
            return await self._reader.list(path, kind.api_version, query)
        except RefusedListError as refused:
            if refused.error.status == 403:
                self._notes.unread.add(f"{path}: {refused.error.code}, no right to read it")
            elif refused.error.status != 404:
                self._notes.unread.add(f"{kind.arm_type}: Azure lists none ({refused.error.code})")
            return []

    async def _find_extensions(self, scope: ImportScope, roots: Sequence[FoundResource]) -> None:
        places = [scope.root] if scope.is_whole else [root.arm_id for root in roots]
        searches = [self._find_in_scopes(places, arm_type, scope) for arm_type in (_ASSIGNMENTS, _EVENTS)]
        if scope.is_whole:
            searches.append(self._find_in_scopes(places, _ROLES, scope, {"$filter": "type eq 'CustomRole'"}))
        searches += [self._find_extending(arm_type, types, roots) for arm_type, types in _EXTENDED.items()]
        await asyncio.gather(*searches)

    async def _find_in_scopes(
        self, places: Iterable[str], arm_type: str, scope: ImportScope, query: Mapping[str, str] | None = None
    ) -> None:
        """Extensions that a list of a subscription or a group shows, also of what is below it."""
        kind = self._tree.find(arm_type)
        if kind is None or not self._filters.admits_type(arm_type):
            return
        paths = [f"{place}/providers/{kind.arm_type}" for place in places]
        lists = await asyncio.gather(*(self._list(path, kind, query) for path in paths))
        found = [
            self._place_extension(kind, place, entry, scope)
            for place, entries in zip(places, lists, strict=True)
            for entry in entries
        ]
        await self._accept(list({one.arm_id.casefold(): one for one in found if one}.values()))

    def _place_extension(self, kind: Kind, place: str, entry: Body, scope: ImportScope) -> FoundResource | None:
        """An extension, with what it extends as its owner; None if that is not imported. One from above the scope of
        the list gets that as its owner, so that its importer finds it inherited.
        """
        arm_id = str(entry.get("id", ""))
        extended = arm_id[: max(arm_id.casefold().rfind("/providers/"), 0)]
        known = self._found.get(extended.casefold())
        is_inside = is_below(extended, place) or is_same_id(extended, place)
        is_root = scope.is_whole and is_same_id(extended, scope.root)
        if is_inside and not (known or is_root or self._filters.names_type(kind.arm_type)):
            self._notes.left_out.add(LeftOut(ORPHAN, arm_id))
            return None
        owner = known.arm_id if known else extended if is_inside else place
        path = f"{owner}/providers/{kind.arm_type}/{arm_id.rpartition('/')[2]}"
        return FoundResource(kind=kind, arm_id=path, owner_id=owner, body=entry)

    async def _find_extending(self, arm_type: str, types: tuple[str, ...], roots: Sequence[FoundResource]) -> None:
        """Extensions that only a list of the extended resource shows."""
        kind = self._tree.find(arm_type)
        if kind is None or not self._filters.admits_type(arm_type):
            return
        by_type: dict[str, list[FoundResource]] = {}
        for root in roots:
            extended = root.kind.arm_type.casefold()
            if extended in types or (not types and extended not in _WITHOUT_SETTINGS and root.owner_id):
                by_type.setdefault(root.kind.arm_type, []).append(root)

        async def look(parent: FoundResource) -> list[FoundResource]:
            path = f"{parent.arm_id}/providers/{kind.arm_type}"
            entries = await self._list(path, kind)
            listed = {f"{path}/{str(entry.get('id', '')).rpartition('/')[2]}": entry for entry in entries}
            return await self._accept(await self._complete(kind, listed, parent.arm_id))

        asks_all = self._asks_all([kind])
        for extended in sorted(by_type):
            what = f"{arm_type} of {extended}"
            await self._look_around(by_type[extended], look, what, asks_all=asks_all)

    async def _accept(self, found: Sequence[FoundResource]) -> list[FoundResource]:
        """Keep what is imported, and return what to look below of."""
        verdicts = await asyncio.gather(*map(self._find_reason, found))
        accepted = []
        for one, reason in zip(found, verdicts, strict=True):
            if reason:
                self._leave_out(one, reason)
                continue
            accepted.append(one)
            if self._filters.admits_type(one.kind.arm_type):
                self._found[one.arm_id.casefold()] = one
        return accepted

    async def _find_reason(self, found: FoundResource) -> str:
        """Why a resource gets no manifest; "" if it gets one."""
        if self._filters.excludes(found.arm_id, found.kind.arm_type):
            return EXCLUDED
        if is_made_by_azure(found.kind.arm_type, found.name, found.body):
            return BY_AZURE
        if is_in_parent(found.kind.arm_type, found.body):
            return IN_PARENT
        if (Live(body=found.body).provisioning_state or "").casefold() == "deleting":
            return LEAVING
        return await self._ask_importer(found)

    async def _ask_importer(self, found: FoundResource) -> str:
        async def load(subject: Subject) -> tuple[Subject, Imported]:
            return subject, imported()

        gvk = found.kind.gvk
        owner = self._found.get(found.owner_id.casefold())
        subject = Subject(
            key=Key(gvk.group, gvk.kind, "", found.name),
            gvk=gvk,
            spec={},
            arm_id=found.arm_id,
            api_version=found.kind.api_version,
            live=Live(body=found.body),
            owner=Live(body={**(owner.body if owner else {}), "id": found.owner_id}) if found.owner_id else None,
        )
        _, answer = await self._registry.import_(subject, load)
        return answer.skipped

    def _leave_out(self, found: FoundResource, reason: str) -> None:
        self._notes.left_out.add(LeftOut(reason, found.arm_id))

    def _require_kind(self, arm_type: str) -> Kind:
        kind = self._tree.find(arm_type)
        if kind is None:
            raise AssertionError(f"the catalog has {arm_type}")
        return kind


def _make_found(kind: Kind, bodies: Mapping[str, Body], owner_id: str) -> list[FoundResource]:
    return [
        FoundResource(kind=kind, arm_id=arm_id, owner_id=owner_id, body=bodies[arm_id]) for arm_id in sorted(bodies)
    ]


def _name_child(parent: FoundResource, kind: Kind, name: str) -> str:
    return f"{parent.arm_id}/{kind.arm_type.rpartition('/')[2]}/{name}"


def _spell_type(arm_id: str, kind: Kind) -> str:
    """The id of a resource in a group, with the type as the catalog spells it."""
    scope = arm_id[: arm_id.casefold().index("/providers/")]
    return f"{scope}/providers/{kind.arm_type}/{arm_id.rpartition('/')[2]}"


def _make_unreadable(refused: RefusedListError) -> SourceError:
    error = refused.error
    if error.status == 403:
        return SourceError(f"There is no right to read {refused.path}: {error.code}.", hint="Grant the role Reader.")
    return SourceError(f"{refused.path} cannot be listed: {error.code}: {error.message}", hint="Check --subscription.")
