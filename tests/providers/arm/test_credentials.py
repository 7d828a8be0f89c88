"""Which identity: every way to get a token, against an authority and token sources on real sockets."""

import asyncio
import re
from contextlib import nullcontext
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitsync.errors import ArmError, AuthorityError, ConfigError, ExitCode, TransportError
from gitsync.model.secret import MASKED, Secret
from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
from gitsync.providers.arm.auth.credentials import format_causes
from gitsync.providers.arm.auth.principal import Principal
from gitsync.providers.arm.client import Arm, open_arm
from gitsync.providers.arm.cloud import make_cloud
from gitsync.providers.arm.session import Session
from tests.support.arm_rig import API, CLIENT, OBJECT, OPERATION, TENANT, VNET, jwt, moving
from tests.support.fake_clock import FakeClock
from tests.support.private_ca import PrivateCa, make
from tests.support.scripted_server import BREAK, Say, ScriptedServer, serving

TOKEN = jwt(tid=TENANT, appid=CLIENT, oid=OBJECT)
ISSUE = f"/{TENANT}/oauth2/v2.0/token"


@pytest.fixture(scope="module")
def private_ca(tmp_path_factory: pytest.TempPathFactory) -> PrivateCa:
    return make(tmp_path_factory.mktemp("ca"))


@dataclass
class Entra:
    """An authority that issues tokens, an Azure that takes them, and a job or machine that vouches for us."""

    authority: ScriptedServer
    azure: ScriptedServer
    job: ScriptedServer
    ca: PrivateCa
    clock: FakeClock

    def issue(self, *answers: Say) -> None:
        self.authority.on("POST", ISSUE, *answers)

    def access(self, method: Method, **who: object) -> ArmAccess:
        return ArmAccess(
            cloud=make_cloud(self.azure.url, "https://arm.example", self.authority.url),
            sign_in=SignIn(method=method, **{"tenant_id": TENANT, "client_id": CLIENT, **who}),
            network=Network(ca_bundle=self.ca.bundle),
        )

    async def get(self, arm: Arm) -> None:
        assert await arm.reader(Session(deadline=self.clock.monotonic() + 60)).get(VNET, API) is not None


def granted(seconds: int = 3600) -> Say:
    return Say(200, {"token_type": "Bearer", "expires_in": seconds, "access_token": TOKEN})


@pytest.fixture
async def entra(private_ca: PrivateCa):
    async with serving(private_ca.tls) as authority, serving() as azure, serving() as job:
        azure.on("GET", VNET, Say(200, moving()))
        yield Entra(authority, azure, job, private_ca, FakeClock())


