"""What Azure shows as unchanged ends without the stages. Whatever is not plainly so gets what single reads give it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.emulator.http.messages import ListFault
from gitsync.emulator.settings import Timing
from tests.agent.run.test_drift_at_scale import DELETED, behind
from tests.support.world import GROUP, SUBSCRIPTION, World, read_status, results

POLICY = "serviceoperator.azure.com/reconcile-policy"
VAULT = """
    apiVersion: keyvault.azure.com/v1api20230701
    kind: Vault
    metadata: {name: vault-rowROW}
    spec:
      owner: {name: core}
      location: westeurope
      properties: {tenantId: 00000000-0000-0000-0000-000000000000, sku: {family: A, name: standard}}
"""
RULE = """
    apiVersion: network.azure.com/v1api20240301
    kind: NetworkSecurityGroupsSecurityRule
    metadata: {name: rule-rowROW}
    spec:
      owner: {name: rules}
      access: Allow
      direction: Inbound
      priority: 1ROW
      protocol: Tcp
      sourceAddressPrefix: "*"
      sourcePortRange: "*"
      destinationAddressPrefix: "*"
      destinationPortRange: "443"
"""
RULES = """
    apiVersion: network.azure.com/v1api20240301
    kind: NetworkSecurityGroup
    metadata: {name: rules}
    spec: {location: westeurope, owner: {name: core}}
