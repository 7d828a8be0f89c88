"""Errors as Azure words them, in every shape seen, and what people are shown of them."""

import json
from datetime import UTC, datetime
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.secret import Placeholder, Secret
from gitsync.providers.arm.auth.principal import Principal, describe_principal, read_principal
from gitsync.providers.arm.http.failures import make_arm_error, read_error, scrub
from gitsync.providers.arm.http.messages import ArmRequest, Response, encode_payload, format_target, mask_payload
from tests.support.arm_rig import API, VNET, jwt

UNKNOWN = ("UnknownError", "There was an unknown deployment error")
NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def call(method: str = "PUT", body: dict | None = None) -> ArmRequest:
    return ArmRequest(
        method=method,
        path=VNET,
        target=format_target(VNET, API),
        resource_id=VNET,
        accepts=frozenset({200}),
        payload=encode_payload(body or {}),
    )


def answered(body: object, status: int = 400, **headers: str) -> Response:
    content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return Response(status=status, content=content, headers=headers)


@pytest.mark.parametrize(
    ("body", "code", "message", "why"),
    [
        ({"error": {"code": "A", "message": "b"}}, "A", "b", "the usual shape"),
        ({"code": "A", "message": "b"}, "A", "b", "the four members at the top"),
        ({"code": "out", "message": "er", "error": {"code": "A"}}, "A", "er", "nested wins, member by member"),
        ({"error": {"code": "", "message": "b"}}, UNKNOWN[0], "b", "an empty code is none"),
        ({"error": {"code": "A", "message": ""}}, "A", UNKNOWN[1], "nor is an empty message one"),
        ({"error": {}}, *UNKNOWN, "an error without a word"),
        ({}, *UNKNOWN, "an empty object"),
        ({"error": None}, *UNKNOWN, "null"),
        ({"error": "invalid_client"}, *UNKNOWN, "text where an object should be"),
        ({"Message": "no GET here"}, UNKNOWN[0], "no GET here", "names compare without case, as Go's JSON reads them"),
        ({"Error": {"Code": "A", "Message": "b"}}, "A", "b", "at every level"),
        ({"error": {"code": 429, "message": "b"}}, "429", "b", "a number as the code"),
        ({"error": {"code": "A", "message": {"value": "b"}}}, "A", UNKNOWN[1], "a message that is no text"),
        ("<html> gone\n  away </html>", UNKNOWN[0], "HTTP 400: <html> gone away </html>", "not JSON: no cloud error"),
        ("", UNKNOWN[0], "HTTP 400 without a body", "nothing at all"),
        (["a"], UNKNOWN[0], 'HTTP 400: ["a"]', "JSON, but no object"),
    ],
)
def test_error_bodies(body: object, code: str, message: str, why: str):
    assert read_error(answered(body))[:2] == (code, message), why


def test_details_are_kept_and_bounded():
    details = [{"code": str(n), "message": "m" * 9000, "nested": [{"x": "y"}]} for n in range(50)] + ["odd"]
    _, _, kept = read_error(answered({"error": {"code": "A", "message": "b", "details": details}}))
    assert len(kept) == 20
    assert kept[0]["nested"] == [{"x": "y"}]
    assert len(kept[0]["message"]) < 4100


def test_an_error_has_all_that_support_needs():
    answer = answered(
        {"error": {"code": "Conflict", "message": "busy", "details": [{"target": "x"}]}},
        409,
        **{"x-ms-request-id": "r"},
    )
    error = make_arm_error(answer, call(), "2026-03-01T12:00:00Z", 12.0)
    assert (error.code, error.message, error.status, error.details) == ("Conflict", "busy", 409, ({"target": "x"},))
    assert (error.request_id, error.resource_id, error.method) == ("r", VNET, "PUT")
    assert (error.at, error.retry_after, error.outcome_unknown) == ("2026-03-01T12:00:00Z", 12.0, False)


def test_the_correlation_id_serves_where_there_is_no_request_id():
    assert answered({}, **{"x-ms-correlation-request-id": "c"}).request_id == "c"
    assert answered({}).request_id == ""


@pytest.mark.parametrize(
    ("method", "status", "unknown"),
    [
        ("PUT", 504, True),
        ("DELETE", 500, True),
        ("POST", 503, True),
        ("PUT", 409, False),
        ("PUT", 501, False),
        ("GET", 504, False),
    ],
)
def test_when_the_outcome_is_unknown(method: str, status: int, *, unknown: bool):
    assert make_arm_error(answered({}, status), call(method), "").outcome_unknown is unknown


@pytest.mark.parametrize(
    ("text", "hidden", "why"),
    [
        (f"token {jwt(tid='x' * 20)} was refused", "c2lnbmF0dXJl", "a JWT"),
        ("Authorization: Bearer abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnop", "a bearer token of another kind"),
        ("Cannot connect to http://user:pa55@proxy:3128", "pa55", "credentials in a URL"),
    ],
)
def test_tokens_are_scrubbed(text: str, hidden: str, why: str):
    assert hidden not in scrub(text), why
    assert "<hidden>" in scrub(text)


def test_long_texts_are_cut_and_say_so():
    assert scrub("x" * 5000).endswith("… (5000 characters)")
    assert scrub("x" * 4000) == "x" * 4000


@given(st.text(min_size=1), st.text(), st.text())
def test_a_secret_never_survives_in_what_azure_returns(secret: str, before: str, after: str):
    payload = encode_payload({"p": Secret(secret)})
    said = f"{before.replace(secret, '')}{secret}{after}"
    shown = mask_payload([{"message": said}], payload.secrets)[0]["message"]
    assert secret not in shown.replace("<secret>", "")


