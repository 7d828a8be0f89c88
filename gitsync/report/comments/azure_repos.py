"""Threads on pull requests of Azure Repos, with `az devops invoke` (the extension azure-devops of the Azure CLI).

Threads are closed when they are created: a branch policy may require that all are resolved, and a plan asks for no
answer. The identity of the build needs the right "Contribute to pull requests" in the repository.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from gitsync.errors import ConfigError
from gitsync.processes.programs import Program
from gitsync.processes.temporary_folders import open_temporary_folder
from gitsync.report.comments.comment import Comment, HostClient, get_variable

_VERSION = "6.0"
_TEXT = 1
"""The type of a comment that a person or a program wrote."""
_OF_THREADS, _OF_COMMENTS = "pullRequestThreads", "pullRequestThreadComments"


@dataclass(frozen=True, slots=True)
class AzureReposThreads:
    """`route` has the parameters that every request about the pull request has in common."""

    client: HostClient
    organization: str
    route: tuple[str, ...]
    log_url: str

    def list_own(self) -> Iterator[Comment]:
        try:
            own = self._invoke("location", "connectionData", (), version="5.0-preview")["authenticatedUser"]["id"]
            for thread in self._invoke("git", _OF_THREADS, self.route)["value"]:
                first = thread["comments"][0] if thread["comments"] and not thread.get("isDeleted") else None
                if first and first["author"]["id"] == own and "content" in first:
                    yield Comment((str(thread["id"]), str(first["id"])), str(first["content"]))
        except (KeyError, TypeError):
            raise self.client.make_unexpected() from None

    def create(self, text: str) -> None:
        comment = {"parentCommentId": 0, "content": text, "commentType": _TEXT}
        self._invoke("git", _OF_THREADS, self.route, "POST", {"comments": [comment], "status": "closed"})

    def replace(self, comment: Comment, text: str) -> None:
        thread, number = comment.address
        route = (*self.route, f"threadId={thread}", f"commentId={number}")
        self._invoke("git", _OF_COMMENTS, route, "PATCH", {"content": text})

    def _invoke(
        self, area: str, resource: str, route: Sequence[str], method: str = "GET", body: Any = None, **more: str
    ) -> Any:
        command = ["devops", "invoke", "--organization", self.organization, "--area", area, "--resource", resource]
        command += ["--route-parameters", *route] if route else []
        command += ["--http-method", method, "--api-version", more.get("version", _VERSION), "--output", "json"]
        with open_temporary_folder() as folder:
            if body is not None:
                file = folder / "body.json"
                file.write_text(json.dumps(body))
                command += ["--in-file", str(file)]
            return self.client.read(command)[0]


def open_azure_repos(environment: Mapping[str, str], number: str) -> AzureReposThreads:
    """Open the pull request of a run of Azure Pipelines. Raises ConfigError if the run is not about
    one of Azure Repos.
    """
    organization = get_variable(environment, "SYSTEM_COLLECTIONURI")
    project = get_variable(environment, "SYSTEM_TEAMPROJECT")
    request = number or environment.get("SYSTEM_PULLREQUEST_PULLREQUESTID", "")
    if not request:
        raise ConfigError(
            "This run is not about a pull request of Azure Repos.",
            hint="Run it by a build validation policy, or give the number with --number.",
        )
    repository = get_variable(environment, "BUILD_REPOSITORY_ID")
    build = environment.get("BUILD_BUILDID", "")
    return AzureReposThreads(
        client=HostClient(
            Program.AZ,
            environment,
            hint='Set AZURE_DEVOPS_EXT_PAT to $(System.AccessToken), and grant the build service "Contribute to pull '
            'requests" in the repository.',
        ),
        organization=organization,
        route=(f"project={project}", f"repositoryId={repository}", f"pullRequestId={request}"),
        log_url=f"{organization}{quote(project)}/_build/results?buildId={quote(build)}" if build else "",
    )
