"""The whole path of a pull request with the scripts of the action: a plan without Azure, its comment, a merge, a sync,
and the status branch. git is real, and behind a token; Azure is the emulator.
"""

import json
import os
import re
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest

from gitsync.cli.rehearse import ENDINGS
from gitsync.cli.report_forms import REPORT_FORMS
from tests.pipelines.action_runner import ACTION, holds
from tests.pipelines.hosted import host_estate
from tests.support.command_line import LONG

RUN = Path(__file__).parents[2] / "deploy" / "pipelines" / "run.sh"

NETWORK = """\
apiVersion: network.azure.com/v20250301
kind: VirtualNetwork
metadata: {name: web}
spec:
  owner: {name: web}
  location: westeurope
  addressSpace: {addressPrefixes: [10.9.0.0/16]}
"""


@pytest.fixture
def estate(tmp_path):
    with host_estate(tmp_path, "x-access-token") as estate:
        yield estate


def test_a_pull_request_from_its_plan_to_the_status_branch(estate):
    estate.git("checkout", "--quiet", "-b", "$(touch${IFS}owned)")  # a name that a shell would run
    estate.commit("azure/network.yaml", NETWORK, "Add the network")
    planned = estate.job("pull_request", estate.open_pull_request("$(touch${IFS}owned)"), **{"from": "base"})
    outputs = planned.run("Install gitsync")
    assert (outputs["exit-code"], outputs["changes"], outputs["resources"]) == ("0", "1", "2"), planned.log
    assert len(estate.host.comments) == 1, planned.log
    (comment,) = estate.host.comments
    assert comment["body"].startswith("<!-- gitsync -->\n### The change would create 1\n\ngitsync plan of <code>")
    assert "<code>VirtualNetwork/web</code>" in comment["body"]
    assert "ResourceGroup" not in comment["body"].partition("<details>")[0].partition("####")[2]
    assert planned.summary.read_text().startswith("<!-- gitsync -->")
    assert json.loads((Path(outputs["report"]) / "report.json").read_text())["base"] == estate.git("rev-parse", "main")
    assert not (estate.folder / "azure.db").exists()

    estate.commit("azure/network.yaml", NETWORK.replace("10.9.", "10.8."), "Renumber the network")
    again = estate.job("pull_request", estate.open_pull_request("$(touch${IFS}owned)"), **{"from": "base"})
    again.run("Install gitsync")
    assert len(estate.host.comments) == 1, again.log
    (comment,) = estate.host.comments
    assert "/actions/runs/7" in comment["body"]
    assert again.github["sha"][:12] in comment["body"]

    estate.git("checkout", "--quiet", "main")
    estate.git("merge", "--quiet", "--no-ff", "--message", "Merge", "$(touch${IFS}owned)")
    estate.push()
    synced = estate.job("push", estate.git("rev-parse", "HEAD"), command="sync", **{"upload-sarif": "true"})
    outputs = synced.run("Install gitsync")
    assert (outputs["exit-code"], outputs["changes"], outputs["failed"]) == ("0", "2", "0"), synced.log
    assert outputs["revision"] == estate.git("rev-parse", "main")
    assert synced.used == [
        (
            "github/codeql-action/upload-sarif",
            {"sarif_file": f"{outputs['report']}/report.sarif", "category": "gitsync/sync"},
        )
    ]
    estate.git("fetch", "--quiet", "origin", "gitsync/status")
    assert "10.8.0.0/16" in estate.git("show", "FETCH_HEAD:default/network.azure.com/VirtualNetwork/web.json")
    assert len(estate.host.comments) == 1
    assert list(estate.folder.rglob("owned")) == []


