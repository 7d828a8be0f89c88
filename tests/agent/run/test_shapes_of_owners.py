"""Repositories as teams have them: a group included by many kustomizations, owners of another team, old versions. Each
is validated, synced twice, and loses a resource, beside a neighbour that never builds.
"""

import textwrap

import pytest

from gitsync.model.verdict import Verdict
from tests.agent.run.test_secret_digests import KEY
from tests.support.command_line import run_here
from tests.support.programs import needs_build_tool
from tests.support.world import SUBSCRIPTION, World

GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/identities-prod-rg"

NEIGHBOUR = {
    "neighbour/kustomization.yaml": "resources: [deployment.yaml, : ]\n",
    "neighbour/deployment.yaml": "a: b\n",
}
SHARED_GROUP = """\
    apiVersion: resources.azure.com/v1api20200601
    kind: ResourceGroup
    metadata:
      name: identities
      annotations: {serviceoperator.azure.com/reconcile-policy: detach-on-delete}
    spec: {location: westeurope, azureName: identities-prod-rg}
    """
IDENTITY = """\
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: UserAssignedIdentity
    metadata: {name: worker}
    spec: {location: westeurope, azureName: worker-TEAM, owner: {name: identities}}
    """


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def shared(*teams):
    files = {"base/rg.yaml": SHARED_GROUP, "base/kustomization.yaml": "resources: [rg.yaml]\n"}
    for team in teams:
        files[f"teams/{team}/kustomization.yaml"] = f"namespace: {team}\nresources: [../../base, identity.yaml]\n"
        files[f"teams/{team}/identity.yaml"] = IDENTITY.replace("TEAM", team)
    return files


def ids(name):
    return f"{GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/worker-{name}"


def codes(report):
    return [problem.code for problem in report.problems if problem.is_error]


@needs_build_tool
def test_a_group_that_each_kustomization_includes(world):
    world.says_files({**shared("blue", "green", "red"), **NEIGHBOUR})
    validated = run_here("validate", folder=world.folder)
    assert (validated.code, "ArmIdTwice" in validated.out) == (0, False), validated.out
    report = world.sync()
    assert (report.exit_code, codes(report)) == (0, [])
    assert sorted(world.sent("PUT")) == sorted([GROUP_ID, ids("blue"), ids("green"), ids("red")])
    assert (world.sync().exit_code, world.writes) == (0, [])
    report = world.says_files({**shared("green", "red"), **NEIGHBOUR}).sync(prune=True, max_deletes=5)
    assert (report.exit_code, world.writes) == (0, [f"DELETE {ids('blue')}"]), "the group's record moves"
    assert (world.sync(prune=True).exit_code, world.writes) == (0, [])
    report = world.says_files({"keep.yaml": "", **NEIGHBOUR}).sync(prune=True, max_deletes=5)
    assert (report.exit_code, sorted(world.sent("DELETE"))) == (0, sorted([ids("green"), ids("red")])), "it is detached"


@needs_build_tool
def test_a_group_with_different_bodies_is_an_error_of_those_that_have_it(world):
    files = shared("blue", "green")
    files["teams/green/kustomization.yaml"] += textwrap.dedent("""\
        patches:
          - patch: |
              - {op: add, path: /spec/tags, value: {team: green}}
            target: {kind: ResourceGroup}
        """)
    report = world.says_files(files | {"other.yaml": SHARED_GROUP.replace("identities", "other")}).sync()
    assert report.exit_code == 1
    assert world.sent("PUT") == [GROUP_ID.replace("identities", "other")]


OWNED = """\
    apiVersion: network.azure.com/v1api20240301
    kind: VirtualNetworksSubnet
    metadata: {name: NAME}
    spec: {owner: {name: hub}, addressPrefix: 10.0.NUMBER.0/24}
    """
PLATFORM = {
    "group.yaml": SHARED_GROUP.replace("identities-prod-rg", "platform"),
    "hub.yaml": """\
        apiVersion: network.azure.com/v1api20240301
        kind: VirtualNetwork
        metadata: {name: hub}
        spec: {location: westeurope, owner: {name: identities}, addressSpace: {addressPrefixes: [10.0.0.0/16]}}
        """,
}
HUB = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/platform/providers/Microsoft.Network/virtualNetworks/hub"


def owned(*names):
    return {
        f"apps/{name}.yaml": OWNED.replace("NAME", name).replace("NUMBER", str(at)) for at, name in enumerate(names)
    }


def test_owners_that_the_platform_team_declares(world, tmp_path):
    (tmp_path / "platform").mkdir()
    platform = World(tmp_path / "platform").says_files(PLATFORM)
    world.store = platform.store
    assert platform.sync(digest_key=KEY).exit_code == 0
    settings = {"digest_key": KEY, "known_from": (str(platform.state),)}
    world.says_files({**owned("web", "data"), **NEIGHBOUR})
    validated = run_here("validate", "--known-from", str(platform.state), folder=world.folder)
    assert validated.code == 0, validated.out
    assert run_here("validate", folder=world.folder).code == 1, "the owner is not known without its status"
    report = world.sync(**settings)
    assert (report.exit_code, sorted(world.writes)) == (0, [f"PUT {HUB}/subnets/data", f"PUT {HUB}/subnets/web"])
    assert (world.sync(**settings).exit_code, world.writes) == (0, [])
    world.says_files({**owned("web"), **NEIGHBOUR}).sync(prune=True, max_deletes=5, **settings)
    assert world.sent("DELETE") == [f"{HUB}/subnets/data"]
    assert (platform.sync(digest_key=KEY).exit_code, platform.writes) == (0, []), "its network is as it was"


def test_old_versions_beside_current_ones(world):
    old = {path: text.replace("v1api20240301", "v1api20220701") for path, text in PLATFORM.items()}
    old["group.yaml"] = old["group.yaml"].replace("v1api20200601", "v1beta20200601")
    files = {**old, **owned("web", "data"), **NEIGHBOUR}
    validated = run_here("validate", folder=world.says_files(files).folder)
    assert (validated.code, validated.out.count("UnknownVersion")) == (1, 2)
    assert "v1api20240301" in validated.out
    files["gitsync.yaml"] = "units: [{path: ., migrateVersions: true}]\n"
    validated = run_here("validate", folder=world.says_files(files).folder)
    assert (validated.code, validated.out.count("warning: VersionMigrated")) == (0, 2), validated.out
    report = world.sync()
    assert (report.exit_code, {result.verdict for result in report.results}) == (0, {Verdict.CREATE})
    assert (world.sync().exit_code, world.writes) == (0, [])
    del files["apps/data.yaml"]
    world.says_files(files).sync(prune=True, max_deletes=5)
    assert world.sent("DELETE") == [f"{HUB}/subnets/data"]
