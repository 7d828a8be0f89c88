"""Role assignments, whose principal and role Azure fixes: also where the principal is that of a resource that the same
run makes.
"""

from __future__ import annotations

import re

import pytest

from gitsync.model.result import Outcome
from gitsync.model.verdict import Action, Verdict
from gitsync.report import text
from tests.support.world import GROUP, GROUP_ID, World, annotated, of

IDENTITY = """\
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: UserAssignedIdentity
    metadata:
      name: me
    spec:
      owner: {name: core}
      location: westeurope
      operatorSpec: {configMaps: {principalId: {name: me, key: principalId}}}
    """
ASSIGNMENT = """\
    apiVersion: authorization.azure.com/v20220401
    kind: RoleAssignment
    metadata:
      name: ra
    spec:
      owner: {name: core, group: resources.azure.com, kind: ResourceGroup}
      principalIdFromConfig: {name: me, key: principalId}
      principalType: ServicePrincipal
      roleDefinitionReference: {wellKnownName: Reader}
    """
IDENTITY_ID = f"{GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/me"
PRUNING = {"prune": True, "max_deletes": 5}
FROM_CONFIG = "principalIdFromConfig=me/principalId"


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, identity=IDENTITY, assignment=ASSIGNMENT)
    return world


def without_identity(world: World) -> World:
    world.outside("DELETE", IDENTITY_ID, api_version="2023-01-31")
    return world


def advised(text: str) -> str:
    found = re.search(r"`gitsync/replace: ([^`]+)`", text)
    assert found, text
    return found[1]


def test_a_plan_reports_that_the_value_is_not_known_yet(world):
    without_identity(world)
    report = world.plan()
    found = of(report, "RoleAssignment")
    assert (found.verdict, found.action, found.outcome) == (Verdict.PENDING, Action.NONE, Outcome.BLOCKED)
    assert found.needs_replacement
    assert "The new value is not known yet." in found.change.replacement.reason
    assert advised(found.change.replacement.kept_because) == FROM_CONFIG
    assert "spec.principalIdFromConfig" in text.render(report)


def test_a_sync_sends_no_write_that_azure_would_refuse(world):
    found = of(without_identity(world).sync(), "RoleAssignment")
    assert world.writes == [f"PUT {IDENTITY_ID}"]
    assert (found.condition.reason, found.action) == ("ReplaceNeeded", Action.NONE)
    assert of(world.plan(), "RoleAssignment").needs_replacement


@pytest.mark.parametrize("consents", ["as the plan says", "as the run says"])
def test_with_consent_the_assignment_is_replaced(world, consents):
    without_identity(world)
    report = world.plan() if consents == "as the plan says" else world.sync()
    consent = advised(of(report, "RoleAssignment").change.replacement.kept_because)
    world.says(group=GROUP, identity=IDENTITY, assignment=annotated(ASSIGNMENT, **{"gitsync/replace": consent}))
    planned = of(world.plan(**PRUNING), "RoleAssignment")
    assert (planned.action, planned.outcome) == (Action.REPLACE, Outcome.CHANGED)
    done = world.sync(**PRUNING)
    assert (done.exit_code, of(done, "RoleAssignment").action) == (0, Action.REPLACE)
    principal = world.read(IDENTITY_ID, "2023-01-31")["properties"]["principalId"]
    assert world.read(of(done, "RoleAssignment").arm_id, "2022-04-01")["properties"]["principalId"] == principal
    again = world.sync(**PRUNING)
    assert (again.exit_code, world.writes) == (0, [])


def test_an_identity_that_is_replaced_takes_the_assignment_with_it(world):
    """Two replacements in one run, the second for a value that came with the first."""
    moved = annotated(IDENTITY.replace("westeurope", "northeurope"), **{"gitsync/replace": "location=northeurope"})
    agreed = annotated(ASSIGNMENT, **{"gitsync/replace": FROM_CONFIG})
    world.says(group=GROUP, identity=moved, assignment=agreed)
    planned = world.plan(**PRUNING)
    assert [result.action for result in planned.results] == [Action.REPLACE, Action.REPLACE, Action.NONE]
    done = world.sync(**PRUNING)
    assert done.exit_code == 0, [(str(r.key), r.condition.message) for r in done.results]
    assert [result.action for result in done.results] == [Action.REPLACE, Action.REPLACE, Action.NONE]
    assert world.sync(**PRUNING).exit_code == 0
    assert world.writes == []


def test_the_limit_of_deletes_counts_both_replacements(world):
    moved = annotated(IDENTITY.replace("westeurope", "northeurope"), **{"gitsync/replace": "location=northeurope"})
    agreed = annotated(ASSIGNMENT, **{"gitsync/replace": FROM_CONFIG})
    world.says(group=GROUP, identity=moved, assignment=agreed)
    done = world.sync(prune=True, max_deletes=1)
    assert of(done, "RoleAssignment").action is Action.NONE
    assert "--max-deletes 2" in of(done, "RoleAssignment").change.replacement.kept_because


FIXED = [
    ("wellKnownName: Reader", "wellKnownName: Contributor", "roleDefinitionReference"),
    (
        "principalIdFromConfig: {name: me, key: principalId}",
        "principalId: 11111111-1111-4111-8111-111111111113",
        "principalId",
    ),
]


@pytest.mark.parametrize(("before", "after", "field"), FIXED)
def test_what_is_fixed_needs_a_replacement(world, before, after, field):
    changed = ASSIGNMENT.replace(before, after)
    world.says(group=GROUP, identity=IDENTITY, assignment=changed)
    planned = of(world.plan(), "RoleAssignment")
    assert planned.needs_replacement
    consent = advised(planned.change.replacement.kept_because)
    assert consent.startswith(f"{field}=")
    assert of(world.sync(), "RoleAssignment").condition.reason == "ReplaceNeeded"
    assert world.writes == []
    world.says(group=GROUP, identity=IDENTITY, assignment=annotated(changed, **{"gitsync/replace": consent}))
    done = world.sync(**PRUNING)
    assert (done.exit_code, of(done, "RoleAssignment").action) == (0, Action.REPLACE)


def test_a_reviewed_plan_has_the_replacement_for_a_value_to_come(world):
    from gitsync.repository.git.state.plan_file import encode_plan

    without_identity(world)
    world.says(group=GROUP, identity=IDENTITY, assignment=annotated(ASSIGNMENT, **{"gitsync/replace": FROM_CONFIG}))
    path = world.folder.parent / "plan.json"
    path.write_text(encode_plan(world.plan(**PRUNING, plan_out="plan.json").plan.review))
    done = world.sync(**PRUNING, plan_file=str(path))
    assert done.exit_code == 0, [(str(r.key), r.condition.message) for r in done.results]
    assert of(done, "RoleAssignment").action is Action.REPLACE
