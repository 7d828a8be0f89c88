"""Which places elsewhere are opened, by the settings."""

import asyncio
from contextlib import asynccontextmanager

import private_ca
import pytest
from fake_clock import FakeClock
from fake_key_vault import FakeKeyVault
from fake_kubernetes import FakeKubernetes
from rig import StaticCredential

from gitsync.arm.auth.access import Network
from gitsync.arm.http.network import open_transport
from gitsync.config.config import Config
from gitsync.errors import ConfigError
from gitsync.model.export import Address, Holder
from gitsync.secrets.protocols import SecretSource, Sink, VaultError
from gitsync.secrets.remote import list_unopened, open_remote

DB = Address(Holder.SECRET, "default", "db")


@asynccontextmanager
async def nobody_is_needed():
    raise AssertionError("nothing here is Azure's")
    yield


def test_both_are_source_and_sink_and_opened_once(tmp_path):
    ca = private_ca.make(tmp_path)

    @asynccontextmanager
    async def identity():
        async with open_transport(Network(ca_bundle=ca.bundle)) as way:
            yield StaticCredential(), way

    async def test():
        async with FakeKeyVault(ca.tls) as vault, FakeKubernetes(ca, tmp_path / "account") as cluster:
            words = ("key-vault", "kubernetes")
            config = Config(secret_sources=words, export_to=words, key_vault=vault.url)
            async with open_remote(config, identity, FakeClock(), cluster.environment, cluster.folder) as places:
                sources: list[SecretSource] = list(places.values())
                sinks: list[Sink] = list(places.values())
                assert [source.name for source in sources] == list(words)
                assert (vault.requests, cluster.requests) == ([], []), "nothing is sent yet"
                assert [await source.read(DB, ["key"]) for source in sources] == [None, None]
                assert [await sink.owner(DB) for sink in sinks] == [None, None]

    asyncio.run(test())


@pytest.mark.parametrize(
    ("settings", "words", "why"),
    [
        ({"export_to": ("key-vault",)}, "Set --key-vault", "no vault is named"),
        ({"secret_sources": ("kubernetes",)}, "does not run in a Kubernetes pod", "a laptop"),
    ],
)
def test_what_cannot_be_opened_is_told(tmp_path, settings, words, why):
    async def test():
        async with open_remote(Config(**settings), nobody_is_needed, FakeClock(), {}, tmp_path):
            raise AssertionError(why)

    with pytest.raises(ConfigError, match=words):
        asyncio.run(test())


def test_what_the_settings_do_not_name_is_not_opened(tmp_path):
    async def test():
        async with open_remote(Config(), nobody_is_needed, FakeClock(), {}, tmp_path) as places:
            assert places == {}

    asyncio.run(test())


def test_a_plan_has_sources_that_are_not_asked():
    config = Config(
        secret_sources=("manifests", "kubernetes"), export_to=("key-vault",), key_vault="https://vault.example"
    )
    (source,) = list_unopened(config).values()
    assert (source.name, source.is_remote) == ("kubernetes", True)
    with pytest.raises(VaultError, match=r"A plan does not read .* from kubernetes"):
        asyncio.run(source.read(DB, ["key"]))


def test_a_plan_tells_what_the_sync_would_lack():
    with pytest.raises(ConfigError, match="Set --key-vault"):
        list_unopened(Config(export_to=("key-vault",)))
