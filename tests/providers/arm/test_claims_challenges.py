"""Challenges for claims: who can answer them, how often a write is sent, and what a malformed one does."""

import base64
import json
import re
import shlex

import pytest
from azure.core.credentials import AccessTokenInfo
from azure.identity import CredentialUnavailableError
from hypothesis import given
from hypothesis import strategies as st

from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatedPrincipal, EmulatorSettings
from gitsync.errors import ArmError, CredentialError
from gitsync.model.secret import Secret
from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
from gitsync.providers.arm.auth.challenge_advice import advise_on_challenge
from gitsync.providers.arm.auth.principal import Principal
from gitsync.providers.arm.client import open_arm
from gitsync.providers.arm.cloud import make_cloud
from gitsync.providers.arm.http.challenges import decode_claims, read_claims_challenge
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.providers.arm.session import Session
from tests.support.arm_rig import API, CLIENT, GROUP, TENANT, VNET, jwt, moving, rigged
from tests.support.az_double import AZURE_CLI
from tests.support.private_ca import make
from tests.support.scripted_server import Say

BODY = {"location": "westeurope"}
CLAIMS = json.dumps({"access_token": {"acrs": {"essential": True, "values": ["p1"]}}})
ENCODED = base64.b64encode(CLAIMS.encode()).decode()
POWERSHELL = "1950a258-227b-4e31-a9cf-717495945fc2"


def challenge(
    claims: str = ENCODED, error: str = "insufficient_claims", code: str = "InvalidAuthenticationToken"
) -> Say:
    """A refusal with the code of a refused token, so that only the challenge distinguishes it."""
    header = f'Bearer realm="", authorization_uri="https://login.test/common", error="{error}", claims="{claims}"'
    return Say(401, {"error": {"code": code, "message": "No."}}, {"WWW-Authenticate": header})


class Login:
    """A credential that answers challenges with another token, or as the login of a tool does."""

    def __init__(self, client: str = CLIENT, *, is_tool: bool = False) -> None:
        self.client, self.is_tool = client, is_tool
        self.challenged: list[str] = []

    async def get_token_info(self, *_scopes, options=None):
        claims = (options or {}).get("claims", "")
        if claims:
            self.challenged.append(claims)
        if claims and self.is_tool:
            raise CredentialUnavailableError(
                message="This credential doesn't support claims challenges. Run: az login --claims-challenge abc"
            )
        return AccessTokenInfo(jwt(tid=TENANT, appid=self.client, oid="o", claims=claims), 4102444800)


async def test_an_application_answers_a_challenge_and_the_next_write_needs_none():
    login = Login()
    async with rigged(credential=login) as rig:
        rig.server.on("PUT", VNET, challenge(), Say(200, moving("Succeeded")))
        assert (await rig.writer.put(VNET, API, BODY)).status == 200
        assert (await rig.writer.put(VNET, API, BODY)).status == 200
        assert rig.server.lines == [f"PUT {VNET}"] * 3
    assert login.challenged == [CLAIMS]


async def test_an_application_that_is_challenged_again_is_refused_without_a_third_try():
    async with rigged(credential=Login()) as rig:
        rig.server.on("PUT", VNET, challenge())
        with pytest.raises(ArmError, match="No") as refused:
            await rig.writer.put(VNET, API, BODY)
        assert rig.server.lines == [f"PUT {VNET}"] * 2
    assert (refused.value.status, refused.value.outcome_unknown) == (401, False)
    assert "Conditional Access policy" in refused.value.hint


async def test_the_login_of_a_person_is_refused_after_one_try_with_the_command():
    login = Login(AZURE_CLI, is_tool=True)
    async with rigged(credential=login) as rig:
        rig.server.on("PUT", VNET, challenge())
        rig.server.on("PUT", GROUP, challenge())
        for path in (VNET, GROUP):
            with pytest.raises(CredentialError) as refused:
                await rig.writer.put(path, API, BODY)
        assert rig.server.lines == [f"PUT {VNET}", f"PUT {GROUP}"]
    error = refused.value
    assert (error.code, error.status, error.method, error.resource_id) == ("InsufficientClaims", 401, "PUT", GROUP)
    command = shlex.split(re.search(r"`(.*?)`", error.hint)[1])
    assert command[:4] == ["az", "login", "--tenant", TENANT]
    assert base64.b64decode(command[-1]).decode() == CLAIMS
    assert len(login.challenged) == 1, "the tools are not started again for what they cannot answer"


