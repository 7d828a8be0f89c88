"""Rules that look at what may not be there yet."""

import pytest

from gitsync.planning.status.error_classes import Classification
from tests.extensions.asking import class_of

GROUP = "insights.azure.com"


@pytest.mark.parametrize(
    ("kind", "code", "message", "status", "expected", "why"),
    [
        ("DataCollectionRule", "WorkspaceNotFound", "No.", 400, Classification.RETRYABLE, "as its status says"),
        ("DataCollectionRule", "WorkspaceNotFound", "No.", 404, Classification.RETRYABLE, "as its status says"),
        (
            "ScheduledQueryRule",
            "BadRequest",
            "The scope does not exist.",
            400,
            Classification.RETRYABLE,
            "it may be made yet",
        ),
        (
            "ScheduledQueryRule",
            "BadRequest",
            "The identity has insufficient access.",
            400,
            Classification.RETRYABLE,
            "somebody may grant it",
        ),
        (
            "ScheduledQueryRule",
            "InvalidRequestContent",
            "It does not exist.",
            400,
            Classification.FATAL,
            "any other code is left as it is",
        ),
    ],
)
def test_what_a_refusal_means(kind, code, message, status, expected, why):
    assert class_of(GROUP, kind, code, message, status) is expected, why
