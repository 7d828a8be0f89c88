"""Access to one Entra ID group: its requests, as the principal of a resource, and what the run has learned of the
group.

Graph is consistent only in the end. A group is new for a minute after it was created: a 404 for it proves nothing then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from gitsync.errors import ArmError, DeadlineError
from gitsync.model.arm_id import ArmId
from gitsync.model.clock import Clock, format_rfc3339
from gitsync.model.provider import IN_USE, ProvidedResource
from gitsync.providers.arm.cloud import Cloud
from gitsync.providers.arm.http.messages import Response
from gitsync.providers.arm.http.retries import Retrier
from gitsync.providers.arm.session import Pace, Session
from gitsync.providers.entra.graph_requests import GraphRequest
from gitsync.providers.entra.recent_links import RecentLinks
from gitsync.settings.backoff import Backoff

NEW: Final = 60.0
"""Seconds for which a 404 of a group that was created proves nothing, and for which a search may not show it."""

_PAUSE: Final = Backoff(first=1.0, most=8.0)


@dataclass(slots=True)
class KnownGroup:
    """What the run has learned of one group."""

    arm_id: ArmId  # the id that gitsync gives the group
    group_id: str  # "" if it has none
    is_declared: bool  # a manifest has it
    is_gone: bool = False  # it had an id, and Graph does not have the group
    is_created: bool = False  # by this run: then no read proves that it is gone, so that no second one is created
    new_until: float = float("-inf")  # Graph may not show the group yet before this, in the clock's monotonic seconds
    sent_at: datetime | None = None  # when a POST was sent that got no answer
    links: RecentLinks = field(default_factory=RecentLinks)  # what was written of its members and owners


class KnownGroups:
    """What the run has learned of all groups. `deleted` are the ids of those that it has deleted."""

    def __init__(self) -> None:
        self._groups: dict[str, KnownGroup] = {}
        self.deleted: set[str] = set()

    def find(self, arm_id: ArmId) -> KnownGroup | None:
        return self._groups.get(arm_id.key)

    def take(self, resource: ProvidedResource) -> KnownGroup:
        """Return what is known of a resource: at first what its record has."""
        arm_id, is_declared = resource.arm_id.key, resource.body is not None
        return self._groups.setdefault(arm_id, KnownGroup(resource.arm_id, resource.kept.given_id, is_declared))

    def find_other_owner(self, group_id: str, known: KnownGroup) -> str:
        """Return the id of a group that the run already has as that of another manifest; "" if there is none."""
        others = (group.arm_id for group in self._groups.values() if group is not known and group.is_declared)
        return next((arm_id for arm_id in others if self._groups[arm_id.key].group_id == group_id), "")


class GraphService(NamedTuple):
    """Microsoft Graph, as one principal."""

    cloud: Cloud
    retrier: Retrier


class GroupAccess(NamedTuple):
    """One group, and the way to it."""

    resource: ProvidedResource
    known: KnownGroup
    all: KnownGroups
    graph: GraphService
    clock: Clock
    session: Session

    @property
    def is_new(self) -> bool:
        return self.clock.monotonic() < self.known.new_until

    async def send(self, request: GraphRequest) -> Response:
        return await self.graph.retrier.send(request, self.session)

    async def send_patiently(self, request: GraphRequest) -> Response:
        """Send again while a new group answers 404. Raises ArmError if it does so to the deadline of the resource."""
        answer, tries = await self.send(request), 0
        while answer.status == 404 and self.is_new:
            await self.pause(tries, f"Microsoft Graph created {self.known.group_id} and does not return it yet.")
            answer, tries = await self.send(request), tries + 1
        return answer

    async def pause(self, tries: int, why: str) -> None:
        """Wait before another look. Raises DeadlineError, with the reason, if no time is left."""
        if not await Pace(self.clock, _PAUSE).pause(None, tries, self.session):
            raise DeadlineError(
                f"{self.session.end_reason} before Microsoft Graph was consistent. {why}",
                code=self.session.end_code,
                resource_id=self.resource.arm_id,
                at=format_rfc3339(self.clock.now()),
            )

    def note_group(self, group: Mapping[str, Any]) -> None:
        """Keep the id of a group that Graph shows, and until when a 404 for it proves nothing."""
        self.known.group_id, self.known.is_gone, self.known.sent_at = str(group["id"]), False, None
        created = read_time(group.get("createdDateTime"))
        # Without a date, the group may have been created just now.
        age = (self.clock.now() - created).total_seconds() if created else NEW
        self.known.new_until = max(self.known.new_until, self.clock.monotonic() + min(NEW, NEW - age))

    def require_own(self, group_id: str) -> None:
        """Raise ArmError if a group is that of another manifest, too: two would undo each other's changes."""
        if owner := self.all.find_other_owner(group_id, self.known):
            raise ArmError(
                f"The group {group_id} already belongs to {owner}.",
                code=IN_USE,
                resource_id=self.resource.arm_id,
                at=format_rfc3339(self.clock.now()),
                hint="Keep one of the manifests, or give each of them a unique displayName.",
            )

    def note_gone(self) -> None:
        self.known.group_id, self.known.is_gone, self.known.is_created = "", True, False


def read_time(text: object) -> datetime | None:
    """Read a time of Graph; None if it is none."""
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo else None
