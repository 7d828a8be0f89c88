"""An emulator, and somebody who asks it over its socket; what else a test sees or does goes by the emulator's own hand."""

import json
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import BytesIO

import aiohttp
from yarl import URL

from gitsync.emulator.http.handler import RequestHandler
from gitsync.emulator.http.messages import ServerRequest
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.http.target import parse
from gitsync.emulator.settings import EmulatorSettings

SUBSCRIPTION = "/subscriptions/00000000-0000-4000-8000-000000000001"
GROUP = f"{SUBSCRIPTION}/resourceGroups/net"
VERSION = "2024-03-01"
OPEN = EmulatorSettings(limits=None)


def at(kind, *names, scope=GROUP):
    """The id of a resource: at("Microsoft.Network/virtualNetworks/subnets", "hub", "a")."""
    namespace, *types = kind.split("/")
    pairs = [word for pair in zip(types, names, strict=True) for word in pair]
    return "/".join((scope, "providers", namespace, *pairs))


VNET = at("Microsoft.Network/virtualNetworks", "hub")
PLAIN = at("Contoso.Things/things", "one")  # a type that no table has


class TestClock:
    """Time that moves when somebody sleeps on it."""

    __test__ = False

    def __init__(self):
        self.seconds = 0.0

    def now(self):
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self):
        return self.seconds

    async def sleep(self, seconds):
        self.seconds += seconds


@dataclass
class Reply:
    status: int
    headers: Mapping  # looked up without case
    body: object = None

    @property
    def code(self):
        return self.body.get("error", self.body)["code"]

    @property
    def message(self):
        return self.body["error"]["message"]

    @property
    def state(self):
        return self.body["properties"]["provisioningState"]


@dataclass
class Requested:
    """Somebody with a connection to an emulator."""

    emulator: Emulator
    session: aiohttp.ClientSession
    headers: dict = field(default_factory=dict)

    async def send_request(self, method, path, body=None, *, version=VERSION, **headers):
        url = path if path.startswith("http") else self.emulator.url + path
        if version and "api-version=" not in url:
            url += f"{'&' if '?' in url else '?'}api-version={version}"
        sent = {"data": BytesIO(body)} if isinstance(body, bytes) else {"json": body}
        given = self.headers | {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.request(method, url, headers=given, **sent) as answer:
            is_json = answer.content_type == "application/json" and await answer.read()
            return Reply(answer.status, answer.headers, await answer.json() if is_json else await answer.text())

    async def get(self, path, **more):
        return await self.send_request("GET", path, **more)

    async def put(self, path, body=None, **more):
        return await self.send_request("PUT", path, {"location": "westeurope"} if body is None else body, **more)

    async def delete(self, path, **more):
        return await self.send_request("DELETE", path, **more)

    async def made(self, path, body=None):
        """PUT and see it through; the resource as it then is."""
        reply = await self.put(path, body)
        assert reply.status in {200, 201, 202}, reply
        return await self.settled(path)

    async def settled(self, path):
        """The resource once nothing goes on with it any more."""
        for _ in range(20):
            found = await self.get(path)
            if found.status == 200 and found.body.get("properties", {}).get("provisioningState", "Succeeded") in {
                "Succeeded",
                "Failed",
                "Canceled",
            }:
                return found.body
        raise AssertionError(f"{path} is never done")


@dataclass
class Called(Requested):
    """Somebody who calls the handler of an emulator without a connection: for thousands of requests whose way there is
    no subject.
    """

    session: None = None

    def __post_init__(self):
        self.handler = RequestHandler(self.emulator.cloud)

    async def send_request(self, method, path, body=None, *, version=VERSION):
        target = parse(URL(path).raw_path)
        request = ServerRequest(
            method=method, target=target, api_version=version, base="http://127.0.0.1", query={}, headers={}
        )
        answer = await self.handler.answer(request, b"" if body is None else json.dumps(body).encode())
        return Reply(answer.status, answer.headers, answer.body)


@asynccontextmanager
async def emulated(settings=OPEN, store=None, clock=None, *, has_group=False):
    """An emulator, and somebody who asks it; with the group GROUP there already, if that is wanted."""
    async with Emulator(settings, store, clock) as emulator, aiohttp.ClientSession() as session:
        azure = Requested(emulator, session)
        if has_group:
            await add_group(azure)
        yield azure


async def add_group(azure):
    await azure.put(GROUP)
    azure.emulator.requests.clear()
