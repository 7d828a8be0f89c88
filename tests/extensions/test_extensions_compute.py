"""Disks, machines and scale sets."""

import pytest

from gitsync.planning.status.error_classes import Classification
from tests.extensions.asking import class_of

GROUP = "compute.azure.com"


@pytest.mark.parametrize(
    ("kind", "code", "message", "status", "expected", "why"),
    [
        ("Disk", "BadRequest", "DiskAccess /a/b was not found", 400, Classification.RETRYABLE, "it may be made yet"),
        ("Disk", "Conflict", "DiskAccess /a/b is in failed state.", 409, Classification.RETRYABLE, "it may be mended"),
        ("VirtualMachine", "OperationNotAllowed", "Quota.", 409, Classification.RETRYABLE, "as its status says"),
        ("VirtualMachine", "OperationNotAllowed", "Quota.", 400, Classification.RETRYABLE, "as its status says"),
        (
            "VirtualMachineScaleSet",
            "OperationNotAllowed",
            "Quota.",
            409,
            Classification.RETRYABLE,
            "as its status says",
        ),
        (
            "VirtualMachine",
            "PropertyChangeNotAllowed",
            "No.",
            400,
            Classification.FATAL,
            "any other code is left as it is",
        ),
    ],
)
def test_what_a_refusal_means(kind, code, message, status, expected, why):
    assert class_of(GROUP, kind, code, message, status) is expected, why
