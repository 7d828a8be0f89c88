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
    metadata: {name: vault-%s}
    spec:
      owner: {name: core}
      location: westeurope
      properties: {tenantId: 00000000-0000-0000-0000-000000000000, sku: {family: A, name: standard}}
"""
RULE = """
    apiVersion: network.azure.com/v1api20240301
    kind: NetworkSecurityGroupsSecurityRule
    metadata: {name: rule-%s}
    spec:
      owner: {name: rules}
      access: Allow
      direction: Inbound
      priority: 10%s
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
FILES = {
    "core": GROUP,
    "rules": RULES,
    **{f"vault-{n}": VAULT % n for n in "12"},
    **{f"rule-{n}": RULE % (n, n) for n in "12"},
}


@pytest.fixture(scope="module")
def estate(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("unchanged"), operations=Timing(polls=0))
    assert world.says(**FILES).sync().exit_code == 0
    return world


@pytest.fixture
def worlds(estate, tmp_path):
    """Two alike: one reads lists, the other each resource by itself, which has the stages alone."""
    return estate.copy(tmp_path / "listed"), estate.copy(tmp_path / "each")


def assert_alike(listed, each, **settings):
    """Plan and sync both, and compare all but the counts of requests and the times of conditions."""
    for run in (World.plan, World.sync):
        one, other = run(listed, **settings), run(each, reads="each", **settings)
        assert results(one) == results(other)
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


@pytest.mark.parametrize(("pattern", "text", "why"), RECORDS, ids=[row[-1] for row in RECORDS])
def test_a_record_that_this_manifest_would_not_get(worlds, pattern, text, why):
    before = read_status(worlds[0])
    for world in worlds:
        for path in world.state.rglob("*.json"):
            path.write_text(re.sub(pattern, text, path.read_text()))
    assert read_status(worlds[0]) != before, why
    assert_alike(*worlds)


MANIFESTS = [
    ("metadata: {", f"metadata: {{annotations: {{{POLICY}: detach-on-delete}}, ", "the policy changes"),
    ("metadata: {", f"metadata: {{annotations: {{{POLICY}: skip}}, ", "it is only read from now on"),
    ("metadata: {", "metadata: {labels: {team: network}, ", "a label is no part of the spec"),
    ("priority: 101", "priority: 150", "git changes one"),
]


@pytest.mark.parametrize(("text", "other", "why"), MANIFESTS, ids=[row[-1] for row in MANIFESTS])
def test_a_manifest_that_changes(worlds, text, other, why):
    files = {name: content.replace(text, other) for name, content in FILES.items()}
    assert files != FILES, why
    for world in worlds:
        world.says(**files)
    assert_alike(*worlds)


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
