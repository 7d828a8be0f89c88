"""What doctor shows of the token of a job: what an identity must trust, and nothing else of it."""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from tests.leaks.hunting import Hunt
from tests.support.arm_rig import CLIENT, jwt
from tests.support.command_line import SUBSCRIPTION, in_background, run_here
from tests.support.jobs import GITHUB, JOBS, NEW, Job
from tests.support.scripted_server import Say, serving

PAGE = Path(__file__).resolve().parents[3] / "docs" / "doctor.md"
GROUP = """
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec: {location: westeurope}
"""


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "group.yaml").write_text(GROUP.lstrip())
    return folder


def doctor(source, *arguments, **variables):
    settings = {"AZURE_SUBSCRIPTION_ID": SUBSCRIPTION, "GITSYNC_EMULATOR": "", **variables}
    return run_here("doctor", "--emulator", *arguments, folder=source, **settings)


def read_check(source, **variables):
    """The check of the token in the JSON; None if there is none."""
    checks = json.loads(doctor(source, "--output", "json", **variables).out)["checks"]
    return next((check for check in checks if check["name"] == "job-token"), None)


@pytest.mark.parametrize("job", JOBS, ids=[f"{job.host} {job.subject}" for job in JOBS])
def test_doctor_shows_what_to_trust_in_a_job_of_each_host(source, tmp_path, job):
    with in_background(serving()) as server:
        variables = job.open(server, tmp_path)
        text = doctor(source, AZURE_CLIENT_ID=CLIENT, **variables)
        check = read_check(source, AZURE_CLIENT_ID=CLIENT, **variables)
    audience = "api://AzureADTokenExchange"
    assert check["values"] == {"subject": job.subject, "issuer": job.issuer, "audience": audience}
    assert check["level"] == "ok"
    identity, application = check["commands"]
    assert all(f"         {command}\n" in text.out for command in check["commands"]), "each in one line, to be copied"
    words = shlex.split(identity)
    assert words[:4] == ["az", "identity", "federated-credential", "create"]
    assert words[-6:] == ["--issuer", job.issuer, "--subject", job.subject, "--audiences", audience]
    assert shlex.split(application)[5:7] == ["--id", CLIENT]
    hunt = Hunt(token=job.token, request="of-the-job-alone", signature="c2lnbmF0dXJl")
    assert not hunt.found(f"{text.out}{text.err}{json.dumps(check)}")


def test_the_page_shows_what_doctor_prints(source, tmp_path):
    (tmp_path / "token").write_text(Job("github", NEW, GITHUB).token)
    out = doctor(source, AZURE_FEDERATED_TOKEN_FILE=str(tmp_path / "token")).out
    shown = re.search(r"```text\n(ok +job-token: .*?)```", PAGE.read_text(), re.DOTALL)[1]
    assert shown in out


def test_a_pod_with_an_identity_binding_gets_the_command_that_binds(source, tmp_path):
    token = jwt(sub="system:serviceaccount:gitsync:gitsync", iss="https://issuer.test", aud="api://AKSIdentityBinding")
    (tmp_path / "token").write_text(token)
    bound = {"AZURE_KUBERNETES_TOKEN_PROXY": "https://10.0.0.1"}
    check = read_check(source, AZURE_FEDERATED_TOKEN_FILE=str(tmp_path / "token"), **bound)
    assert [shlex.split(command)[:4] for command in check["commands"]] == [["az", "aks", "identity-binding", "create"]]
    assert "grant the service account the verb use-managed-identity" in check["hint"]


HOSTILE = "repo:contoso@1/web@2:ref:refs/heads/$(touch owned);`id`'\""


def test_a_hostile_branch_is_quoted(source, tmp_path):
    (tmp_path / "token").write_text(Job("github", HOSTILE, GITHUB).token)
    check = read_check(source, AZURE_FEDERATED_TOKEN_FILE=str(tmp_path / "token"))
    assert HOSTILE in shlex.split(check["commands"][0])
    assert json.loads(shlex.split(check["commands"][1])[-1])["subject"] == HOSTILE


