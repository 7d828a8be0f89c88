"""Status that others wrote: nothing in it leads to a delete, and nothing of it is taken over in silence."""

from __future__ import annotations

import json
import re

import pytest

from gitsync.model.problem import Level
from gitsync.model.secret import Secret
from gitsync.model.verdict import Verdict
from gitsync.repository.git.state.documents import write_document
from tests.support.former_seals import make_former_seal
from tests.support.world import GROUP, GROUP_ID, SUBNET, VNET, VNET_ID, World, of

KEY, NEXT = Secret("k" * 32), Secret("n" * 32)
OTHER_GROUP = f"/subscriptions/{GROUP_ID.split('/')[2]}/resourceGroups/other"


@pytest.fixture(scope="module")
def synced(tmp_path_factory):
    """A group and a network that git declares no more, and a group of other people."""
    world = World(tmp_path_factory.mktemp("synced"))
    world.says(group=GROUP, hub=VNET).sync(digest_key=KEY)
    world.outside("PUT", OTHER_GROUP, {"location": "westeurope"})
    return world.says(group=GROUP)


@pytest.fixture
def world(synced, tmp_path):
    return synced.copy(tmp_path)


def poison(world, name="hub", **members):
    """Change the record of the network, and the index with it, as an attacker would."""
    [file] = world.state.rglob(f"{name}.json")
    record = json.loads(file.read_text())
    record["gitsync"] |= members
    record["metadata"]["annotations"] = {"serviceoperator.azure.com/resource-id": record["gitsync"]["armId"]}
    file.write_bytes(write_document(record))
    index = world.state / "inventory.json"
    inventory = json.loads(index.read_text())
    for entry in inventory["resources"]:
        if entry["key"].endswith(f"/{name}"):
            entry |= {name: record["gitsync"][name] for name in ("armId", "claim", "policy")}
    index.write_bytes(write_document(inventory))
    return file


def unseal(world):
    """What a run without a key would have written."""
    for file in world.state.rglob("default/**/*.json"):
        document = json.loads(file.read_text())
        del document["gitsync"]["seal"]
        file.write_bytes(write_document(document))


UNSIGNED = [
    ({"armId": OTHER_GROUP}, "has the type Microsoft.Resources/resourceGroups", "a group as a network's id"),
    ({"armId": VNET_ID.replace("/core/", "/other/")}, "is not below its owner", "a network of others"),
]
SIGNED = [
    ({"armId": VNET_ID.replace("/hub", "/prod")}, "was changed after it was signed", "a network of the group"),
    ({"policy": "manage", "writes": 9}, "was changed after it was signed", "any other member"),
    ({"seal": None}, "is not signed", "a record whose seal was removed"),
    ({"seal": "hmac-sha256:00000000:00"}, "with a key that this run does not have", "or replaced"),
]


@pytest.mark.parametrize(("key", "rows"), [(None, UNSIGNED), (KEY, SIGNED)], ids=["without a key", "with a key"])
def test_a_poisoned_record_deletes_nothing_and_stays_as_it_is(tmp_path, key, rows):
    """Each row has the record of a network of its own."""
    world, names = World(tmp_path), [f"hub{row}" for row in range(len(rows))]
    world.says(group=GROUP, **{name: VNET.replace("hub", name) for name in names}).sync(digest_key=KEY)
    world.outside("PUT", OTHER_GROUP, {"location": "westeurope"})
    world.says(group=GROUP)
    if key is None:
        unseal(world)
    files = [poison(world, name, **members) for name, (members, _, _) in zip(names, rows, strict=True)]
    before = [file.read_bytes() for file in files]
    for start in (world.plan, world.sync):
        report = start(prune=True, digest_key=key)
        assert world.sent("DELETE") == []
        for name, (_, says, why) in zip(names, rows, strict=True):
            hub = of(report, "VirtualNetwork", name)
            assert hub.verdict is Verdict.BLOCKED, why
            assert says in hub.condition.message, why
        assert [p.code for p in report.problems if p.is_error] == ["RecordNotTrusted"] * len(rows)
        assert report.exit_code == 1
    for file, content, (_, _, why) in zip(files, before, rows, strict=True):
        assert file.read_bytes() == content, why


