"""What exports need of a resource that a list shows unchanged: a read, an action, or nothing but the list."""

from dataclasses import replace

import pytest

from gitsync.emulator.http.messages import ListFault
from gitsync.emulator.settings import Timing
from gitsync.repository.secrets.stores import SecretStores
from tests.agent.run.test_lists import at, count_reads, settle, spoil
from tests.support.memory_places import MemorySink
from tests.support.world import World

IDENTITIES, ACCOUNTS = "Microsoft.ManagedIdentity/userAssignedIdentities", "Microsoft.Storage/storageAccounts"


def write_documents(number):
    """A group with an identity that exports its principal, and an account that exports its `operator_spec`."""
    return f"""\
    apiVersion: resources.azure.com/v1api20200601
    kind: ResourceGroup
    metadata: {{name: group-{number:03}}}
    spec: {{location: westeurope}}
    ---
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: UserAssignedIdentity
    metadata: {{name: identity-{number:03}}}
    spec:
      location: westeurope
      owner: {{name: group-{number:03}}}
      operatorSpec:
        configMaps:
          principalId: {{name: identity-{number:03}, key: principal}}
    ---
    apiVersion: storage.azure.com/v1api20230101
    kind: StorageAccount
    metadata: {{name: store{number:03}}}
    spec:
      location: westeurope
      owner: {{name: group-{number:03}}}
      kind: StorageV2
      sku: {{name: Standard_LRS}}
      operatorSpec:
        secrets:
          key1: {{name: store{number:03}, key: first}}
    """


FILES = {f"g{number:03}": write_documents(number) for number in (1, 2)}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("exported"), operations=Timing(polls=0))
    world.secret_stores = SecretStores(sinks=(MemorySink(),))
    report = world.says(**FILES).sync()
    assert report.exit_code == 0
    return settle(world, report)


@pytest.fixture
def world(exported, tmp_path):
    return exported.copy(tmp_path)


def test_keys_take_an_action_and_an_unchanged_config_map_takes_nothing(world):
    assert world.sync().summary == {"in-sync": 6}
    assert (count_reads(world, IDENTITIES), count_reads(world, ACCOUNTS)) == ((1, 0), (1, 0))
    assert [path.rpartition("/")[2] for path in world.sent("POST")] == ["listKeys", "listKeys"]
    world.plan()
    assert (count_reads(world, IDENTITIES), count_reads(world, ACCOUNTS)) == ((1, 0), (1, 0))
    assert world.sent("POST") == []


def test_a_list_exports_no_value_that_it_alone_shows(world):
    identity = at(1, f"{IDENTITIES}/identity-{{n}}")
    spoil(world, {IDENTITIES: ListFault(trim=("/properties/principalId",))})
    assert world.sync().summary == {"in-sync": 6}
    assert count_reads(world, IDENTITIES) == (1, 2)
    assert identity in world.sent("GET")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ('secrets: {blobEndpoint: {name: "blob-$n", key: blob}}', "the exporter takes it from the resource"),
        ("configMapExpressions: [{name: c-$n, key: id, value: self.status.id}]", "an expression may use all of it"),
    ],
)
def test_what_comes_from_the_resource_takes_a_read(world, fields, why):
    texts = {
        name: text.replace(
            f"secrets:\n          key1: {{name: store{name[1:]}, key: first}}", fields.replace("$n", name)
        )
        for name, text in FILES.items()
    }
    assert world.says(**texts).sync().exit_code == 0
    assert world.sync().summary == {"in-sync": 6}
    assert count_reads(world, ACCOUNTS) == (0, 2), why


def test_a_resource_that_a_stale_list_shows_and_that_is_gone_is_created_again(world):
    """Its keys cannot be exported, so it is read."""
    spoil(world, {ACCOUNTS: ListFault(stale=1e9)})
    account = at(1, f"{ACCOUNTS}/store{{n}}")
    world.settings = replace(world.settings)
    world.outside("DELETE", account, api_version="2023-01-01", rules=world.settings.rules)
    report = world.sync()
    assert (report.summary, report.exit_code) == ({"in-sync": 5, "missing": 1}, 0)
    assert world.sent("PUT") == [account]
