"""Find what exists in Azure: resource groups, the resources in them, what is below those, and what extends them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gitsync.desired.catalog.children import KindTree
from gitsync.desired.formats.json_members import read_text
from gitsync.errors import ArmError, RefusedListError, SourceError
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.facts import Kind
from gitsync.providers.arm.http.response_bodies import ListSource
from gitsync.workflows.imports.acceptance import EXCLUDED, Acceptance
from gitsync.workflows.imports.conversion.found_resources import GROUPS, FoundResource, SearchResult
from gitsync.workflows.imports.conversion.scope import ImportScope, list_group_names, make_id_problem
from gitsync.workflows.imports.descendants import DescendantSearch
from gitsync.workflows.imports.extension_resources import ExtensionSearch, has_hidden_types
from gitsync.workflows.imports.resource_reader import (
    FORBIDDEN,
    MOST_GROUP_LISTS,
    Body,
    ResourceReader,
    make_read_error,
)

MANAGED: Final = "resource group that Azure manages"
NO_MATCH: Final = "no match for the filters"
GONE: Final = "it does not exist in Azure"

RESOURCES_VERSION: Final = "2021-04-01"
"""ARM's api-version for the list of all resources."""

_EXPANDED: Final = {"$expand": "createdTime"}
"""Many types do not say themselves when a resource was created."""


