"""Subscriptions of a topic that is still being made."""

import pytest

from gitsync.model.condition import Retry
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
            Retry.VERY_SLOW,
            "as its status says",
        ),
        ("NamespacesTopicsSubscription", "MessagingGatewayBadRequest", "No.", 503, Retry.SLOW, "as its status says"),
    ],
)
def test_what_a_refusal_means(kind, code, message, status, expected, why):
    assert class_of(GROUP, kind, code, message, status) is expected, why