async def test_a_client_secret(entra: Entra):
    entra.issue(granted())
    access = entra.access(Method.CLIENT_SECRET, client_secret=Secret("s3cret"))
    async with open_arm(access, entra.clock) as arm:
        assert await arm.sign_in() == Principal(TENANT, CLIENT, OBJECT)
        await entra.get(arm)
    (requested,) = entra.authority.seen
    assert (requested.body["client_id"], requested.body["client_secret"]) == (CLIENT, "s3cret")
    assert requested.body["scope"] == "https://arm.example/.default"
    assert entra.azure.seen[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert "s3cret" not in repr(access)
    assert access.redactions.mask(f"with {TOKEN}.") == f"with {MASKED}.", "the token shows nowhere"


async def test_a_secret_that_has_expired_is_told_before_the_run_and_within_it(entra: Entra):
    refusal = {"error": "invalid_client", "error_description": "AADSTS7000222: The secret has expired."}
    entra.issue(Say(401, refusal))
    access = entra.access(Method.CLIENT_SECRET, client_secret=Secret("s3cret"))
    async with open_arm(access, entra.clock) as arm:
        with pytest.raises(ConfigError, match="AADSTS7000222") as early:
            await arm.sign_in()
        assert "--credential client-secret" in early.value.message
        assert "Add a client secret" in early.value.hint
        talk = Session(deadline=entra.clock.monotonic() + 60)
        with pytest.raises(ArmError, match="AADSTS7000222") as late:
            await arm.writer(talk).put(VNET, API, {})
    assert (late.value.code, late.value.outcome_unknown) == ("AuthenticationFailed", False)
    assert (late.value.resource_id, late.value.method) == (VNET, "PUT")
    assert entra.azure.seen == []
    assert "s3cret" not in f"{early.value!r} {late.value!r}"


EXPIRED = {"error": {"code": "ExpiredAuthenticationToken", "message": "The access token expiry is exceeded."}}
CHALLENGE = {"WWW-Authenticate": 'Bearer authorization_uri="https://a.test/t", error="invalid_token"'}
REFUSALS = [
    (Say(401, {"error": {"code": "Whatever"}}, CHALLENGE), True, "the challenge tells"),
    (Say(401, None, {"WWW-Authenticate": "Bearer error=invalid_token"}), True, "without quotes and a body"),
    (Say(401, EXPIRED), True, "the code tells"),
    (Say(401, {"error": "invalid_token"}), False, "no error of Azure"),
    (Say(401, {"error": {"code": "InvalidAuthenticationTokenTenant"}}), False, "another token is of that tenant too"),
    (Say(401, EXPIRED | {}, {"WWW-Authenticate": 'Bearer error="insufficient_claims"'}), True, "an expired one, too"),
    (Say(403, EXPIRED, CHALLENGE), False, "a right is missing"),
]


@pytest.mark.parametrize(("refusal", "renews", "why"), REFUSALS, ids=[row[-1] for row in REFUSALS])
@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_a_token_that_azure_does_not_accept_is_renewed_once(
    entra: Entra, method: str, refusal: Say, renews: bool, why: str
):
    second = jwt(tid=TENANT, appid=CLIENT, oid=OBJECT, jti="2")
    entra.issue(granted(), Say(200, {"token_type": "Bearer", "expires_in": 3600, "access_token": second}))
    entra.azure.forget()
    entra.azure.on(method, VNET, refusal, Say(200, moving("Succeeded")))
    access = entra.access(Method.CLIENT_SECRET, client_secret=Secret("s3cret"))
    async with open_arm(access, entra.clock) as arm:
        talk = Session(deadline=entra.clock.monotonic() + 60)
        with nullcontext() if renews else pytest.raises(ArmError):
            await (arm.reader(talk).get(VNET, API) if method == "GET" else arm.writer(talk).put(VNET, API, {}))
    sent = [seen.headers["authorization"] for seen in entra.azure.seen]
    assert sent == [f"Bearer {TOKEN}", f"Bearer {second}"][: 1 + renews], why
    assert len(entra.authority.seen) == 1 + renews
    assert [attempt.status for attempt in talk.failures] == [refusal.status]
    assert MASKED in access.redactions.mask(TOKEN)


async def test_a_token_that_is_refused_again_is_a_failure(entra: Entra):
    entra.issue(granted())
    entra.azure.forget()
    entra.azure.on("GET", VNET, Say(401, EXPIRED, CHALLENGE))
    async with open_arm(entra.access(Method.CLIENT_SECRET, client_secret=Secret("s3cret")), entra.clock) as arm:
        with pytest.raises(ArmError) as refused:
            await entra.get(arm)
    assert (refused.value.status, refused.value.code) == (401, "ExpiredAuthenticationToken")
    assert len(entra.azure.seen) == 2


async def test_many_requests_with_one_refused_token_renew_it_once(entra: Entra):
    second = jwt(tid=TENANT, appid=CLIENT, oid=OBJECT, jti="2")
    entra.issue(granted(), Say(200, {"token_type": "Bearer", "expires_in": 3600, "access_token": second}))
    entra.azure.forget()
    entra.azure.on("GET", VNET, *[Say(401, EXPIRED, CHALLENGE)] * 5, Say(200, moving()))
    async with open_arm(entra.access(Method.CLIENT_SECRET, client_secret=Secret("s3cret")), entra.clock) as arm:
        await arm.sign_in()
        await asyncio.gather(*(entra.get(arm) for _ in range(5)))
    assert len(entra.authority.seen) == 2
    assert len(entra.azure.seen) == 10


async def test_an_operation_is_followed_with_a_new_token(entra: Entra):
    entra.issue(granted())
    where = {"Azure-AsyncOperation": f"{entra.azure.url}{OPERATION}?api-version={API}"}
    entra.azure.on("PUT", VNET, Say(202, None, where))
    entra.azure.on("GET", OPERATION, Say(401, EXPIRED, CHALLENGE), Say(200, {"status": "Succeeded"}))
    async with open_arm(entra.access(Method.CLIENT_SECRET, client_secret=Secret("s3cret")), entra.clock) as arm:
        writer = arm.writer(Session(deadline=entra.clock.monotonic() + 60))
        assert await writer.wait(await writer.put(VNET, API, {}))
    assert entra.azure.lines == [f"PUT {VNET}", f"GET {OPERATION}", f"GET {OPERATION}"]
    assert len(entra.authority.seen) == 2


async def test_a_token_source_that_does_not_answer_may_come_back(entra: Entra):
    environment = github(entra) | {"ACTIONS_ID_TOKEN_REQUEST_URL": "http://127.0.0.1:9/token"}
    async with open_arm(entra.access(Method.WORKLOAD_IDENTITY, environment=environment), entra.clock) as arm:
        with pytest.raises(ConfigError, match="the token request to the CI system failed"):
            await arm.sign_in()
        assert 15 < entra.clock.elapsed < 30, "one that never answered is given up after 15 seconds"
    async with open_arm(entra.access(Method.WORKLOAD_IDENTITY, environment=environment), entra.clock) as arm:
        talk = Session(deadline=entra.clock.monotonic() + 60)
        with pytest.raises(TransportError):
            await arm.writer(talk).put(VNET, API, {})
    assert len(talk.failures) > 2, "what was not sent is tried again"
    assert not talk.failures[0].status
    assert entra.azure.seen == []


async def test_a_federated_token_in_a_file(entra: Entra, tmp_path: Path):
    file = tmp_path / "token"
    file.write_text("vouched")
    entra.issue(granted())
    access = entra.access(Method.WORKLOAD_IDENTITY, federated_token_file=str(file), environment=github(entra))
    async with open_arm(access, entra.clock) as arm:
        await entra.get(arm)
    assert [seen.body["client_assertion"] for seen in entra.authority.seen] == ["vouched"]
    assert entra.job.seen == [], "a file that is named comes first"


def github(entra: Entra) -> dict[str, str]:
    return {
        "ACTIONS_ID_TOKEN_REQUEST_URL": f"{entra.job.url}/token?x=1",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "job-secret",
    }


async def test_a_github_job_vouches_and_its_token_is_asked_for_again_when_it_is_old(entra: Entra):
    now = entra.clock.now().timestamp()
    tokens = [jwt(exp=now + seconds) for seconds in (300, 1200)]
    entra.job.on("GET", "/token", *(Say(200, {"value": token}) for token in tokens))
    entra.issue(granted(seconds=0))
    access = entra.access(Method.WORKLOAD_IDENTITY, environment=github(entra))
    async with open_arm(access, entra.clock) as arm:
        await entra.get(arm)
        await entra.get(arm)
        assert len(entra.job.seen) == 1, "still good"
        await entra.clock.sleep(241)
        await entra.get(arm)
    assert len(entra.job.seen) == 2
    assert [seen.body["client_assertion"] for seen in entra.authority.seen] == [tokens[0], tokens[0], tokens[1]]
    requested = entra.job.seen[0]
    assert requested.query == "x=1&audience=api://AzureADTokenExchange"
    assert requested.headers["authorization"] == "Bearer job-secret"
    assert "job-secret" not in repr(access)
    assert [access.redactions.mask(token) for token in tokens] == [MASKED] * 2


async def test_an_azure_pipelines_job_vouches(entra: Entra):
    entra.job.on("POST", "/oidc", Say(200, {"oidcToken": "vouched"}))
    entra.issue(granted())
    environment = {
        "SYSTEM_OIDCREQUESTURI": f"{entra.job.url}/oidc",
        "SYSTEM_ACCESSTOKEN": "job-secret",
        "AZURESUBSCRIPTION_SERVICE_CONNECTION_ID": "connection-1",
    }
    async with open_arm(entra.access(Method.WORKLOAD_IDENTITY, environment=environment), entra.clock) as arm:
        await entra.get(arm)
    assert entra.job.seen[0].query == "api-version=7.1&serviceConnectionId=connection-1"
    assert entra.job.seen[0].headers["authorization"] == "Bearer job-secret"
    assert entra.authority.seen[0].body["client_assertion"] == "vouched"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Say(403, {"message": "id-token: write is missing"}), "the job may not"),
        (Say(200, "<html>"), "not JSON"),
        (Say(200, {"value": ""}), "an empty token"),
        (Say(200, ["value"]), "no object"),
    ],
)
async def test_a_job_that_does_not_vouch_is_a_clear_error(entra: Entra, answer: Say, why: str):
    entra.job.on("GET", "/token", answer)
    async with open_arm(entra.access(Method.WORKLOAD_IDENTITY, environment=github(entra)), entra.clock) as arm:
        with pytest.raises(ConfigError, match="returned no identity token") as caught:
            await arm.sign_in()
    assert "job-secret" not in str(caught.value), why