MALFORMED = [
    ("", "no claims"),
    ("%%%", "not base64"),
    (base64.b64encode(b"\xff\xfe").decode(), "not UTF-8"),
    (base64.b64encode(b"[1]").decode(), "not an object"),
    (base64.b64encode(b"{").decode(), "not JSON"),
    ("`touch owned`", "a command"),
]


@pytest.mark.parametrize(("claims", "why"), MALFORMED, ids=[row[-1] for row in MALFORMED])
async def test_a_malformed_challenge_is_a_refusal_and_is_sent_once(claims: str, why: str):
    for login in (Login(), Login(AZURE_CLI, is_tool=True)):
        async with rigged(credential=login) as rig:
            rig.server.on("PUT", VNET, challenge(claims, code="Whatever"))
            with pytest.raises(ArmError) as refused:
                await rig.writer.put(VNET, API, BODY)
            assert rig.server.lines == [f"PUT {VNET}"], why
        assert (refused.value.status, refused.value.outcome_unknown) == (401, False)
        assert "owned" not in f"{refused.value.message} {refused.value.hint}"
        assert login.challenged == []


@pytest.mark.parametrize(
    ("client", "says", "never", "why"),
    [
        (AZURE_CLI, f'az login --tenant "{TENANT}" --scope "https://arm.test/.default"', "Connect", "a person with az"),
        (POWERSHELL, f'Connect-AzAccount -Tenant "{TENANT}" -ClaimsChallenge', "az login", "a person with PowerShell"),
        (CLIENT, "Set --credential to the method of this application", "az login", "an application"),
        (None, 'az login --tenant "TENANT"', "Connect", "no token before"),
    ],
)
def test_the_command_is_that_of_the_tool(client, says, never, why):
    principal = Principal(tenant=TENANT, client=client, object="o") if client else None
    advice = advise_on_challenge(CLAIMS, "https://arm.test/.default", principal)
    assert says in advice, why
    assert never not in advice, why


@given(st.text())
def test_what_is_printed_is_base64_whatever_the_claims_are(text):
    claims = decode_claims(base64.b64encode(json.dumps({"a": text}).encode()).decode())
    advice = advise_on_challenge(
        claims, "https://arm.test/.default", Principal(tenant=text, client=AZURE_CLI, object="")
    )
    assert advice.isascii()
    assert advice.isprintable()
    assert not re.search(r"[$\\';|<>]", advice)


@given(st.text(max_size=200))
def test_any_header_can_be_read(text):
    headers = {"www-authenticate": f'Bearer error="insufficient_claims", claims="{text}"'}
    claims = read_claims_challenge(headers)
    assert not claims or isinstance(json.loads(claims), dict)


async def test_a_client_secret_answers_the_challenge_of_the_emulator(tmp_path):
    ca = make(tmp_path)
    principal = EmulatedPrincipal(client=CLIENT, object="o", secret="s3cret", needs_mfa=True)
    emulator = Emulator(EmulatorSettings(require_token=True, principals=(principal,)))
    await emulator.start(tls=ca.tls)
    try:
        access = ArmAccess(
            cloud=make_cloud(emulator.url, authority=emulator.url),
            sign_in=SignIn(
                method=Method.CLIENT_SECRET, tenant_id=TENANT, client_id=CLIENT, client_secret=Secret("s3cret")
            ),
            network=Network(ca_bundle=ca.bundle),
        )
        clock = SystemClock()
        async with open_arm(access, clock) as arm:
            session = Session(deadline=clock.monotonic() + 60)
            await arm.writer(session).put(GROUP, "2021-04-01", BODY)
            await arm.writer(session).put(GROUP, "2021-04-01", BODY)
    finally:
        await emulator.stop()
    assert [(request.method, request.status) for request in emulator.requests] == [
        ("PUT", 401),
        ("PUT", 201),
        ("PUT", 200),
    ]
