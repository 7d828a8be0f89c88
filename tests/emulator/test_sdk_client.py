"""The real SDK client over the socket: what it can do with Azure, it can do here."""

import asyncio
import time
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

HTTP = {"enforce_https": False}  # the SDK sends tokens over http only when told to
NETWORK = {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}}


class AnyToken:
    """A credential whose token nobody checks."""

    async def get_token(self, *_scopes, **_options):
        return AccessToken("token", int(time.time()) + 3600)

    async def close(self):
        """Nothing to close."""

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        """Nothing to leave."""


def with_client(scenario, settings=OPEN):
    async def run():
        async with (
            Emulator(settings) as emulator,
            ResourceManagementClient(
                AnyToken(), SUBSCRIPTION.split("/")[2], base_url=emulator.url, polling_interval=0, retry_total=0
            ) as client,
        ):
            await client.resource_groups.create_or_update("net", {"location": "westeurope"}, **HTTP)
            return await scenario(client, emulator)

    return asyncio.run(run())


def create(client, path, body):
    operations = client.resources
    return operations.begin_create_or_update_by_id(path, api_version=VERSION, parameters=body, **HTTP)


@pytest.mark.parametrize("style", list(Style))
def test_it_creates_reads_and_deletes_whatever_the_style(style):
    async def scenario(client, emulator):
        made = await (await create(client, VNET, NETWORK)).result()
        read = await client.resources.get_by_id(VNET, api_version=VERSION, **HTTP)
        await (await client.resources.begin_delete_by_id(VNET, api_version=VERSION, **HTTP)).result()
        return made.as_dict(), read.as_dict(), emulator.resource(VNET)

    made, read, left = with_client(scenario, replace(OPEN, operations=Timing(style=style)))
    assert made["id"] == read["id"] == VNET
    assert read["properties"]["provisioningState"] == "Succeeded"
    assert read["properties"]["addressSpace"] == NETWORK["properties"]["addressSpace"]
    assert left is None


def test_it_lists_page_by_page():
    async def scenario(client, emulator):
        for number in range(5):
            emulator.put(at("Contoso.Things/things", f"t{number}"), {"location": "x"})
        emulator.requests.clear()
        every = [found.name async for found in client.resources.list(**HTTP)]
        grouped = [found.name async for found in client.resources.list_by_resource_group("net", top=2, **HTTP)]
        groups = [found.name async for found in client.resource_groups.list(**HTTP)]
        return every, grouped, groups, emulator.requests.counts()

    every, grouped, groups, counts = with_client(scenario, replace(OPEN, page_size=2))
    assert every == grouped == [f"t{number}" for number in range(5)]
    assert groups == ["net"]
    assert counts == {"GET": 3 + 3 + 1}


def test_it_tells_what_exists():
    async def scenario(client, _emulator):
        ask = client.resource_groups.check_existence
        return await ask("net", **HTTP), await ask("other", **HTTP)

    assert with_client(scenario) == (True, False)


def test_it_registers_a_provider():
    async def scenario(client, _emulator):
        states = [(await client.providers.register("Contoso.Things", **HTTP)).registration_state]
        states += [(await client.providers.get("Contoso.Things", **HTTP)).registration_state for _ in range(2)]
        return states

    settings = replace(OPEN, unregistered=("Contoso.Things",))
    assert with_client(scenario, settings) == ["Registering", "Registering", "Registered"]


def test_it_deletes_a_group():
    async def scenario(client, emulator):
        emulator.put(VNET, NETWORK)
        await (await client.resource_groups.begin_delete("net", **HTTP)).result()
        return emulator.ids()

    assert with_client(scenario) == []


def test_it_raises_what_arm_refuses():
    async def scenario(client, _emulator):
        with pytest.raises(ResourceNotFoundError) as absent:
            await client.resources.get_by_id(VNET, api_version=VERSION, **HTTP)
        with pytest.raises(HttpResponseError) as refused:
            await create(client, f"{VNET}/subnets/a", {})
        return absent.value.error.code, refused.value.error.code

    assert with_client(scenario) == ("ResourceNotFound", "ParentResourceNotFound")


@pytest.mark.parametrize("style", [Style.ASYNC, Style.ACCEPTED_ASYNC, Style.ACCEPTED, Style.STATE])
def test_it_raises_how_an_operation_failed(style):
    error = {"code": "SkuNotAvailable", "message": "There is none left."}
    course = Course(style=style, result="Failed", error=error)
    settings = replace(OPEN, rules=(FaultRule(match=Match(type="microsoft.network/*"), course=course),))

    async def scenario(client, emulator):
        with pytest.raises(HttpResponseError) as failed:
            await (await create(client, VNET, NETWORK)).result()
        return failed.value, emulator.resource(VNET)

    failed, resource = with_client(scenario, settings)
    assert style is Style.STATE or failed.error.code == "SkuNotAvailable"
    assert resource["properties"]["provisioningState"] == "Failed"


def test_the_log_counts_what_was_asked():
    async def scenario(client, emulator):
        emulator.requests.clear()
        await (await create(client, VNET, NETWORK)).result()
        return emulator.requests

    log = with_client(scenario)
    assert log.counts() == {"GET": 1, "POLL": 2, "PUT": 1}
    assert [request.path for request in log.writes()] == [VNET]
    assert log.writes()[0].body == NETWORK
    assert {request.type for request in log} == {"Microsoft.Network/virtualNetworks"}
    assert all(request.request_id for request in log)
    assert GROUP not in {request.path for request in log}
