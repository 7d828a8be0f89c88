"""The hunt for names of people: real runs find out who made drift, and only the person who runs them reads it.

Everything that a plan, a sync and the commands after them write is searched for a recognizable name, in every spelling.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gitsync.emulator.faults import Move
from gitsync.emulator.settings import ChangeLogSettings, Timing
from tests.leaks.hunting import Hunt, files, objects
from tests.support.command_line import SUBSCRIPTION, Ended, azure, run_here
from tests.support.git_repositories import add_remote, commit_all, init_bare, init_repository, push_main
from tests.support.trace_collector import collecting

NAME = "hunted.person@contoso.example"
GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core"
ACCOUNTS = ("drifted", "other", "third", "gone")
GROUP = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: core}\nspec: {location: westeurope}\n"
ACCOUNT = """\
---
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: NAME}
spec: {location: westeurope, owner: {name: core}, kind: StorageV2, sku: {name: Standard_LRS}, tags: {env: prod}}
"""


@dataclass
class Told:
    """What a row of commands wrote: streams by the command, files by their path, and objects of the status branch."""

    streams: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Sync; drift; plan in a job; sync, with `--who names`; look at the records; drift; accept in a job."""
    root = tmp_path_factory.mktemp("people")
    repository, told = root / "repository", Told()
    repository.mkdir()
    init_repository(repository)
    (repository / "all.yaml").write_text(GROUP + "".join(ACCOUNT.replace("NAME", name) for name in ACCOUNTS))
    commit_all(repository)
    remote = root / "remote.git"
    init_bare(remote)
    add_remote(repository, remote)
    push_main(repository, remote)
    where = ("--status-branch", "gitsync/status", "--log-level", "debug")
    at_once = ChangeLogSettings(resource_graph_delay=0, actor_delay=0, activity_log_delay=0)
    with azure(operations=Timing(polls=0), change_log=at_once) as served, collecting() as traces:

        def run(title: str, *words: str, **variables: str) -> Ended:
            ended = run_here(*words, folder=repository, **served.variables, **variables)
            told.streams |= {f"{title}: stdout": ended.out, f"{title}: stderr": ended.err}
            return ended

        def report(name: str) -> tuple[str, ...]:
            return ("--report", str(root / name), "--metrics", str(root / f"{name}.prom"))

        assert run("first", "sync", *where).code == 0, told.streams["first: stderr"]
        ids = {name: f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/{name}" for name in ACCOUNTS}
        for name in ACCOUNTS[:3]:
            served.emulator.move(ids[name], Move(set={"/tags/env": "test"}, by=NAME, client="Azure Portal"))
        served.emulator.move(ids["gone"], Move(delete=True, by=NAME, client="Azure Portal"))
        tracing = {"OTEL_EXPORTER_OTLP_ENDPOINT": traces.url}
        job = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_STEP_SUMMARY": str(root / "step.md"),
            "GITHUB_OUTPUT": str(root / "out"),
        }
        run("plan", "plan", *where, *report("plan"), "--out", str(root / "plan.json"), "-v", **job, **tracing)
        run("sync", "sync", *where, *report("sync"), "--who", "names", "--log-format", "json", **tracing)
        for words in (("status", "--output", "json"), ("describe", "StorageAccount/drifted")):
            run(" ".join(words), *words, *where[:2])
        served.emulator.move(ids["third"], Move(set={"/tags/env": "test"}, by=NAME, client="Azure Portal"))
        run("accept", "accept", *where, **job)
        told.streams["traces"] = "".join(map(str, traces.requests))
    told.texts = {
        str(Path(path).relative_to(root)): text for path, text in files(root, but=(repository, remote)).items()
    }
    told.texts |= objects(remote, "gitsync/status")
    return told


MAY = {
    *(f"sync/report.{form}" for form in ("json", "html", "md")),  # --who names
}
"""The files that may have names of people; the plan runs in a job of GitHub, which uploads its files."""

MAY_SAY = {"sync: stdout"}
"""The streams that may; the plan runs in a job of GitHub."""


def test_names_of_people_are_in_these_files_and_streams_alone(told):
    hunt = Hunt(person=NAME)
    assert set(hunt.everywhere(told.texts)) == MAY
    assert set(hunt.everywhere(told.streams)) == MAY_SAY


def test_without_names_it_reports_a_person(told):
    """Without this the hunt would be one for nothing."""
    assert "Changed by a person with <code>Azure Portal</code>" in told.texts["plan/report.md"]
    for name in ("report.sarif", "report.junit.xml"):
        assert "by a person with Azure Portal" in told.texts[f"plan/{name}"], name
    assert "Changed by a person" in told.texts["step.md"]
    said = told.streams["plan: stdout"].splitlines()
    assert any(line.startswith("::warning ") and "Changed by a person with" in line for line in said), "annotations"
    for stream in ("plan: stdout", "accept: stdout"):
        assert "\n    Changed by a person with Azure Portal, 20" in told.streams[stream], "the log of a job"
    reports = [
        text
        for location, text in told.texts.items()
        if location.startswith("gitsync/status:") and '"changedBy"' in text
    ]
    assert len(reports) == 1, "report.json of the last sync"
    assert '"correlationId"' in reports[0]
    assert told.streams["traces"]
