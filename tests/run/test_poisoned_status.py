"""Status that others wrote: nothing that it says leads to a delete, and nothing of it is taken over in silence."""

from __future__ import annotations

import pytest
import yaml
from world import GROUP, GROUP_ID, SUBNET, VNET, VNET_ID, World, of

from gitsync.git.state.yaml_text import dump
from gitsync.model.secret import Secret
from gitsync.model.verdict import Verdict

KEY, NEXT = Secret("k" * 32), Secret("n" * 32)
OTHER_GROUP = f"/subscriptions/{GROUP_ID.split('/')[2]}/resourceGroups/other"
HUB_FILE = "resources/default/network.azure.com/VirtualNetwork/hub.yaml"


@pytest.fixture
def world(tmp_path):
    """A group and a network that git declares no more, and a group of other people."""
    world = World(tmp_path)
    world.says(group=GROUP, hub=VNET).sync(digest_key=KEY)
    world.outside("PUT", OTHER_GROUP, {"location": "westeurope"})
    return world.says(group=GROUP)


def poison(world, **members):
    """Change the record of the network, and the index with it, as an attacker would."""
    [file] = world.state.rglob("hub.yaml")
    record = yaml.safe_load(file.read_text())
    record["gitsync"] |= members
    record["metadata"]["annotations"] = {"serviceoperator.azure.com/resource-id": record["gitsync"]["armId"]}
    file.write_bytes(dump(record))
    index = world.state / "inventory.yaml"
    inventory = yaml.safe_load(index.read_text())
    for entry in inventory["resources"]:
        if entry["key"].endswith("/hub"):
            entry |= {name: record["gitsync"][name] for name in ("armId", "claim", "policy")}
    index.write_bytes(dump(inventory))
    return file


def unseal(world):
    """What a run without a key would have written."""
    for file in world.state.rglob("default/**/*.yaml"):
        document = yaml.safe_load(file.read_text())
        del document["gitsync"]["seal"]
        file.write_bytes(dump(document))


@pytest.mark.parametrize(
    ("members", "key", "says", "why"),
    [
        ({"armId": OTHER_GROUP}, None, "is of type Microsoft.Resources/resourceGroups", "a group as a network's id"),
        ({"armId": VNET_ID.replace("/core/", "/other/")}, None, "is not below its owner", "a network of others"),
        ({"armId": VNET_ID.replace("/hub", "/prod")}, KEY, "was changed after it was signed", "a network of the group"),
        ({"policy": "manage", "writes": 9}, KEY, "was changed after it was signed", "any other member"),
        ({"seal": None}, KEY, "is not signed", "a record whose seal was removed"),
        ({"seal": "hmac-sha256:00000000:00"}, KEY, "with a key that this run does not have", "or replaced"),
    ],
)
def test_a_poisoned_record_deletes_nothing_and_stays_as_it_is(world, members, key, says, why):
    if key is None:
        unseal(world)
    file = poison(world, **members)
    before = file.read_bytes()
    for report in (world.plan(prune=True, digest_key=key), world.sync(prune=True, digest_key=key)):
        hub = of(report, "VirtualNetwork")
        assert hub.verdict is Verdict.BLOCKED, why
        assert says in hub.condition.message, why
        assert [p.code for p in report.problems if p.is_error] == ["RecordNotTrusted"], why
        assert report.exit_code == 1
        assert world.sent("DELETE") == [], why
    assert file.read_bytes() == before


def test_the_name_of_the_namespace_is_no_way_round_the_seal(world, monkeypatch):
    """If all records bear it, it is the agent's name, and its records are checked."""
    monkeypatch.setenv("POD_NAMESPACE", "pod")
    for file in world.state.rglob("*.yaml"):
        file.write_text(file.read_text().replace("agent: gitsync", "agent: pod"))
    report = world.sync(prune=True, digest_key=KEY)
    assert [p.code for p in report.problems if p.is_error] == ["RecordNotTrusted"] * 2
    assert world.writes == []


def test_a_poisoned_record_of_a_manifest_is_not_taken_over(world):
    file = poison(world, writes=7)
    before = file.read_bytes()
    report = world.says(group=GROUP, hub=VNET.replace("10.0.0.0/16", "10.1.0.0/16")).sync(digest_key=KEY)
    assert of(report, "VirtualNetwork").condition.reason == "RecordNotTrusted"
    assert world.writes == []
    assert file.read_bytes() == before


def test_what_depends_on_it_waits(world):
    poison(world, writes=7)
    report = world.says(group=GROUP, hub=VNET, one=SUBNET).sync(digest_key=KEY)
    assert of(report, "VirtualNetworksSubnet").verdict is Verdict.BLOCKED


def test_a_record_of_another_agent_is_not_checked(world):
    poison(world, agent="them", writes=7)
    report = world.sync(prune=True, digest_key=KEY)
    assert [p.code for p in report.problems if p.is_error] == []
    assert world.sent("DELETE") == []


def test_keys_are_rotated_in_one_run(world):
    report = world.says(group=GROUP, hub=VNET).sync(digest_key=NEXT, previous_digest_key=KEY)
    assert report.exit_code == 0
    world.says(group=GROUP)
    assert of(world.sync(prune=True, digest_key=NEXT), "VirtualNetwork").record is None


def test_without_a_key_a_prune_warns_once(world):
    codes = [problem.code for problem in world.plan(prune=True).problems]
    assert codes.count("RecordsNotSigned") == 1
    assert "RecordsNotSigned" not in [problem.code for problem in world.plan().problems]
    assert "RecordsNotSigned" not in [problem.code for problem in world.plan(prune=True, digest_key=KEY).problems]
