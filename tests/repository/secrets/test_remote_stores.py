"""Which remote stores are opened, by the settings."""

from contextlib import asynccontextmanager

import pytest

from gitsync.errors import ConfigError, SecretStoreError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.secret import Secret
from gitsync.providers.arm.auth.arm_access import Network
from gitsync.providers.arm.http.connection import open_connection
from gitsync.repository.secrets.protocols import SecretSource, Sink
from gitsync.repository.secrets.stores import open_for_plan, open_remote
from gitsync.settings.config.config import Config
from tests.support import private_ca
from tests.support.arm_rig import StaticCredential
from tests.support.fake_clock import FakeClock
from tests.support.fake_key_vault import FakeKeyVault
from tests.support.fake_kubernetes import FakeKubernetes

DB = Address(ObjectKind.SECRET, "default", "db")


@asynccontextmanager
async def nobody_is_needed():
    raise AssertionError("nothing here is Azure's")
    yield


async def test_both_are_source_and_sink_and_opened_once(tmp_path):
    ca = private_ca.make(tmp_path)

    @asynccontextmanager
    async def identity():
        async with open_connection(Network(ca_bundle=ca.bundle)) as way:
            yield StaticCredential(), way

    async with FakeKeyVault(ca.tls) as vault, FakeKubernetes(ca, tmp_path / "account") as cluster:
        words = ("key-vault", "kubernetes")
        config = Config(secret_sources=words, export_to=words, key_vault=vault.url)
        async with open_remote(config, identity, FakeClock(), cluster.environment, cluster.folder) as locations:
            sources: list[SecretSource] = list(locations.values())
            sinks: list[Sink] = list(locations.values())
            assert [source.name for source in sources] == list(words)
            assert (vault.requests, cluster.requests) == ([], []), "nothing is sent yet"
            assert [await source.read(DB, ["key"]) for source in sources] == [None, None]
            assert [await sink.owner(DB) for sink in sinks] == [None, None]


@pytest.mark.parametrize(
    ("settings", "words", "why"),
    [
        ({"export_to": ("key-vault",)}, "Set --key-vault", "no vault is named"),
        ({"secret_sources": ("kubernetes",)}, "does not run in a Kubernetes pod", "a laptop"),
    ],
)
async def test_what_cannot_be_opened_is_told(tmp_path, settings, words, why):
    with pytest.raises(ConfigError, match=words):
        async with open_remote(Config(**settings), nobody_is_needed, FakeClock(), {}, tmp_path):
            raise AssertionError(why)


async def test_what_the_settings_do_not_name_is_not_opened(tmp_path):
    async with open_remote(Config(), nobody_is_needed, FakeClock(), {}, tmp_path) as locations:
        assert locations == {}


MAP = Address(ObjectKind.CONFIG_MAP, "default", "urls")
SOURCES = ("key-vault", "manifests", "kubernetes")


async def open_plan(ca, folder, *, inside=True, identity=nobody_is_needed, **settings):
    """What a plan opens: by source, what it has of a Secret and of a config map, or why it has nothing."""

    async def told(one, address):
        try:
            return await one.read(address, ["key"])
        except SecretStoreError as error:
            return error.message

    async with FakeKeyVault(ca.tls) as vault, FakeKubernetes(ca, folder / "account") as cluster:
        cluster.make("configmaps", "default", "urls", {"key": "here"})
        config = Config(secret_sources=SOURCES, export_to=("kubernetes",), key_vault=vault.url, **settings)
        environment = cluster.environment if inside else {}
        async with open_for_plan(config, identity, FakeClock(), environment, cluster.folder) as sources:
            assert (vault.requests, cluster.requests) == ([], []), "nothing is sent yet"
            return {name: (await told(source, DB), await told(source, MAP)) for name, source in sources.items()}


async def test_a_plan_opens_the_cluster_and_no_vault(tmp_path):
    opened = await open_plan(private_ca.make(tmp_path), tmp_path)
    assert opened["key-vault"] == ("A plan does not open Key Vault.", None), "it holds no config maps"
    assert opened["kubernetes"] == (None, {"key": Secret("here")})


async def test_a_plan_outside_of_a_cluster_says_what_it_does_not_know(tmp_path):
    opened = await open_plan(private_ca.make(tmp_path), tmp_path, inside=False)
    assert all("does not run in a Kubernetes pod" in told for told in opened["kubernetes"])


async def test_a_plan_that_is_to_read_secrets_opens_what_a_sync_does(tmp_path):
    ca = private_ca.make(tmp_path)

    @asynccontextmanager
    async def identity():
        async with open_connection(Network(ca_bundle=ca.bundle)) as way:
            yield StaticCredential(), way

    opened = await open_plan(ca, tmp_path, identity=identity, plan_secrets=True)
    assert opened == {"key-vault": (None, None), "kubernetes": (None, {"key": Secret("here")})}
    with pytest.raises(ConfigError, match="does not run in a Kubernetes pod"):
        await open_plan(ca, tmp_path, identity=identity, plan_secrets=True, inside=False)


async def test_a_plan_tells_what_the_sync_would_lack(tmp_path):
    with pytest.raises(ConfigError, match="Set --key-vault"):
        async with open_for_plan(Config(export_to=("key-vault",)), nobody_is_needed, FakeClock(), {}, tmp_path):
            raise AssertionError("no vault is named")
