"""The token of a job of each host at the emulator's authority: who gets in, and the advice for a refusal."""

import re
import shlex
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatedFederation, EmulatedPrincipal, EmulatorSettings
from gitsync.errors import ConfigError
from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
from gitsync.providers.arm.client import open_arm
from gitsync.providers.arm.cloud import make_cloud
from gitsync.providers.arm.real_clock import SystemClock
from tests.leaks.hunting import Hunt
from tests.support.arm_rig import CLIENT, TENANT
from tests.support.jobs import GITHUB, JOBS, NEW, OLD, Job
from tests.support.private_ca import PrivateCa, make
from tests.support.scripted_server import ScriptedServer, serving

IDENTITY = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/ops"
    "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/gitsync"
)
NAMES = [f"{job.host} {job.subject}" for job in JOBS]


@pytest.fixture(scope="module")
def private_ca(tmp_path_factory: pytest.TempPathFactory) -> PrivateCa:
    return make(tmp_path_factory.mktemp("ca"))


@asynccontextmanager
async def authority(ca: PrivateCa, *credentials: EmulatedFederation):
    """An emulator that issues tokens to one principal, with these federated credentials and those of its identity."""
    principal = EmulatedPrincipal(client=CLIENT, object="object", identity=IDENTITY, federated=credentials)
    emulator = Emulator(EmulatorSettings(require_token=True, principals=(principal,)))
    await emulator.start(tls=ca.tls)
    try:
        yield emulator
    finally:
        await emulator.stop()


async def sign_in(emulator: Emulator, ca: PrivateCa, job: Job, server: ScriptedServer, folder: Path) -> None:
    environment = job.open(server, folder)
    access = ArmAccess(
        cloud=make_cloud(emulator.url, authority=emulator.url),
        sign_in=SignIn(
            method=Method.WORKLOAD_IDENTITY,
            tenant_id=TENANT,
            client_id=CLIENT,
            federated_token_file=environment.get("AZURE_FEDERATED_TOKEN_FILE", ""),
            environment=environment,
        ),
        network=Network(ca_bundle=ca.bundle),
    )
    async with open_arm(access, SystemClock()) as arm:
        await arm.sign_in()


def trusts(job: Job, **other: str) -> EmulatedFederation:
    return replace(EmulatedFederation(issuer=job.issuer, subject=job.subject), **other)


@pytest.mark.parametrize("job", JOBS, ids=NAMES)
async def test_a_job_whose_subject_is_trusted_signs_in(private_ca: PrivateCa, job: Job, tmp_path: Path):
    async with serving() as server, authority(private_ca, trusts(job)) as emulator:
        await sign_in(emulator, private_ca, job, server, tmp_path)


REFUSED = [
    ({"subject": "repo:other/one:environment:production"}, "700213", "Check that the subject", "another subject"),
    ({"issuer": "https://issuer.example"}, "700211", "Check that the issuer", "another issuer"),
    ({"audience": "api://Other"}, "700212", "Check that the audience", "another audience"),
]


