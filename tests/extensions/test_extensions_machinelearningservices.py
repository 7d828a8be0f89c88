"""Workspaces that need a storage account."""

import pytest

from gitsync.planning.status.error_classes import Classification
from tests.extensions.asking import class_of

GROUP = "machinelearningservices.azure.com"


@pytest.mark.parametrize(
    ("kind", "code", "message", "status", "expected", "why"),
    [
        (
            "Workspace",
            "BadRequest",
            "StorageAccountIsNotProvisioned: wait.",
            400,
            Classification.RETRYABLE,
            "it is being made",
        ),
        (
            "Workspace",
            "InvalidRequestContent",
            "StorageAccountIsNotProvisioned",
            400,
            Classification.FATAL,
            "any other code is left as it is",
        ),
    ],
)
def test_what_a_refusal_means(kind, code, message, status, expected, why):
    assert class_of(GROUP, kind, code, message, status) is expected, why
