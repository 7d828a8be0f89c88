"""Subscriptions by alias, in whole runs: where their children stand, and that they are cancelled before they go."""

import pytest

from gitsync.desired.validation.annotations import OVERRIDE
from gitsync.emulator.identity.roles import BUILT_IN as ROLES
from gitsync.emulator.settings import EmulatorSettings
from gitsync.errors import GitsyncError
from gitsync.extensions.api import Extension
from gitsync.extensions.builtin.registrations import BUILT_IN
from gitsync.model.condition import Severity
from gitsync.model.verdict import Action, Verdict
from tests.support.fault_rules import rules
from tests.support.world import SUBSCRIPTION, World, annotated, of

ALIAS_ID = "/providers/Microsoft.Subscription/aliases/playground"
API = "2021-10-01"
ALIAS = """\
    apiVersion: subscription.azure.com/v1api20211001
    kind: Alias
    metadata:
      name: playground
    spec:
      properties:
        displayName: Playground
        billingScope: /providers/Microsoft.Billing/billingAccounts/1
    """
CHILD = """\
    apiVersion: authorization.azure.com/v1api20220401
    kind: RoleAssignment
    metadata:
      name: reads
    spec:
      azureName: 6f2c5d1e-0d2b-4c44-9a55-3b8f6a3f9f10
      owner:
        name: playground
        group: subscription.azure.com
        kind: Alias
      principalId: 5a9ad4b2-3f0c-4d6b-9c3e-2f6f6f6f6f6f
      roleDefinitionReference:
        wellKnownName: Reader
    """
NAME = "6f2c5d1e-0d2b-4c44-9a55-3b8f6a3f9f10"


def made_by(world):
    """The subscription that the alias created."""
    return world.read(ALIAS_ID, API)["properties"]["subscriptionId"]


def child_id(subscription):
    return f"/subscriptions/{subscription}/providers/Microsoft.Authorization/roleAssignments/{NAME}"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_children_are_in_the_subscription_that_the_alias_made(world):
    report = world.says(alias=ALIAS, child=CHILD).sync()
    made = made_by(world)
    assert made not in {"", SUBSCRIPTION}
    found = of(report, "RoleAssignment")
    assert found.condition.is_ready, found.condition
    assert (found.arm_id, found.record.arm_id) == (child_id(made), child_id(made))
    assert world.sent("PUT") == [ALIAS_ID, child_id(made)]
    role = next(r.body for r in world.requests if r.path == child_id(made) and r.method == "PUT")
    assert role["properties"]["roleDefinitionId"].startswith(f"/subscriptions/{made}/providers/")
    assert role["properties"]["roleDefinitionId"].endswith(ROLES["Reader"])


def test_a_second_run_finds_nothing_to_do(world):
    world.synced(alias=ALIAS, child=CHILD)
    report = world.sync()
    assert [result.verdict for result in report.results] == [Verdict.IN_SYNC] * 2
    assert world.writes == []


def test_a_plan_takes_the_id_from_the_alias_as_read(world):
    planned = of(world.says(alias=ALIAS, child=CHILD).plan(), "RoleAssignment")
    assert (planned.verdict, planned.is_fine) == (Verdict.CREATE, True)
    assert planned.arm_id.startswith("/subscriptions/<subscription of playground>/providers/Microsoft.Authorization/")
    world.synced(alias=ALIAS)
    planned = of(world.says(alias=ALIAS, child=CHILD).plan(), "RoleAssignment")
    assert (planned.verdict, planned.arm_id) == (Verdict.CREATE, child_id(made_by(world)))
    world.sync()
    planned = of(world.plan(), "RoleAssignment")
    assert (planned.verdict, planned.differences) == (Verdict.IN_SYNC, ())
    assert {request.method for request in world.requests} == {"GET"}


def test_what_the_manifest_has_of_it_is_honoured(world):
    made = "99999999-9999-9999-9999-999999999999"
    alias = annotated(ALIAS, **{OVERRIDE: f"/subscriptions/{made}"})
    report = world.says(alias=alias, child=CHILD).sync()
    assert of(report, "RoleAssignment").arm_id == child_id(made)


def test_an_alias_under_policy_skip_still_locates_its_children(world):
    world.synced(alias=ALIAS)
    report = world.says(alias=annotated(ALIAS, reconcile_policy="skip"), child=CHILD).sync()
    assert of(report, "RoleAssignment").arm_id == child_id(made_by(world))
    assert world.writes == [f"PUT {child_id(made_by(world))}"]


async def breaks_off(subject, azure):
    raise GitsyncError(f"Nothing is known of {subject.key.name}.", hint="Look at it.")


def test_a_handler_that_fails_leaves_it_unready_and_its_children_waiting(world):
    world.extensions = (Extension(group="subscription.azure.com", kind="Alias", succeeded=breaks_off), *BUILT_IN)
    report = world.says(alias=ALIAS, child=CHILD).sync()
    found = of(report, "Alias")
    assert (found.condition.reason, found.condition.severity) == ("Failed", Severity.WARNING)
    assert (found.condition.message, found.condition.advice) == ("Nothing is known of playground.", "Look at it.")
    assert (found.verdict, found.action) == (Verdict.CREATE, Action.CREATE)
    child = of(report, "RoleAssignment")
    assert (child.verdict, child.condition.reason) == (Verdict.BLOCKED, "WaitingForOwner")
    assert world.sent("PUT") == [ALIAS_ID]


