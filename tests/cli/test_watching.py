"""A run is watched from outside: metrics in a file, a heartbeat beside the status branch, spans at a collector."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse

from tests.support import world
from tests.support.command_line import SUBSCRIPTION, Ended, run_here, variables
from tests.support.git_repositories import add_remote, commit_all, init_bare, init_repository, push_main
from tests.support.json_schemas import list_faults
from tests.support.trace_collector import attributes, collecting

GROUP, VNET = dedent(world.GROUP), dedent(world.VNET)
STATUS, HEARTBEAT = "refs/heads/gitsync/status", "refs/heads/gitsync/status-heartbeat/gitsync"
REFUSAL = "rules: [{match: {method: PUT, type: Microsoft.Network/virtualNetworks}, answer: {code: Bad, status: 400}}]"


class WatchedJob:
    """A job that runs in a shallow clone, as pipelines make it, with an Azure in a file."""

    def __init__(self, folder: Path) -> None:
        self.top = folder
        self.bare, self.work, self.folder = folder / "bare.git", folder / "work", folder / "job"
        self.metrics = folder / "gitsync.prom"

    def begin(self) -> WatchedJob:
        self.work.mkdir()
        init_repository(self.work)
        init_bare(self.bare)
        add_remote(self.work, self.bare)
        return self

    def copy(self, folder: Path) -> WatchedJob:
        shutil.copytree(self.top, folder, dirs_exist_ok=True)
        other = WatchedJob(folder)
        for config in (other.work / ".git" / "config", other.folder / ".git" / "config"):
            config.write_text(config.read_text().replace(str(self.bare), str(other.bare)))
        return other

    @staticmethod
    def git(*arguments: str, folder: Path) -> str:
        ended = subprocess.run(
            ["git", *arguments], cwd=folder, env=variables(), check=True, capture_output=True, text=True
        )
        return ended.stdout.strip()

    def says(self, **documents: str) -> WatchedJob:
        for name, text in documents.items():
            (self.work / f"{name}.yaml").write_text(text)
        commit_all(self.work)
        push_main(self.work, self.bare)
        if not self.folder.exists():
            self.git("clone", "-q", "--depth=1", self.bare.as_uri(), str(self.folder), folder=self.top)
        self.git("fetch", "-q", "--depth=1", "origin", "main", folder=self.folder)
        self.git("reset", "-q", "--hard", "FETCH_HEAD", folder=self.folder)
        return self

    def run(self, command: str, *arguments: str, **more: str) -> Ended:
        azure = f"--emulator={self.top / 'azure.db'}"
        return run_here(command, *arguments, azure, "--subscription", SUBSCRIPTION, folder=self.folder, **more)

    def ref(self, name: str) -> str:
        return self.git("for-each-ref", "--format=%(objectname)", name, folder=self.bare)

    def figures(self) -> dict[str, float]:
        """The samples that a run has one of."""
        return {sample.name: sample.value for family in parse(self.metrics.read_text()) for sample in family.samples}


@pytest.fixture(scope="module")
def cloned(tmp_path_factory):
    return WatchedJob(tmp_path_factory.mktemp("cloned")).begin().says(group=GROUP)


@pytest.fixture
def job(cloned, tmp_path):
    return cloned.copy(tmp_path)


def test_a_silent_run_shows_that_it_lives(job):
    """A heartbeat within a second of the last would stay, so the first one is taken away."""
    options = ("--heartbeat", "--metrics", str(job.metrics))
    assert job.run("sync", *options).code == 0
    status = job.ref(STATUS)
    job.git("update-ref", "-d", HEARTBEAT, folder=job.bare)
    silent = job.run("sync", *options)
    assert (silent.code, silent.err, job.ref(STATUS)) == (0, "", status)
    assert job.git("log", "--format=%P|%(trailers:key=Revision,valueonly)", HEARTBEAT, folder=job.bare) == (
        f"|{job.git('rev-parse', 'HEAD', folder=job.folder)}"
    )
    shown = run_here("status", folder=job.folder).out.splitlines()
    assert shown[-3] == f"1 of 1 resource Ready at {job.git('rev-parse', '--short=12', 'HEAD', folder=job.folder)}."
    assert shown[-2].startswith("Last run that changed something: sync of ")
    assert shown[-1].startswith("Last success of gitsync: ")
    status_object = json.loads(run_here("status", "--output", "json", folder=job.folder).out)
    assert list_faults("status", status_object) == []
    [heartbeat] = status_object["gitsync"]["heartbeats"]
    assert 0 <= heartbeat["ageSeconds"] < 600
    figures = job.figures()
    assert (figures["gitsync_run_success"], figures["gitsync_run_results"]) == (1, 1)
    assert figures["gitsync_last_success_timestamp_seconds"] == figures["gitsync_run_end_timestamp_seconds"]
    assert job.metrics.stat().st_mode & 0o777 == 0o644, "the collector is another user"
    assert [path.name for path in job.top.glob(".gitsync-*")] == []


def test_a_run_that_fails_or_is_refused_keeps_the_last_success(job):
    options = ("--heartbeat", "--metrics", str(job.metrics))
    job.run("sync", *options)
    beat, first = job.ref(HEARTBEAT), job.figures()["gitsync_last_success_timestamp_seconds"]
    script = job.top / "script.yaml"
    script.write_text(REFUSAL)
    job.says(vnet=VNET)
    assert job.run("sync", *options, "--emulator-script", str(script)).code == 1
    failed = job.figures()
    assert (failed["gitsync_run_success"], failed["gitsync_run_exit_code"]) == (0, 1)
    assert (failed["gitsync_last_success_timestamp_seconds"], job.ref(HEARTBEAT)) == (first, beat)
    refused = job.run("sync", *options, "--ref", "nobranch")
    assert refused.code == 2
    assert "nobranch" in refused.err
    figures = job.figures()
    assert (figures["gitsync_run_exit_code"], "gitsync_run_requests" in figures) == (2, False)
    assert (figures["gitsync_last_success_timestamp_seconds"], job.ref(HEARTBEAT)) == (first, beat)


def test_some_resources_are_not_a_success_of_all(job):
    job.run("sync", "--heartbeat", "--metrics", str(job.metrics), "--only", "ResourceGroup/*")
    assert "gitsync_last_success_timestamp_seconds" not in job.figures()
    assert job.ref(HEARTBEAT) == ""


def test_a_plan_has_metrics_of_its_own(job):
    ended = job.run("plan", "--detailed-exitcode", "--metrics", str(job.metrics), GITSYNC_HEARTBEAT="true")
    assert ended.code == 3
    assert (job.figures()["gitsync_run_success"], job.ref(HEARTBEAT)) == (1, "")
    assert 'command="plan"' in job.metrics.read_text()


def test_what_cannot_be_written_fails_the_run_after_its_work(job):
    hook = job.bare / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ncase "$1" in *heartbeat*) exit 1 ;; esac\n')
    hook.chmod(0o755)
    ended = job.run("sync", "--heartbeat", "--metrics", str(job.top / "absent" / "x.prom"), "--output", "json")
    report = json.loads(ended.out)
    assert (ended.code, [problem["code"] for problem in report["problems"]]) == (
        1,
        ["HeartbeatNotMoved", "MetricsNotWritten"],
    )
    assert [each["ready"] for each in report["resources"]] == ["True"]
    assert job.ref(STATUS) != ""


def test_what_cannot_be_written_about_a_refused_run_is_logged(job):
    ended = job.run("sync", "--ref", "nobranch", "--metrics", str(job.top / "absent" / "x.prom"))
    assert ended.code == 2
    assert "nobranch" in ended.err
    assert "The metrics cannot be written to" in ended.err


def test_a_heartbeat_needs_a_branch(job):
    ended = job.run("sync", "--heartbeat", "--status-dir", str(job.top / "status"))
    assert (ended.code, ended.out) == (2, "")
    assert "--heartbeat needs a status branch, and the status is in the folder" in ended.err
    plan = job.run("plan", "--status-dir", str(job.top / "status"), GITSYNC_HEARTBEAT="true")
    assert plan.code == 0, "a plan moves none"


def test_a_plan_of_revisions_has_no_metrics(job):
    ended = run_here("plan", "--from", "HEAD", "--metrics", str(job.metrics), folder=job.folder)
    assert (ended.code, job.metrics.exists()) == (2, False)
    assert "--metrics" in ended.err


def test_a_collector_gets_spans_and_no_secret(job):
    """Azure repeats the password that it was sent, and the collector wants a key."""
    secret, key = "pl4in-marked-value", "c0llector-marked-key"
    server = """\
        apiVersion: dbforpostgresql.azure.com/v1api20221201
        kind: FlexibleServer
        metadata: {name: shop-db}
        spec:
          owner: {name: core}
          location: westeurope
          administratorLogin: boss
          administratorLoginPassword: {name: db, key: password}
        """
    manifest = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: db}}\nstringData: {{password: {secret}}}\n"
    job.says(server=dedent(server), secret=manifest)
    script = job.top / "script.yaml"
    script.write_text(
        "rules: [{match: {method: PUT, type: Microsoft.DBforPostgreSQL/flexibleServers}, "
        f"answer: {{code: Bad, status: 400, message: 'not {secret}'}}}}]"
    )
    with collecting() as collector:
        ended = job.run(
            "sync",
            "--status-dir",
            str(job.top / "status"),
            "--emulator-script",
            str(script),
            "--log-level=debug",
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
            OTEL_EXPORTER_OTLP_HEADERS=f"api-key={key}",
        )
    assert ended.code == 1
    names = {span.name: span for span in collector.spans}
    assert attributes(names["FlexibleServer.dbforpostgresql.azure.com/default/shop-db"])["gitsync.reason"] == "Bad"
    assert {"gitsync sync", "ResourceGroup.resources.azure.com/default/core", "read-back"} <= set(names)
    [(path, headers, body)] = collector.sent
    assert (path, headers["api-key"]) == ("/v1/traces", key)
    assert "not <secret>" in ended.out
    assert secret.encode() not in body
    assert key not in ended.out + ended.err


def test_a_collector_that_is_down_fails_no_run(job):
    down = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TIMEOUT": "0.1"}
    ended = job.run("sync", "--status-dir", str(job.top / "status"), GITSYNC_LOG_LEVEL="warning", **down)
    assert ended.code == 0
    assert "The traces cannot be sent" in ended.err
