"""Accounts, Cassandra clusters, and what is in them."""

import pytest

from gitsync.planning.status.error_classes import Classification
from tests.extensions.asking import class_of, owner_check, pre_check, with_

GROUP = "documentdb.azure.com"


@pytest.mark.parametrize(
    ("state", "expected", "why"),
    [
        ("Succeeded", "", "it stands still"),
        ("Updating", 'Owning CassandraCluster is in provisioning state "Updating"', "busy"),
        ("Failed", 'Owning CassandraCluster is in provisioning state "Failed"', "nothing can be put into it"),
        ("succeeded", 'Owning CassandraCluster is in provisioning state "succeeded"', "this state has case"),
        ("", 'Owning CassandraCluster is in provisioning state ""', "an empty state is a state"),
        (None, "", "no state, no objection"),
    ],
)
async def test_a_data_centre_waits_for_its_cluster(state, expected, why):
    assert await owner_check(GROUP, "CassandraDataCenter", with_(provisioningState=state)) == expected, why


@pytest.mark.parametrize(
    ("state", "expected", "why"),
    [
        ("deleting", "reconcile blocked while account is at status deleting", "it is on its way out"),
        ("Deleting", "reconcile blocked while account is at status deleting", "states have no case"),
        ("Updating", "", "only a delete is waited for here"),
        ("", "", "only a delete is waited for here"),
        (None, "", "no state, no objection"),
    ],
)
async def test_an_account_that_is_being_deleted_is_left_alone(state, expected, why):
    assert await pre_check(GROUP, "DatabaseAccount", with_(provisioningState=state)) == expected, why


@pytest.mark.parametrize(
    ("kind", "code", "message", "status", "expected", "why"),
    [
        (
            "CassandraCluster",
            "BadRequest",
            "The service principal has no right.",
            400,
            Classification.RETRYABLE,
            "somebody may grant it",
        ),
        (
            "DatabaseAccount",
            "ServiceUnavailable",
            "The region is currently experiencing high demand.",
            503,
            Classification.FATAL,
            "another region is needed",
        ),
        ("DatabaseAccount", "ServiceUnavailable", "Try again.", 503, Classification.RETRYABLE, "what passes by itself"),
        ("MongodbDatabase", "BadRequest", "No.", 400, Classification.RETRYABLE, "as bad requests are"),
        ("SqlDatabase", "BadRequest", "No.", 400, Classification.RETRYABLE, "as bad requests are"),
        (
            "SqlRoleAssignment",
            "BadRequest",
            "The principal was not found in the AAD tenant.",
            400,
            Classification.RETRYABLE,
            "it may be made yet",
        ),
        ("SqlDatabase", "LocationRequired", "No.", 400, Classification.FATAL, "any other code is left as it is"),
    ],
)
def test_what_a_refusal_means(kind, code, message, status, expected, why):
    assert class_of(GROUP, kind, code, message, status) is expected, why
