"""Sources of secrets that do not answer: they end with the node that requests them, and not the run with them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from gitsync.model.export import Address
from gitsync.model.secret import Secret
from gitsync.repository.secrets.stores import SecretStores
from tests.agent.run.exporters import secret_at, server
from tests.support.memory_places import MemorySource
from tests.support.world import GROUP, World, of


class HungSource(MemorySource):
    """It answers for some Secrets, and never for others."""

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        if address.name == "hung":
            await asyncio.Event().wait()
        return await super().read(address, keys)


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    source = HungSource("folder", {secret_at("there"): {"password": Secret("a-password-of-ours")}})
    world.secret_stores = SecretStores(order=("manifests", "folder"), sources={"folder": source})
    return world


def test_a_source_that_never_answers_ends_with_the_node_that_asked(world):
    hung = server("hung", "password")
    report = world.says(group=GROUP, hung=hung, other=server("hung", "user").replace("books", "papers")).sync(
        resource_timeout=0.5
    )
    for name in ("books", "papers"):
        condition = of(report, "FlexibleServer", name).condition
        assert condition.message.startswith("Timed out waiting for secret sources"), "one waits for the other's lock"
    assert of(report, "ResourceGroup").is_fine


def test_another_secret_of_the_same_source_is_had(world):
    report = world.says(group=GROUP, there=server("there", "password")).sync()
    assert of(report, "FlexibleServer").is_fine
