"""Disks, machines and scale sets."""

import pytest

from gitsync.model.condition import Retry
from tests.extensions.asking import class_of

GROUP = "compute.azure.com"


@pytest.mark.parametrize(
    ("kind", "code", "message", "status", "expected", "why"),
    [
        ("Disk", "BadRequest", "DiskAccess /a/b was not found", 400, Retry.VERY_SLOW, "it may be made yet"),
        ("Disk", "Conflict", "DiskAccess /a/b is in failed state.", 409, Retry.SLOW, "it may be mended"),
        ("VirtualMachine", "OperationNotAllowed", "Quota.", 409, Retry.SLOW, "as its status says"),
        ("VirtualMachine", "OperationNotAllowed", "Quota.", 400, Retry.VERY_SLOW, "as its status says"),
        ("VirtualMachineScaleSet", "OperationNotAllowed", "Quota.", 409, Retry.SLOW, "as its status says"),
        ("VirtualMachine", "PropertyChangeNotAllowed", "No.", 400, Retry.NEVER, "any other code is left as it is"),
    ],
)
def test_what_a_refusal_means(kind, code, message, status, expected, why):
    assert class_of(GROUP, kind, code, message, status) is expected, why