"""


def make_files(rows):
    """A vault and a rule for each row, below one resource group and one security group."""
    own = {f"{kind}-row{row:02}": text.replace("ROW", f"{row:02}") for row in rows for kind, text in OF_ROWS.items()}
    return {"core": GROUP, "rules": RULES, **own}


OF_ROWS = {"vault": VAULT, "rule": RULE}
FILES = make_files([1, 2])


def sync_files(folder, files):
    world = World(folder, operations=Timing(polls=0))
    assert world.says(**files).sync().exit_code == 0
    return world


@pytest.fixture(scope="module")
def estate(tmp_path_factory):
    return sync_files(tmp_path_factory.mktemp("unchanged"), FILES)


@pytest.fixture
def worlds(estate, tmp_path):
    """Two alike: one reads lists, the other each resource by itself, which has the stages alone."""
    return estate.copy(tmp_path / "listed"), estate.copy(tmp_path / "each")


def assert_alike(listed, each, **settings):
    """Plan and sync both, and compare all but the counts of requests and the times of conditions."""
    for run in (World.plan, World.sync):
        one, other = run(listed, **settings), run(each, reads="each", **settings)
        for result, expected in zip(results(one), results(other), strict=True):
            assert result == expected, result.key
        assert (one.exit_code, one.problems, listed.writes) == (other.exit_code, other.problems, each.writes)
        assert read_status(listed) == read_status(each)


def test_an_unchanged_estate(worlds):
    assert_alike(*worlds)
    assert [len(world.requests) for world in worlds] == [3, 6], "the group, and lists of the others, show all"


RECORDS = [
    (r'"policy": "manage"', '"policy": "detach-on-delete"', "the policy was another one"),
    (r'operator-namespace": ".*"', 'operator-namespace": "other"', "another operator wrote it"),
    (r'"specDigest": ".*"', '"specDigest": "0123456789abcdef"', "the spec was another one"),
    (r'"dependsOn": \[[^]]*\],', "", "it needed no other resource"),
    (r'"unit": ".*"', '"unit": "elsewhere"', "the manifest was elsewhere"),
    (r'generation": "1"', 'generation": "0"', "nothing was sent for this spec"),
    (r'"Succeeded",\n +"status": "True"', '"Failed", "status": "False"', "the last run failed"),
    (r'"reason": "Succeeded"', '"message": "Adopted", "reason": "Succeeded"', "the condition said more"),
    (
        r'"schema": 1',
        '"row": {"at": "2026-01-01T00:00:00Z", "count": 3, "held": "abc", "paths": ["/a"]}, "schema": 1',
        "it was paused",
    ),
    (r'"claim": "created"', '"claim": "expected"', "a create was only expected"),
    (
        r'"owner": ',
        '"operation": {"kind": "update", "startedAt": "2026-01-01T00:00:00Z"}, "owner": ',
        "an operation was under way",
    ),
    (r'    "baseline": \{\n(      .*\n)+    \},', "", "there is no baseline"),
    (r'"armApiVersion": ".*"', '"armApiVersion": "2000-01-01"', "another api-version was asked for"),
    (r'"writes": ', '"subscription": "s", "writes": ', "another subscription was written down"),
]


def test_records_that_their_manifests_would_not_get(tmp_path):
    """Those of a vault and a rule for each row. Row 0 stays as it is: its lists show that they are of use."""
    listed = sync_files(make_folder(tmp_path, "listed"), make_files(range(len(RECORDS) + 1)))
    for row, (pattern, text, why) in enumerate(RECORDS, start=1):
        before = read_status(listed)
        for path in listed.state.rglob("*.json"):
            path.write_text(change_part(path.read_text(), f"-row{row:02}", pattern, text))
        assert read_status(listed) != before, why
    each = listed.copy(make_folder(tmp_path, "each"))
    assert_alike(listed, each)
    assert not [path for path in listed.sent("GET") if path.endswith("-row00")], "a list has shown them"


def make_folder(above, name):
    folder = above / name
    folder.mkdir()
    return folder


def change_part(document, ending, pattern, text):
    """Change a record of a name with this ending, or its entry in the index of all."""
    if not document.startswith('{\n  "resources": ['):
        return re.sub(pattern, text, document) if f'{ending}"' in document else document
    entry = rf'\{{[^{{}}]*{ending}"[^{{}}]*\}}'
    return re.sub(entry, lambda found: re.sub(pattern, text, found[0]), document)


MANIFESTS = [
    ("metadata: {", f"metadata: {{annotations: {{{POLICY}: detach-on-delete}}, ", "the policy changes"),
    ("metadata: {", f"metadata: {{annotations: {{{POLICY}: skip}}, ", "it is only read from now on"),
    ("metadata: {", "metadata: {labels: {team: network}, ", "a label is no part of the spec"),
    ("priority: 1ROW", "priority: 150", "git changes one"),
]


def test_manifests_that_change(tmp_path):
    """The vaults and rules of each row; row 0 stays as it is."""
    files = make_files(range(len(MANIFESTS) + 1))
    listed = sync_files(make_folder(tmp_path, "listed"), files)
    for row, (text, other, why) in enumerate(MANIFESTS, start=1):
        own = {name: files[name].replace(text.replace("ROW", f"{row:02}"), other) for name in name_files(row)}
        assert own != {name: files[name] for name in own}, why
        files |= own
    each = listed.copy(make_folder(tmp_path, "each"))
    for world in (listed, each):
        world.says(**files)
    assert_alike(listed, each)


def name_files(row):
    return [f"{kind}-row{row:02}" for kind in OF_ROWS]


GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core"
EARLY = [
    (("/location", "northeurope"), None, "somebody made the group elsewhere"),
    (("", DELETED), None, "somebody deleted the group"),
    (None, Canned(code="AuthorizationFailed", status=403), "the group may not be read"),
    (None, Canned(code="InvalidApiVersionParameter", status=400), "Azure refuses the api-version"),
    (None, Canned(status=200, body={"id": GROUP_ID, "properties": []}), "the answer is no group"),
]


@pytest.mark.parametrize(("change", "answer", "why"), EARLY, ids=[row[-1] for row in EARLY])
def test_the_read_before_the_stages_is_their_first(worlds, change, answer, why):
    """No list shows the only group, so it is read. Whatever that shows, the stages do not ask again."""
    for world in worlds:
        if change:
            behind(world, [(GROUP_ID, *change)])
        if answer:
            rule = FaultRule(match=Match(methods=("GET",), path=GROUP_ID.casefold()), answer=answer)
            world.settings = replace(world.settings, rules=(rule,))
    listed, each = worlds
    assert without_request_ids(listed.plan()) == without_request_ids(each.plan(reads="each")), why
    reads = [world.sent("GET").count(GROUP_ID) for world in worlds]
    assert reads[0] == reads[1] > 0, why


IDS = re.compile(r"[0-9a-f-]{36}")


def without_request_ids(report):
    """The results without what each server makes up; one of them at least is not in sync."""
    assert report.summary != {"in-sync": len(FILES)}
    return [
        replace(
            result,
            condition=replace(result.condition, request_id="", advice=IDS.sub("", result.condition.advice)),
            attempts=tuple(replace(attempt, request_id="") for attempt in result.attempts),
        )
        for result in results(report)
    ]


CLUSTERS = "microsoft.kusto/clusters"
CLUSTER = """
    apiVersion: kusto.azure.com/v1api20230815
    kind: Cluster
    metadata: {name: cluster%s}
    spec: {owner: {name: core}, location: westeurope, sku: {name: Standard_E2a_v4, tier: Standard}}
"""


@pytest.fixture(scope="module")
def checked_estate(tmp_path_factory):
    """Two clusters, whose kind has a check of its own state."""
    world = World(tmp_path_factory.mktemp("checked"), operations=Timing(polls=0))
    assert world.says(core=GROUP, **{f"cluster-{n}": CLUSTER % n for n in "12"}).sync().exit_code == 0
    return world


STATES = [
    ((), 2, "the list shows that they have succeeded"),
    (("/properties/provisioningState",), 4, "the list shows no state, so each is read"),
]


@pytest.mark.parametrize(("trim", "requests", "why"), STATES, ids=[row[-1] for row in STATES])
def test_a_check_of_the_own_state_by_a_list(checked_estate, tmp_path, trim, requests, why):
    listed, each = checked_estate.copy(tmp_path / "listed"), checked_estate.copy(tmp_path / "each")
    rule = FaultRule(match=Match(lists=True, type=CLUSTERS), list_fault=ListFault(trim=trim))
    listed.settings = replace(listed.settings, rules=(rule,))
    assert_alike(listed, each)
    assert len(listed.requests) == requests, why
