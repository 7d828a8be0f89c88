"""Tokens: issued, checked, refused; and azure-identity against them, over TLS."""

import base64
import json
import ssl
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import urlsplit

import aiohttp
import pytest
from azure.core.exceptions import ClientAuthenticationError
from azure.core.pipeline.transport import AioHttpTransport
from azure.identity.aio import ClientAssertionCredential, ClientSecretCredential

from gitsync.emulator.clock import EmulatorClock
from gitsync.emulator.http.certificate import make_tls_context
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import TENANT, EmulatedPrincipal
from tests.emulator.asked import GROUP, OPEN, VERSION, TestClock, emulated

WRITER = EmulatedPrincipal(client="writer-client", object="writer-object", secret="hush")
READER = EmulatedPrincipal(client="reader-client", object="reader-object", secret="still", read_only=True)
STRICT = replace(OPEN, require_token=True, principals=(WRITER, READER))
ARM = "https://management.azure.com/.default"


def claims(token):
    middle = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(middle + "=="))


async def request_token(azure, **form):
    sent = {"grant_type": "client_credentials", "client_id": WRITER.client, "scope": ARM} | form
    async with azure.session.post(f"{azure.emulator.url}/{TENANT}/oauth2/v2.0/token", data=sent) as answer:
        return answer.status, await answer.json()


async def test_a_secret_buys_a_token_that_opens_arm():
    async with emulated(STRICT, clock=TestClock()) as azure:
        status, body = await request_token(azure, client_secret="hush")
        reply = await azure.get(GROUP, Authorization=f"Bearer {body['access_token']}")
    assert status == 200
    assert (body["token_type"], body["expires_in"]) == ("Bearer", 3600)
    told = claims(body["access_token"])
    assert (told["appid"], told["oid"], told["tid"]) == (WRITER.client, WRITER.object, TENANT)
    assert told["aud"] == "https://management.azure.com"
    assert reply.code == "ResourceGroupNotFound", "it was let in"


ASSERTION = {
    "client_assertion": "a.b.c",
    "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
}
FORMS = [
    (ASSERTION, 200, None, "an assertion of somebody trusted"),
    (ASSERTION | {"client_assertion": "nonsense"}, 401, "invalid_client", "no assertion at all"),
    ({"client_secret": "wrong"}, 401, "invalid_client", "a wrong secret"),
    ({}, 401, "invalid_client", "no proof"),
    ({"client_id": "nobody", "client_secret": "hush"}, 400, "unauthorized_client", "nobody we know"),
    ({"grant_type": "password"}, 400, "unsupported_grant_type", "another kind of grant"),
]


@pytest.mark.parametrize(("form", "status", "error", "why"), FORMS, ids=[row[-1] for row in FORMS])
async def test_tokens_are_for_those_who_prove_who_they_are(form, status, error, why):
    async with emulated(STRICT) as azure:
        given, body = await request_token(azure, **form)
    assert (given, body.get("error")) == (status, error), why
    if error:
        assert body["error_description"].startswith("AADSTS")


REQUESTED = [
    ('{"access_token": {"acrs": {"essential": true, "values": ["p1", 2]}}}', ["p1"], "contexts by their names"),
    ('{"access_token": {"acrs": {"value": "p1"}}}', ["p1"], "one context"),
    ("", None, "no claims"),
    ('{"access_token": {}}', None, "claims about something else"),
    ("{", None, "claims that are not JSON"),
    ("[]", None, "a list for the claims"),
    ('{"access_token": []}', None, "a list for the members of the token"),
    ('{"access_token": {"acrs": null}}', None, "a null for the contexts"),
    ('{"access_token": {"acrs": []}}', None, "a list for the contexts"),
    ('{"access_token": {"acrs": {"values": 1}}}', None, "a number for their names"),
    ('{"access_token": {"acrs": {"values": "p1"}}}', None, "a text for their names"),
]


@pytest.mark.parametrize(("requested", "contexts", "why"), REQUESTED, ids=[row[-1] for row in REQUESTED])
async def test_a_token_has_the_contexts_that_its_request_claims(requested, contexts, why):
    async with emulated(STRICT) as azure:
        status, body = await request_token(azure, client_secret="hush", claims=requested)
    assert (status, claims(body["access_token"]).get("acrs")) == (200, contexts), why


def tampered(token):
    head, middle, signature = token.split(".")
    changed = claims(token) | {"oid": "somebody-else"}
    middle = base64.urlsafe_b64encode(json.dumps(changed).encode()).rstrip(b"=").decode()
    return f"{head}.{middle}.{signature}"


