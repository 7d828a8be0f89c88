"""The real client of groups against the double of Microsoft Graph in the emulator, over a socket."""

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count

from gitsync.emulator.graph.graph_settings import GraphDelays, GraphSettings
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import GVK, Key
from gitsync.model.live import Live
from gitsync.model.provider import Kept, ProvidedResource
from gitsync.providers.arm.client import Arm, open_arm
from gitsync.providers.arm.session import Session
from gitsync.providers.entra.groups import EntraGroups, GroupReader, GroupWriter
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


def make_resource(body=ADMINS, *, name="admins", mode="", given_id="", **members) -> ProvidedResource:
    spec = {**(body or {}), **({"operatorSpec": {"creationMode": mode}} if mode else {})}
    return ProvidedResource(
        key=Key("entra.azure.com", "SecurityGroup", "default", name),
        gvk=GVK("entra.azure.com", "v1", "SecurityGroup"),
        arm_id=ArmId(f"/providers/Microsoft.Graph/groups/default.{name}"),
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
    groups: EntraGroups  # what this run has learned

    def session(self, seconds=1800) -> Session:
        return Session(deadline=self.clock.monotonic() + seconds)

    def reader(self, resource, session=None) -> GroupReader:
        return self.groups.reader(resource, self.arm, session or self.session())

    def writer(self, resource, session=None) -> GroupWriter:
        return self.groups.writer(resource, self.arm, session or self.session())

    def next_run(self):
        return replace(self, groups=EntraGroups(self.clock))

    async def find(self, resource):
        return await self.reader(resource).find(resource.arm_id, VERSION)

    async def put(self, resource, body=None):
        return await self.writer(resource).put(resource.arm_id, VERSION, body or resource.body)

    async def delete(self, resource):
        return await self.writer(resource).delete(resource.arm_id, VERSION)

    async def make(self, body=ADMINS, **more) -> str:
        """A group that somebody else made, by a run of theirs: its id."""
        other = make_resource({**ADMINS, **body}, name=f"other-{next(_NUMBERS)}", mode="AlwaysCreate", **more)
        theirs = self.next_run()
        await theirs.put(other)
        self.azure.requests.clear()
        return theirs.groups.find_given_id(other.arm_id)

    def sent(self) -> list[tuple[str, int]]:
        """What was sent since the last look, without the ids: method and status."""
        sent = [(request.method, request.status) for request in self.azure.requests]
        self.azure.requests.clear()
        return sent

    def ids(self) -> list[str]:
        return [path.rpartition("/")[2] for path in self.azure.ids("/v1.0/groups/")]

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
        yield GraphRig(azure, clock, arm, EntraGroups(clock))


def body_of(live) -> dict:
    """The body that git would state, without the id."""
    assert isinstance(live, Live), live
    return {name: value for name, value in live.body.items() if name != "id"}
