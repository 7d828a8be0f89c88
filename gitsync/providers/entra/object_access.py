"""Access to one Entra ID object: its requests, as the principal of a resource, and what the run has learned of the
object.

Graph is consistent only in the end. An object is new for a minute after it was created: a 404 for it proves nothing
then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from gitsync.errors import ArmError, DeadlineError
from gitsync.model.arm_id import ArmId
from gitsync.model.clock import Clock, format_rfc3339
from gitsync.model.provider import ProvidedResource
from gitsync.providers.arm.cloud import Cloud
from gitsync.providers.arm.http.messages import Response
from gitsync.providers.arm.http.retries import Retrier
from gitsync.providers.arm.session import Pace, Session
from gitsync.providers.entra.directory_kind import DirectoryKind, GraphObject, ObjectSearch
from gitsync.providers.entra.directory_kinds import KINDS
from gitsync.providers.entra.graph_requests import GraphRequest
from gitsync.providers.entra.recent_links import RecentLinks
from gitsync.settings.backoff import Backoff

NEW: Final = 60.0
"""Seconds for which a 404 of an object that was created proves nothing, and for which a search may not show it."""

_PAUSE: Final = Backoff(first=1.0, most=8.0)


@dataclass(slots=True)
class KnownObject:
    """What the run has learned of one object."""

    arm_id: ArmId  # the id that gitsync gives the object
    object_id: str  # "" if it has none
    is_declared: bool  # a manifest has it
    is_gone: bool = False  # it had an id, and Graph does not have the object
    is_created: bool = False  # by this run: then no read proves that it is gone, so that no second one is created
    new_until: float = float("-inf")  # Graph may not show the group yet before this, in the clock's monotonic seconds
    sent_at: datetime | None = None  # when a POST was sent that got no answer
    links: RecentLinks = field(default_factory=RecentLinks)  # what was written of its members and owners


class KnownObjects:
    """What the run has learned of all objects. `deleted` are the ids of those that it has deleted."""

    def __init__(self) -> None:
        self._objects: dict[str, KnownObject] = {}
        self._creators: dict[tuple[Retrier, str, ObjectSearch], ArmId] = {}  # of objects that a search may not show yet
        self.deleted: set[str] = set()

    def find(self, arm_id: ArmId) -> KnownObject | None:
        return self._objects.get(arm_id.key)

    def take(self, resource: ProvidedResource) -> KnownObject:
        """Return what is known of a resource: at first what its record has."""
        arm_id, is_declared = resource.arm_id.key, resource.body is not None
        return self._objects.setdefault(arm_id, KnownObject(resource.arm_id, resource.kept.given_id, is_declared))

    def has_new(self, now: float) -> bool:
        """Return whether the run has created an object that Graph may not show yet."""
        return any(known.is_created and now < known.new_until for known in self._objects.values())

    def claim(self, retrier: Retrier, collection: str, search: ObjectSearch, arm_id: ArmId) -> ArmId:
        """Return the manifest that creates the object of a search in this run: the first that claims it."""
        folded = ObjectSearch(search.member, search.value.casefold())
        # Another credential may be one of another tenant, where the name is free.
        return self._creators.setdefault((retrier, collection, folded), arm_id)

    def find_other_owner(self, object_id: str, known: KnownObject) -> str:
        """Return the id of an object that the run already has as that of another manifest; "" if there is none."""
        others = (other.arm_id for other in self._objects.values() if other is not known and other.is_declared)
        return next((arm_id for arm_id in others if self._objects[arm_id.key].object_id == object_id), "")


class GraphService(NamedTuple):
    """Microsoft Graph, as one principal."""

    cloud: Cloud
    retrier: Retrier


class ObjectAccess(NamedTuple):
    """One object, and the way to it."""

    resource: ProvidedResource
    known: KnownObject
    all: KnownObjects
    graph: GraphService
    clock: Clock
    session: Session

    @property
    def kind(self) -> DirectoryKind:
        return KINDS[self.resource.key.group, self.resource.key.kind]

    @property
    def is_new(self) -> bool:
        return self.clock.monotonic() < self.known.new_until

    async def send(self, request: GraphRequest) -> Response:
        return await self.graph.retrier.send(request, self.session)

    async def send_patiently(self, request: GraphRequest) -> Response:
        """Send again while a new object answers 404. Raises ArmError if it does so to the deadline of the resource."""
        answer, tries = await self.send(request), 0
        while answer.status == 404 and self.is_new:
            await self.pause(tries, f"Microsoft Graph created {self.known.object_id} and does not return it yet.")
            answer, tries = await self.send(request), tries + 1
        return answer

    async def send_until_found(self, request: GraphRequest, what: str) -> Response:
        """Send again for up to a minute while Graph does not have what a request names: it may be new."""
        tries, until = 0, self.clock.monotonic() + NEW
        answer = await self.send(request)
        while answer.status == 404 and self.clock.monotonic() < until:
            await self.pause(tries, f"Microsoft Graph does not have {what} yet.")
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

    def note_object(self, graph_object: GraphObject) -> None:
        """Keep the id of an object that Graph shows, and until when a 404 for it proves nothing."""
        self.known.object_id, self.known.is_gone, self.known.sent_at = str(graph_object["id"]), False, None
        created = read_time(graph_object.get("createdDateTime"))
        # Without a date, the object may have been created just now.
        age = (self.clock.now() - created).total_seconds() if created else NEW
        self.known.new_until = max(self.known.new_until, self.clock.monotonic() + min(NEW, NEW - age))

    def require_own(self, object_id: str) -> None:
        """Raise ArmError if an object is that of another manifest, too: two would undo each other's changes."""
        if owner := self.all.find_other_owner(object_id, self.known):
            raise self._make_in_use(f"The {self.kind.names.one} {object_id} already belongs to {owner}.")

    def claim(self, search: ObjectSearch) -> None:
        """Raise ArmError if another manifest of this run creates the object that a search means: at the same time, both
        searches find nothing, and Microsoft Graph would create two.
        """
        creator = self.all.claim(self.graph.retrier, self.kind.collection, search, self.resource.arm_id)
        if creator != self.resource.arm_id:
            what = f"the {self.kind.names.one} with the {search.member} {search.value!r}"
            raise self._make_in_use(f"{creator} creates {what} in this run.")

    def _make_in_use(self, message: str) -> ArmError:
        return ArmError(
            message,
            code=self.kind.names.in_use,
            resource_id=self.resource.arm_id,
            at=format_rfc3339(self.clock.now()),
            hint=self.kind.names.if_in_use,
        )

    def note_gone(self) -> None:
        self.known.object_id, self.known.is_gone, self.known.is_created = "", True, False


def read_time(text: object) -> datetime | None:
    """Read a time of Graph; None if it is none."""
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo else None
