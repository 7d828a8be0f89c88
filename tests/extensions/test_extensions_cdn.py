"""Parts of a profile that refuse each other."""

import pytest

from gitsync.planning.status.error_classes import Classification
from tests.extensions.asking import class_of

GROUP = "cdn.azure.com"


@pytest.mark.parametrize(
    ("kind", "code", "message", "status", "expected", "why"),
    [
        (
            "AfdCustomDomain",
            "BadRequest",
            "This resource is still associated with a route. Delete that.",
            400,
            Classification.RETRYABLE,
            "the route is being deleted",
        ),
        ("AfdCustomDomain", "BadRequest", "The name is wrong.", 400, Classification.RETRYABLE, "another bad request"),
        (
            "AfdCustomDomain",
            "Conflict",
            "This resource is still associated with a route.",
            409,
            Classification.RETRYABLE,
            "as slow by default",
        ),
        (
            "AfdCustomDomain",
            "LocationRequired",
            "This resource is still associated with a route.",
            400,
            Classification.FATAL,
            "another code",
        ),
        (
            "Route",
            "BadRequest",
            "The originGroup is created successfully and at least one enabled origin is created under it",
            400,
            Classification.RETRYABLE,
            "as bad requests are",
        ),
        (
            "Route",
            "LocationRequired",
            "The originGroup is created successfully and at least one enabled origin is created under it",
            400,
            Classification.FATAL,
            "another code",
        ),
        (
            "Rule",
            "BadRequest",
            "The originGroup is created successfully and at least one enabled origin is created under it",
            400,
            Classification.RETRYABLE,
            "as bad requests are",
        ),
        (
            "SecurityPolicy",
            "BadRequest",
            "It is not associated with the AFDX profile or is in a invalid provisioning state",
            400,
            Classification.RETRYABLE,
            "as bad requests are",
        ),
    ],
)
def test_what_a_refusal_means(kind, code, message, status, expected, why):
    assert class_of(GROUP, kind, code, message, status) is expected, why