@pytest.mark.parametrize("is_public", [False, True])
def test_nothing_is_sent_for_a_value_that_is_not_known(is_public):
    with pytest.raises(TypeError, match="a body cannot contain a Placeholder"):
        encode_payload({"tags": {"ip": [Placeholder("<address>", is_public=is_public)]}})


def test_a_body_is_written_as_json():
    frozen = MappingProxyType({"x": 1})
    assert json.loads(encode_payload({"f": frozen}).content) == {"f": {"x": 1}}
    assert json.loads(encode_payload({"a": (1, 2**70), "b": {"c": Secret("é")}}).content) == {
        "a": [1, 2**70],
        "b": {"c": "é"},
    }
    assert "é" not in repr(encode_payload({"b": Secret("é")}))
    with pytest.raises(TypeError, match="cannot contain a set"):
        encode_payload({"a": {1}})
    with pytest.raises(ValueError, match="JSON"):
        encode_payload({"a": float("nan")})


@pytest.mark.parametrize(
    ("token", "expected", "why"),
    [
        (jwt(tid="t", appid="a", oid="o"), Principal("t", "a", "o"), "an application's token"),
        ("Bearer " + jwt(tid="t", azp="a"), Principal("t", "a", ""), "a version 2 token, as a header has it"),
        (jwt(tid=7), Principal("", "", ""), "claims of the wrong type"),
        ("opaque", None, "no JWT"),
        ("", None, "nothing"),
        ("a.!!!.c", None, "no base64"),
        ("a.WzFd.c", None, "claims that are no object"),
    ],
)
def test_the_identity_of_a_token(token: str, expected: Principal | None, why: str):
    assert read_principal(token) == expected, why


@pytest.mark.parametrize(
    ("headers", "seconds", "why"),
    [
        ({"retry-after": "15"}, 15, "seconds"),
        ({"retry-after": " 15 "}, 15, "with blanks"),
        ({"retry-after": "1.5"}, 1.5, "some providers send fractions"),
        ({"retry-after": "0"}, None, "no time at all: the back-off applies"),
        ({"retry-after": "-5"}, None, "nonsense"),
        ({"retry-after": "soon"}, None, "nonsense in words"),
        ({"retry-after": "1e400"}, None, "nonsense in numbers"),
        ({}, None, "nothing"),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, 30, "a date (RFC 1123)"),
        ({"retry-after": "Sunday, 01-Mar-26 12:00:30 GMT"}, 30, "a date (RFC 850)"),
        ({"retry-after": "Sun Mar  1 12:00:30 2026"}, 30, "a date (ANSI C)"),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, None, "a date that is past"),
        ({"retry-after-ms": "2500", "retry-after": "9"}, 2.5, "milliseconds are more exact"),
        ({"x-ms-retry-after-ms": "500"}, 0.5, "in Azure's own header"),
    ],
)
def test_retry_after(headers: dict, seconds: float | None, why: str):
    assert Response(status=429, headers=headers).read_retry_after(NOW) == seconds, why


@pytest.mark.parametrize(
    ("principal", "method", "expected", "why"),
    [
        (None, "anonymous", "anonymous", "no token, or one that cannot be read"),
        (Principal("t", "a", "o"), "client-secret", "client-secret (client a, object o, tenant t)", "an application"),
        (
            Principal("t", "04b07795-8ddb-461a-bbee-02f9e1bf7b46", "o"),
            "default",
            "azure-cli (object o, tenant t)",
            "the id of the tool says nothing more than its name",
        ),
        (
            Principal("t", "a", "o", "/subscriptions/1/x"),
            "default",
            "managed-identity (client a, object o, tenant t)",
            "the chain does not tell which of its credentials it was",
        ),
    ],
)
def test_who_signed_in_is_named(principal, method, expected, why):
    assert describe_principal(principal, method) == expected, why


DENIED = "does not have authorization to perform action 'Microsoft.Network/virtualNetworks/write' over scope '/a/b'"


@pytest.mark.parametrize(
    ("status", "code", "message", "hint", "why"),
    [
        (403, "AuthorizationFailed", f"The client {DENIED}.", "virtualNetworks/write on /a/b", "the message names it"),
        (403, "AuthorizationFailed", "No.", f"Microsoft.Network/virtualNetworks/write on {VNET}", "the request does"),
        (403, "LinkedAuthorizationFailed", "No.", f"write on {VNET}", "a right on another resource"),
        (403, "Other", f"The client {DENIED}.", "virtualNetworks/write on /a/b", "a code that is unknown"),
        (403, "RequestDisallowedByPolicy", "Disallowed by policy.", "", "no role overrules a policy"),
        (403, "RequestDisallowedByAzure", "Not in this region.", "", "nor a restriction of Azure"),
        (403, "DenyAssignmentAuthorizationFailed", "A deny assignment.", "", "nor a deny assignment"),
        (403, "ReadOnlyDisabledSubscription", "It is disabled.", "", "nor a disabled subscription"),
        (401, "InvalidAuthenticationTokenTenant", "Wrong tenant.", "check that its tenant is that", "a token"),
        (409, "Conflict", "Busy.", "", "anything else"),
    ],
)
def test_a_right_is_named_only_if_one_is_missing(status, code, message, hint, why):
    error = make_arm_error(answered({"error": {"code": code, "message": message}}, status), call(), "now")
    assert (error.code, error.message) == (code, message), why
    assert hint in error.hint, why
    assert bool(error.hint) is bool(hint), why
