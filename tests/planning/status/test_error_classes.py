from __future__ import annotations

import json

import pytest

from gitsync.errors import ArmError
from gitsync.planning.status.advice import find_advice
from gitsync.planning.status.error_classes import Classification, classify
from gitsync.planning.status.passing_refusals import may_recover
from gitsync.providers.arm.http.failures import read_error
from gitsync.providers.arm.http.messages import ArmRequest, Response
from tests.support.recordings import FOLDER, needs_recordings


@pytest.mark.parametrize(
    ("code", "status", "expected", "why"),
    [
        ("LocationRequired", 400, Classification.FATAL, "only the manifest can cure it"),
        ("InvalidDatabaseUser", 400, Classification.FATAL, "a refusal of a provider of gitsync"),
        ("locationrequired", 400, Classification.RETRYABLE, "codes have case"),
        ("BadRequest", 400, Classification.RETRYABLE, "some are cured by others"),
        ("Whatever", 400, Classification.RETRYABLE, "an unknown code"),
        ("429", 429, Classification.RETRYABLE, "the text of a gateway"),
        ("UnknownError", 502, Classification.RETRYABLE, "an answer without a code"),
        ("Whatever", 200, Classification.RETRYABLE, "an operation that failed is read with 200"),
    ],
)
def test_the_default_classes(code, status, expected, why):
    assert classify(ArmError("m", code=code, status=status)) is expected, why


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
    ("DELETE", 400, "InUseDdosProtectionPlanCannotBeDeleted"): (Classification.RETRYABLE, []),
    ("DELETE", 400, "PublicIPAddressCannotBeDeleted"): (Classification.RETRYABLE, []),
    ("DELETE", 400, "ReadReplicaServersExistForSourceServer"): (Classification.RETRYABLE, []),
    ("DELETE", 403, "AuthorizationFailed"): (Classification.RETRYABLE, ["after a grant"]),
    ("PUT", 400, "BadRequest"): (Classification.RETRYABLE, []),
    ("PUT", 400, "GeoBackupsNotAvailable"): (Classification.RETRYABLE, []),
    ("PUT", 400, "GlobalPublicIPAddressNotSupportedForBasicPublicIpAddress"): (Classification.FATAL, []),
    ("PUT", 400, "InvalidAddressPrefixFormat"): (Classification.FATAL, []),
    ("PUT", 400, "PrincipalNotFound"): (Classification.RETRYABLE, ["after a create"]),
    ("PUT", 404, "ParentResourceNotFound"): (Classification.RETRYABLE, ["after a create"]),
    ("PUT", 409, "MissingSubscriptionRegistration"): (Classification.RETRYABLE, []),
    ("PUT", 409, "RoleAssignmentExists"): (Classification.RETRYABLE, []),
    ("PUT", 412, "PreconditionFailed"): (Classification.RETRYABLE, []),
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
            assert (classify(error), waits) == WRITES[method, status, code], row
            assert find_advice(code), row
            seen.add((method, status, code))
    assert seen == {*READS, *WRITES}, "each row of the tables was recorded"
