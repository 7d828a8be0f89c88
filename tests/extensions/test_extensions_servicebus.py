"""Subscriptions of a topic that is still being made."""

import pytest

from gitsync.planning.status.error_classes import Classification
from tests.extensions.asking import class_of

GROUP = "servicebus.azure.com"


@pytest.mark.parametrize(
    ("kind", "code", "message", "status", "expected", "why"),
    [
        (
            "NamespacesTopicsSubscription",
            "MessagingGatewayBadRequest",
            "No.",
            400,
            Classification.RETRYABLE,
            "as its status says",
        ),
        (
            "NamespacesTopicsSubscription",
            "MessagingGatewayBadRequest",
            "No.",
            503,
            Classification.RETRYABLE,
            "as its status says",
        ),
    ],
)
def test_what_a_refusal_means(kind, code, message, status, expected, why):
    assert class_of(GROUP, kind, code, message, status) is expected, why
