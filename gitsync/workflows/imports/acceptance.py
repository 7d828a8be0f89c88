"""Decide about each resource that a search comes across, and keep what is imported and what is left out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gitsync.desired.catalog.children import is_in_parent, is_made_by_azure
from gitsync.extensions.api import Imported, Subject, imported
from gitsync.extensions.registry import Registry
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.live import Live
from gitsync.workflows.imports.conversion.found_resources import (
    ForeignResource,
    FoundResource,
    Omission,
    SearchResult,
)
from gitsync.workflows.imports.conversion.scope import Filters

AS_MADE: Final = "as Azure made it with its parent"
BY_AZURE: Final = "made by Azure"
EXCLUDED: Final = "excluded"
IN_PARENT: Final = "part of the manifest of its parent"
LEAVING: Final = "being deleted"


class Acceptance:
    """What one search has found so far. Its methods are called in any order; the findings are sorted."""

    def __init__(
        self,
        registry: Registry,
        filters: Filters,
        is_as_made: Callable[[FoundResource], bool],
        *,
        is_sparing: bool = True,
    ) -> None:
        """`is_as_made` returns whether no one has set anything of a resource. A sparing search samples collections of
        many parents.
        """
        self.filters = filters
        self.is_sparing = is_sparing
        self._registry = registry
        self._is_as_made = is_as_made
        self._left_out: set[Omission] = set()
        self._foreign: set[ForeignResource] = set()
        self._unread: set[str] = set()
        self._accepted: dict[str, FoundResource] = {}

    def find(self, arm_id: ArmId) -> FoundResource | None:
        """Find the imported resource of an id."""
        return self._accepted.get(arm_id.key)

    def is_set(self, resource: FoundResource) -> bool:
        """Return whether somebody has changed something of a resource."""
        return not self._is_as_made(resource)

    def leave_out(self, subject: str, reason: str) -> None:
        """Note a resource or a type without a manifest."""
        self._left_out.add(Omission(reason, subject))

    def note_foreign(self, arm_id: ArmId, entry: Mapping[str, Any], reason: str) -> None:
        """Note a resource of a type that gitsync does not manage, for a reason."""
        self.leave_out(arm_id.arm_type, reason)
        self._foreign.add(ForeignResource(arm_id, entry))

    def note_unread(self, line: str) -> None:
        """Note a collection that was not asked for, or refused."""
        self._unread.add(line)

    async def accept(self, resources: Sequence[FoundResource]) -> list[FoundResource]:
        """Keep what is imported, and return each resource below which there may be more to import."""
        reasons = await asyncio.gather(*map(self._explain_skip, resources))
        accepted = []
        for resource, reason in zip(resources, reasons, strict=True):
            if reason:
                self.leave_out(resource.arm_id, reason)
                continue
            accepted.append(resource)  # also of another type: what is below it may be wanted
            if self.filters.admits_type(resource.kind.arm_type):
                self._accepted[resource.arm_id.key] = resource
        return accepted

    def finish(self) -> SearchResult:
        """Return the findings, without what is as Azure made it, unless that owns something that is imported."""
        owners: set[str] = set()
        for arm_id, resource in sorted(self._accepted.items(), reverse=True):  # children before their parents
            if arm_id not in owners and self._is_as_made(resource):
                self.leave_out(self._accepted.pop(arm_id).arm_id, AS_MADE)
            else:
                owners.add(resource.owner_id.key)
        return SearchResult(
            resources=tuple(self._accepted[arm_id] for arm_id in sorted(self._accepted)),
            foreign=tuple(sorted(self._foreign)),
            left_out=tuple(sorted(self._left_out)),
            unread=tuple(sorted(self._unread)),
        )

    async def _explain_skip(self, resource: FoundResource) -> str:
        """Explain why a resource gets no manifest; "" if it gets one."""
        if self.filters.excludes(resource.arm_id, resource.kind.arm_type):
            return EXCLUDED
        if is_made_by_azure(resource.kind.arm_type, resource.name, resource.body):
            return BY_AZURE
        # A manifest of its own would write it a second time.
        if is_in_parent(resource.kind.arm_type, resource.body):
            return IN_PARENT
        # A manifest of it would create it again.
        if (Live(body=resource.body).provisioning_state or "").casefold() == "deleting":
            return LEAVING
        return await self._call_importer(resource)

    async def _call_importer(self, resource: FoundResource) -> str:
        """Call the importers of the kind (docs/reference/kinds.md#imports)."""

        async def load(subject: Subject) -> tuple[Subject, Imported]:
            return subject, imported()

        gvk, owner = resource.kind.gvk, self.find(resource.owner_id)
        subject = Subject(
            key=Key(gvk.group, gvk.kind, "", resource.name),
            gvk=gvk,
            spec={},
            arm_id=resource.arm_id,
            api_version=resource.kind.api_version,
            live=Live(body=resource.body),
            owner=Live(body={**(owner.body if owner else {}), "id": resource.owner_id}) if resource.owner_id else None,
        )
        _, answer = await self._registry.import_(subject, load)
        return answer.skipped