def test_the_name_of_the_namespace_does_not_bypass_the_seal(world, monkeypatch):
    """If all records bear it, it is the agent's name, and its records are checked."""
    monkeypatch.setenv("POD_NAMESPACE", "pod")
    for file in world.state.rglob("default/**/*.json"):
        file.write_text(file.read_text().replace('"agent": "gitsync"', '"agent": "pod"'))
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


# ---- seals of an older version, which are as good in any repository ----


def seal_as_before(world):
    for file in world.state.rglob("default/**/*.json"):
        document = json.loads(file.read_text())
        document["gitsync"]["seal"] = make_former_seal(KEY.reveal(), document)
        file.write_bytes(write_document(document))


def list_former(world):
    """The records whose seals have no location."""
    texts = {file.name: file.read_text() for file in world.state.rglob("default/**/*.json")}
    return sorted(name for name, text in texts.items() if re.search(r'"seal": "hmac-sha256:\w+:\w{64}"', text))


@pytest.mark.parametrize("prune", [False, True])
def test_a_sync_signs_again_what_the_manifests_vouch_for(world, prune):
    seal_as_before(world)
    world.says(group=GROUP, hub=VNET)
    assert [p.code for p in world.plan(prune=prune, digest_key=KEY).problems] == ["SealsRenewed"]
    report = world.sync(prune=prune, digest_key=KEY)
    assert [p.code for p in report.problems] == ["SealsRenewed"]
    assert "signed 2 records without the name of the repository" in report.problems[0].message
    assert (report.exit_code, world.writes, list_former(world)) == (0, [], [])
    assert world.sync(prune=prune, digest_key=KEY).problems == ()


def test_what_no_manifest_vouches_for_counts_as_unsigned_where_something_may_be_deleted(world):
    seal_as_before(world)
    report = world.sync(digest_key=KEY)
    assert [(p.code, p.level) for p in report.problems] == [
        ("RecordNotTrusted", Level.WARNING),
        ("SealsRenewed", Level.WARNING),
    ]
    assert (report.exit_code, list_former(world)) == (0, ["hub.json"]), "what this run did not check stays as it is"
    for report in (world.plan(prune=True, digest_key=KEY), world.sync(prune=True, digest_key=KEY)):
        hub = of(report, "VirtualNetwork")
        assert (hub.verdict, report.exit_code, world.sent("DELETE")) == (Verdict.BLOCKED, 1, [])
        assert hub.condition.message == (
            "An older gitsync signed its record without the name of the repository. Check the record, then run "
            "`gitsync status --sign`."
        )
    assert list_former(world) == ["hub.json"]
    world.sign(KEY)
    assert world.sync(prune=True, digest_key=KEY).exit_code == 0
    assert world.sent("DELETE") == [VNET_ID]


def test_a_resource_that_moves_to_another_manifest_takes_its_old_seal_along(world):
    world.says(group=GROUP, hub=VNET).sync(digest_key=KEY)
    seal_as_before(world)
    moved = VNET.replace("name: hub", "name: spoke").replace("spec:\n", "spec:\n      azureName: hub\n")
    report = world.says(group=GROUP, spoke=moved).sync(prune=True, digest_key=KEY)
    assert (report.exit_code, world.sent("DELETE"), list_former(world)) == (0, [], [])
    report = world.sync(prune=True, digest_key=KEY)
    assert (report.problems, [result.key.name for result in report.results]) == ((), ["spoke", "core"])


def test_a_former_seal_with_the_previous_key_is_no_better(world):
    seal_as_before(world)
    report = world.sync(prune=True, digest_key=NEXT, previous_digest_key=KEY)
    assert (of(report, "VirtualNetwork").verdict, world.sent("DELETE")) == (Verdict.BLOCKED, [])
    assert list_former(world) == ["hub.json"]