@pytest.mark.parametrize(("other", "code", "check", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
@pytest.mark.parametrize("job", JOBS, ids=NAMES)
async def test_a_refusal_has_the_command_that_makes_the_identity_trust_the_job(
    private_ca: PrivateCa, job: Job, tmp_path: Path, other: dict[str, str], code: str, check: str, why: str
):
    async with serving() as server, authority(private_ca, trusts(job, **other)) as emulator:
        with pytest.raises(ConfigError, match=f"AADSTS{code}") as refused:
            await sign_in(emulator, private_ca, job, server, tmp_path)
        hint = refused.value.hint
        assert hint.startswith(check), why
        command = re.search(r"Run `(az .*?)`", hint)[1]
        await run_az(emulator, private_ca, command)
        await sign_in(emulator, private_ca, job, server, tmp_path)
    shown = f"{refused.value.message} {refused.value.hint} {refused.value!r}"
    assert not Hunt(token=job.token, signature="c2lnbmF0dXJl").found(shown)


async def run_az(emulator: Emulator, ca: PrivateCa, command: str) -> None:
    """What `az identity federated-credential create` sends, with the right for it."""
    words = shlex.split(command)
    assert words[:4] == ["az", "identity", "federated-credential", "create"]
    values = dict(zip(words[4::2], words[5::2], strict=True))
    assert (values["--identity-name"], values["--resource-group"]) == ("IDENTITY", "GROUP")
    body = {
        "properties": {
            "issuer": values["--issuer"],
            "subject": values["--subject"],
            "audiences": [values["--audiences"]],
        }
    }
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{2,119}", values["--name"])
    for path in (IDENTITY.partition("/providers/")[0], IDENTITY):
        emulator.put(path, {"location": "westeurope"})
    emulator.put(f"{IDENTITY}/federatedIdentityCredentials/{values['--name']}", body)


MOVED = [
    (OLD, NEW, "a credential in the old form, and a repository with ids in its subject"),
    (NEW, OLD, "a credential in the new form, and an older repository"),
    (OLD, OLD.replace("production", "Production"), "another case"),
]


@pytest.mark.parametrize(("trusted", "subject", "why"), MOVED, ids=[row[-1] for row in MOVED])
async def test_a_github_subject_in_the_other_form_is_refused(
    private_ca: PrivateCa, tmp_path: Path, trusted: str, subject: str, why: str
):
    job = Job("github", subject, GITHUB)
    async with serving() as server, authority(private_ca, trusts(job, subject=trusted)) as emulator:
        with pytest.raises(
            ConfigError,
            match=re.escape(
                f"AADSTS700213: No matching federated identity record found for presented assertion subject '{subject}'"
            ),
        ) as refused:
            await sign_in(emulator, private_ca, job, server, tmp_path)
    assert "since 2026-07-15" in refused.value.hint, why
    assert f"--subject {subject} " in refused.value.hint


async def test_an_identity_without_credentials_and_a_token_that_has_expired(private_ca: PrivateCa, tmp_path: Path):
    job = Job("kubernetes", "system:serviceaccount:gitsync:gitsync", "https://issuer.example")
    async with serving() as server, authority(private_ca) as emulator:
        with pytest.raises(ConfigError, match="AADSTS70025") as none:
            await sign_in(emulator, private_ca, job, server, tmp_path)
    assert "az identity federated-credential create" in none.value.hint
    async with serving() as server, authority(private_ca, trusts(job)) as emulator:
        with pytest.raises(ConfigError, match="AADSTS700024") as old:
            await sign_in(emulator, private_ca, replace(job, expires=1), server, tmp_path)
    assert "the file that Kubernetes mounts" in old.value.hint


MISSING = [
    ({"GITHUB_ACTIONS": "true"}, "permissions: id-token: write"),
    ({"GITLAB_CI": "true"}, "`id_tokens:`"),
    ({"TF_BUILD": "True"}, "SYSTEM_ACCESSTOKEN"),
    ({}, "AZURE_FEDERATED_TOKEN_FILE"),
]


@pytest.mark.parametrize(("environment", "says"), MISSING, ids=[str(row[0]) for row in MISSING])
async def test_a_job_without_a_token_is_told_how_its_host_gives_one(
    private_ca: PrivateCa, tmp_path: Path, environment: dict[str, str], says: str
):
    class Tokenless(Job):
        def open(self, server: ScriptedServer, folder: Path) -> dict[str, str]:
            return {**environment, "AZURE_FEDERATED_TOKEN_FILE": str(folder / "none")}

    async with serving() as server, authority(private_ca) as emulator:
        with pytest.raises(ConfigError, match="There is no federated token") as missing:
            await sign_in(emulator, private_ca, Tokenless("none", "", ""), server, tmp_path)
    assert says in missing.value.hint
