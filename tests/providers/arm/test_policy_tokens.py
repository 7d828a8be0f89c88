"""Policy tokens over a real socket: when one is requested, what the write is sent with, and how often."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from gitsync.errors import ArmError, DeadlineError
from gitsync.model.secret import Secret
from gitsync.providers.arm.http.messages import CORRELATION_ID, EXTERNAL_EVALUATIONS
from gitsync.providers.arm.policy_tokens import API_VERSION
from gitsync.settings.redaction import Redactions
from tests.support.arm_rig import API, SUBSCRIPTION, VNET, Rig, moving
from tests.support.scripted_server import BREAK, Say

BODY = {"location": "westus", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}}
ACQUIRE = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/acquirePolicyToken"
RESULT = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/locations/global/operationResults/one"
MANAGEMENT_GROUP = "/providers/Microsoft.Management/managementGroups/corp"
TOKEN = "PoP issued-for-this-write-only-0123456789"
DONE = Say(200, moving("Succeeded"))


def refuse(*details: dict[str, Any], code: str = "RequestDisallowedByPolicy", status: int = 403) -> Say:
    """What Azure answers to a write; each violation has the details of a missing token, or none."""
    violations = [
        {
            "type": "PolicyViolation",
            "info": {
                "policyAssignmentDisplayName": "Change window",
                "evaluationDetails": {"missingPolicyTokenDetails": each} if each else {"reason": "Never."},
            },
        }
        for each in details
    ]
    message = "Resource 'hub' was disallowed by policy."
    return Say(status, {"error": {"code": code, "message": message, "additionalInfo": violations}})


MISSING = {"shouldDeny": True, "isChangeReferenceRequired": False, "endpointKind": "AzureResourceGraph"}
DEMAND = refuse(MISSING)
ISSUED = Say(200, {"result": "Succeeded", "token": TOKEN, "tokenId": "one", "expiration": "2030-01-01T00:00:00Z"})


def answer(action: str, message: str, **more: Any) -> Say:
    """A result without a token."""
    policy = {"policyInfo": {"policyAssignmentDisplayName": "Change window"}, "policyAction": action}
    result = "Failed" if action == "Error" else "Succeeded"
    return Say(200, {"result": result, "results": [{**policy, "result": result, "message": message}], **more})


async def put(rig: Rig) -> Any:
    return await rig.writer.put(VNET, API, BODY, if_match='"1"')


def writes(rig: Rig) -> list[Any]:
    return [seen for seen in rig.server.seen if seen.path == VNET and seen.method != "GET"]


def tokens(rig: Rig) -> list[Any]:
    return [seen for seen in rig.server.seen if seen.path.endswith("acquirePolicyToken")]


async def test_a_write_that_azure_takes_requests_no_token(rig: Rig):
    rig.server.on("PUT", VNET, DONE)
    await put(rig)
    assert (len(writes(rig)), tokens(rig)) == (1, [])


async def test_the_same_write_is_sent_again_with_the_token(rig: Rig):
    rig.server.on("PUT", VNET, DEMAND, DONE)
    rig.server.on("POST", ACQUIRE, ISSUED)
    rig.session.change_reference = "8b1619c5 https://example.com/run/1"
    assert (await put(rig)).status == 200
    first, second = writes(rig)
    assert (first.body, first.query) == (second.body, second.query)
    assert EXTERNAL_EVALUATIONS not in first.headers
    assert second.headers[EXTERNAL_EVALUATIONS] == TOKEN
    assert first.headers["if-match"] == second.headers["if-match"] == '"1"'
    assert first.headers[CORRELATION_ID] == second.headers[CORRELATION_ID], "one operation in Azure's logs"
    [request] = tokens(rig)
    assert request.query == f"api-version={API_VERSION}"
    assert request.body == {
        "operation": {"uri": f"{rig.server.url}{VNET}?api-version={API}", "httpMethod": "PUT", "content": BODY},
        "changeReference": "8b1619c5 https://example.com/run/1",
    }
    assert rig.session.list_failures() == (), "what Azure demanded is not a failed attempt"
    assert rig.arm.requests.writes == 2
    assert rig.arm.requests.checks == 1


@pytest.mark.parametrize("method", ["PATCH", "DELETE", "POST"])
async def test_each_method_that_writes_may_need_a_token(rig: Rig, method: str):
    path = f"{VNET}/start" if method == "POST" else VNET
    rig.server.on(method, path, DEMAND, DONE if method == "PATCH" else Say(200))
    rig.server.on("POST", ACQUIRE, ISSUED)
    if method == "PATCH":
        await rig.writer.patch(path, API, BODY)
    else:
        await (rig.writer.delete(path, API) if method == "DELETE" else rig.writer.post(path, API))
    sent = [seen for seen in rig.server.seen if seen.path == path]
    assert [seen.headers.get(EXTERNAL_EVALUATIONS) for seen in sent] == [None, TOKEN]
    operation = tokens(rig)[0].body["operation"]
    assert (operation["httpMethod"], "content" in operation) == (method, method == "PATCH")
    assert "changeReference" not in tokens(rig)[0].body, "there is none"


ANSWERS = [
    # the answers of the endpoint, those of the writes after the first, code, a part of the message, the requests
    ([ISSUED], [DONE], "", "", (2, 1), "a token"),
    ([Say(202, None, {"Location": f"{{url}}{RESULT}", "Retry-After": "9"})], [DONE], "", "", (2, 1), "a wait"),
    ([Say(202, None, {"Retry-After": "9"}), ISSUED], [DONE], "", "", (2, 2), "a 202 without a URL"),
    (
        [answer("Error", "Busy.", retryAfter="{soon}"), ISSUED],
        [DONE],
        "",
        "",
        (2, 2),
        "a failure that passes",
    ),
    (
        [Say(503, {"error": {"code": "ServiceUnavailable", "message": "x"}}), ISSUED],
        [DONE],
        "",
        "",
        (2, 2),
        "an outage",
    ),
    ([Say(200, {"token": TOKEN})], [DONE], "", "", (2, 1), "a token without a result"),
    ([ISSUED], [DEMAND, DONE], "", "", (3, 2), "a token that expired"),
    ([ISSUED], [DEMAND], "RequestDisallowedByPolicy", "accepted neither", (3, 2), "tokens that Azure does not accept"),
    (
        [answer("Deny", "The window is closed.")],
        [],
        "RequestDisallowedByPolicy",
        "The policy assignment \"Change window\" does not allow it: The window is closed. Resource 'hub'",
        (1, 1),
        "a denial",
    ),
    (
        [answer("Error", "The endpoint is gone.")],
        [],
        "RequestDisallowedByPolicy",
        "The endpoint is gone.",
        (1, 1),
        "a failure that lasts",
    ),
    (
        [Say(200, {"result": "Failed", "message": "Not now.", "token": TOKEN})],
        [],
        "RequestDisallowedByPolicy",
        "Azure issued no policy token: Not now.",
        (1, 1),
        "a failure without results",
    ),
    ([Say(200, {"result": "Succeeded"})], [], "RequestDisallowedByPolicy", "gives no reason", (1, 1), "no token"),
    (
        [Say(200, {"result": "Succeeded", "token": "PoP a\r\nX-Evil: 1"})],
        [],
        "RequestDisallowedByPolicy",
        "gives no reason",
        (1, 1),
        "a token that ends the header",
    ),
    ([Say(200, "<html>")], [], "RequestDisallowedByPolicy", "gives no reason", (1, 1), "a page of a proxy"),
    (
        [Say(403, {"error": {"code": "AuthorizationFailed", "message": "No right."}})],
        [],
        "AuthorizationFailed",
        "Azure issued no policy token: AuthorizationFailed: No right.",
        (1, 1),
        "a missing right",
    ),
    (
        [Say(404, {"error": {"code": "InvalidResourceType", "message": "Unknown."}})],
        [],
        "RequestDisallowedByPolicy",
        "Azure issued no policy token: InvalidResourceType: Unknown.",
        (1, 1),
        "a cloud without the endpoint",
    ),
    (
        [Say(202, None, {"Location": f"{{url}}{RESULT}/never", "Retry-After": "600"})],
        [],
        "DeadlineExceeded",
        "before Azure issued a policy token",
        (1, 1),
        "a wait that outlasts the deadline",
    ),
    (
        [answer("Error", "Busy.", retryAfter="2040-01-01T00:00:00Z")],
        [],
        "DeadlineExceeded",
        "Azure evaluates it again at 2040-01-01T00:00:00Z.",
        (1, 1),
        "another try after the deadline",
    ),
    ([Say(fault=BREAK), ISSUED], [DONE], "", "", (2, 2), "no answer"),
]


@pytest.mark.parametrize(("answers", "later", "code", "says", "sent", "why"), ANSWERS, ids=[row[-1] for row in ANSWERS])
async def test_each_answer_of_the_endpoint_has_its_outcome(
    rig: Rig, answers: list[Say], later: list[Say], code: str, says: str, sent: tuple[int, int], why: str
):
    soon = (rig.clock.now() + timedelta(seconds=40)).isoformat()
    answers = [
        Say(a.status, json.loads(json.dumps(a.body).replace("{soon}", soon)), a.headers, a.fault) for a in answers
    ]
    rig.server.on("PUT", VNET, DEMAND, *later)
    rig.server.on("POST", ACQUIRE, *answers)
    rig.server.on("GET", RESULT, Say(202, None, {"Retry-After": "9"}), ISSUED)
    rig.server.on("GET", f"{RESULT}/never", Say(202, None, {"Retry-After": "600"}))
    if not code:
        assert (await put(rig)).status == 200, why
    else:
        with pytest.raises(ArmError) as caught:
            await put(rig)
        assert caught.value.code == code, why
        assert says in caught.value.message, why
        assert "Resource 'hub'" in caught.value.message or code == "DeadlineExceeded", "Azure's own words stay"
        assert not caught.value.outcome_unknown, "Azure refused the write"
        assert TOKEN not in f"{caught.value} {caught.value!r} {caught.value.details} {rig.session.failures}"
        assert caught.value.resource_id == VNET
    assert (len(writes(rig)), len(tokens(rig))) == sent, why


@pytest.mark.parametrize("location", [{"Location": f"{{url}}{RESULT}"}, {}], ids=["of a poll", "of another request"])
async def test_the_wait_is_what_azure_requests(rig: Rig, location: dict[str, str]):
    rig.server.on("PUT", VNET, DEMAND, DONE)
    rig.server.on("POST", ACQUIRE, Say(202, None, {**location, "Retry-After": "40"}), ISSUED)
    rig.server.on("GET", RESULT, ISSUED)
    await put(rig)
    assert 40 <= rig.clock.elapsed < 60


async def test_a_wait_that_outlasts_the_deadline_is_continued_by_the_next_run(rig: Rig):
    rig.server.on("PUT", VNET, DEMAND)
    rig.server.on("POST", ACQUIRE, answer("Error", "Busy.", retryAfter="2040-01-01T00:00:00Z"))
    with pytest.raises(DeadlineError):
        await put(rig)


REFUSALS = [
    (refuse({}), "a policy that always denies"),
    (refuse({**MISSING, "shouldDeny": False}, {}), "a token that is only audited, and a policy that denies"),
    (refuse(MISSING, code="ScopeLocked"), "another code"),
    (refuse(MISSING, status=400), "another status"),
    (Say(403, {"error": {"code": "RequestDisallowedByPolicy", "additionalInfo": "x"}}), "malformed details"),
    (Say(403, "<html>"), "a page of a proxy"),
    (Say(500, DEMAND.body), "a failure with the same words"),
]


@pytest.mark.parametrize(("refusal", "why"), REFUSALS, ids=[row[-1] for row in REFUSALS])
async def test_any_other_refusal_stays_and_nothing_is_sent_again(rig: Rig, refusal: Say, why: str):
    rig.server.on("PUT", VNET, refusal)
    rig.server.on("POST", ACQUIRE, ISSUED)
    with pytest.raises(ArmError):
        await put(rig)
    assert (len(writes(rig)), tokens(rig)) == (1, []), why


AFTER_A_TOKEN = [
    (Say(409, {"error": {"code": "Conflict", "message": "busy"}}), False, "a conflict"),
    (Say(500, {"error": {"code": "InternalServerError", "message": "x"}}), True, "an outcome that is not known"),
    (Say(fault=BREAK), True, "no answer"),
    (refuse({}), False, "another policy"),
]


@pytest.mark.parametrize(("outcome", "unknown", "why"), AFTER_A_TOKEN, ids=[row[-1] for row in AFTER_A_TOKEN])
async def test_the_write_with_a_token_follows_the_rules_of_any_write(rig: Rig, outcome: Say, unknown: bool, why: str):
    rig.server.on("PUT", VNET, DEMAND, outcome)
    rig.server.on("POST", ACQUIRE, ISSUED)
    with pytest.raises(ArmError) as caught:
        await put(rig)
    assert caught.value.outcome_unknown is unknown, why
    assert (len(writes(rig)), len(tokens(rig))) == (2, 1), why


async def test_a_throttled_write_keeps_its_token(rig: Rig):
    rig.server.on("PUT", VNET, DEMAND, Say(429, None, {"Retry-After": "3"}), DONE)
    rig.server.on("POST", ACQUIRE, ISSUED)
    await put(rig)
    assert [seen.headers.get(EXTERNAL_EVALUATIONS) for seen in writes(rig)] == [None, TOKEN, TOKEN]
    assert len(tokens(rig)) == 1


@pytest.mark.parametrize("shape", ["a list", "beside the details", "without shouldDeny"])
async def test_the_demand_is_read_in_each_shape(rig: Rig, shape: str):
    details = {"isChangeReferenceRequired": False} if shape == "without shouldDeny" else MISSING
    info: dict[str, Any] = {"evaluationDetails": {"missingPolicyTokenDetails": details}}
    if shape == "a list":
        info = {"evaluationDetails": {"missingPolicyTokenDetails": [details]}}
    if shape == "beside the details":
        info = {"missingPolicyTokenDetails": details}
    error = {"code": "requestDisallowedByPolicy", "message": "No.", "additionalInfo": [{"info": info}]}
    rig.server.on("PUT", VNET, Say(403, {"error": error}), DONE)
    rig.server.on("POST", ACQUIRE, ISSUED)
    await put(rig)
    assert len(tokens(rig)) == 1


async def test_a_change_without_a_commit_gets_no_token_that_needs_one(rig: Rig):
    demand = refuse({**MISSING, "isChangeReferenceRequired": True})
    rig.server.on("PUT", VNET, demand, demand, DONE)
    rig.server.on("POST", ACQUIRE, ISSUED)
    with pytest.raises(ArmError) as caught:
        await put(rig)
    assert "needs the reference of a change" in caught.value.message
    assert caught.value.hint == "Sync a commit of a git repository."
    assert tokens(rig) == []
    rig.session.change_reference = "8b1619c5"
    await put(rig)
    assert tokens(rig)[0].body["changeReference"] == "8b1619c5"


SCOPES = [
    (f"{VNET}/providers/Microsoft.Authorization/locks/keep", ACQUIRE, "an extension resource"),
    (f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg", ACQUIRE, "a group"),
    (
        f"{MANAGEMENT_GROUP}/providers/Microsoft.Authorization/policyAssignments/a",
        f"{MANAGEMENT_GROUP}/providers/Microsoft.Authorization/acquirePolicyToken",
        "a resource of a management group",
    ),
    ("/providers/Microsoft.Subscription/aliases/one", "", "a resource of the tenant"),
]


@pytest.mark.parametrize(("path", "endpoint", "why"), SCOPES, ids=[row[-1] for row in SCOPES])
async def test_the_token_is_requested_at_the_scope_of_the_write(rig: Rig, path: str, endpoint: str, why: str):
    rig.server.on("PUT", path, DEMAND, DONE)
    rig.server.on("POST", endpoint, ISSUED)
    if endpoint:
        await rig.writer.put(path, API, BODY)
    else:
        with pytest.raises(ArmError, match="subscriptions and management groups only") as caught:
            await rig.writer.put(path, API, BODY)
        assert caught.value.hint == "Exempt the resource from the policy assignment."
    assert [seen.path for seen in tokens(rig)] == ([endpoint] if endpoint else []), why


async def test_a_missing_right_is_named(rig: Rig):
    rig.server.on("PUT", VNET, DEMAND)
    rig.server.on("POST", ACQUIRE, Say(403, {"error": {"code": "AuthorizationFailed", "message": "No."}}))
    with pytest.raises(ArmError) as caught:
        await put(rig)
    assert caught.value.hint == (
        f"Grant Microsoft.Authorization/acquirePolicyToken/action on /subscriptions/{SUBSCRIPTION} to gitsync's identity."
    )


async def test_the_token_and_the_secrets_of_the_body_are_shown_nowhere(rig: Rig, capfd: pytest.CaptureFixture[str]):
    echo = {"error": {"code": "Bad", "message": f"We got {TOKEN} and hunter22.", "details": [{"message": TOKEN}]}}
    rig.server.on("PUT", VNET, DEMAND, Say(400, echo))
    rig.server.on("POST", ACQUIRE, ISSUED)
    with pytest.raises(ArmError) as caught:
        await rig.writer.put(VNET, API, {"properties": {"password": Secret("hunter22")}})
    assert tokens(rig)[0].body["operation"]["content"] == {"properties": {"password": "hunter22"}}
    shown = f"{caught.value} {caught.value.details} {rig.session!r} {capfd.readouterr()}"
    assert "We got <secret> and <secret>." in shown
    assert TOKEN not in shown
    assert "hunter22" not in shown
    redactions: Redactions = rig.access.redactions
    assert TOKEN not in redactions.mask(f"a line with {TOKEN} of another program")
