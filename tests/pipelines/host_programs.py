"""gh, glab and az as this machine does not have them: programs on the path that keep comments, pull requests, statuses
and deployments in files.

They record how they were called, with the variables that they got, and answer as the real ones do.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.pipelines.host_answers import KEPT, Call
from tests.support.answered_programs import Answer, ProgramCall, answer_calls, write_program


def _answer(call: ProgramCall) -> Answer:
    try:
        return 0, Call(*call).answer(), ""
    except SystemExit as refusal:
        return 1, "", f"{refusal}\n"


TOKEN = "t0ken-of-the-job-which-is-long"
GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "acme/estate",
    "GITHUB_REF": "refs/pull/12/merge",
    "GITHUB_RUN_ID": "987",
    "GITHUB_SHA": "c0ffee" * 6 + "beef",
    "GH_TOKEN": TOKEN,
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_SERVER_HOST": "gitlab.example.com",
    "CI_PROJECT_ID": "5",
    "CI_MERGE_REQUEST_IID": "12",
    "CI_COMMIT_SHA": "c0ffee" * 6 + "beef",
    "CI_COMMIT_REF_NAME": "main",
    "CI_PIPELINE_ID": "654",
    "CI_JOB_URL": "https://gitlab.example.com/acme/estate/-/jobs/987",
    "GITLAB_TOKEN": TOKEN,
}
AZURE = {
    "TF_BUILD": "True",
    "SYSTEM_COLLECTIONURI": "https://dev.azure.com/acme/",
    "SYSTEM_TEAMPROJECT": "The estate",
    "BUILD_REPOSITORY_ID": "0a1b",
    "SYSTEM_PULLREQUEST_PULLREQUESTID": "12",
    "BUILD_BUILDID": "987",
    "BUILD_SOURCEVERSION": "c0ffee" * 6 + "beef",
    "AZURE_DEVOPS_EXT_PAT": TOKEN,
}


@dataclass(frozen=True)
class Called:
    program: str
    arguments: list[str]
    stdin: str
    environment: dict[str, str]


@dataclass(frozen=True)
class Host:
    """What one of the programs speaks to: comments in the form of its host, and pull requests."""

    home: Path

    @property
    def path(self) -> str:
        """A search path on which the programs come first."""
        return f"{self.home}{os.pathsep}{os.environ['PATH']}"

    @property
    def comments(self) -> list[dict[str, Any]]:
        return json.loads((self.home / "comments.json").read_text())

    def put(self, *comments: dict[str, Any]) -> None:
        (self.home / "comments.json").write_text(json.dumps(comments))

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The pull requests, in a form that no host has: number, state, title, body, branch and base."""
        return json.loads((self.home / "requests.json").read_text())

    def put_requests(self, *requests: dict[str, Any]) -> None:
        (self.home / "requests.json").write_text(json.dumps(requests))

    @property
    def statuses(self) -> list[dict[str, Any]]:
        """All statuses, the oldest first: commit, context, state, description and url."""
        return json.loads((self.home / "statuses.json").read_text())

    @property
    def deployments(self) -> list[dict[str, Any]]:
        """All deployments, the oldest first: commit, environment, and the states that each had."""
        return json.loads((self.home / "deployments.json").read_text())

    def refuse(self, complaint: str) -> None:
        """Fail every call from now on."""
        (self.home / "refusal").write_text(complaint)

    @property
    def calls(self) -> list[Called]:
        log = self.home / "calls.jsonl"
        return [Called(*json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []


def make_host(home: Path, *programs: str) -> Host:
    """Install programs in a folder."""
    home.mkdir()
    for name in programs:
        write_program(home, name, answer_calls(_answer))
    for name in KEPT:
        (home / f"{name}.json").write_text("[]")
    return Host(home)
