"""What a plan with --prune shows is what the sync does, and no delete leaves a part of a held resource behind."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitsync.model.arm_id import ArmId
from gitsync.model.report import Report
from gitsync.model.verdict import Action, Verdict
from gitsync.repository.git.state.plan_file import encode_plan
from tests.support.hypothesis_profile import scale
from tests.support.world import GROUP, GROUP_ID, World, annotated

OTHER_ID = GROUP_ID.replace("core", "other")
SERVER_ID = f"{GROUP_ID}/providers/Microsoft.DBforPostgreSQL/flexibleServers/pgshop"


def manifest(kind: str, name: str, owner: str, spec: str = "") -> str:
    """A manifest of KIND.GROUP/VERSION. The owner is a name or an id, and the spec lines of YAML."""
    kind, _, group_version = kind.partition(".")
    group, _, version = group_version.partition("/")
    lines = [
        f"apiVersion: {group}.azure.com/{version}",
        f"kind: {kind}",
        "metadata:",
        f"  name: {name}",
        "spec:",
        f"  owner: {{{'armId' if '/' in owner else 'name'}: {owner}}}",
        *(f"  {line}" for line in spec.splitlines()),
    ]
    return "".join(f"    {line}\n" for line in lines)


NETWORK, POSTGRES, STORAGE = "network/v1api20240301", "dbforpostgresql/v1api20240801", "storage/v1api20230101"
SERVER = manifest(
    f"FlexibleServer.{POSTGRES}",
    "pgshop",
    "core",
    "location: westeurope\nversion: '16'\nsku: {name: Standard_B1ms, tier: Burstable}\nstorage: {storageSizeGB: 32}",
)
OFFICE = manifest(
    f"FlexibleServersFirewallRule.{POSTGRES}", "office", "pgshop", "startIpAddress: 1.2.3.4\nendIpAddress: 1.2.3.4"
)
CONNECTIONS = manifest(  # of a kind that Azure cannot delete
    f"FlexibleServersConfiguration.{POSTGRES}",
    "connections",
    "pgshop",
    "azureName: max_connections\nsource: user-override\nvalue: '100'",
)
ORDERS = manifest(f"FlexibleServersDatabase.{POSTGRES}", "orders", "pgshop")
HUB = manifest(
    f"VirtualNetwork.{NETWORK}", "hub", "core", "location: westeurope\naddressSpace: {addressPrefixes: [10.0.0.0/16]}"
)
RULES = manifest(f"NetworkSecurityGroup.{NETWORK}", "rules", "core", "location: westeurope")
ONE = manifest(
    f"VirtualNetworksSubnet.{NETWORK}",
    "one",
    "hub",
    "addressPrefix: 10.0.0.0/24\n"
    "networkSecurityGroup: {reference: {group: network.azure.com, kind: NetworkSecurityGroup, name: rules}}",
)
TWO = manifest(f"VirtualNetworksSubnet.{NETWORK}", "two", "hub", "addressPrefix: 10.0.1.0/24")
WEB = manifest(
    f"NetworkInterface.{NETWORK}",
    "web",
    OTHER_ID,
    "location: westeurope\n"
    "ipConfigurations:\n"
    "  - {name: one, subnet: {reference: {group: network.azure.com, kind: VirtualNetworksSubnet, name: one}}}",
)
FILES = manifest(
    f"StorageAccount.{STORAGE}", "files", "other", "location: westeurope\nkind: StorageV2\nsku: {name: Standard_LRS}"
)
BLOBS = manifest(f"StorageAccountsBlobService.{STORAGE}", "blobs", "files")

ESTATE = {
    "groups/core": GROUP,
    "groups/other": GROUP.replace("core", "other"),
    "net/hub": HUB,
    "net/one": ONE,
    "net/rules": RULES,
    "net/two": TWO,
    "shop/connections": CONNECTIONS,
    "shop/office": OFFICE,
    "shop/server": SERVER,
    "shop/web": WEB,
    "data/blobs": BLOBS,
    "data/files": FILES,
    "data/orders": ORDERS,
}
UNEXPECTED = {
    "net/broken": "apiVersion: [",
    "odd/trace": "apiVersion: example.com/v1\nkind: VirtualNetworks\nmetadata: {name: hub}\n",
    "odd/typo": TWO.replace("name: two", "name: twos").replace("10.0.1.", "10.0.2."),
    "odd/owned": OFFICE.replace("name: office", "name: home"),
    "odd/invalid": OFFICE.replace("name: office", "name: home").replace("1.2.3.4", "[]"),
}
STRANGERS = {
    f"{OTHER_ID}/providers/Microsoft.Compute/disks/data": "2023-01-02",
    f"{SERVER_ID}/databases/x": "2024-08-01",
}
GONE = {
    f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/hub/subnets/two": "2024-03-01",
    SERVER_ID: "2024-08-01",
}


@cache
def _sync_estate() -> World:
    """A world in which all of the estate was synced once, to copy."""
    folder = Path(tempfile.mkdtemp(prefix="gitsync-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    world = World(folder)
    assert world.says_files(_name_files(ESTATE)).sync().exit_code == 0
    return world


def _name_files(documents: Mapping[str, str]) -> dict[str, str]:
    return {f"{path}.yaml": text for path, text in documents.items()}


def choose(among: Mapping[str, str], most: int | None = None) -> st.SearchStrategy[set[str]]:
    return st.sets(st.sampled_from(sorted(among)), max_size=most)


@given(
    removed=choose(ESTATE) | choose(ESTATE, 3).map(lambda kept: set(ESTATE) - kept),
    detached=choose(ESTATE, 2),
    unexpected=choose(UNEXPECTED, 2),
    strangers=choose(STRANGERS),
    gone=choose(GONE, 1),
    is_reviewed=st.booleans(),
)
@settings(max_examples=scale(10), deadline=None, suppress_health_check=list(HealthCheck))
def test_a_plan_shows_the_deletes_of_the_sync(removed, detached, unexpected, strangers, gone, is_reviewed):
    with tempfile.TemporaryDirectory(prefix="gitsync-tests-") as name:
        world = _sync_estate().copy(Path(name))
        policies = {path: annotated(ESTATE[path], reconcile_policy="detach-on-delete") for path in detached}
        last = {**ESTATE, **policies}
        world.says_files(_name_files(last))  # no run applies this commit, and its policies count anyway
        left = {path: text for path, text in last.items() if path not in removed}
        world.says_files(_name_files({**left, **{path: UNEXPECTED[path] for path in unexpected}}))
        for arm_id in sorted(strangers):
            world.outside("PUT", arm_id, {"location": "westeurope"}, STRANGERS[arm_id])
        for arm_id in sorted(gone):
            world.outside("DELETE", arm_id, api_version=GONE[arm_id])
        file = str(Path(name) / "plan.json") if is_reviewed else None
        planned = world.plan(prune=True, max_deletes=len(ESTATE), plan_out=file)
        if file:
            Path(file).write_text(encode_plan(planned.plan.review))
        synced = world.sync(prune=True, max_deletes=len(ESTATE), plan_file=file)
        for action in (Action.DELETE, Action.DETACH):
            assert _list_keys(planned, action) == _list_keys(synced, action), action
        deleted_ids = [result.arm_id for result in synced.results if result.action is Action.DELETE]
        assert not [arm_id for arm_id in deleted_ids if world.store.resource(arm_id.casefold())]
        ours, now = set(_sync_estate().store.keys("/")), set(world.store.keys("/"))
        assert not [arm_id for arm_id in ours - now if not _is_within(arm_id, (*deleted_ids, *gone))], "all else stays"
        for result in synced.results:
            is_held = (result.verdict, result.condition.reason) == (Verdict.BLOCKED, "PruneHeld")
            if is_held and (not result.arm_id.is_group or "till names" in result.message):
                assert not [arm_id for arm_id in deleted_ids if arm_id.is_below(result.arm_id)], result.key


def _list_keys(report: Report, action: Action) -> list[str]:
    return [str(result.key) for result in report.results if result.action is action]


def _is_within(arm_id: str, parents: Iterable[str]) -> bool:
    return any(ArmId(arm_id).is_within(ArmId(parent)) for parent in parents)
