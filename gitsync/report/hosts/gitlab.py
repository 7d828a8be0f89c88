"""Notes and merge requests on GitLab, with `glab`: on gitlab.com and on servers of one's own.

The token of a job (`CI_JOB_TOKEN`) may write neither: glab needs `GITLAB_TOKEN`, of a project's or group's access token
with the scope `api` and at least the role Reporter; Developer to open merge requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

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
    HostUse.COMMENT: "Set GITLAB_TOKEN to an access token of the project with the scope api; CI_JOB_TOKEN cannot "
    "comment.",
    HostUse.PULL_REQUEST: "Set GITLAB_TOKEN to an access token of the project with the scope api and the role "
    "Developer; CI_JOB_TOKEN cannot open merge requests.",
}
_STATES = {"opened": RequestState.OPEN, "locked": RequestState.OPEN, "merged": RequestState.MERGED}


@dataclass(frozen=True, slots=True)
class GitLab:
    """`project` is the number of the project in the API of `host`."""

    client: HostClient
    host: str
    project: str
    log_url: str
    base: str
    environment: Mapping[str, str] = field(repr=False)
    longest_body: int = 60_000  # GitLab takes more, which is too long to read

    def find_number(self) -> str:
        number = self.environment.get("CI_MERGE_REQUEST_IID", "")
        if not number:
            raise ConfigError(
                "This job is not about a merge request.",
                hint="Run it in merge request pipelines, or give the number with --number.",
            )
        return number

    def list_own(self, number: str) -> Iterator[Comment]:
        try:
            (own,) = self._call(["user"])
            query = f"{self._name(number)}/notes?per_page=100&sort=asc"
            for page in self._call(["--paginate", query]):
                for note in page:
                    # GitLab itself writes notes about commits and labels, in the name of who caused
                    # them.
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
            return choose_request(
                _read_request(one)
                for one in found
                if one["source_branch"] == branch and str(one["source_project_id"]) == self.project
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

    def _name(self, number: str = "") -> str:
        return f"projects/{self.project}/merge_requests{number and '/'}{number}"

    def _send(self, method: str, path: str, field: str = "", text: str = "", **fields: str) -> list[Any]:
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
        host=environment.get("CI_SERVER_FQDN") or get_variable(environment, "CI_SERVER_HOST"),
        log_url=environment.get("CI_JOB_URL", ""),
        base=environment.get("CI_COMMIT_BRANCH", ""),
        environment=environment,
    )