def test_the_branch_of_a_person_stays_as_it_is(source, tmp_path):
    subject = "repo:contoso@1/web@2:ref:refs/heads/anna@contoso.com"
    (tmp_path / "token").write_text(Job("github", subject, GITHUB).token)
    check = read_check(source, AZURE_FEDERATED_TOKEN_FILE=str(tmp_path / "token"))
    assert subject in shlex.split(check["commands"][0]), "another subject would be refused"


def test_a_branch_that_is_a_secret_is_masked(source, tmp_path):
    (tmp_path / "token").write_text(Job("github", "repo:contoso@1/web@2:ref:refs/heads/hunter2hunter2", GITHUB).token)
    out = doctor(source, AZURE_FEDERATED_TOKEN_FILE=str(tmp_path / "token"), AZURE_CLIENT_SECRET="hunter2hunter2").out
    assert "hunter2hunter2" not in out


TOO_LONG = "repo:contoso@1/web@2:ref:refs/heads/" + "x" * 600
FILES = [
    ("vouched", "not a JWT", "az", "no token of a job"),
    (jwt(sub="a"), "not a JWT", "az", "a token without an issuer"),
    (replace(JOBS[0], expires=1).token, "has expired", "", "an old token"),
    (replace(JOBS[0], subject=TOO_LONG).token, "subject repo:contoso@1", "az identity", "a subject that is too long"),
    (replace(JOBS[0], subject="a\n::error::b").token, "subject a", "az identity", "lines of its own"),
]


@pytest.mark.parametrize(("content", "says", "never", "why"), FILES, ids=[row[-1] for row in FILES])
def test_a_file_that_cannot_be_trusted_is_a_warning(source, tmp_path, content, says, never, why):
    (tmp_path / "token").write_text(content)
    ended = doctor(source, AZURE_FEDERATED_TOKEN_FILE=str(tmp_path / "token"))
    line = next(line for line in ended.out.splitlines() if "job-token" in line)
    assert line.startswith("warning"), why
    assert says in line
    assert not never or never not in ended.out
    assert not re.search(r"^\s*::", ended.out, re.MULTILINE)
    assert not Hunt(token=content).found(ended.out)


def test_an_empty_file_is_a_warning(source, tmp_path):
    (tmp_path / "token").write_text(" \n")
    empty = read_check(source, AZURE_FEDERATED_TOKEN_FILE=str(tmp_path / "token"))
    assert (empty["level"], "is not a JWT" in empty["message"]) == ("warning", True)


def test_a_file_that_is_missing_and_a_host_that_refuses_are_warnings(source, tmp_path):
    missing = read_check(source, AZURE_FEDERATED_TOKEN_FILE=str(tmp_path / "none"))
    assert (missing["level"], "cannot be read" in missing["message"]) == ("warning", True)
    with in_background(serving()) as server:
        variables = Job("github", NEW, GITHUB).open(server, tmp_path)
        server.forget()
        server.on("GET", "/github", Say(403, {"message": "no id-token"}))
        refused = read_check(source, **variables)
    assert (refused["level"], refused["commands"]) == ("warning", [])
    assert "id-token: write" in refused["hint"]
    assert "of-the-job" not in f"{refused}"


@pytest.mark.parametrize("credential", ["managed-identity", "client-secret", "anonymous"])
def test_a_token_that_no_sign_in_uses_is_not_requested(source, tmp_path, credential):
    with in_background(serving()) as server:
        variables = Job("github", NEW, GITHUB).open(server, tmp_path)
        assert read_check(source, GITSYNC_CREDENTIAL=credential, **variables) is None
        assert server.seen == []


def test_outside_of_a_job_there_is_no_check(source):
    assert read_check(source) is None
