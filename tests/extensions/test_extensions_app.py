"""What runs in an environment that is still being made."""

import pytest

from gitsync.planning.status.error_classes import Classification
from tests.extensions.asking import class_of

GROUP = "app.azure.com"


@pytest.mark.parametrize(
    ("kind", "code", "message", "status", "expected", "why"),
    [
        (
            "ContainerApp",
            "ManagedEnvironmentNotProvisioned",
            "No.",
            400,
            Classification.RETRYABLE,
            "as its status says",
        ),
        (
            "ContainerApp",
            "ManagedEnvironmentNotProvisioned",
            "No.",
            409,
            Classification.RETRYABLE,
            "as its status says",
        ),
        ("Job", "ManagedEnvironmentNotProvisioned", "No.", 409, Classification.RETRYABLE, "as its status says"),
        ("Job", "LocationRequired", "No.", 400, Classification.FATAL, "any other code is left as it is"),
    ],
)
def test_what_a_refusal_means(kind, code, message, status, expected, why):
    assert class_of(GROUP, kind, code, message, status) is expected, why