async def requests_what_is_denied(subject, azure):
    await azure.call(f"{subject.arm_id}/accept", API)


def test_what_a_handler_is_refused_is_reported(world):
    world.settings = EmulatorSettings(
        limits=None,
        rules=rules("{match: {method: POST, path: '*/accept'}, answer: {status: 403, code: LocationRequired}}"),
    )
    world.extensions = (Extension(group="subscription.azure.com", kind="Alias", succeeded=requests_what_is_denied),)
    found = of(world.says(alias=ALIAS).sync(), "Alias")
    assert (found.condition.reason, found.condition.severity) == ("Failed", Severity.WARNING)
    assert found.condition.message.startswith("LocationRequired")
    world.requests = []
    assert of(world.plan(), "Alias").is_fine
    assert world.writes == [], "a plan asks no handler"


def cancel_of(made):
    return f"POST /subscriptions/{made}/providers/Microsoft.Subscription/cancel"


def test_an_alias_that_was_removed_from_git_is_cancelled_and_deleted_after_its_children(world):
    world.synced(alias=ALIAS, child=CHILD)
    made = made_by(world)
    report = world.says().sync(prune=True, max_deletes=5)
    assert {result.condition.reason for result in report.results} == {"Deleted"}
    assert world.writes == [f"DELETE {child_id(made)}", cancel_of(made), f"DELETE {ALIAS_ID}"]


def test_a_plan_cancels_nothing_and_reports_what_a_sync_would_cancel(world):
    world.synced(alias=ALIAS)
    found = of(world.says().plan(prune=True, max_deletes=5), "Alias")
    assert (found.verdict, found.condition.message) == (
        Verdict.DELETE,
        "Removed from git: its file alias.yaml is gone. Would cancel the subscription that the alias created.",
    )
    assert world.writes == []


def test_without_prune_nothing_is_cancelled(world):
    world.synced(alias=ALIAS)
    world.synced()
    assert world.writes == []


def refused(code, **more):
    given = "".join(f", {name}: {value}" for name, value in more.items())
    return f"{{match: {{method: POST, path: '*/cancel'}}, answer: {{status: 400, code: {code}{given}}}}}"


def test_a_cancel_that_is_refused_leaves_the_alias(world):
    world.synced(alias=ALIAS)
    world.settings = EmulatorSettings(
        limits=None, rules=rules(refused("ResourcesExistingOnSubscription", message="Not empty."))
    )
    found = of(world.says().sync(prune=True, max_deletes=5), "Alias")
    assert (found.condition.reason, found.condition.severity) == ("Failed", Severity.WARNING)
    assert found.condition.message.startswith("ResourcesExistingOnSubscription: Not empty.")
    assert (found.verdict, found.ending.exists, found.record is not None) == (Verdict.DELETE, True, True)
    assert [line for line in world.writes if line.startswith("DELETE")] == []
    world.settings = EmulatorSettings(limits=None)
    assert of(world.sync(prune=True, max_deletes=5), "Alias").condition.reason == "Deleted"


def test_a_second_try_is_not_held_up_by_what_the_first_cancelled(world):
    world.synced(alias=ALIAS)
    made = made_by(world)
    undeleted = (
        "{match: {method: DELETE, type: Microsoft.Subscription/aliases, nth: 1}, answer: {status: 400, code: No}}"
    )
    world.settings = EmulatorSettings(limits=None, rules=rules(undeleted))
    assert of(world.says().sync(prune=True, max_deletes=5), "Alias").condition.reason == "No"
    world.settings = EmulatorSettings(limits=None, rules=rules(refused("SubscriptionAlreadyCancelled")))
    found = of(world.sync(prune=True, max_deletes=5), "Alias")
    assert found.condition.reason == "Deleted", found.condition
    assert world.writes == [cancel_of(made), f"DELETE {ALIAS_ID}"]


def test_a_subscription_that_is_gone_is_cancelled_enough(world):
    world.synced(alias=ALIAS)
    world.settings = EmulatorSettings(limits=None, rules=rules(refused("SubscriptionNotFound").replace("400", "404")))
    assert of(world.says().sync(prune=True, max_deletes=5), "Alias").condition.reason == "Deleted"


def test_a_run_about_the_children_alone_looks_where_they_stand(world):
    world.synced(alias=ALIAS)
    report = world.says(alias=ALIAS, child=CHILD).sync(only=("RoleAssignment/reads",))
    assert of(report, "RoleAssignment").condition.is_ready
    assert world.writes == [f"PUT {child_id(made_by(world))}"]


def test_children_that_are_ours_go_on_where_the_alias_is_not_ready(world):
    world.synced(alias=ALIAS, child=CHILD)
    world.extensions = (Extension(group="subscription.azure.com", kind="Alias", succeeded=breaks_off), *BUILT_IN)
    report = world.sync()
    assert not of(report, "Alias").condition.is_ready
    assert of(report, "RoleAssignment").verdict is Verdict.IN_SYNC
