"""The real SDK client over the socket: what it can do with Azure, it can do here."""

import time
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.mgmt.resource.resources.aio import ResourceManagementClient

from gitsync.emulator.faults import FaultRule, Match
from gitsync.emulator.http.messages import Course
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import Timing
from gitsync.emulator.types.behaviour import Style
from tests.emulator.asked import GROUP, OPEN, SUBSCRIPTION, VERSION, VNET, at

HTTP = {"enforce_https": False}  # the SDK sends tokens over http only with this
NETWORK = {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}}


class AnyToken:
    """A credential whose token no one checks."""

    async def get_token(self, *_scopes, **_options):
        return AccessToken("token", int(time.time()) + 3600)

    async def close(self):
        """Nothing to close."""

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        """Nothing to leave."""


@asynccontextmanager
async def open_client(settings=OPEN):
    async with (
        Emulator(settings) as emulator,
        ResourceManagementClient(
            AnyToken(), SUBSCRIPTION.split("/")[2], base_url=emulator.url, polling_interval=0, retry_total=0
        ) as client,
    ):
        await client.resource_groups.create_or_update("net", {"location": "westeurope"}, **HTTP)
        yield client, emulator


def create(client, path, body):
    operations = client.resources
    return operations.begin_create_or_update_by_id(path, api_version=VERSION, parameters=body, **HTTP)


@pytest.mark.parametrize("style", list(Style))
async def test_it_creates_reads_and_deletes_whatever_the_style(style):
    async with open_client(replace(OPEN, operations=Timing(style=style))) as (client, emulator):
        made = await (await create(client, VNET, NETWORK)).result()
        read = await client.resources.get_by_id(VNET, api_version=VERSION, **HTTP)
        await (await client.resources.begin_delete_by_id(VNET, api_version=VERSION, **HTTP)).result()
        made, read, left = made.as_dict(), read.as_dict(), emulator.resource(VNET)
    assert made["id"] == read["id"] == VNET
    assert read["properties"]["provisioningState"] == "Succeeded"
    assert read["properties"]["addressSpace"] == NETWORK["properties"]["addressSpace"]
    assert left is None


async def test_it_lists_page_by_page():
    async with open_client(replace(OPEN, page_size=2)) as (client, emulator):
        for number in range(5):
            emulator.put(at("Contoso.Things/things", f"t{number}"), {"location": "x"})
        emulator.requests.clear()
        every = [found.name async for found in client.resources.list(**HTTP)]
        grouped = [found.name async for found in client.resources.list_by_resource_group("net", top=2, **HTTP)]
        groups = [found.name async for found in client.resource_groups.list(**HTTP)]
        counts = emulator.requests.counts()
    assert every == grouped == [f"t{number}" for number in range(5)]
    assert groups == ["net"]
    assert counts == {"GET": 3 + 3 + 1}


async def test_it_tells_what_exists():
    async with open_client() as (client, _emulator):
        send_request = client.resource_groups.check_existence
        assert (await send_request("net", **HTTP), await send_request("other", **HTTP)) == (True, False)


async def test_it_registers_a_provider():
    settings = replace(OPEN, unregistered=("Contoso.Things",))
    async with open_client(settings) as (client, _emulator):
        states = [(await client.providers.register("Contoso.Things", **HTTP)).registration_state]
        states += [(await client.providers.get("Contoso.Things", **HTTP)).registration_state for _ in range(2)]
        assert states == ["Registering", "Registering", "Registered"]


async def test_it_deletes_a_group():
    async with open_client() as (client, emulator):
        emulator.put(VNET, NETWORK)
        await (await client.resource_groups.begin_delete("net", **HTTP)).result()
        assert emulator.ids() == []


async def test_it_raises_what_arm_refuses():
    async with open_client() as (client, _emulator):
        with pytest.raises(ResourceNotFoundError) as absent:
            await client.resources.get_by_id(VNET, api_version=VERSION, **HTTP)
        with pytest.raises(HttpResponseError) as refused:
            await create(client, f"{VNET}/subnets/a", {})
        assert (absent.value.error.code, refused.value.error.code) == ("ResourceNotFound", "ParentResourceNotFound")


@pytest.mark.parametrize("style", [Style.ASYNC, Style.ACCEPTED_ASYNC, Style.ACCEPTED, Style.STATE])
async def test_it_raises_how_an_operation_failed(style):
    error = {"code": "SkuNotAvailable", "message": "There is none left."}
    course = Course(style=style, result="Failed", error=error)
    settings = replace(OPEN, rules=(FaultRule(match=Match(type="microsoft.network/*"), course=course),))
    async with open_client(settings) as (client, emulator):
        with pytest.raises(HttpResponseError) as failed:
            await (await create(client, VNET, NETWORK)).result()
        failed, resource = failed.value, emulator.resource(VNET)
    assert style is Style.STATE or failed.error.code == "SkuNotAvailable"
    assert resource["properties"]["provisioningState"] == "Failed"


async def test_the_log_counts_what_was_asked():
    async with open_client() as (client, emulator):
        emulator.requests.clear()
        await (await create(client, VNET, NETWORK)).result()
        log = emulator.requests
    assert log.counts() == {"GET": 1, "POLL": 2, "PUT": 1}
    assert [request.path for request in log.writes()] == [VNET]
    assert log.writes()[0].body == NETWORK
    assert {request.type for request in log} == {"Microsoft.Network/virtualNetworks"}
    assert all(request.request_id for request in log)
    assert GROUP not in {request.path for request in log}