async def test_a_managed_identity(entra: Entra, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{entra.job.url}/msi")
    monkeypatch.setenv("IDENTITY_HEADER", "proof")
    entra.job.on("GET", "/msi", Say(200, {"access_token": TOKEN, "expires_on": "4102444800", "resource": "x"}))
    for method in (Method.MANAGED_IDENTITY, Method.DEFAULT):
        async with open_arm(entra.access(method, tenant_id=""), entra.clock) as arm:
            assert await arm.sign_in() == Principal(TENANT, CLIENT, OBJECT)
    assert f"client_id={CLIENT}" in entra.job.seen[0].query
    assert len(entra.job.seen) == 2


async def test_the_default_takes_a_secret_before_a_job_and_a_job_before_the_machine(entra: Entra):
    entra.issue(granted())
    entra.job.on("GET", "/token", Say(200, {"value": "vouched"}))
    both = entra.access(Method.DEFAULT, client_secret=Secret("s3cret"), environment=github(entra))
    job = entra.access(Method.DEFAULT, environment=github(entra))
    for access in (both, job):
        async with open_arm(access, entra.clock) as arm:
            await arm.sign_in()
    first, second = entra.authority.seen
    assert first.body["client_secret"] == "s3cret"
    assert second.body["client_assertion"] == "vouched"


async def test_where_nobody_vouches_the_default_says_what_was_tried(
    entra: Entra, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, logged: StringIO
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", entra.job.url)
    entra.job.on("GET", "/metadata/identity/oauth2/token", Say(400, {"error": "no identity"}))
    async with open_arm(entra.access(Method.DEFAULT, tenant_id="", client_id=""), entra.clock) as arm:
        with pytest.raises(ConfigError, match="Azure CLI not found") as caught:
            await arm.sign_in()
    assert "az login" in caught.value.hint
    message = caught.value.message
    assert message.startswith("Could not get a token with --credential default: managed identity: ")
    assert "; Azure CLI: Azure CLI not found on path; Azure PowerShell: " in message
    assert "; Azure Developer CLI: " in message
    assert not re.search(r"[\t\n]|Credential\b|aka\.ms|\.\.", message), message
    assert not re.search("WARNING |ERROR |CRITICAL ", logged.getvalue()), "the error is shown once"


CAUSES = [
    ("AADSTS7: No.\r\nTrace ID: 1", "AADSTS7: No. Trace ID: 1", "one line of what one credential says"),
    (
        "X.\nAttempted credentials:\n\tClientSecretCredential: AADSTS7: No.\n More.\nTo mitigate this issue, see https://a.b",
        "client secret: AADSTS7: No. More.",
        "a cause of several lines",
    ),
    ("X.\nAttempted credentials:\n\tA\n\tB: b.", "A: no token; B: b.", "a credential that says nothing"),
    (
        'X.\nAttempted credentials:\n\tA: AADSTS7: No.\nContent: {"error_description": "AADSTS7: No."}\n\tB: b.',
        "A: AADSTS7: No.; B: b.",
        "the body of the answer again",
    ),
    (
        'X.\nAttempted credentials:\n\tA: Bad.\nContent: {"message": "No."}',
        'A: Bad. Content: {"message": "No."}.',
        "a body that alone has the reason",
    ),
    ("", "", "nothing at all"),
]


@pytest.mark.parametrize(("message", "expected", "why"), CAUSES, ids=[row[-1] for row in CAUSES])
def test_the_causes_of_a_failed_sign_in_are_one_line(message: str, expected: str, why: str):
    assert format_causes(message) == expected, why


@pytest.mark.parametrize(
    ("sign_in", "named", "why"),
    [
        (SignIn(method=Method.CLIENT_SECRET), "AZURE_CLIENT_ID, AZURE_CLIENT_SECRET, AZURE_TENANT_ID", "all missing"),
        (SignIn(method=Method.CLIENT_SECRET, tenant_id="t", client_id="c"), "AZURE_CLIENT_SECRET", "no secret"),
        (SignIn(method=Method.WORKLOAD_IDENTITY, tenant_id="t"), "AZURE_CLIENT_ID", "no client"),
        (
            SignIn(method=Method.WORKLOAD_IDENTITY, tenant_id="t", client_id="c", federated_token_file="/none"),
            "no file /none",
            "no file",
        ),
        (
            SignIn(
                method=Method.WORKLOAD_IDENTITY,
                tenant_id="t",
                client_id="c",
                environment={
                    "ACTIONS_ID_TOKEN_REQUEST_URL": "http://ci.example",
                    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "x",
                },
            ),
            "token URL of the CI system is not https",
            "the job's own secret would travel in the open",
        ),
        (SignIn(method=Method.ANONYMOUS), "Anonymous access to https://management.azure.com is refused", "not here"),
    ],
)
async def test_settings_that_cannot_work_are_refused_before_anything_is_sent(sign_in: SignIn, named: str, why: str):
    with pytest.raises(ConfigError, match=named) as caught:
        async with open_arm(ArmAccess(cloud=make_cloud(), sign_in=sign_in), FakeClock()):
            raise AssertionError(why)
    assert caught.value.hint


async def test_nobody_signs_in_anonymously():
    access = ArmAccess(cloud=make_cloud("http://127.0.0.1:9"), sign_in=SignIn(method=Method.ANONYMOUS))
    async with open_arm(access, FakeClock()) as arm:
        assert await arm.sign_in() is None


# A source of tokens has the patience of a read.


PENDING = {"message": "The job is in Pending state, so no token is issued."}
PASSES = [
    (Say(403, PENDING), "the job has begun, and its service does not know yet"),
    (Say(408), "a request that took too long"),
    (Say(429, {"message": "slow down"}, {"Retry-After": "7"}), "too many jobs"),
    (Say(500), "an outage without a word"),
    (Say(503, "Our services aren't available right now"), "a page of the front"),
    (Say(200, ""), "an answer without a body"),
]


def by_job(entra: Entra) -> ArmAccess:
    return entra.access(Method.WORKLOAD_IDENTITY, environment=github(entra))


def by_pipeline(entra: Entra) -> ArmAccess:
    return entra.access(
        Method.WORKLOAD_IDENTITY,
        environment={
            "SYSTEM_OIDCREQUESTURI": f"{entra.job.url}/oidc",
            "SYSTEM_ACCESSTOKEN": "job-secret",
            "AZURESUBSCRIPTION_SERVICE_CONNECTION_ID": "connection-1",
        },
    )


def by_secret(entra: Entra) -> ArmAccess:
    return entra.access(Method.CLIENT_SECRET, client_secret=Secret("s3cret"))


def by_machine(entra: Entra) -> ArmAccess:
    return entra.access(Method.MANAGED_IDENTITY, tenant_id="")


def by_default(entra: Entra) -> ArmAccess:
    return entra.access(Method.DEFAULT, environment=github(entra))


IMDS = "/metadata/identity/oauth2/token"
SOURCES = {
    "github": (by_job, "job", "GET", "/token"),
    "github by default": (by_default, "job", "GET", "/token"),
    "azure pipelines": (by_pipeline, "job", "POST", "/oidc"),
    "entra by a secret": (by_secret, "authority", "POST", ISSUE),
    "entra by a job": (by_job, "authority", "POST", ISSUE),
    "the machine": (by_machine, "job", "GET", IMDS),
}
"""How to sign in; which server is tried, with the method and the path of its tokens."""

CASES = [
    (source, answer, why)
    for source in SOURCES
    for answer, why in PASSES
    if answer.status != 403 or source.startswith(("github", "azure"))  # only a job can be pending
]


def vouched(entra: Entra) -> None:
    """All sources answer well, after what was scripted before."""
    entra.job.on("GET", "/token", Say(200, {"value": "vouched"}))
    entra.job.on("POST", "/oidc", Say(200, {"oidcToken": "vouched"}))
    entra.job.on(
        "GET", IMDS, Say(200, {"access_token": TOKEN, "expires_on": "4102444800", "resource": "https://arm.example"})
    )
    entra.issue(granted())


@pytest.mark.parametrize(("source", "answer", "why"), CASES, ids=[f"{row[0]}: {row[-1]}" for row in CASES])
async def test_an_answer_of_a_source_that_may_pass_is_waited_for(
    entra: Entra, monkeypatch: pytest.MonkeyPatch, source: str, answer: Say, why: str
):
    monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", entra.job.url)
    open_access, server, method, path = SOURCES[source]
    getattr(entra, server).on(method, path, answer)
    vouched(entra)
    async with open_arm(open_access(entra), entra.clock) as arm:
        assert await arm.sign_in() == Principal(TENANT, CLIENT, OBJECT), why
        await entra.get(arm)
    assert getattr(entra, server).lines == [f"{method} {path}"] * 2
    assert len(entra.clock.slept) == 1
    assert entra.clock.elapsed == pytest.approx(7 if answer.headers else 1.5, abs=0.5)


@pytest.mark.parametrize(("source", "answer", "why"), CASES, ids=[f"{row[0]}: {row[-1]}" for row in CASES])
async def test_a_source_that_has_no_token_for_a_minute_ends_the_run_as_an_outage(
    entra: Entra, monkeypatch: pytest.MonkeyPatch, source: str, answer: Say, why: str
):
    monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", entra.job.url)
    open_access, server, method, path = SOURCES[source]
    getattr(entra, server).on(method, path, answer)
    if server == "authority":
        entra.job.on("GET", "/token", Say(200, {"value": "vouched"}))
    async with open_arm(open_access(entra), entra.clock) as arm:
        with pytest.raises(ConfigError, match=f"has none at the moment .HTTP {answer.status}") as ended:
            await arm.sign_in()
    assert ended.value.exit_code is ExitCode.UNREACHABLE, why
    assert 30 < entra.clock.elapsed <= 60, "the patience of a first contact"
    if isinstance(answer.body, dict):
        assert answer.body["message"] in ended.value.message, "the words of the source"
    assert not {"job-secret", "s3cret", TOKEN} & set(re.split(r"[\s'\"()]", str(ended.value)))


@pytest.mark.parametrize("status", [404, 410])
async def test_the_endpoint_of_a_machine_is_waited_for_while_it_is_updated(
    entra: Entra, monkeypatch: pytest.MonkeyPatch, status: int
):
    monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", entra.job.url)
    entra.job.on("GET", IMDS, Say(status))
    vouched(entra)
    async with open_arm(by_machine(entra), entra.clock) as arm:
        assert await arm.sign_in() == Principal(TENANT, CLIENT, OBJECT)


async def test_an_answer_of_another_service_at_the_endpoint_of_a_machine_is_a_refusal(
    entra: Entra, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", entra.job.url)
    entra.job.on("GET", IMDS, Say(401, {"error": {"code": "AuthenticationFailed", "message": "No header."}}))
    async with open_arm(by_machine(entra), entra.clock) as arm:
        with pytest.raises(ConfigError, match="managed-identity"):
            await arm.sign_in()


FINAL = [
    (Say(401, {"message": "The token of the request has expired."}), "a refusal"),
    (Say(403, {"message": "id-token: write is missing"}), "a right is missing"),
    (Say(404), "a wrong address"),
    (Say(302, None, {"Location": "https://elsewhere.test"}), "no redirect is followed"),
    (Say(200, "<html>Sign in</html>"), "a page"),
    (Say(200, {"value": ""}), "an empty token"),
    (Say(200, {"other": "secret-of-another-name"}), "another name"),
]


@pytest.mark.parametrize(("answer", "why"), FINAL, ids=[row[-1] for row in FINAL])
async def test_a_refusal_of_a_job_is_told_at_once_with_its_words(entra: Entra, answer: Say, why: str):
    entra.job.on("GET", "/token", answer)
    async with open_arm(by_job(entra), entra.clock) as arm:
        with pytest.raises(ConfigError, match=f"no identity token .HTTP {answer.status}") as ended:
            await arm.sign_in()
    assert ended.value.exit_code is ExitCode.REFUSED, why
    assert entra.clock.slept == []
    assert "secret-of-another-name" not in str(ended.value)
    if answer.status in {401, 403}:
        assert answer.body["message"] in ended.value.message


async def test_the_old_token_serves_while_the_job_has_no_new_one(entra: Entra):
    now = entra.clock.now().timestamp()
    entra.job.on("GET", "/token", Say(200, {"value": jwt(exp=now + 300)}), Say(503, "down"))
    entra.issue(granted())
    async with open_arm(by_job(entra), entra.clock) as arm:
        await entra.get(arm)
        for _ in range(20):
            await entra.clock.sleep(60)
            await entra.get(arm)
    assert len(entra.job.seen) == 1, "not asked while the token of Azure is good"
    assert len(entra.azure.seen) == 21


@pytest.mark.parametrize("answer", [Say(503, "down"), Say(403, PENDING), Say(401, "no"), Say(fault=BREAK)])
async def test_a_token_that_is_still_good_serves_while_it_cannot_be_renewed(entra: Entra, answer: Say):
    """azure-identity requests a new one with each request, as the first has no second to live by its clock; by the
    clock of the run, it has.
    """
    entra.job.on("GET", "/token", Say(200, {"value": "vouched"}), answer)
    entra.issue(granted(seconds=0))
    async with open_arm(by_job(entra), entra.clock) as arm:
        await entra.get(arm)
        for _ in range(3):
            await entra.clock.sleep(10)
            await entra.get(arm)
        assert len(entra.job.seen) == 2, "not asked with each request"
        await entra.clock.sleep(31)
        await entra.get(arm)
    assert len(entra.job.seen) == 3, "asked again after half a minute"


async def test_a_token_that_is_over_does_not_serve(entra: Entra):
    entra.job.on("GET", "/token", Say(200, {"value": "vouched"}), Say(503, "down"))
    entra.issue(granted(seconds=-(10**9)))
    async with open_arm(by_job(entra), entra.clock) as arm:
        await entra.get(arm)
        await entra.clock.sleep(10)
        with pytest.raises(AuthorityError, match="has none at the moment"):
            await entra.get(arm)


async def test_a_token_that_azure_refused_does_not_serve(entra: Entra):
    entra.job.on("GET", "/token", Say(200, {"value": "vouched"}), Say(503, "down"), Say(200, {"value": "vouched"}))
    entra.issue(granted())
    entra.azure.forget()
    entra.azure.on("GET", VNET, Say(401, EXPIRED, CHALLENGE), Say(200, moving()))
    async with open_arm(by_job(entra), entra.clock) as arm:
        await entra.get(arm)
    assert len(entra.job.seen) == 3
    assert len(entra.azure.seen) == 2


async def test_a_write_waits_for_its_token_and_is_sent_once(entra: Entra):
    entra.job.on("GET", "/token", Say(429, None, {"Retry-After": "5"}), Say(503), Say(200, {"value": "vouched"}))
    entra.issue(Say(503), granted())
    entra.azure.on("PUT", VNET, Say(200, moving("Succeeded")))
    async with open_arm(by_job(entra), entra.clock) as arm:
        await arm.writer(Session(deadline=entra.clock.monotonic() + 600)).put(VNET, API, {})
    assert entra.azure.lines == [f"PUT {VNET}"]


ANSWERS = st.lists(
    st.builds(
        Say,
        st.sampled_from([200, 200, 204, 302, 400, 401, 403, 404, 408, 410, 418, 425, 429, 500, 502, 503, 504]),
        st.sampled_from(
            [
                *(None, "", "null", "[]", "{}", "<html>", "\x00", ["x"], PENDING, {"error": "temporarily_unavailable"}),
                *(
                    {"value": ""},
                    {"value": "vouched"},
                    {"access_token": TOKEN, "expires_in": 3600},
                    {"access_token": 5},
                ),
            ]
        ),
        st.sampled_from([{}, {}, {"Retry-After": "1"}, {"Retry-After": "99999"}, {"Retry-After": "soon"}]),
        st.sampled_from(["", "", "", BREAK]),
    ),
    max_size=5,
)


@given(job=ANSWERS, authority=ANSWERS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_sources_answer_there_is_a_token_an_outage_or_a_clear_error(
    private_ca: PrivateCa, job: list[Say], authority: list[Say]
):
    """A law. After the random answers both sources answer well, so what may pass has passed."""

    async def sign_in() -> None:
        async with serving(private_ca.tls) as issuer, serving() as azure, serving() as server:
            entra = Entra(issuer, azure, server, private_ca, FakeClock())
            server.on("GET", "/token", *job)
            entra.issue(*authority)
            vouched(entra)
            async with open_arm(by_job(entra), entra.clock) as arm:
                try:
                    assert await arm.sign_in() == Principal(TENANT, CLIENT, OBJECT)
                except ConfigError as error:
                    assert error.exit_code in {ExitCode.REFUSED, ExitCode.UNREACHABLE}
                    assert error.message.startswith("Could not get a token with --credential workload-identity")
                    assert error.hint
            assert entra.clock.elapsed <= 60
            assert len(server.seen) + len(issuer.seen) <= 2 * (len(job) + len(authority) + 2)

    asyncio.run(sign_in())
