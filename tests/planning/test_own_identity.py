"""What belongs to the identity of a run, by its bodies and its id."""

from __future__ import annotations

import pytest

from gitsync.model.arm_id import ArmId
from gitsync.planning.own_identity import OwnIds, explain_own, may_be_own

CLIENT, OBJECT = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
MANAGED = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/gitsync"
OWN = OwnIds(CLIENT, OBJECT, MANAGED)
ENTRA, OURS, IDENTITY = "entra.azure.com", "azure.gitsync", "managedidentity.azure.com"
ROLE = ("authorization.azure.com", "RoleAssignment")

ROWS = [
    ((ENTRA, "Application"), {"appId": CLIENT.upper()}, "", True, "the application, in any case"),
    ((ENTRA, "Application"), {"appId": OBJECT}, "", False, "another application"),
    ((ENTRA, "Application"), {"displayName": "gitsync"}, "", False, "a new application"),
    ((ENTRA, "ServicePrincipal"), {"id": OBJECT}, "", True, "the principal by its id"),
    ((ENTRA, "ServicePrincipal"), {"appId": CLIENT}, "", True, "the principal by its application"),
    ((OURS, "ApplicationFederatedCredential"), {"appId": CLIENT}, "", True, "a credential of the application"),
    ((OURS, "ApplicationFederatedCredential"), {"appId": OBJECT}, "", False, "one of another"),
    ((OURS, "AppRoleAssignment"), {"principalId": OBJECT}, "", True, "an app role of the principal"),
    ((OURS, "AppRoleAssignment"), {"resourceId": OBJECT}, "", False, "a role in its API"),
    (ROLE, {"properties": {"principalId": OBJECT}}, "", True, "a role assignment of the principal"),
    (ROLE, {"properties": {"principalId": CLIENT}}, "", False, "one of another principal"),
    (ROLE, {"properties": None}, "", False, "a body without properties"),
    (ROLE, None, "", False, "no body"),
    ((IDENTITY, "UserAssignedIdentity"), {"properties": {"clientId": CLIENT}}, "", True, "the managed identity"),
    ((IDENTITY, "UserAssignedIdentity"), {}, MANAGED.upper(), True, "the managed identity by its id"),
    ((IDENTITY, "FederatedIdentityCredential"), {}, f"{MANAGED}/federatedIdentityCredentials/a", True, "below it"),
    (
        (IDENTITY, "FederatedIdentityCredential"),
        {},
        f"{MANAGED}2/federatedIdentityCredentials/a",
        False,
        "below another",
    ),
    (("storage.azure.com", "StorageAccount"), {"id": OBJECT, "appId": CLIENT}, MANAGED, False, "any other kind"),
]


@pytest.mark.parametrize(("kind", "body", "arm_id", "is_own", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_what_is_own(kind, body, arm_id, is_own, why):
    assert bool(explain_own(kind, ArmId(arm_id), iter([None, body]), OWN)) is is_own, why
    assert may_be_own(kind) is (kind[1] != "StorageAccount")


def test_ids_that_are_not_known_match_nothing():
    nobody = OwnIds("", "", "")
    assert not any(explain_own(kind, ArmId(arm_id), iter([body]), nobody) for kind, body, arm_id, *_ in ROWS)
