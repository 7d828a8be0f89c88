"""AKS refuses writes while it is busy."""

import pytest

from gitsync.planning.status.error_classes import Classification
from tests.extensions.asking import class_of, owner_check, pre_check, with_

GROUP = "containerservice.azure.com"


@pytest.mark.parametrize(
    ("kind", "state", "expected", "why"),
    [
        ("ManagedCluster", "Updating", 'Managed cluster is in provisioning state "Updating"', "busy"),
        ("ManagedCluster", "SUCCEEDED", "", "states have no case"),
        ("ManagedCluster", "Failed", "", "what failed may be mended"),
        ("ManagedCluster", None, "", "no state, no objection"),
        ("ManagedCluster", "", 'Managed cluster is in provisioning state ""', "an empty state is a state"),
        (
            "ManagedClustersAgentPool",
            "Scaling",
            'Managed cluster agent pool is in provisioning state "Scaling"',
            "busy",
        ),
        ("MaintenanceConfiguration", "Updating", "", "no check of its own"),
    ],
)
async def test_the_own_state(kind, state, expected, why):
    assert await pre_check(GROUP, kind, with_(provisioningState=state)) == expected, why


@pytest.mark.parametrize(
    ("kind", "state", "expected", "why"),
    [
        ("ManagedClustersAgentPool", "Updating", 'Managed cluster "boss" is in provisioning state "Updating"', "busy"),
        ("ManagedClustersAgentPool", "canceled", "", "it stands still"),
        ("ManagedCluster", "Updating", "", "a resource group's state is not asked"),
    ],
)
async def test_the_owners_state(kind, state, expected, why):
    assert await owner_check(GROUP, kind, with_(provisioningState=state)) == expected, why


async def test_a_resource_that_does_not_exist_has_nothing_against_it():
    assert await pre_check(GROUP, "ManagedCluster", None) == ""


@pytest.mark.parametrize(
    ("kind", "code", "message", "status", "expected", "why"),
    [
        ("FleetsMember", "DependentResourceNotFound", "No.", 404, Classification.RETRYABLE, "as its status says"),
        (
            "ManagedCluster",
            "CustomKubeletIdentityMissingPermissionError",
            "No.",
            400,
            Classification.RETRYABLE,
            "as its status says",
        ),
        (
            "ManagedClustersAgentPool",
            "NodePoolMcVersionIncompatible",
            "No.",
            400,
            Classification.RETRYABLE,
            "the cluster is being upgraded, and is soon done",
        ),
        ("ManagedCluster", "NodePoolMcVersionIncompatible", "No.", 400, Classification.RETRYABLE, "another kind"),
        (
            "ManagedClustersAgentPool",
            "K8sVersionNotSupported",
            "No.",
            400,
            Classification.FATAL,
            "any other code is left as it is",
        ),
    ],
)
def test_what_a_refusal_means(kind, code, message, status, expected, why):
    assert class_of(GROUP, kind, code, message, status) is expected, why
