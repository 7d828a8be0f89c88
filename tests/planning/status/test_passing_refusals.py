"""Refusals that pass by themselves: recognized by their text, whatever the code, and distinguished from those that
stay.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.errors import ArmError
from gitsync.model.arm_id import ArmId
from gitsync.planning.status.advice import find_condition_advice
from gitsync.planning.status.conditions import RECONCILING, make_refused
from gitsync.planning.status.error_classes import classify
from gitsync.planning.status.passing_refusals import may_recover, passes_by_itself
from tests.support.recordings import FOLDER, needs_recordings

CLUSTER = ArmId("/subscriptions/1/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/aks")
MACHINE = ArmId("/subscriptions/1/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/vm")
FAMILIES = ("arm-traffic", "arm-traffic-az", "arm-traffic-any")

PASSING = [
    (409, "EtagMismatch", "Operation is not allowed: Another operation is in progress"),
    (
        409,
        "OperationNotAllowed",
        "Operation is not allowed: Another operation (Updating) is in progress, please wait for it.",
    ),
    (409, "OperationNotAllowed", "Another agentpool operation is in progress. Retry after it has ended."),
    (409, "OperationNotAllowed", "The operation cannot be performed: an upgrade is currently in progress."),
    (409, "BadRequest", "A deployment is already in progress on this site."),
    (409, "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity", "Too many."),
    (409, "TooMany", "Too many Federated Identity Credentials are written concurrently for the managed identity."),
    (409, "X", "Concurrent Federated Identity Credentials writes under the same managed identity are not supported."),
    (409, "ConflictingConcurrentWriteNotAllowed", "The operation was interrupted by a conflicting concurrent write."),
    (409, "CanceledAndSupersededDueToAnotherOperation", "Operation was canceled."),
    (409, "X", "The request for the resource 'store' conflicted with an ongoing operation."),
    (409, "StorageAccountOperationInProgress", ""),
    (409, "X", "An operation is currently performing on this storage account that requires exclusive access."),
    (412, "PreconditionFailed", "There is another user operation in progress which requires an exclusive lock on [a]."),
    (412, "PreconditionFailed", 'Etag provided in if-match header "2" does not match etag "3" of resource.'),
    (412, "X", "ETag does not represent the latest state of the resource."),
    (409, "ResourceModified", "The resource was modified by another request. Read it again."),
    (409, "X", "The resource is busy processing a previous update request or is undergoing system maintenance."),
    (409, "ServiceBusy", "Service is temporarily busy and the operation cannot be performed."),
    (200, "ServerBusy", "Cannot complete operation while server is busy."),
    (200, "ServiceIsInMaintenance", "[Conflict] Cluster 'c' is in process of maintenance for a short period."),
    (400, "RequestNotAllowed", "Request is not allowed in provisioningState 'Creating'."),
    (409, "X", "Cannot modify this web hosting plan because another operation is in progress. Details: Id: 1"),
    (409, "X", "Resource is in Updating state and the last operation is PutSubnetOperation."),
    (409, "X", "The server's provisioning state is 'Updating'."),
    (423, "Locked", "The cluster is currently being upgraded."),
    (409, "X", "The resource is locked by another operation."),
    (409, "X", "The operation could not be completed because the resource has ongoing operations."),
    (409, "X", "Replica creation is in progress."),
    (409, "AnotherOperationInProgress", ""),
    (409, "Directory_ConcurrencyViolation", ""),
]
STAYING = [
    (409, "OperationNotAllowed", "Operation could not be completed as it results in exceeding approved Cores quota."),
    (409, "OperationNotAllowed", "The cluster is stopped. Start it before you change it."),
    (409, "OperationNotAllowed", "Changing property 'dnsPrefix' is not allowed."),
    (409, "OperationNotAllowed", "The Basic tier does not offer this."),
    (409, "RoleAssignmentExists", "The role assignment already exists."),
    (412, "PreconditionFailed", "The Record set www exists already and hence cannot be created again."),
    (409, "ScopeLocked", "The scope cannot perform delete operation because following scope(s) are locked."),
    (
        409,
        "MissingSubscriptionRegistration",
        "The subscription is not registered to use namespace 'Microsoft.Storage'.",
    ),
    (409, "100026", "The environment cannot be deleted because it still contains 1 active container apps."),
    (409, "NameUnavailable", "The name is already in use by another resource."),
    (400, "InvalidParameter", "The maximum of concurrent jobs must be at least 1."),
    (400, "InvalidParameter", "Another subnet has this prefix."),
    (409, "SkuNotAvailable", "The size is not available in the region now. Please try again later."),
    (403, "AuthorizationFailed", "Another operation is in progress"),
    (404, "ResourceNotFound", "The resource is being updated."),
]


def refused(status, code, message, **more):
    return ArmError(message, status=status, code=code, **more)


@pytest.mark.parametrize(("status", "code", "message"), PASSING)
def test_what_passes(status, code, message):
    failure = refused(status, code, message)
    assert passes_by_itself(failure)
    advice = find_condition_advice(make_refused(failure, classify(failure)), CLUSTER)
    assert "activity log" in advice, "if it lasts"
    assert "quota" not in advice


BUSY_JOBS = "The request for subscription '1' could not be processed due to an excessive volume of traffic. Try later."


@pytest.mark.parametrize(
    ("status", "code", "why"),
    [
        (429, "TooManyRequests", "a code with advice of its own"),
        (409, "Conflict", "a code with several meanings"),
        (400, "SomethingNew", "a code that is not known"),
        (200, "InternalServerError", "an operation that failed"),
    ],
)
def test_throttled_jobs_pass_and_have_advice_of_their_own(status, code, why):
    failure = refused(status, code, BUSY_JOBS)
    assert passes_by_itself(failure), why
    advice = find_condition_advice(make_refused(failure, classify(failure)), CLUSTER)
    assert advice.startswith("Azure throttles the background jobs of the subscription"), why


@pytest.mark.parametrize(("status", "code", "message"), STAYING)
def test_what_stays(status, code, message):
    assert not passes_by_itself(refused(status, code, message))


def test_a_detail_may_say_it():
    detail = {"code": "RetryableErrorDueToAnotherOperation", "message": "Operation PutRoute is updating resource r."}
    assert passes_by_itself(refused(409, "Refused", "It was refused.", details=(detail,)))
    assert not passes_by_itself(refused(409, "Refused", "It was refused.", details=({"code": None},)))


@pytest.mark.parametrize(
    ("arm_id", "message", "says", "why"),
    [
        (CLUSTER, "Another operation (Updating) is in progress.", "activity log", "it passes"),
        (MACHINE, "Another operation is in progress.", "activity log", "of a machine too"),
        (CLUSTER, "It results in exceeding approved Dsv3 Cores quota.", "quota", "an amount"),
        (MACHINE, "It results in exceeding approved Dsv3 Cores quota.", "quota", "an amount"),
        (CLUSTER, "The cluster is in stopped state.", "Start it", "a person has to"),
        (MACHINE, "The VM has to be running; its power state is deallocated.", "Start it", "a person has to"),
        (CLUSTER, "Not supported in the Basic SKU.", "tier", "another tier"),
        (CLUSTER, "It is forbidden today.", "has the cause", "nothing is known"),
    ],
)
def test_advice_looks_at_the_meaning(arm_id, message, says, why):
    failure = refused(409, "OperationNotAllowed", message)
    advice = find_condition_advice(make_refused(failure, classify(failure)), arm_id)
    assert says in advice, why
    assert ("quota" in advice) is (says == "quota")


def test_what_azure_works_on_has_no_advice_of_a_refusal():
    text = f"{RECONCILING.message}. Last error: 409 AnotherOperationInProgress: Another operation is in progress."
    assert not find_condition_advice(replace(RECONCILING, message=text), CLUSTER)


@given(st.text(max_size=200), st.sampled_from([400, 409, 412, 429, 200]))
def test_any_text_can_be_evaluated(text, status):
    passes_by_itself(refused(status, text, text))


@needs_recordings(FOLDER / "arm-traffic")
def test_recorded_refusals_that_pass():
    passing = set()
    for file in sorted(file for folder in FAMILIES for file in (FOLDER / folder / "errors").glob("*.jsonl")):
        for line in file.read_text().splitlines():
            row = json.loads(line)
            body = row.get("answer") or row.get("body") or {}
            error = body.get("error") if isinstance(body, dict) else None
            if isinstance(error, dict) and passes_by_itself(
                refused(row["status"], str(error.get("code")), str(error.get("message")))
            ):
                passing.add(error["code"])
    assert passing == {"AnotherOperationInProgress", "Conflict", "ReferencedResourceNotProvisioned", "RetryableError"}


@pytest.mark.parametrize(
    ("error", "missed", "granted", "expected", "why"),
    [
        (ArmError("m", code="AnotherOperationInProgress", status=409), False, False, True, "it ends by itself"),
        (ArmError("m", status=504, outcome_unknown=True), False, False, True, "it may have been done: look again"),
        (ArmError("m", code="ParentResourceNotFound", status=404), True, False, True, "we made the parent just now"),
        (ArmError("m", code="ParentResourceNotFound", status=404), False, False, False, "nothing here makes it"),
        (ArmError("m", code="AuthorizationFailed", status=403), False, True, True, "rights take a while to spread"),
        (ArmError("m", code="AuthorizationFailed", status=403), False, False, False, "no one grants the right"),
        (ArmError("m", code="LocationRequired", status=400), True, True, False, "only the manifest can mend it"),
    ],
)
def test_what_waiting_fixes(error, missed, granted, expected, why):
    assert may_recover(error, missed_is_ours=missed, granted=granted) is expected, why
