"""Parts of a profile that refuse each other."""

import pytest

from gitsync.model.condition import Retry
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
            Retry.SLOW,
            "the route is being deleted",
        ),
        ("AfdCustomDomain", "BadRequest", "The name is wrong.", 400, Retry.VERY_SLOW, "another bad request"),
        (
            "AfdCustomDomain",
            "Conflict",
            "This resource is still associated with a route.",
            409,
            Retry.SLOW,
            "as slow by default",
        ),
        (
            "AfdCustomDomain",
            "LocationRequired",
            "This resource is still associated with a route.",
            400,
            Retry.NEVER,
            "another code",
        ),
        (
            "Route",
            "BadRequest",
            "The originGroup is created successfully and at least one enabled origin is created under it",
            400,
            Retry.VERY_SLOW,
            "as bad requests are",
        ),
        (
            "Route",
            "LocationRequired",
            "The originGroup is created successfully and at least one enabled origin is created under it",
            400,
            Retry.NEVER,
            "another code",
        ),
        (
            "Rule",
            "BadRequest",
            "The originGroup is created successfully and at least one enabled origin is created under it",
            400,
            Retry.VERY_SLOW,
            "as bad requests are",
        ),
        (
            "SecurityPolicy",
            "BadRequest",
            "It is not associated with the AFDX profile or is in a invalid provisioning state",
            400,
            Retry.VERY_SLOW,
            "as bad requests are",
        ),
    ],
)
def test_what_a_refusal_means(kind, code, message, status, expected, why):
    assert class_of(GROUP, kind, code, message, status) is expected, why
