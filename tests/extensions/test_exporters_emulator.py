"""Every exporter against an Azure on a socket, through the real client: keys, pages, long-running actions, deletes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.errors import ArmError
from gitsync.extensions.api import Subject
from gitsync.extensions.factories.private_endpoints import FIELD
from gitsync.model.arm_id import ArmId
from gitsync.providers.arm.client import open_arm
from gitsync.providers.arm.extension_client import ExtensionClient
from gitsync.providers.arm.session import Session
from tests.extensions.asking import REGISTRY, subject
from tests.extensions.exporting import exporters
from tests.support.arm_rig import anonymous
from tests.support.fake_clock import FakeClock

CATALOG = open_catalog()
GROUP = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg"
PROPERTIES = {
    "fullyQualifiedDomainName": "db.example",
    "clientId": "c",
    "principalId": "p",
    "tenantId": "t",
    "documentEndpoint": "https://docs.example",
    "hostName": "redis.example",
    "port": 6379,
    "sslPort": 6380,
    "serviceBusEndpoint": "https://bus.example",
    "primaryEndpoints": {n: f"https://{n}.example" for n in ("blob", "dfs", "file", "queue", "table", "web")},
}
"""What the resources tell, which no provider of the emulator makes up."""


@asynccontextmanager
async def open_azure(**settings: Any) -> AsyncIterator[tuple[Emulator, ExtensionClient]]:
    """An emulator with one resource group, and the client that extensions are given."""
    clock = FakeClock()
    async with Emulator(EmulatorSettings(limits=None, **settings), clock=clock) as azure:
        azure.put(GROUP, {"location": "westeurope"})
        async with open_arm(anonymous(azure.url), clock) as arm:
            actor = ExtensionClient(arm.writer(Session(deadline=clock.monotonic() + 1800)))
            yield azure, actor


@pytest.fixture
async def opened() -> AsyncIterator[tuple[Emulator, ExtensionClient]]:
    async with open_azure() as opened:
        yield opened


@pytest.fixture
def azure(opened: tuple[Emulator, ExtensionClient]) -> Emulator:
    return opened[0]


@pytest.fixture
def actor(opened: tuple[Emulator, ExtensionClient]) -> ExtensionClient:
    return opened[1]


def id_of(group: str, kind: str) -> str:
    provider, *types = (CATALOG.arm_type(group, kind) or "").split("/")
    return f"{GROUP}/providers/{provider}/" + "/".join(f"{name}/one{depth}" for depth, name in enumerate(types))


def made(azure: Emulator, arm_id: str, properties: Any = None) -> None:
    """Put a resource and all that contains it."""
    steps = arm_id.split("/")
    for end in range(9, len(steps) + 1, 2):
        azure.put("/".join(steps[:end]), {"location": "westeurope", "properties": dict(properties or {})})


async def about(azure: Emulator, actor: ExtensionClient, group: str, kind: str, properties: Any = None) -> Subject:
    arm_id = id_of(group, kind)
    made(azure, arm_id, properties)
    return replace(subject(group, kind, own=await actor.get(arm_id, "2024-01-01")), arm_id=ArmId(arm_id))


@pytest.mark.parametrize("kind", sorted(exporters()), ids="-".join)
async def test_every_field_of_every_kind_is_given(azure: Emulator, actor: ExtensionClient, kind):
    wanted = exporters()[kind].fields
    found = await REGISTRY.export_secrets(await about(azure, actor, *kind, PROPERTIES), actor, wanted)
    assert found.keys() == wanted
    assert all(secret.reveal() for secret in found.values())
    values = [secret.reveal() for secret in found.values()]
    assert len(set(values)) == len(values), "no field has the value of another"


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (("appconfiguration.azure.com", "ConfigurationStore"), "secondaryReadOnlyKey"),
        (("devices.azure.com", "IotHub"), "registryReadWriteSecondaryKey"),
    ],
)
async def test_entries_are_looked_for_on_every_page(kind, field):
    async with open_azure(page_size=1) as (azure, actor):
        found = await REGISTRY.export_secrets(await about(azure, actor, *kind), actor, frozenset({field}))
        assert found[field].reveal()
        assert len([r for r in azure.requests if "listkeys" in r.path.casefold()]) > 3, "as many pages as entries"


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (("containerservice.azure.com", "Fleet"), "userCredentials"),
        (("containerservice.azure.com", "ManagedCluster"), "adminCredentials"),
    ],
)
async def test_a_kubeconfig_is_one_that_a_client_can_read(azure: Emulator, actor: ExtensionClient, kind, field):
    found = await REGISTRY.export_secrets(await about(azure, actor, *kind), actor, frozenset({field}))
    assert found[field].reveal().startswith("apiVersion: v1\nkind: Config\n")


async def test_what_azure_refuses_is_told_with_its_code(azure: Emulator, actor: ExtensionClient):
    it = await about(azure, actor, "storage.azure.com", "StorageAccount")
    azure.remove(it.arm_id)
    with pytest.raises(ArmError) as raised:
        await REGISTRY.export_secrets(it, actor, frozenset({"key1"}))
    assert raised.value.code == "ResourceNotFound"


async def test_the_address_of_a_private_endpoint_is_read_from_the_interface_that_azure_makes_with_it(
    azure: Emulator, actor: ExtensionClient
):
    requested = {"ipConfigurations": [{"name": "it", "properties": {"privateIPAddress": "10.0.0.4"}}]}
    it = await about(azure, actor, "network.azure.com", "PrivateEndpoint", requested)
    assert dict(await REGISTRY.export_config_maps(it, actor, frozenset({FIELD}))) == {FIELD: "10.0.0.4"}


async def test_a_product_is_deleted_with_its_subscriptions_and_once_more_as_any_other(
    azure: Emulator, actor: ExtensionClient
):
    it = await about(azure, actor, "apimanagement.azure.com", "Product")

    async def last(product: Subject, _azure: Any) -> None:
        await actor.delete(product.arm_id, product.api_version)

    await REGISTRY.delete(it, actor, last)
    assert azure.resource(it.arm_id) is None
    assert [(r.method, r.path) for r in azure.requests if r.method == "DELETE"] == [
        ("DELETE", id_of("apimanagement.azure.com", "Product"))
    ] * 2


async def test_a_product_that_is_gone_already_is_left_to_the_default_delete(azure: Emulator, actor: ExtensionClient):
    it = await about(azure, actor, "apimanagement.azure.com", "Product")
    azure.remove(it.arm_id)
    left: list[str] = []

    async def last(product: Subject, _azure: Any) -> None:
        left.append(product.arm_id)

    await REGISTRY.delete(it, actor, last)
    assert left == [id_of("apimanagement.azure.com", "Product")]
