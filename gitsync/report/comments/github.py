"""Comments on GitHub, with `gh`: on github.com and on an Enterprise Server.

Rights and limits: the token of a job may comment with `pull-requests: write`; that of a fork's pull request may not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gitsync.errors import ConfigError
from gitsync.processes.programs import Program
from gitsync.report.comments.comment import Comment, HostClient, get_variable

_REF = re.compile(r"refs/pull/([0-9]+)/")
_UPDATE = (
    "mutation($id: ID!, $body: String!) { updateIssueComment(input: {id: $id, body: $body}) { issueComment { url } } }"
)


@dataclass(frozen=True, slots=True)
class GitHubComments:
    """`repository` is HOST/OWNER/NAME."""

    client: HostClient
    repository: str
    number: str
    log_url: str

    def list_own(self) -> Iterator[Comment]:
        (page,) = self.client.read(["pr", "view", self.number, "--repo", self.repository, "--json", "comments"])
        try:
            for comment in page["comments"]:
                if comment["viewerDidAuthor"]:
                    yield Comment((str(comment["id"]),), str(comment["body"]))
        except (KeyError, TypeError):
            raise self.client.make_unexpected() from None

    def create(self, text: str) -> None:
        self.client.run(["pr", "comment", self.number, "--repo", self.repository, "--body-file", "-"], text)

    def replace(self, comment: Comment, text: str) -> None:
        host = self.repository.partition("/")[0]
        names = [f"--raw-field=query={_UPDATE}", f"--raw-field=id={comment.address[0]}", "--field=body=@-"]
        self.client.run(["api", "graphql", "--hostname", host, *names], text)


def open_github(environment: Mapping[str, str], number: str) -> GitHubComments:
    """Open the pull request of a job of GitHub Actions. Raises ConfigError if the job is not about one."""
    server = get_variable(environment, "GITHUB_SERVER_URL")
    name = get_variable(environment, "GITHUB_REPOSITORY")
    run = environment.get("GITHUB_RUN_ID")
    host = urlsplit(server).netloc
    return GitHubComments(
        client=HostClient(
            Program.GH,
            _sign_in(environment, host),
            hint="Set GH_TOKEN to the token of the job, and grant the job pull-requests: write.",
        ),
        repository=f"{host}/{name}",
        number=number or _find_number(environment),
        log_url=f"{server}/{name}/actions/runs/{run}" if run else "",
    )


def _sign_in(environment: Mapping[str, str], host: str) -> Mapping[str, str]:
    """Add the variable in which gh expects the token of an Enterprise Server."""
    token = environment.get("GH_TOKEN") or environment.get("GITHUB_TOKEN")
    if not token or host == "github.com" or host.endswith(".ghe.com"):
        return environment
    return {"GH_ENTERPRISE_TOKEN": token, **environment}


def _find_number(environment: Mapping[str, str]) -> str:
    if found := _REF.match(environment.get("GITHUB_REF", "")):
        return found[1]
    number = _read_event(environment.get("GITHUB_EVENT_PATH", ""))
    if number is None:
        raise ConfigError(
            "This job is not about a pull request.",
            hint="Run it for the event pull_request, or give the number with --number.",
        )
    return number


def _read_event(path: str) -> str | None:
    """Read the number from the event of a closed pull request, whose ref is the branch that it was
    merged to.
    """
    try:
        event: Any = json.loads(Path(path).read_bytes()) if path else {}
        return str(int(event["pull_request"]["number"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
