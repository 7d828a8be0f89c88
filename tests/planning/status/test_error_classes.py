from __future__ import annotations

import json

import pytest

from gitsync.errors import ArmError
from gitsync.model.condition import Retry
from gitsync.planning.status.advice import find_advice
from gitsync.planning.status.error_classes import classify
from gitsync.planning.status.passing_refusals import may_recover
from gitsync.providers.arm.http.failures import read_error
from gitsync.providers.arm.http.messages import ArmRequest, Response
from tests.support.recordings import FOLDER, needs_recordings


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
        ("429", 429, Retry.SLOW, "so does the text of a gateway"),
        ("UnknownError", 502, Retry.SLOW, "so does an answer without a code"),
        ("ReferencedResourceNotProvisioned", 400, Retry.SLOW, "it is still being created"),
        ("ParentResourceIsInFailedState", 400, Retry.SLOW, "a write of the parent ends it"),
        ("Whatever", 200, Retry.SLOW, "an operation that failed is read with 200"),
    ],
)
def test_the_default_classes(code, status, expected, why):
    found = classify(ArmError("m", code=code, status=status))
    assert found.retry is expected, why
    assert found.is_fatal is (expected is Retry.NEVER)


ERRORS = FOLDER / "arm-traffic-az" / "errors"
READS = {
    (404, "AuthConfigNotFound"): "absent",
    (404, "ContainerGroupNotFound"): "absent",
    (404, "ContainerNotFound"): "absent",
    (404, "NotFound"): "absent",
    (404, "ParentResourceNotFound"): "absent",
    (404, "ResourceGroupNotFound"): "absent",
    (404, "ResourceNotFound"): "absent",
    (403, "AuthorizationFailed"): "unknown",
    (503, "UnknownError"): "unknown",
}
"""By status and code: what a read of a resource takes an answer for. A list is never taken for an empty one."""

EVENTS = {
    "always": {"missed_is_ours": False, "granted": False},
    "after a create": {"missed_is_ours": True, "granted": False},
    "after a grant": {"missed_is_ours": False, "granted": True},
}
WRITES = {
    ("DELETE", 400, "InUseDdosProtectionPlanCannotBeDeleted"): (Retry.VERY_SLOW, []),
    ("DELETE", 400, "PublicIPAddressCannotBeDeleted"): (Retry.VERY_SLOW, []),
    ("DELETE", 400, "ReadReplicaServersExistForSourceServer"): (Retry.VERY_SLOW, []),
    ("DELETE", 403, "AuthorizationFailed"): (Retry.SLOW, ["after a grant"]),
    ("PUT", 400, "BadRequest"): (Retry.VERY_SLOW, []),
    ("PUT", 400, "GeoBackupsNotAvailable"): (Retry.VERY_SLOW, []),
    ("PUT", 400, "GlobalPublicIPAddressNotSupportedForBasicPublicIpAddress"): (Retry.NEVER, []),
    ("PUT", 400, "InvalidAddressPrefixFormat"): (Retry.NEVER, []),
    ("PUT", 400, "PrincipalNotFound"): (Retry.SLOW, ["after a create"]),
    ("PUT", 404, "ParentResourceNotFound"): (Retry.SLOW, ["after a create"]),
    ("PUT", 409, "MissingSubscriptionRegistration"): (Retry.SLOW, []),
    ("PUT", 409, "RoleAssignmentExists"): (Retry.VERY_SLOW, []),
    ("PUT", 412, "PreconditionFailed"): (Retry.SLOW, []),
}
"""The class of each refused write, and after what the same run tries again."""


@needs_recordings(ERRORS)
def test_each_recorded_error_has_its_class_and_advice():
    seen = set()
    for line in (line for file in sorted(ERRORS.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()):
        row = json.loads(line)
        method, status, path = row["method"], row["status"], row["path"]
        answer = Response(status=status, content=b"" if row["answer"] is None else json.dumps(row["answer"]).encode())
        code, message, _ = read_error(answer)
        if method == "GET":
            is_list = path.count("/") % 2 == 1
            accepts = frozenset({200} if is_list else {200, 404})
            call = ArmRequest(method=method, path=path, target="", resource_id=path, accepts=accepts, is_list=is_list)
            found = "absent" if call.takes(answer, code, message) else "unknown"
            assert found == ("unknown" if is_list else READS[status, code]), row
            seen.add((status, code))
        else:
            error = ArmError(message, code=code, status=status)
            waits = [word for word, events in EVENTS.items() if may_recover(error, **events)]
            assert (classify(error).retry, waits) == WRITES[method, status, code], row
            assert find_advice(code), row
            seen.add((method, status, code))
    assert seen == {*READS, *WRITES}, "each row of the tables was recorded"
