"""Comments and pull requests on GitHub, with `gh`: on github.com and on an Enterprise Server.

Rights and limits: the token of a job may comment with `pull-requests: write`; that of a fork's pull request may not.
To open pull requests, the repository has to allow it, too, and those that the token of a job opens start no workflow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from gitsync.errors import ConfigError
from gitsync.processes.programs import Program
from gitsync.report.hosts.host import (
    Comment,
    HostClient,
    HostUse,
    PullRequest,
    RequestState,
    choose_request,
    get_variable,
)

_HINTS = {
    HostUse.COMMENT: "Set GH_TOKEN to the token of the job, and grant the job pull-requests: write.",
    HostUse.PULL_REQUEST: "Set GH_TOKEN to a token with pull-requests: write. For the token of the job, let GitHub "
    "Actions create pull requests, too (Settings, Actions, General).",
}
_REF = re.compile(r"refs/pull/([0-9]+)/")
_UPDATE = (
    "mutation($id: ID!, $body: String!) { updateIssueComment(input: {id: $id, body: $body}) { issueComment { url } } }"
)


@dataclass(frozen=True, slots=True)
class GitHub:
    """`repository` is OWNER/NAME."""

    client: HostClient
    host: str
    repository: str
    log_url: str
    base: str
    environment: Mapping[str, str] = field(repr=False)
    longest_body: int = 65_000  # GitHub refuses more than 65,536

    def find_number(self) -> str:
        if found := _REF.match(self.environment.get("GITHUB_REF", "")):
            return found[1]
        number = _read_event(self.environment.get("GITHUB_EVENT_PATH", ""))
        if number is None:
            raise ConfigError(
                "This job is not about a pull request.",
                hint="Run it for the event pull_request, or give the number with --number.",
            )
        return number

    def list_own(self, number: str) -> Iterator[Comment]:
        (page,) = self.client.read(["pr", "view", number, *self._flag, "--json", "comments"])
        try:
            for comment in page["comments"]:
                if comment["viewerDidAuthor"]:
                    yield Comment((str(comment["id"]),), str(comment["body"]))
        except (KeyError, TypeError):
            raise self.client.make_unexpected() from None

    def create(self, number: str, text: str) -> None:
        self.client.run(["pr", "comment", number, *self._flag, "--body-file", "-"], text)

    def replace(self, number: str, comment: Comment, text: str) -> None:  # noqa: ARG002 - a comment has an id of its own
        names = [f"--raw-field=query={_UPDATE}", f"--raw-field=id={comment.address[0]}", "--field=body=@-"]
        self.client.run(["api", "graphql", "--hostname", self.host, *names], text)

    def find_request(self, branch: str) -> PullRequest | None:
        owner = self.repository.partition("/")[0]
        (found,) = self._call([f"repos/{self.repository}/pulls?state=all&per_page=100&head={owner}:{quote(branch)}"])
        try:
            # The owner may have forks with the same branch.
            return choose_request(
                _read_request(one) for one in found if one["head"]["ref"] == branch and _is_own(one, self.repository)
            )
        except (KeyError, TypeError, ValueError):
            raise self.client.make_unexpected() from None

    def open_request(self, branch: str, base: str, title: str, body: str) -> PullRequest:
        (made,) = self._send("POST", "pulls", body, head=branch, base=base, title=title)
        try:
            return _read_request(made)
        except (KeyError, TypeError, ValueError):
            raise self.client.make_unexpected() from None

    def edit_request(self, number: str, body: str) -> None:
        self._send("PATCH", f"pulls/{number}", body)

    def close_request(self, number: str) -> None:
        self._send("PATCH", f"pulls/{number}", state="closed")

    @property
    def _flag(self) -> tuple[str, str]:
        return "--repo", f"{self.host}/{self.repository}"

    def _send(self, method: str, path: str, body: str = "", **fields: str) -> list[Any]:
        names = [f"--raw-field={name}={value}" for name, value in fields.items()]
        names += ["--field=body=@-"] if body else []  # a text is longer than an argument may be
        return self._call(["--method", method, f"repos/{self.repository}/{path}", *names], body)

    def _call(self, arguments: Sequence[str], stdin: str = "") -> list[Any]:
        return self.client.read(["api", "--hostname", self.host, *arguments], stdin)


def _is_own(request: Any, repository: str) -> bool:
    source = request["head"]["repo"]  # None once its fork is deleted
    return source is not None and str(source["full_name"]).casefold() == repository.casefold()


def _read_request(request: Any) -> PullRequest:
    closed = RequestState.MERGED if request["merged_at"] else RequestState.CLOSED
    return PullRequest(
        number=str(int(request["number"])),
        state=RequestState.OPEN if request["state"] == "open" else closed,
        title=str(request["title"]),
        body=str(request["body"] or ""),
        url=str(request["html_url"]),
    )


def open_github(environment: Mapping[str, str], use: HostUse) -> GitHub:
    """Open the repository of a job of GitHub Actions."""
    server = get_variable(environment, "GITHUB_SERVER_URL")
    name = get_variable(environment, "GITHUB_REPOSITORY")
    run = environment.get("GITHUB_RUN_ID")
    host = urlsplit(server).netloc
    return GitHub(
        client=HostClient(Program.GH, _sign_in(environment, host), use, _HINTS[use]),
        host=host,
        repository=name,
        log_url=f"{server}/{name}/actions/runs/{run}" if run else "",
        base=environment.get("GITHUB_REF_NAME", "") if environment.get("GITHUB_REF_TYPE") == "branch" else "",
        environment=environment,
    )


def _sign_in(environment: Mapping[str, str], host: str) -> Mapping[str, str]:
    """Add the variable in which gh expects the token of an Enterprise Server."""
    token = environment.get("GH_TOKEN") or environment.get("GITHUB_TOKEN")
    if not token or host == "github.com" or host.endswith(".ghe.com"):
        return environment
    return {"GH_ENTERPRISE_TOKEN": token, **environment}


def _read_event(path: str) -> str | None:
    """Read the number from the event of a closed pull request, whose ref is the branch that it was
    merged to.
    """
    try:
        event: Any = json.loads(Path(path).read_bytes()) if path else {}
        return str(int(event["pull_request"]["number"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
