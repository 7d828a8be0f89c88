"""The whole path of a pull request with the scripts of the action: a plan without Azure, its comment, a merge, a sync,
and the status branch. git is real, and behind a token; Azure is the emulator.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from action_runner import ACTION, Job, holds
from command_line import SUBSCRIPTION
from git_server import basic, serve
from git_template import init_repository
from host_programs import Host, make_host

TOKEN = "t0ken-of-the-job-which-is-long"
GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: web}
spec: {location: westeurope}
"""
NETWORK = """\
apiVersion: network.azure.com/v20250301
kind: VirtualNetwork
metadata: {name: web}
spec:
  owner: {name: web}
  location: westeurope
  addressSpace: {addressPrefixes: [10.9.0.0/16]}
"""


@dataclass
class Estate:
    """A bare repository on a server that wants the token, a clone of a person, and the host's programs."""

    folder: Path
    server: str
    host: Host

    @property
    def clone(self) -> Path:
        return self.folder / "clone"

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.clone, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, path: str, text: str, message: str) -> None:
        (self.clone / path).parent.mkdir(exist_ok=True)
        (self.clone / path).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def open_pull_request(self, branch: str) -> str:
        """Push a branch, and the commit that merging it would make, as the host does; its id."""
        self.git("checkout", "--quiet", "--detach", "main")
        self.git("merge", "--quiet", "--no-ff", "--message", "Merge", branch)
        self.git("push", "--quiet", "--force", "origin", branch, "HEAD:refs/pull/1/merge")
        merge = self.git("rev-parse", "HEAD")
        self.git("checkout", "--quiet", branch)
        return merge

    def job(self, event: str, commit: str, **inputs: str) -> Job:
        is_pull_request = event == "pull_request"
        repository = {"full_name": "acme/estate"}
        folder = self.folder / f"job-{len(list(self.folder.iterdir()))}"
        folder.mkdir()
        return Job(
            folder=folder,
            github={
                "server_url": self.server,
                "repository": "acme/estate",
                "event_name": event,
                "event": {"pull_request": {"head": {"repo": repository}}} if is_pull_request else {},
                "ref": "refs/pull/1/merge" if is_pull_request else "refs/heads/main",
                "ref_name": "1/merge" if is_pull_request else "main",
                "ref_type": "branch",
                "sha": commit,
                "token": TOKEN,
                "run_id": 7,
            },
            env={
                "PATH": os.pathsep.join([str(self.host.home), str(Path(sys.executable).parent), os.environ["PATH"]]),
                "HOME": str(self.folder),
                "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
                "GITSYNC_EMULATOR": str(self.folder / "azure.db"),
                "GITSYNC_PATH": "azure",
            },
            inputs=inputs,
        )


@pytest.fixture
def estate(tmp_path):
    bare = tmp_path / "hosted" / "acme" / "estate"
    clone = tmp_path / "clone"
    clone.mkdir()
    init_repository(clone)
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", str(bare)], check=True)
    subprocess.run(["git", "config", "http.receivepack", "true"], cwd=bare, check=True)
    reads = (basic("x-access-token", TOKEN),)
    with serve(tmp_path / "hosted", readers=reads, writers=reads) as (url, _):
        estate = Estate(tmp_path, url, make_host(tmp_path / "bin", "gh"))
        estate.git("remote", "add", "origin", str(bare))
        estate.commit("azure/group.yaml", GROUP, "Add the group")
        estate.git("push", "--quiet", "origin", "main")
        yield estate


def test_a_pull_request_from_its_plan_to_the_status_branch(estate):
    estate.git("checkout", "--quiet", "-b", "$(touch${IFS}owned)")  # a name that a shell would run
    estate.commit("azure/network.yaml", NETWORK, "Add the network")
    planned = estate.job("pull_request", estate.open_pull_request("$(touch${IFS}owned)"), **{"from": "base"})
    outputs = planned.run("Install gitsync")
    assert (outputs["exit-code"], outputs["changes"], outputs["resources"]) == ("0", "1", "2"), planned.log
    (comment,) = estate.host.comments
    assert comment["body"].startswith("<!-- gitsync -->\n### gitsync plan of <code>")
    assert "| <code>VirtualNetwork/web</code> | <code>default</code> | create | create |" in comment["body"]
    assert "ResourceGroup" not in comment["body"].partition("<details>")[0].partition("####")[2]
    assert planned.summary.read_text().startswith("<!-- gitsync -->")
    assert json.loads((Path(outputs["report"]) / "report.json").read_text())["base"] == estate.git("rev-parse", "main")
    assert not (estate.folder / "azure.db").exists()

    estate.commit("azure/network.yaml", NETWORK.replace("10.9.", "10.8."), "Renumber the network")
    again = estate.job("pull_request", estate.open_pull_request("$(touch${IFS}owned)"), **{"from": "base"})
    again.run("Install gitsync")
    (comment,) = estate.host.comments
    assert "/actions/runs/7" in comment["body"]
    assert again.github["sha"][:12] in comment["body"]

    estate.git("checkout", "--quiet", "main")
    estate.git("merge", "--quiet", "--no-ff", "--message", "Merge", "$(touch${IFS}owned)")
    estate.git("push", "--quiet", "origin", "main")
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
    assert "10.8.0.0/16" in estate.git("show", "FETCH_HEAD:default/network.azure.com/VirtualNetwork/web.yaml")
    assert len(estate.host.comments) == 1
    assert list(estate.folder.rglob("owned")) == []


def test_a_plan_that_is_refused_fails_the_step_and_replaces_the_comment(estate):
    estate.host.put({"id": "IC_1", "viewerDidAuthor": True, "body": "<!-- gitsync -->\nAn older plan."})
    job = estate.job("pull_request", "0" * 40, path="../elsewhere")
    assert job.run("Install gitsync")["exit-code"] == "2"
    assert estate.host.comments[0]["body"].startswith("<!-- gitsync -->\n### gitsync gave no report")


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


@pytest.mark.parametrize("command", ["emulator", "", "plan; touch owned", "--help"])
def test_another_command_is_refused(tmp_path, command):
    script = Path(__file__).parents[2] / "deploy" / "pipelines" / "run.sh"
    job = {"COMMAND": command, "PATH": os.environ["PATH"]}
    done = subprocess.run([script], env=job, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Use plan, sync or validate." in done.stderr
    assert list(tmp_path.iterdir()) == []
