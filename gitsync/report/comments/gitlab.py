"""Notes on merge requests of GitLab, with `glab`: on gitlab.com and on servers of one's own.

The token of a job (`CI_JOB_TOKEN`) may not write notes: glab needs `GITLAB_TOKEN`, of a project's or group's access
token with the scope `api` and at least the role Reporter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from gitsync.errors import ConfigError
from gitsync.processes.programs import Program
from gitsync.report.comments.comment import Comment, HostClient, get_variable


@dataclass(frozen=True, slots=True)
class GitLabNotes:
    """`path` leads to the notes of the merge request, in the API of `host`."""

    client: HostClient
    host: str
    path: str
    log_url: str

    def list_own(self) -> Iterator[Comment]:
        try:
            (own,) = self.client.read(["api", "--hostname", self.host, "user"])
            query = f"{self.path}?per_page=100&sort=asc"
            for page in self.client.read(["api", "--hostname", self.host, "--paginate", query]):
                for note in page:
                    # GitLab itself writes notes about commits and labels, in the name of who caused
                    # them.
                    if note["author"]["id"] == own["id"] and not note["system"]:
                        yield Comment((str(note["id"]),), str(note["body"]))
        except (KeyError, TypeError, ValueError):
            raise self.client.make_unexpected() from None

    def create(self, text: str) -> None:
        self._send("POST", self.path, text)

    def replace(self, comment: Comment, text: str) -> None:
        self._send("PUT", f"{self.path}/{comment.address[0]}", text)

    def _send(self, method: str, path: str, text: str) -> None:
        # From standard input, since a report is longer than an argument may be.
        self.client.run(["api", "--hostname", self.host, "--method", method, path, "--field=body=@-"], text)


def open_gitlab(environment: Mapping[str, str], number: str) -> GitLabNotes:
    """Open the merge request of a job of GitLab CI. Raises ConfigError if the job is not about one."""
    project = quote(get_variable(environment, "CI_PROJECT_ID"), safe="")
    request = number or environment.get("CI_MERGE_REQUEST_IID", "")
    if not request:
        raise ConfigError(
            "This job is not about a merge request.",
            hint="Run it in merge request pipelines, or give the number with --number.",
        )
    return GitLabNotes(
        client=HostClient(
            Program.GLAB,
            environment,
            hint="Set GITLAB_TOKEN to an access token of the project with the scope api; CI_JOB_TOKEN cannot comment.",
        ),
        host=environment.get("CI_SERVER_FQDN") or get_variable(environment, "CI_SERVER_HOST"),
        path=f"projects/{project}/merge_requests/{request}/notes",
        log_url=environment.get("CI_JOB_URL", ""),
    )