class Discovery:
    """One search in Azure."""

    def __init__(self, reader: ResourceReader, tree: KindTree, acceptance: Acceptance) -> None:
        self.reader = reader
        self._tree = tree
        self._acceptance = acceptance
        self._descendants = DescendantSearch(reader, tree, acceptance)
        self._extensions = ExtensionSearch(reader, tree, acceptance)
        self._failed: list[SourceError] = []
        self.groups: tuple[str, ...] = ()
        self.missing_groups: tuple[str, ...] = ()
        self.other_groups: tuple[FoundResource, ...] = ()

    async def search(self, scope: ImportScope) -> SearchResult:
        """Find what the filters admit. Raises SourceError if nothing of the scope can be read, and ArmError."""
        try:
            groups = await self.search_groups(scope)
            roots = [*await self._find_in_groups(scope, groups), *await self._find_by_id(scope)]
        except RefusedListError as refused:  # without these lists there is no import; others are only noted
            raise _make_unreadable(refused) from refused
        # An import of nothing is a failure; beside others, what cannot be read is a problem of the report.
        if self._failed and not (groups or roots):
            raise self._failed[0]
        level = roots
        while level:
            level = await self._descendants.find(level)
        await self._extensions.find(scope, [*groups, *roots])
        problems = (*scope.problems, *map(make_id_problem, self._failed))
        return replace(self._acceptance.finish(), problems=problems)

    async def search_ids(self, ids: Sequence[ArmId], *, may_be_gone: bool = False) -> SearchResult:
        """Find the resources of ids, with the children that they show themselves, such as the rules of a network
        security group, and nothing else. A problem of the result is an id that cannot be read. With `may_be_gone` one
        that does not exist is left out instead. Raises ArmError.
        """
        named = await self._read_by_id(ids, may_be_gone=may_be_gone)
        shown = [child for resource in named for child in self._descendants.list_shown(resource)]
        found = {resource.arm_id.key: resource for resource in (*shown, *named)}
        by_depth: dict[int, list[FoundResource]] = {}
        for key, resource in found.items():
            by_depth.setdefault(key.count("/"), []).append(resource)
        # What decides about a child sees its owner.
        for depth in sorted(by_depth):
            await self._acceptance.accept(
                [
                    resource
                    for each in by_depth[depth]
                    for resource in self._descendants.drop_declared([each], found.get(each.owner_id.key, each))
                ]
            )
        return replace(self._acceptance.finish(), problems=tuple(map(make_id_problem, self._failed)))

    async def search_groups(self, scope: ImportScope) -> list[FoundResource]:
        """Find the groups to look into, without those that Azure manages for a resource. `groups` are then their names,
        `missing_groups` names and patterns of the scope that none has, and `other_groups` those that it does not name.
        """
        kind = self._tree.find(GROUPS)
        if kind is None or not (scope.groups or scope.is_complete):
            return []
        entries = await self.reader.read_list(f"{scope.root}/resourcegroups", kind.api_version)
        names = [entry.get("name") for entry in entries]
        # A skipped group would be silently missing from the import.
        if not all(isinstance(name, str) and name for name in names):
            raise ListSource(f"{scope.root}/resourcegroups").make_error("has an entry without a name")
        by_name = {str(name).casefold(): entry for name, entry in zip(names, entries, strict=True)}
        chosen = {name: list_group_names(name, by_name) for name in scope.groups}
        missing = sorted(name for name, found in chosen.items() if not found)
        self.missing_groups = tuple(missing)
        # A misspelt group would give an import without its resources.
        if missing and not scope.may_lack_groups:
            error = SourceError(
                f"There is no resource group {', '.join(missing)} in subscription {scope.subscription}.",
                hint="Check --resource-group and --subscription.",
            )
            if not scope.goes_on:
                raise error
            self._failed.append(error)
        wanted = dict.fromkeys(name for found in chosen.values() for name in found) if scope.groups else sorted(by_name)
        groups = [self._make_group(kind, scope, by_name[name]) for name in wanted]
        others = sorted(by_name.keys() - {*wanted})
        self.other_groups = tuple(self._make_group(kind, scope, by_name[name]) for name in others)
        searched = [group for group in groups if await self._is_looked_into(group)]
        self.groups = tuple(group.name for group in searched)
        return searched

    def _make_group(self, kind: Kind, scope: ImportScope, entry: Body) -> FoundResource:
        # Built from the name: lists spell the fixed parts of an id in several ways.
        arm_id = ArmId(f"{scope.root}/resourceGroups/{entry['name']}")
        return FoundResource(kind=kind, arm_id=arm_id, owner_id=NO_ID, body=entry)

    async def _is_looked_into(self, group: FoundResource) -> bool:
        """Return whether a group is searched; if the filters admit it, it is imported too."""
        filters = self._acceptance.filters
        if group.body.get("managedBy"):  # a cluster's group of nodes: its owner makes and deletes what is in it
            self._acceptance.leave_out(group.arm_id, MANAGED)
            return False
        if filters.excludes(group.arm_id, GROUPS):
            self._acceptance.leave_out(group.arm_id, EXCLUDED)
            return False
        # Filters by name and tag decide about each resource, so a group that they leave out is searched too.
        if filters.admits(group.name, group.body.get("tags")):
            await self._acceptance.accept([group])
        return True

    async def _find_in_groups(self, scope: ImportScope, groups: Sequence[FoundResource]) -> list[FoundResource]:
        """Find the resources directly in the groups, as the filters by name and by tag admit them."""
        folders = {group.arm_id.key: group.arm_id for group in groups}
        # A list of the subscription shows the resources of other groups too, but takes one request.
        scopes = [scope.root] if len(groups) > MOST_GROUP_LISTS else list(folders.values())
        lists = await asyncio.gather(
            *(self.reader.read_list(f"{scope_id}/resources", RESOURCES_VERSION, _EXPANDED) for scope_id in scopes)
        )
        by_type: dict[str, dict[ArmId, str]] = {}  # times of creation by id
        for entry in (entry for entries in lists for entry in entries):
            arm_id = ArmId(entry.get("id", ""))
            folder = folders.get(ArmId(f"{scope.root}/resourceGroups/{arm_id.resource_group}").key)
            is_inside = folder and arm_id.is_below(ArmId(f"{folder}/providers"))  # some lists show their group as well
            if is_inside and self._is_wanted(arm_id, entry):
                arm_type = arm_id.arm_type.casefold()
                # Lists spell a group as each resource was created, so the spelling of the group itself counts.
                spelled_id = ArmId(f"{folder}/{arm_id.split('/', 5)[5]}")
                by_type.setdefault(arm_type, {})[spelled_id] = read_text(entry, "createdTime")
        kinds = {self._tree.find(arm_type): times for arm_type, times in sorted(by_type.items())}
        reads = [self._read_roots(kind, times) for kind, times in kinds.items() if kind]
        return [resource for batch in await asyncio.gather(*reads) for resource in batch]

    def _is_wanted(self, arm_id: ArmId, entry: Body) -> bool:
        """Return whether a listed resource is read. One below another is found there."""
        arm_type, filters = arm_id.arm_type, self._acceptance.filters
        if arm_type.count("/") > 1:  # some lists show children too
            return False
        if self._tree.find(arm_type) is None:
            self._acceptance.note_foreign(arm_id, entry, self._tree.explain_missing(arm_type))
            return False
        # A type that only extended resources show may be at any of them.
        leads_on = filters.leads_to(arm_type) or has_hidden_types(filters)
        is_wanted = leads_on and filters.admits(arm_id.name, entry.get("tags"))
        if not is_wanted:
            self._acceptance.leave_out(arm_id, NO_MATCH)
        return is_wanted

    async def _read_roots(self, kind: Kind, times: Mapping[ArmId, str]) -> list[FoundResource]:
        """Read the resources of one type, with ids that spell the type as the catalog does. `times` are those of their
        creation, by id.
        """
        bodies = await self.reader.read_all(kind, sorted(times))
        resources = []
        for arm_id, body in bodies.items():
            group = ArmId(arm_id[: arm_id.key.index("/providers/")])
            spelled = ArmId(f"{group}/providers/{kind.arm_type}/{arm_id.name}")
            created = times[arm_id]
            resources.append(FoundResource(kind=kind, arm_id=spelled, owner_id=group, body=body, created=created))
        return await self._acceptance.accept(resources)

    async def _find_by_id(self, scope: ImportScope) -> list[FoundResource]:
        """Find the resources that ids name, and note those that cannot be read."""
        return await self._acceptance.accept(await self._read_by_id(scope.ids))

    async def _read_by_id(self, ids: Iterable[ArmId], *, may_be_gone: bool = False) -> list[FoundResource]:
        outcomes = await asyncio.gather(*map(self._try_named, ids))
        for outcome in outcomes:
            if may_be_gone and isinstance(outcome, _GoneError):
                self._acceptance.leave_out(outcome.arm_id, GONE)
            elif isinstance(outcome, SourceError):
                self._failed.append(outcome)
        return [outcome for outcome in outcomes if not isinstance(outcome, SourceError)]

    async def _try_named(self, arm_id: ArmId) -> FoundResource | SourceError:
        try:
            return await self._read_named(arm_id)
        except SourceError as error:
            return error
        except ArmError as error:
            return make_read_error(arm_id, error)

    async def _read_named(self, arm_id: ArmId) -> FoundResource:
        """Read a resource by its id. Raises SourceError if it does not exist, or gitsync cannot manage its type."""
        kind = self._tree.find(arm_id.arm_type)
        if kind is None:
            reason = self._tree.explain_missing(arm_id.arm_type)
            raise SourceError(
                f"{arm_id} is not imported: {arm_id.arm_type} is a {reason}.", hint="Remove it from the command."
            )
        body = await self.reader.read(arm_id, kind.api_version)
        if body is None:
            raise _GoneError(arm_id)
        owner_id = NO_ID if arm_id.is_group else arm_id.parent
        return FoundResource(kind=kind, arm_id=arm_id, owner_id=owner_id, body=body)


class _GoneError(SourceError):
    """A resource does not exist."""

    def __init__(self, arm_id: ArmId) -> None:
        super().__init__(f"{arm_id} does not exist.", hint="Check the id, --subscription and --endpoint.")
        self.arm_id = arm_id


def _make_unreadable(refused: RefusedListError) -> SourceError:
    error = refused.error
    if error.status == FORBIDDEN:
        return SourceError(
            f"The identity may not read {refused.path}: {error.code}.", hint="Grant the identity the role Reader."
        )
    hint = error.hint or "Check --subscription and --endpoint."
    return SourceError(f"{refused.path} cannot be listed: {error.code}: {error.message}", hint=hint)