def test_a_sync_in_the_job_of_a_pull_request_takes_the_commit_of_the_job(estate):
    """As for an estate of its own to try the change on. Its ref has the name `1/merge`, which is not a branch."""
    estate.git("checkout", "--quiet", "-b", "network")
    estate.commit("azure/network.yaml", NETWORK, "Add the network")
    merge = estate.open_pull_request("network")
    job = estate.job("pull_request", merge, command="sync")
    outputs = job.run("Install gitsync")
    assert (outputs["exit-code"], outputs["revision"]) == ("0", merge), job.log


def test_a_rehearsal_of_a_pull_request_needs_no_identity(estate):
    """Its comment is beside that of the plan, and without leave to comment its summary is that of the job."""
    estate.git("checkout", "--quiet", "-b", "network")
    estate.commit("azure/network.yaml", NETWORK, "Add the network")
    merge = estate.open_pull_request("network")
    estate.job("pull_request", merge, **{"from": "base"}).run("Install gitsync")
    job = estate.job("pull_request", merge, command="rehearse")
    del job.env["GITSYNC_EMULATOR"]
    outputs = job.run("Install gitsync")
    assert outputs["exit-code"] == "0", job.log
    assert "The sync would create 2" in job.log
    plan, rehearsal = (comment["body"] for comment in estate.host.comments)
    assert plan.startswith("<!-- gitsync -->")
    assert rehearsal.startswith("<!-- gitsync rehearsal -->")
    assert "<code>VirtualNetwork/web</code>" in rehearsal
    assert job.summary.read_text().startswith("<!-- gitsync -->\n### The sync would create 2")
    assert {path.name for path in Path(outputs["report"]).iterdir()} == {
        "rehearse.html",
        "rehearse.json",
        "rehearse.md",
    }


def test_a_plan_that_is_refused_fails_the_step_and_replaces_the_comment(estate):
    estate.host.put({"id": "IC_1", "viewerDidAuthor": True, "body": "<!-- gitsync -->\nAn older plan."})
    job = estate.job("pull_request", "0" * 40, path="../elsewhere")
    assert job.run("Install gitsync")["exit-code"] == "2"
    assert estate.host.comments[0]["body"].startswith("<!-- gitsync -->\n### gitsync wrote no report"), job.log


@pytest.mark.parametrize(
    ("event", "head", "wanted", "posts", "why"),
    [
        ("pull_request", "acme/estate", "true", True, "a pull request of this repository"),
        ("pull_request", "mallory/estate", "true", False, "the token of a fork's pull request cannot comment"),
        ("pull_request_target", "mallory/estate", "true", False, "a stranger's code must not run with this token"),
        ("push", "", "true", False, "there is no pull request"),
        ("pull_request", "acme/estate", "false", False, "nobody wants it"),
    ],
)
def test_when_the_action_posts_a_comment(event, head, wanted, posts, why):
    (step,) = (step for step in ACTION["runs"]["steps"] if step["name"] == "Post the report")
    contexts = {
        "inputs": {"comment": wanted},
        "steps": {"run": {"outputs": {"report": "/report"}}},
        "github": {
            "event_name": event,
            "repository": "acme/estate",
            "event": {"pull_request": {"head": {"repo": {"full_name": head}}}},
        },
    }
    assert holds(step["if"], contexts) is posts, why


@pytest.mark.parametrize(
    ("event", "head", "inputs", "posts", "why"),
    [
        ("pull_request", "acme/estate", {}, (True, True), "a pull request of this repository"),
        ("pull_request", "mallory/estate", {}, (False, False), "the token of a fork's pull request cannot post one"),
        ("push", "", {}, (True, True), "the commits of a branch have statuses, too"),
        ("schedule", "", {}, (False, True), "a scheduled run says what it found, and else the last state stays"),
        ("push", "", {"status": "false"}, (False, False), "nobody wants it"),
        ("push", "", {"command": "accept"}, (False, False), "accept writes no report"),
    ],
)
def test_when_the_action_posts_a_status(event, head, inputs, posts, why):
    contexts = {
        "inputs": {"status": "true", "command": "plan", **inputs},
        "github": {
            "event_name": event,
            "repository": "acme/estate",
            "event": {"pull_request": {"head": {"repo": {"full_name": head}}}} if head else {},
        },
    }
    steps = [step for step in ACTION["runs"]["steps"] if step["name"].endswith(" status")]
    assert tuple(holds(step["if"], contexts) for step in steps) == posts, why


