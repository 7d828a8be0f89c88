"""The hunt for names of people in what Azure returns: refusals, notes of locks, texts of policies, failed reads.

Runs meet a name in each of these texts. Who may read it is as for who changed a resource: `--who` decides.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.emulator.settings import ManagementLock, Timing
from tests.leaks.hunting import Hunt, files, objects
from tests.support.command_line import SUBSCRIPTION, azure, run_here
from tests.support.git_repositories import add_remote, commit_all, init_bare, init_repository, push_main

PERSON = "hunted.person@contoso.example"
GUEST = "hunted_guest_gmail.example#EXT#@contoso.onmicrosoft.example"
NOTED = "Huntedname Notedperson"
OBJECT = "11111111-2222-4333-8444-555555555555"
GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core"
ACCOUNT = """\
---
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: NAME}
spec: {location: westeurope, owner: {name: core}, kind: StorageV2, sku: {name: Standard_LRS}, tags: {env: prod}}
"""
GROUP = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: core}\nspec: {location: westeurope}\n"
REFUSED = "does not have authorization to perform action 'Microsoft.Storage/storageAccounts/write' over scope '/x'"
TEXTS = {
    "refused": ("AuthorizationFailed", 403, f"The client '{PERSON}' with object id '{OBJECT}' {REFUSED}."),
    "guest": ("AuthorizationFailed", 403, f"The client '{GUEST}' with object id '{OBJECT}' {REFUSED}."),
    "policy": ("RequestDisallowedByPolicy", 403, f"Disallowed by policy. Reasons: 'Ask {PERSON}, added by {NOTED}.'"),
    "outage": ("InternalServerError", 409, f"Another operation, created by {NOTED} ({PERSON}), failed."),
}
"""What Azure answers to a PUT of each account."""


@dataclass
class Told:
    streams: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    who: str = ""
    more_commits: int = 0  # of the second sync, which nothing has changed for


def make_rules() -> list[FaultRule]:
    puts = [
        FaultRule(
            match=Match(methods=("PUT",), path=f"*/storageaccounts/{name}"),
            answer=Canned(code=code, status=status, message=message),
        )
        for name, (code, status, message) in TEXTS.items()
    ]
    unread = f"The client '{PERSON}' with object id '{OBJECT}' does not have authorization to read."
    reads = Match(methods=("GET",), path="*/storageaccounts/unread")
    return [*puts, FaultRule(match=reads, answer=Canned(code="AuthorizationFailed", status=403, message=unread))]


@pytest.fixture(scope="module", params=["auto", "names", "off"])
def told(request, tmp_path_factory):
    """A sync at home, a sync and a plan in a job, and the commands that look at what was recorded."""
    root = tmp_path_factory.mktemp("texts")
    repository, told = root / "repository", Told(who=request.param)
    repository.mkdir()
    init_repository(repository)
    names = [*TEXTS, "unread", "fine"]
    (repository / "all.yaml").write_text(GROUP + "".join(ACCOUNT.replace("NAME", name) for name in names))
    commit_all(repository)
    remote = root / "remote.git"
    init_bare(remote)
    add_remote(repository, remote)
    push_main(repository, remote)
    lock = ManagementLock(scope=GROUP_ID, name="keep", notes=f"Added by {NOTED}, ask {PERSON}.")
    settings = {"rules": tuple(make_rules()), "locks": (lock,), "operations": Timing(polls=0)}
    job = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(root / "step.md"), "GITHUB_OUTPUT": str(root / "out")}
    where = ("--status-branch", "gitsync/status", "--log-level", "debug", "--who", told.who)
    with azure(**settings) as served:

        def run(title: str, *words: str, **variables: str) -> None:
            ended = run_here(*words, folder=repository, **served.variables, **variables)
            told.streams |= {f"{title}: stdout": ended.out, f"{title}: stderr": ended.err}

        run("sync", "sync", *where, "--report", str(root / "sync"), "--log-format", "json")
        commits = count_commits(remote)
        run("again", "sync", *where, "--report", str(root / "again"), "--metrics", str(root / "again.prom"), **job)
        told.more_commits = count_commits(remote) - commits
        (repository / "all.yaml").write_text(GROUP)
        commit_all(repository)
        run("plan", "plan", "--prune", *where, "--report", str(root / "plan"), "--out", str(root / "p.json"), **job)
        for words in (("status", "--output", "json"), ("describe", "StorageAccount/refused")):
            run(" ".join(words), *words, *where[:2])
    told.texts = {str(Path(p).relative_to(root)): text for p, text in files(root, but=(repository, remote)).items()}
    told.texts |= objects(remote, "gitsync/status")
    return told


def count_commits(remote: Path) -> int:
    done = subprocess.run(["git", "rev-list", "--count", "gitsync/status"], cwd=remote, check=True, capture_output=True)
    return int(done.stdout)


RUNS = ("sync", "again", "plan")
MAY = {
    "auto": {f"{run}/report.{form}" for run in RUNS for form in ("json", "html")},
    "names": {f"{run}/report.{form}" for run in RUNS for form in ("json", "html", "md")} | {"step.md"},
    "off": set(),
}
"""The files that may have names of people, by the value of --who."""

MAY_SAY = {
    "auto": {"sync: stdout"},
    "names": {f"{run}: stdout" for run in RUNS},
    "off": set(),
}
"""The streams that may."""


def test_names_of_people_are_in_these_files_and_streams_alone(told):
    hunt = Hunt(person=PERSON, guest=GUEST, noted=NOTED)
    assert set(hunt.everywhere(told.texts)) <= MAY[told.who]
    assert set(hunt.everywhere(told.streams)) <= MAY_SAY[told.who]


def test_names_are_where_they_may_be(told):
    """Without this the hunt would be one for nothing."""
    hunt = Hunt(person=PERSON, guest=GUEST, noted=NOTED)
    found = hunt.everywhere(told.texts)
    wanted = {"auto": ("json", "html"), "names": ("json", "html", "md"), "off": ()}[told.who]
    for form in wanted:
        assert found[f"sync/report.{form}"] == {"person", "guest", "noted"}, form
    if told.who != "off":
        assert "sync: stdout" in hunt.everywhere(told.streams)


def test_without_names_it_reports_a_person_and_how_to_look_them_up(told):
    status = "".join(text for location, text in told.texts.items() if location.startswith("gitsync/status:"))
    assert f"The client 'a person' with object id '{OBJECT}' does not have authorization" in status
    assert "Look up the person in the activity log by the correlation id " in status
    if told.who == "auto":
        for form in ("md", "sarif", "junit.xml"):
            assert "a person" in told.texts[f"again/report.{form}"], form
        assert "a person" in told.texts["step.md"]
        assert "'a person'" in told.streams["again: stdout"]


def test_a_failure_that_stays_makes_no_commit_of_each_run(told):
    assert told.more_commits == 0
