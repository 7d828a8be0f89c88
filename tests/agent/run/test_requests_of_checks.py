"""What the checks cost: requests of whole plans. An unchanged estate costs none, many changes share their checks."""

from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest

from gitsync.emulator.governance.policies import Effect, EmulatedPolicy, Operator, PolicyCondition
from gitsync.model.check import CheckName, CheckVerdict
from gitsync.model.verdict import Verdict
from tests.support.world import GROUP, SUBSCRIPTION, World, of

ACCOUNT = """\
    apiVersion: storage.azure.com/v1api20230101
    kind: StorageAccount
    metadata:
      name: stapp{number}
    spec:
      location: westeurope
      owner:
        name: core
      kind: StorageV2
      sku:
        name: Standard_{sku}
    """
MODIFIES = EmulatedPolicy(
    name="grow",
    scope=f"/subscriptions/{SUBSCRIPTION}",
    effect=Effect.MODIFY,
    conditions=(PolicyCondition(field="sku.name", operator=Operator.EQUALS, values=("Standard_LRS",)),),
    field="sku.name",
    value="Standard_GRS",
)
NO_ZRS = EmulatedPolicy(
    name="no-zrs",
    scope=f"/subscriptions/{SUBSCRIPTION}",
    effect=Effect.DENY,
    conditions=(PolicyCondition(field="sku.name", operator=Operator.EQUALS, values=("Standard_ZRS",)),),
)
ONCE = {"policyassignments", "locks", "denyassignments", "usages", "validateresources"}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def accounts(*skus: str) -> dict[str, str]:
    return {f"st{number}": ACCOUNT.format(number=number, sku=sku) for number, sku in enumerate(skus)}


def test_an_unchanged_estate_costs_the_same_with_and_without_checks(world):
    world.synced(group=GROUP, **accounts("LRS", "LRS"))
    world.settings = replace(world.settings, policies=(NO_ZRS,))
    lines = []
    for checks in (tuple(CheckName), ("none",)):
        report = world.plan(checks=checks)
        assert report.requests.checks == 0
        lines.append([f"{request.method} {request.path}" for request in world.requests])
    assert lines[0] == lines[1]


def test_twenty_changes_share_their_checks(world):
    world.synced(group=GROUP)
    world.settings = replace(world.settings, policies=(NO_ZRS,))
    world.says(group=GROUP, **accounts(*(["LRS"] * 19), "ZRS"))
    plain = world.plan()
    report = world.plan(checks=tuple(CheckName))
    requested = Counter(request.path.casefold().rpartition("/")[2] for request in world.requests)
    assert {name: requested[name] for name in ONCE} == dict.fromkeys(ONCE, 1)
    assert requested["checkpolicyrestrictions"] == 4, "three names of nineteen equal bodies, and another body"
    assert requested["policyexemptions"] == 1
    assert requested["microsoft.storage"] == 1, "one read of the provider"
    assert requested["checknameavailability"] == 20, "every name is another one"
    assert report.requests.checks == requested["validateresources"] + 4 + requested["checknameavailability"]
    assert plain.requests.checks == 0
    refused = of(report, "StorageAccount", "stapp19").change.checks
    assert {result.check for result in refused if result.verdict is CheckVerdict.REFUSED} == {
        CheckName.PREFLIGHT,
        CheckName.POLICY,
    }
    assert not [
        finding
        for finding in of(report, "StorageAccount", "stapp0").change.checks
        if finding.verdict is CheckVerdict.REFUSED
    ]


def test_a_check_that_is_not_named_sends_nothing(world):
    world.synced(group=GROUP)
    world.says(group=GROUP, **accounts("LRS", "LRS"))

    def list_requests(*checks):
        world.plan(checks=checks)
        return {f"{request.method} {request.path}".casefold() for request in world.requests}

    none = list_requests("none")
    own = {name: list_requests(name) - none for name in CheckName}
    for name, other in permutations(CheckName, 2):
        assert own[name], name
        assert not own[name] & own[other], (name, other)


def test_a_plan_without_policies_checks_none(world):
    world.synced(group=GROUP)
    world.says(group=GROUP, **accounts(*(["LRS"] * 20)))
    report = world.plan(checks=(CheckName.POLICY,))
    assert report.requests.checks == 0
    assert len([request for request in world.requests if request.path.endswith("/policyAssignments")]) == 1
    assert {finding.verdict for result in report.results for finding in result.change.checks} == {CheckVerdict.FINE}


def test_what_a_policy_changes_is_reported_before_since_no_later_plan_shows_it(world):
    world.synced(group=GROUP)
    world.settings = replace(world.settings, policies=(MODIFIES,))
    world.says(group=GROUP, **accounts("LRS"))
    before = of(world.plan(checks=(CheckName.POLICY,)), "StorageAccount", "stapp0")
    assert [finding.code for finding in before.change.checks] == ["ChangedByPolicy"]
    assert world.sync().exit_code == 0
    live = world.read(before.arm_id, "2023-01-01")
    assert live["sku"]["name"] == "Standard_GRS"
    after = of(world.plan(checks=(CheckName.POLICY,)), "StorageAccount", "stapp0")
    assert (after.verdict, after.change.checks) == (Verdict.IN_SYNC, ())
