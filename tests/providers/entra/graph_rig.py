"""The real client of directory objects against the double of Microsoft Graph in the emulator, over a socket."""

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count

import aiohttp

from gitsync.emulator.graph.graph_settings import GraphDelays, GraphSettings
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import GVK, Key
from gitsync.model.live import Live
from gitsync.model.provider import Kept, ProvidedResource
from gitsync.providers.arm.client import Arm, open_arm
from gitsync.providers.arm.session import Session
from gitsync.providers.entra.directory import EntraDirectory, ObjectReader, ObjectWriter
from gitsync.providers.entra.directory_kinds import KINDS
from tests.support.arm_rig import anonymous
from tests.support.fake_clock import FakeClock

ADMINS = {
    "displayName": "Admins",
    "mailNickname": "admins",
    "description": "Those who may",
    "membershipType": "assigned",
    "isAssignableToRole": False,
}
VERSION = "v1.0"
_NUMBERS = count(1)


def make_resource(
    body=ADMINS, *, kind="SecurityGroup", name="admins", mode="", given_id="", **members
) -> ProvidedResource:
    spec = {**(body or {}), **({"operatorSpec": {"creationMode": mode}} if mode else {})}
    collection = KINDS["entra.azure.com", kind].collection.rpartition("/")[2]
    return ProvidedResource(
        key=Key("entra.azure.com", kind, "default", name),
        gvk=GVK("entra.azure.com", "v1", kind),
        arm_id=ArmId(f"/providers/Microsoft.Graph/{collection}/default.{name}"),
        name=name,
        spec=spec if body is not None else {},
        body=body,
        kept=Kept(given_id=given_id),
        **members,
    )


@dataclass
class GraphRig:
    """A run of its own."""

    azure: Emulator  # stays if another run begins
    clock: FakeClock
    arm: Arm
    groups: EntraDirectory  # what this run has learned

    def session(self, seconds=1800) -> Session:
        return Session(deadline=self.clock.monotonic() + seconds)

    def reader(self, resource, session=None) -> ObjectReader:
        return self.groups.reader(resource, self.arm, session or self.session())

    def writer(self, resource, session=None) -> ObjectWriter:
        return self.groups.writer(resource, self.arm, session or self.session())

    def next_run(self):
        return replace(self, groups=EntraDirectory(self.clock))

    async def find(self, resource):
        return await self.reader(resource).find(resource.arm_id, VERSION)

    async def put(self, resource, body=None):
        return await self.writer(resource).put(resource.arm_id, VERSION, body or resource.body)

    async def delete(self, resource):
        return await self.writer(resource).delete(resource.arm_id, VERSION)

    async def make(self, body=ADMINS, *, kind="SecurityGroup", **more) -> str:
        """An object that somebody else made, by a run of theirs: its id."""
        every = {**ADMINS, **body} if kind == "SecurityGroup" else body
        mode = "AdoptOrCreate" if kind == "ServicePrincipal" else "AlwaysCreate"
        other = make_resource(every, kind=kind, name=f"other-{next(_NUMBERS)}", mode=mode, **more)
        theirs = self.next_run()
        await theirs.put(other)
        self.azure.requests.clear()
        return theirs.groups.find_given_id(other.arm_id)

    async def restore(self, object_id) -> None:
        """Restore a deleted object, as somebody in the portal."""
        async with aiohttp.ClientSession() as session:
            url = f"{self.azure.url}/v1.0/directory/deletedItems/{object_id}/restore"
            async with session.post(url) as answer:
                assert answer.status == 200

    def sent(self) -> list[tuple[str, int]]:
        """What was sent since the last look, without the ids: method and status."""
        sent = [(request.method, request.status) for request in self.azure.requests]
        self.azure.requests.clear()
        return sent

    def ids(self, collection="groups") -> list[str]:
        return [path.rpartition("/")[2] for path in self.azure.ids(f"/v1.0/{collection}/")]

    def group(self, group_id) -> dict:
        """What is stored of a group."""
        return self.azure.received(f"/v1.0/groups/{group_id}")


@asynccontextmanager
async def graph(*, rules=(), permissions=None, page_size=100, **delays):
    clock = FakeClock()
    settings = EmulatorSettings(
        rules=tuple(rules),
        limits=None,
        graph=GraphSettings(permissions=permissions, page_size=page_size, delays=GraphDelays(**delays)),
    )
    async with Emulator(settings, clock=clock) as azure, open_arm(anonymous(azure.url), clock) as arm:
        yield GraphRig(azure, clock, arm, EntraDirectory(clock))


def body_of(live) -> dict:
    """The body that git would state, without the id."""
    assert isinstance(live, Live), live
    return {name: value for name, value in live.body.items() if name != "id"}