STRANGERS = [
    (lambda tokens: "", "AuthenticationFailed", "no token"),
    (lambda tokens: "Basic eDp5", "AuthenticationFailed", "another scheme"),
    (lambda tokens: "Bearer nonsense", "InvalidAuthenticationToken", "no token by its form"),
    (lambda tokens: f"Bearer {tampered(tokens.token(WRITER))}", "InvalidAuthenticationToken", "one that was changed"),
    (lambda tokens: f"Bearer {tokens.token(WRITER, seconds=-1)}", "ExpiredAuthenticationToken", "one of yesterday"),
    (lambda tokens: f"Bearer {tokens.token(WRITER, audience='https://vault.azure.net')}", "InvalidAuthenticationTokenAudience", "one for somebody else"),
]  # fmt: skip


@pytest.mark.parametrize(("authorization", "code", "why"), STRANGERS, ids=[row[-1] for row in STRANGERS])
async def test_arm_lets_nobody_in_without_a_good_token(authorization, code, why):
    async with emulated(STRICT, clock=TestClock()) as azure:
        reply = await azure.get(GROUP, Authorization=authorization(azure.emulator.tokens))
    assert (reply.status, reply.code) == (401, code), why
    assert reply.headers["WWW-Authenticate"].startswith("Bearer authorization_uri=")


async def test_a_token_that_was_good_expires():
    clock = TestClock()
    async with emulated(STRICT, clock=clock) as azure:
        token = f"Bearer {azure.emulator.tokens.token(WRITER)}"
        first = await azure.put(GROUP, Authorization=token)
        await clock.sleep(3601)
        assert (first.status, (await azure.put(GROUP, Authorization=token)).code) == (201, "ExpiredAuthenticationToken")


async def test_a_reader_reads_and_does_not_write():
    async with emulated(STRICT) as azure:
        token = f"Bearer {azure.emulator.tokens.token(READER)}"
        azure.emulator.put(GROUP, {"location": "x"})
        read, refused = await azure.get(GROUP, Authorization=token), await azure.put(GROUP, Authorization=token)
    assert read.status == 200
    assert (refused.status, refused.code) == (403, "AuthorizationFailed")
    assert refused.message == (
        "The client 'reader-client' with object id 'reader-object' does not have authorization to perform action "
        f"'Microsoft.Resources/subscriptions/resourceGroups/write' over scope '{GROUP}' or the scope is invalid. If access was "
        "recently granted, please refresh your credentials."
    )


async def test_the_log_knows_who_asked():
    async with emulated(OPEN) as azure:
        await azure.get(GROUP, Authorization=f"Bearer {azure.emulator.tokens.token(READER)}")
        await azure.get(GROUP, Authorization="Bearer whatever")
        assert [request.actor for request in azure.emulator.requests] == ["reader-object", "anonymous"]


@asynccontextmanager
async def over_tls(tmp_path):
    """An emulator that serves https, and somebody who trusts its certificate."""
    certificate = tmp_path / "certificate.pem"
    tls = make_tls_context("127.0.0.1", EmulatorClock().now(), certificate)
    emulator = Emulator(STRICT)
    await emulator.start(tls=tls)
    trust = ssl.create_default_context(cafile=str(certificate))
    connector = aiohttp.TCPConnector(ssl=trust)
    try:
        async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as session:
            yield emulator, session
    finally:
        await emulator.stop()


def credential(kind, emulator, session, **more):
    return kind(
        tenant_id=TENANT,
        authority=f"https://{urlsplit(emulator.url).netloc}",
        disable_instance_discovery=True,
        transport=AioHttpTransport(session=session, session_owner=False),
        **more,
    )


async def requested_as(who, emulator, session):
    token = await who.get_token(ARM)
    headers = {"Authorization": f"Bearer {token.token}"}
    async with session.get(f"{emulator.url}{GROUP}?api-version={VERSION}", headers=headers) as answer:
        return answer.status, emulator.requests[-1].actor


async def test_azure_identity_signs_in_with_a_secret(tmp_path):
    async with over_tls(tmp_path) as (emulator, session):
        who = credential(ClientSecretCredential, emulator, session, client_id=WRITER.client, client_secret="hush")
        assert (await requested_as(who, emulator, session)) == (404, WRITER.object)


async def test_azure_identity_signs_in_with_an_assertion(tmp_path):
    async with over_tls(tmp_path) as (emulator, session):
        who = credential(ClientAssertionCredential, emulator, session, client_id=READER.client, func=lambda: "a.b.c")
        assert (await requested_as(who, emulator, session)) == (404, READER.object)


async def test_azure_identity_is_told_of_a_wrong_secret(tmp_path):
    async with over_tls(tmp_path) as (emulator, session):
        who = credential(ClientSecretCredential, emulator, session, client_id=WRITER.client, client_secret="wrong")
        with pytest.raises(ClientAuthenticationError, match="AADSTS7000215"):
            await who.get_token(ARM)
        async with session.get(f"{emulator.url}/{TENANT}/v2.0/.well-known/openid-configuration") as answer:
            assert (await answer.json())["token_endpoint"] == f"{emulator.url}/{TENANT}/oauth2/v2.0/token"
