"""Comments, pull requests, statuses and deployments on GitHub, with `gh`: on github.com and on an Enterprise Server.

Rights and limits: the token of a job may comment with `pull-requests: write`; that of a fork's pull request may not. To
open pull requests, the repository has to allow it, too, and those that the token of a job opens start no workflow.
Statuses need `statuses: write`, and deployments `deployments: write`.
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
from gitsync.report.hosts.host import (
    Comment,
    Deployment,
    HostClient,
    HostUse,
    PullRequest,
    RequestState,
    Status,
    StatusState,
    choose_request,
    get_variable,
    read_branch,
)
from gitsync.settings.config.hosts import find_job_url
from gitsync.settings.processes.programs import Program

_HINTS = {
    HostUse.COMMENT: "Set GH_TOKEN to the token of the job, and grant the job pull-requests: write.",
    HostUse.PULL_REQUEST: "Set GH_TOKEN to a token with pull-requests: write. For the token of the job, let GitHub "
    "Actions create pull requests as well (Settings, Actions, General).",
    HostUse.STATUS: "Set GH_TOKEN to the token of the job, and grant the job statuses: write; with --deployment "
    "also deployments: write.",
}
_REF = re.compile(r"refs/pull/([0-9]+)/")
_TASK = "gitsync"
"""Marks our deployments: jobs with an environment make others."""
_DEPLOYMENT_STATES = {
    StatusState.PENDING: "in_progress",
    StatusState.SUCCESS: "success",
    StatusState.FAILURE: "failure",
}
_STATUS_STATES = {
    "pending": StatusState.PENDING,
    "success": StatusState.SUCCESS,
    "failure": StatusState.FAILURE,
}
_UPDATE = (
    "mutation($id: ID!, $body: String!) { updateIssueComment(input: {id: $id, body: $body}) { issueComment { url } } }"
)


@dataclass(frozen=True, slots=True)
class GitHub:
    """A repository of GitHub."""

    client: HostClient
    host: str  # github.com, or that of an enterprise
    repository: str  # OWNER/NAME
    log_url: str  # the page of the job
    base: str
    environment: Mapping[str, str] = field(repr=False)
    longest_body: int = 65_000  # characters of a comment; GitHub refuses more than 65,536
    longest_description: int = 140  # characters of a status; it refuses more

    def find_number(self) -> str:
        if found := _REF.match(self.environment.get("GITHUB_REF", "")):
            return found[1]
        number = self._read_event("number")
        if number is None:
            raise ConfigError(
                "This job is not for a pull request.",
                hint="Run it for the event pull_request, or set --number.",
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
        # `gh pr view` gives the ids of GraphQL, which the REST API does not accept.
        names = [f"--raw-field=query={_UPDATE}", f"--raw-field=id={comment.address[0]}", "--field=body=@-"]
        self.client.run(["api", "graphql", "--hostname", self.host, *names], text)

    def find_request(self, branch: str) -> PullRequest | None:
        owner = self.repository.partition("/")[0]
        (found,) = self._call([f"repos/{self.repository}/pulls?state=all&per_page=100&head={owner}:{quote(branch)}"])
        try:
            # The owner may have forks with the same branch.
            return choose_request(
                _read_request(request)
                for request in found
                if request["head"]["ref"] == branch and _is_own(request, self.repository)
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

    def read_commit(self) -> str:
        # The job of a pull request has the commit that merging it makes, which is on no page. Once it is closed, the
        # job is about the branch that it was merged to.
        is_open = _REF.match(self.environment.get("GITHUB_REF", ""))
        head = self._read_event("head", "sha") if is_open else None
        return head or get_variable(self.environment, "GITHUB_SHA")

    def find_status(self, commit: str, context: str) -> Status | None:
        (found,) = self._call([f"repos/{self.repository}/commits/{commit}/status?per_page=100"])
        try:
            for status in found["statuses"]:
                # GitHub compares contexts without case.
                if str(status["context"]).casefold() == context.casefold():
                    state = _STATUS_STATES.get(status["state"])
                    return Status(state, str(status["description"] or "")) if state else None
        except (KeyError, TypeError, ValueError):
            raise self.client.make_unexpected() from None
        return None

    def post_status(self, commit: str, context: str, status: Status) -> None:
        self._post(
            f"statuses/{commit}",
            state=status.state.value,
            context=context,
            description=status.description,
            target_url=self.log_url,
        )

    def find_deployment(self, commit: str, environment: str) -> Deployment | None:
        query = f"sha={commit}&environment={quote(environment, safe='')}&task={_TASK}&per_page=1"
        (found,) = self._call([f"repos/{self.repository}/deployments?{query}"])
        try:
            if not found:
                return None
            number = str(int(found[0]["id"]))
            (statuses,) = self._call([f"repos/{self.repository}/deployments/{number}/statuses?per_page=1"])
            # One without a status is of a run that ended between the two requests.
            word = statuses[0]["state"] if statuses else _DEPLOYMENT_STATES[StatusState.PENDING]
            return Deployment(number, {name: state for state, name in _DEPLOYMENT_STATES.items()}.get(word))
        except (KeyError, TypeError, ValueError):
            raise self.client.make_unexpected() from None

    def post_deployment(self, commit: str, environment: str, status: Status, running: str) -> None:
        if not running:
            # It records what has been done: GitHub is not to merge, nor to wait for the statuses of the commit.
            names = {"ref": commit, "environment": environment, "task": _TASK}
            made = self._post("deployments", **names, auto_merge=False, required_contexts=[])
            try:
                running = str(int(made["id"]))
            except (KeyError, TypeError, ValueError):
                raise self.client.make_unexpected() from None
        self._post(
            f"deployments/{running}/statuses",
            state=_DEPLOYMENT_STATES[status.state],
            description=status.description,
            log_url=self.log_url,
        )

    @property
    def _flag(self) -> tuple[str, str]:
        return "--repo", f"{self.host}/{self.repository}"

    def _send(self, method: str, path: str, body: str = "", **fields: str) -> list[Any]:
        # With `--field`, gh would read a file for a value that begins with "@".
        names = [f"--raw-field={name}={value}" for name, value in fields.items()]
        names += ["--field=body=@-"] if body else []  # a text is longer than an argument may be
        return self._call(["--method", method, f"repos/{self.repository}/{path}", *names], body)

    def _post(self, path: str, **fields: object) -> Any:
        document = json.dumps({name: value for name, value in fields.items() if value != ""})
        return self._call(["--method", "POST", f"repos/{self.repository}/{path}", "--input", "-"], document)[0]

    def _call(self, arguments: Sequence[str], stdin: str = "") -> list[Any]:
        return self.client.read(["api", "--hostname", self.host, *arguments], stdin)

    def _read_event(self, *names: str) -> str | None:
        """Read a value of the pull request in the event of the job."""
        # The ref of a closed pull request has no number, and its event has.
        path = self.environment.get("GITHUB_EVENT_PATH", "")
        try:
            value: Any = json.loads(Path(path).read_bytes())["pull_request"] if path else None
            for name in names:
                value = value[name]
            return str(value)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None


def _is_own(request: Any, repository: str) -> bool:
    source = request["head"]["repo"]  # None once its fork is deleted
    return source is not None and str(source["full_name"]).casefold() == repository.casefold()


def _read_request(request: Any) -> PullRequest:
    # GitHub calls a merged pull request closed, too.
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
    host = urlsplit(server).netloc
    return GitHub(
        client=HostClient(Program.GH, _sign_in(environment, host), use, _HINTS[use]),
        host=host,
        repository=name,
        log_url=find_job_url(environment),
        # GITHUB_REF_TYPE is `branch` for a pull request too, and GITHUB_REF_NAME is `NUMBER/merge`.
        base=environment.get("GITHUB_BASE_REF") or read_branch(environment.get("GITHUB_REF", "")),
        environment=environment,
    )


def _sign_in(environment: Mapping[str, str], host: str) -> Mapping[str, str]:
    """Add the variable in which gh expects the token of an Enterprise Server."""
    token = environment.get("GH_TOKEN") or environment.get("GITHUB_TOKEN")
    if not token or host == "github.com" or host.endswith(".ghe.com"):
        return environment
    # A token that the job has set for the server itself comes first.
    return {"GH_ENTERPRISE_TOKEN": token, **environment}
