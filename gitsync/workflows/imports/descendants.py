"""Find what is below resources: every kind that the catalog has there, from the parents or from collections."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from gitsync.desired.catalog.children import KindTree, find_embedded, find_only_name, is_named_in
from gitsync.desired.catalog.collections import list_collections
from gitsync.model.arm_id import ArmId
from gitsync.model.facts import Kind
from gitsync.workflows.imports.acceptance import IN_PARENT, Acceptance
from gitsync.workflows.imports.conversion.found_resources import FoundResource
from gitsync.workflows.imports.conversion.imported_manifests import build_request_body
from gitsync.workflows.imports.resource_reader import Body, ResourceReader

UNREADABLE: Final = "kind that Azure does not show"


class DescendantSearch:
    """The search below resources, level by level."""

    def __init__(self, reader: ResourceReader, tree: KindTree, acceptance: Acceptance) -> None:
        self._reader = reader
        self._tree = tree
        self._acceptance = acceptance

    async def find(self, parents: Sequence[FoundResource]) -> list[FoundResource]:
        """Find what is directly below some resources."""
        by_type: dict[str, list[FoundResource]] = {}
        for parent in parents:
            by_type.setdefault(parent.kind.arm_type, []).append(parent)
        searches = [
            self._find_of_kinds(kinds, by_type[arm_type])
            for arm_type in sorted(by_type)
            for kinds in self._list_collections(arm_type)
        ]
        return [resource for batch in await asyncio.gather(*searches) for resource in batch]

    def list_shown(self, parent: FoundResource) -> list[FoundResource]:
        """List the children that a resource shows in its own body, without a request."""
        return [
            child
            for kind in self._tree.list_below(parent.kind.arm_type)
            for child in make_found(
                kind, _name_entries(parent, kind, find_embedded(kind, parent.body) or ()), parent.arm_id
            )
        ]

    def _list_collections(self, arm_type: str) -> Iterator[tuple[Kind, ...]]:
        """List the kinds below a type that the filters lead to: those that one collection shows are together."""
        for refused in self._tree.list_refused_below(arm_type):
            self._acceptance.leave_out(refused, self._tree.explain_missing(refused))
        together: dict[str, list[Kind]] = {}
        for kind in self._tree.list_all_below(arm_type):
            # Each collection takes a request for each parent.
            if not self._acceptance.filters.leads_to(kind.arm_type):
                continue
            if kind.can_get:
                # A zone of DNS has a kind for each type of record, and one list of all records.
                lists = list_collections(kind, ArmId(f"/parent/{kind.arm_type.rpartition('/')[2]}/name"))
                together.setdefault(lists[0].path if lists else kind.arm_type, []).append(kind)
            else:
                self._acceptance.leave_out(kind.arm_type, UNREADABLE)
        return iter(tuple(kinds) for kinds in together.values())

    async def _find_of_kinds(self, kinds: tuple[Kind, ...], parents: Sequence[FoundResource]) -> list[FoundResource]:
        """Find what parents of one type have in one collection. Parents that show it themselves are skipped."""

        async def look(parent: FoundResource) -> list[FoundResource]:
            return await self._acceptance.accept(self.drop_declared(await self._read(kinds, parent), parent))

        if reads_all(kinds, self._acceptance):
            return await look_everywhere(parents, look)
        # The facts of ARM have no lists, so the path is a guess, and one refusal shows that it is wrong.
        if kinds[0].is_any_type and len(parents) > 1:
            return await self._find_if_listed(kinds[0], parents, look)
        # A singleton is there at every parent, so a sample of them proves nothing: their children do.
        if len(parents) > MANY and find_only_name(kinds[0]) and self._tree.list_all_below(kinds[0].arm_type):
            return await self._find_inside(kinds[0], parents)
        shown = [parent for parent in parents if find_embedded(kinds[0], parent.body) is not None]
        hidden = [parent for parent in parents if find_embedded(kinds[0], parent.body) is None]
        resources = await look_everywhere(shown, look)
        return [*resources, *await look_around(hidden, look, kinds[0].arm_type, self._acceptance)]

    async def _find_if_listed(
        self, kind: Kind, parents: Sequence[FoundResource], look: LookInside
    ) -> list[FoundResource]:
        """Find what parents have of a type whose lists are not known: if the first is refused, it is the only one."""
        first = await look(parents[0])
        if self._reader.is_refused(kind):
            count = len(parents)
            self._acceptance.note_unread(f"{kind.arm_type}: not read at {count - 1} of {count}; the first refused")
            return first

        async def look_on(parent: FoundResource) -> list[FoundResource]:
            return first if parent is parents[0] else await look(parent)

        return await look_around(parents, look_on, kind.arm_type, self._acceptance)

    def drop_declared(self, found: list[FoundResource], parent: FoundResource) -> list[FoundResource]:
        """Leave out what the manifest of the parent declares, such as the pools of a load balancer: a second manifest
        would write them again.
        """
        # Only children of any type may be declared there, and it takes time to build the body of the parent.
        if not any(resource.kind.is_any_type for resource in found):
            return found
        body, kept = build_request_body(parent), []
        for resource in found:
            arm_type = resource.kind.arm_type
            is_declared = resource.kind.is_any_type and is_named_in(arm_type, resource.name, body)
            if is_declared and not self._acceptance.filters.names_type(arm_type):
                self._acceptance.leave_out(resource.arm_id, IN_PARENT)
            else:
                kept.append(resource)
        return kept

    async def _find_inside(self, kind: Kind, parents: Sequence[FoundResource]) -> list[FoundResource]:
        """Find what is below the singletons of many parents, such as the blob services of accounts; and of the
        singletons those that have something below them.
        """
        inside = {_name_child(parent, kind, find_only_name(kind)): parent for parent in parents}
        singletons = [
            FoundResource(kind=kind, arm_id=arm_id, owner_id=parent.arm_id, body={})
            for arm_id, parent in inside.items()
        ]
        children = await self.find(singletons)
        owners = sorted({resource.owner_id for resource in children})
        read = await asyncio.gather(*(self._read((kind,), inside[arm_id]) for arm_id in owners))
        await self._acceptance.accept([entry for entries in read for entry in entries])
        if len(owners) < len(parents):
            self._acceptance.note_unread(
                f"{kind.arm_type}: read at {len(owners)} of {len(parents)}; the others have no children"
            )
        return children

    async def _read(self, kinds: tuple[Kind, ...], parent: FoundResource) -> list[FoundResource]:
        """Read what one parent has: a singleton, what it shows itself, or what a collection lists."""
        kind = kinds[0]
        if only_name := find_only_name(kind):
            arm_id = _name_child(parent, kind, only_name)
            body = await self._reader.try_read(arm_id, kind.api_version)
            return [FoundResource(kind=kind, arm_id=arm_id, owner_id=parent.arm_id, body=body)] if body else []
        embedded = find_embedded(kind, parent.body)
        if embedded is not None:
            return make_found(kind, _name_entries(parent, kind, embedded), parent.arm_id)
        path = list_collections(kind, _name_child(parent, kind, "-"))[0].path
        entries = await self._reader.try_list(path, kind)
        types = [ArmId(entry.get("id", "")).arm_type for entry in entries]
        resources = []
        for of_kind in kinds:
            # A zone lists records of all types together.
            wanted = of_kind.arm_type.casefold()
            own = [entry for entry, arm_type in zip(entries, types, strict=True) if arm_type.casefold() == wanted]
            bodies = await self._reader.complete(of_kind, _name_entries(parent, of_kind, own))
            resources += make_found(of_kind, bodies, parent.arm_id)
        for entry, arm_type in zip(entries, types, strict=True):
            if self._tree.find(arm_type) is None:
                reason = self._tree.explain_missing(arm_type)
                self._acceptance.note_foreign(ArmId(entry.get("id", "")), entry, reason)
        return resources


def _name_entries(parent: FoundResource, kind: Kind, entries: Iterable[Body]) -> dict[ArmId, Body]:
    """Map entries to ids that are spelled as those of the parent and of the catalog."""
    return {_name_child(parent, kind, ArmId(entry.get("id", "")).name): entry for entry in entries}


def _name_child(parent: FoundResource, kind: Kind, name: str) -> ArmId:
    return ArmId(f"{parent.arm_id}/{kind.arm_type.rpartition('/')[2]}/{name}")


def make_found(kind: Kind, bodies: Mapping[ArmId, Body], owner_id: ArmId) -> list[FoundResource]:
    """Make resources of one kind and one owner, sorted by id."""
    return [
        FoundResource(kind=kind, arm_id=arm_id, owner_id=owner_id, body=bodies[arm_id]) for arm_id in sorted(bodies)
    ]


# A collection of more than `MANY` parents is read at `SAMPLE` of them first. If it is empty at all of these, the others
# are not read, and the findings name it: most kinds have collections that hardly anybody uses, and to read each of them
# would take more requests than there are resources.


MANY: Final = 20
SAMPLE: Final = 2

LookInside = Callable[[FoundResource], Awaitable[list[FoundResource]]]


def reads_all(kinds: Iterable[Kind], acceptance: Acceptance) -> bool:
    """Return whether every parent is read, however many there are: if a filter names the type, or with --full."""
    return not acceptance.is_sparing or any(acceptance.filters.names_type(kind.arm_type) for kind in kinds)


async def look_everywhere(parents: Iterable[FoundResource], look: LookInside) -> list[FoundResource]:
    """Find what all parents have."""
    return [entry for entries in await asyncio.gather(*map(look, parents)) for entry in entries]


async def look_around(
    parents: Sequence[FoundResource], look: LookInside, what: str, acceptance: Acceptance
) -> list[FoundResource]:
    """Find what the parents have, if a sample of them has anything. `what` names the collection in the findings."""
    if len(parents) <= MANY:
        return await look_everywhere(parents, look)
    # Spread over the parents: neighbours by id are often made by one template and alike.
    sampled = {number * len(parents) // SAMPLE for number in range(SAMPLE)}
    resources = await look_everywhere((parents[number] for number in sorted(sampled)), look)
    others = [parent for number, parent in enumerate(parents) if number not in sampled]
    # What Azure makes with each parent is there at all of them, and shows no use of the collection.
    if not any(map(acceptance.is_set, resources)):
        acceptance.note_unread(f"{what}: not read at {len(others)} of {len(parents)}; {SAMPLE} have none")
        return resources
    return [*resources, *await look_everywhere(others, look)]