def test_a_commit_reports_how_its_runs_stand(estate):
    """A sync with the input `status`, and one that is refused, which has no report."""
    commit = estate.git("rev-parse", "main")
    synced = estate.job("push", commit, command="sync", status="true", name="production")
    assert synced.run("Install gitsync")["exit-code"] == "0", synced.log
    refused = estate.job("push", commit, command="sync", status="true", name="production", path="../elsewhere")
    assert refused.run("Install gitsync")["exit-code"] == "2", refused.log
    assert {(status["commit"], status["context"]) for status in estate.host.statuses} == {
        (commit, "gitsync/production")
    }
    assert [(status["state"], status["description"]) for status in estate.host.statuses] == [
        ("pending", "The run has begun."),
        ("success", "Created 1"),
        ("pending", "The run has begun."),
        ("failure", "The run wrote no report. See its log."),
    ]


SLOW = """\
#!/bin/sh
trap 'exit 130' TERM
touch "$RUNNER_TEMP/started"
while :; do sleep 0.02; done
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_job_that_is_cancelled_stops_gitsync_and_has_its_exit_code(tmp_path, number):
    program = tmp_path / "gitsync"
    program.write_text(SLOW)
    program.chmod(0o755)
    job = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "COMMAND": "plan",
        "GITSYNC_SOURCE": ".",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    # A test run in the background ignores SIGINT, and so would all that it starts: bash cannot trap it then.
    take_interrupts = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen([RUN], env=job, cwd=tmp_path, preexec_fn=take_interrupts)  # noqa: PLW1509 - no threads
    try:
        while not (tmp_path / "started").exists():
            assert process.poll() is None
        process.send_signal(number)
        assert process.wait(LONG) == 130
    finally:
        process.kill()
        process.wait()
    report = f"{tmp_path}/gitsync-report"
    assert (tmp_path / "output").read_text() == f"exit-code=130\nreport={report}\nmarkdown={report}/report.md\n"


@pytest.mark.parametrize("command", ["emulator", "", "plan; touch owned", "--help"])
def test_another_command_is_refused(tmp_path, command):
    job = {"COMMAND": command, "PATH": os.environ["PATH"]}
    done = subprocess.run([RUN], env=job, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Use plan, sync, validate, rehearse, accept, doctor, shards, report or site." in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_doctor_has_no_report(tmp_path):
    program = tmp_path / "gitsync"
    program.write_text('#!/bin/sh\n[ "$*" = doctor ] && echo "ok       job-token: subject s"\n')
    program.chmod(0o755)
    job = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "COMMAND": "doctor",
        "GITSYNC_SOURCE": ".",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    done = subprocess.run([RUN], env=job, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "ok       job-token: subject s\n")
    assert (tmp_path / "output").read_text() == "exit-code=0\n"


def test_the_files_of_every_form_are_removed_before_a_run_and_described():
    (line,) = re.findall(r"^rm -f -- (.*)$", RUN.read_text(), re.MULTILINE)
    shell = ["bash", "-c", f'GITSYNC_REPORT=folder; printf "%s\\n" {line}']
    removed = subprocess.run(shell, capture_output=True, text=True, check=True).stdout.split()
    forms = {form.file for form in REPORT_FORMS.values()}
    written = forms | {"report.env"} | {f"rehearse.{ending}" for ending in ENDINGS.values()}
    assert set(removed) == {f"folder/{name}" for name in written}
    described = ACTION["outputs"]["report"]["description"]
    assert not [name for name in written - {"report.env"} if name not in described]
