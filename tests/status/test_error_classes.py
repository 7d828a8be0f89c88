from __future__ import annotations

import pytest

from gitsync.errors import ArmError
from gitsync.model.condition import Retry
from gitsync.status.error_classes import classify


@pytest.mark.parametrize(
    ("code", "status", "expected", "why"),
    [
        ("AnotherOperationInProgress", 409, Retry.SLOW, "it ends by itself"),
        ("AnotherOperationInProgress", 400, Retry.SLOW, "the code decides before the status"),
        ("BadRequest", 400, Retry.VERY_SLOW, "some are cured by others"),
        ("LocationRequired", 400, Retry.NEVER, "only the manifest can cure it"),
        ("locationrequired", 400, Retry.VERY_SLOW, "codes have case"),
        ("Whatever", 400, Retry.VERY_SLOW, "an unknown code goes by its status"),
        ("Whatever", 503, Retry.SLOW, "an unknown code goes by its status"),
        ("Whatever", 200, Retry.SLOW, "an operation that failed is read with 200"),
    ],
)
def test_the_default_classes(code, status, expected, why):
    found = classify(ArmError("m", code=code, status=status))
    assert found.retry is expected, why
    assert found.is_fatal is (expected is Retry.NEVER)
