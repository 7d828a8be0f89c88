"""Notes, merge requests, statuses and deployments on GitLab, with `glab`: on gitlab.com and on servers of one's own.

The token of a job (`CI_JOB_TOKEN`) may write none of them: glab needs `GITLAB_TOKEN`, of a project's or group's access
token with the scope `api` and at least the role Reporter; Developer for all but notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

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
)
from gitsync.settings.config.hosts import find_job_url
from gitsync.settings.processes.programs import Program

_HINTS = {
    HostUse.COMMENT: "Set GITLAB_TOKEN to an access token of the project with the scope api; CI_JOB_TOKEN cannot "
    "comment.",
    HostUse.PULL_REQUEST: "Set GITLAB_TOKEN to an access token of the project with the scope api and the role "
    "Developer; CI_JOB_TOKEN cannot open merge requests.",
    HostUse.STATUS: "Set GITLAB_TOKEN to an access token of the project with the scope api and the role Developer; "
    "CI_JOB_TOKEN cannot post statuses. With --deployment, a protected environment must also allow it to deploy.",
}
# GitLab locks a merge request for the moment of its merge.
_STATES = {"opened": RequestState.OPEN, "locked": RequestState.OPEN, "merged": RequestState.MERGED}
_STATUS_STATES = {
    "created": StatusState.PENDING,
    "pending": StatusState.PENDING,
    "running": StatusState.PENDING,
    "success": StatusState.SUCCESS,
    "failed": StatusState.FAILURE,
}


@dataclass(frozen=True, slots=True)
class GitLab:
    """A project of GitLab."""

    client: HostClient
    host: str  # gitlab.com, or a server of one's own
    project: str  # its number in the API of the host
    log_url: str  # the page of the job
    base: str
    environment: Mapping[str, str] = field(repr=False)
    longest_body: int = 60_000  # characters of a comment; GitLab takes more, which is too long to read
    longest_description: int = 255  # characters of a status

    def find_number(self) -> str:
        number = self.environment.get("CI_MERGE_REQUEST_IID", "")
        if not number:
            raise ConfigError(
                "This job is not for a merge request.",
                hint="Run it in a merge request pipeline, or set --number.",
            )
        return number

    def list_own(self, number: str) -> Iterator[Comment]:
        try:
            (own,) = self._call(["user"])
            query = f"{self._name(number)}/notes?per_page=100&sort=asc"
            for page in self._call(["--paginate", query]):
                for note in page:
                    # GitLab itself writes notes about commits and labels, in the name of who caused them.
                    if note["author"]["id"] == own["id"] and not note["system"]:
                        yield Comment((str(note["id"]),), str(note["body"]))
        except (KeyError, TypeError, ValueError):
            raise self.client.make_unexpected() from None

    def create(self, number: str, text: str) -> None:
        self._send("POST", f"{self._name(number)}/notes", "body", text)

    def replace(self, number: str, comment: Comment, text: str) -> None:
        self._send("PUT", f"{self._name(number)}/notes/{comment.address[0]}", "body", text)

    def find_request(self, branch: str) -> PullRequest | None:
        query = f"{self._name()}?scope=all&state=all&per_page=100&source_branch={quote(branch, safe='')}"
        (found,) = self._call([query])
        try:
            # A fork may have a branch of the same name.
            return choose_request(
                _read_request(request)
                for request in found
                if request["source_branch"] == branch and str(request["source_project_id"]) == self.project
            )
        except (KeyError, TypeError, ValueError):
            raise self.client.make_unexpected() from None

    def open_request(self, branch: str, base: str, title: str, body: str) -> PullRequest:
        names = {"source_branch": branch, "target_branch": base, "title": title}
        (made,) = self._send("POST", self._name(), "description", body, **names)
        try:
            return _read_request(made)
        except (KeyError, TypeError, ValueError):
            raise self.client.make_unexpected() from None

    def edit_request(self, number: str, body: str) -> None:
        self._send("PUT", self._name(number), "description", body)

    def close_request(self, number: str) -> None:
        self._send("PUT", self._name(number), state_event="close")

    def read_commit(self) -> str:
        # Also of a merged result: a status is attached to the pipeline of the job, which has this commit.
        return get_variable(self.environment, "CI_COMMIT_SHA")

    def find_status(self, commit: str, context: str) -> Status | None:
        query = f"per_page=100&name={quote(context, safe='')}"
        (found,) = self._call([f"projects/{self.project}/repository/commits/{commit}/statuses?{query}"])
        try:
            own = [status for status in found if status["name"] == context]
            # Each pipeline of a commit has a status of its own, and the newest counts.
            last = max(own, key=lambda status: int(status["id"]), default=None)
            state = last and _STATUS_STATES.get(last["status"])
            return Status(state, str(last["description"] or "")) if last and state else None
        except (KeyError, TypeError, ValueError):
            raise self.client.make_unexpected() from None

    def post_status(self, commit: str, context: str, status: Status) -> None:
        # A commit may have several pipelines: without its number, GitLab chooses one.
        fields = {
            "state": "failed" if status.state is StatusState.FAILURE else status.state.value,
            "name": context,
            "description": status.description,
            "target_url": self.log_url,
            "pipeline_id": self.environment.get("CI_PIPELINE_ID", ""),
        }
        known = {name: value for name, value in fields.items() if value}
        self._send("POST", f"projects/{self.project}/statuses/{commit}", **known)

    def find_deployment(self, commit: str, environment: str) -> Deployment | None:
        query = f"environment={quote(environment, safe='')}&order_by=id&sort=desc&per_page=1"
        (found,) = self._call([f"projects/{self.project}/deployments?{query}"])
        try:
            # What has a `deployable` is of a job with an environment, which no program may change.
            if not found or found[0]["sha"] != commit or found[0]["deployable"]:
                return None
            return Deployment(str(int(found[0]["id"])), _STATUS_STATES.get(found[0]["status"]))
        except (KeyError, TypeError, ValueError):
            raise self.client.make_unexpected() from None

    def post_deployment(self, commit: str, environment: str, status: Status, running: str) -> None:
        path = f"projects/{self.project}/deployments"
        state = {StatusState.PENDING: "running", StatusState.FAILURE: "failed"}.get(status.state, "success")
        if running:
            self._send("PUT", f"{path}/{running}", status=state)
            return
        self._send(
            "POST",
            path,
            environment=environment,
            sha=commit,
            ref=get_variable(self.environment, "CI_COMMIT_REF_NAME"),
            tag="true" if self.environment.get("CI_COMMIT_TAG") else "false",
            status=state,
        )

    def _name(self, number: str = "") -> str:
        return f"projects/{self.project}/merge_requests{number and '/'}{number}"

    def _send(self, method: str, path: str, field: str = "", text: str = "", **fields: str) -> list[Any]:
        # With `--field`, glab would read a file for a value that begins with "@".
        names = [f"--raw-field={name}={value}" for name, value in fields.items()]
        names += [f"--field={field}=@-"] if field else []  # a report is longer than an argument may be
        return self._call(["--method", method, path, *names], text)

    def _call(self, arguments: Sequence[str], stdin: str = "") -> list[Any]:
        return self.client.read(["api", "--hostname", self.host, *arguments], stdin)


def _read_request(request: Any) -> PullRequest:
    return PullRequest(
        number=str(int(request["iid"])),
        state=_STATES.get(request["state"], RequestState.CLOSED),
        title=str(request["title"]),
        body=str(request["description"] or ""),
        url=str(request["web_url"]),
    )


def open_gitlab(environment: Mapping[str, str], use: HostUse) -> GitLab:
    """Open the project of a job of GitLab CI."""
    return GitLab(
        project=quote(get_variable(environment, "CI_PROJECT_ID"), safe=""),
        client=HostClient(Program.GLAB, environment, use, _HINTS[use]),
        # CI_SERVER_FQDN has the port too; servers before GitLab 16.10 do not set it.
        host=environment.get("CI_SERVER_FQDN") or get_variable(environment, "CI_SERVER_HOST"),
        log_url=find_job_url(environment),
        base=environment.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME") or environment.get("CI_COMMIT_BRANCH", ""),
        environment=environment,
    )
