"""Threads, pull requests and statuses of Azure Repos, with `az devops invoke` and `az repos pr` (the extension
azure-devops of the Azure CLI). Deployments are those of deployment jobs alone.

Threads are closed when they are created: a branch policy may require that all are resolved, and a plan expects no
answer. The identity of the build needs the right "Contribute to pull requests" in the repository.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from gitsync.errors import ConfigError
from gitsync.report.hosts.host import (
    HEADS,
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
from gitsync.settings.processes.temporary_folders import open_temporary_folder

_GRANT = (
    'Set AZURE_DEVOPS_EXT_PAT to $(System.AccessToken), and grant the build service "Contribute to pull requests" in '
    "the repository."
)
_HINTS = {
    HostUse.COMMENT: _GRANT,
    HostUse.PULL_REQUEST: _GRANT,
    HostUse.STATUS: "Set AZURE_DEVOPS_EXT_PAT to $(System.AccessToken), and grant the build service "
    '"Contribute" in the repository.',
}
_VERSION = "6.0"
_TEXT = 1
"""The type of a comment that a person or a program wrote."""
_OF_THREADS, _OF_COMMENTS, _OF_COMMITS = "git/pullRequestThreads", "git/pullRequestThreadComments", "git/statuses"
_STATES = {"active": RequestState.OPEN, "completed": RequestState.MERGED}
_STATUS_STATES = {
    StatusState.PENDING: "pending",
    StatusState.SUCCESS: "succeeded",
    StatusState.FAILURE: "failed",
}


@dataclass(frozen=True, slots=True)
class AzureRepos:
    """A repository of Azure Repos."""

    client: HostClient
    organization: str
    web: str  # the page of the repository
    route: tuple[str, ...]  # the parameters that every request about the repository has in common
    log_url: str  # the page of the job
    base: str
    environment: Mapping[str, str] = field(repr=False)
    longest_body: int = 4000  # characters of a comment
    longest_description: int = 255  # characters of a status; no limit is documented

    def find_number(self) -> str:
        number = self.environment.get("SYSTEM_PULLREQUEST_PULLREQUESTID", "")
        if not number:
            raise ConfigError(
                "This run is not for a pull request in Azure Repos.",
                hint="Run it in a build validation policy, or set --number.",
            )
        return number

    def list_own(self, number: str) -> Iterator[Comment]:
        try:
            # Azure DevOps has this resource in preview versions only.
            own = self._invoke("location/connectionData", (), version="5.0-preview")["authenticatedUser"]["id"]
            for thread in self._invoke(_OF_THREADS, self._name(number))["value"]:
                # A report is the first comment of its thread; answers come after it.
                first = thread["comments"][0] if thread["comments"] and not thread.get("isDeleted") else None
                # A deleted comment stays in its thread, without content.
                if first and first["author"]["id"] == own and "content" in first:
                    yield Comment((str(thread["id"]), str(first["id"])), str(first["content"]))
        except (KeyError, TypeError):
            raise self.client.make_unexpected() from None

    def create(self, number: str, text: str) -> None:
        comment = {"parentCommentId": 0, "content": text, "commentType": _TEXT}
        self._invoke(_OF_THREADS, self._name(number), "POST", {"comments": [comment], "status": "closed"})

    def replace(self, number: str, comment: Comment, text: str) -> None:
        thread, comment_number = comment.address
        route = (*self._name(number), f"threadId={thread}", f"commentId={comment_number}")
        self._invoke(_OF_COMMENTS, route, "PATCH", {"content": text})

    def find_request(self, branch: str) -> PullRequest | None:
        found = self._run_repos(
            ["list", *self._repository, "--source-branch", branch, "--status", "all", "--top", "100"]
        )
        try:
            # A fork may have a branch of the same name.
            own = (
                request
                for request in found
                if request["sourceRefName"] == HEADS + branch and not request.get("forkSource")
            )
            request = choose_request(map(self._read_request, own))
            # A list has only the beginning of each text.
            return request and self._read_request(self._run_repos(["show", "--id", request.number]))
        except (KeyError, TypeError, ValueError):
            raise self.client.make_unexpected() from None

    def open_request(self, branch: str, base: str, title: str, body: str) -> PullRequest:
        names = ["--source-branch", branch, "--target-branch", base, "--title", title]
        made = self._run_repos(["create", *self._repository, *names], body)
        try:
            return self._read_request(made)
        except (KeyError, TypeError, ValueError):
            raise self.client.make_unexpected() from None

    def edit_request(self, number: str, body: str) -> None:
        self._run_repos(["update", "--id", number], body)

    def close_request(self, number: str) -> None:
        self._run_repos(["update", "--id", number, "--status", "abandoned"])

    def read_commit(self) -> str:
        # The job of a pull request has the commit that merging it makes, which is on no page.
        head = self.environment.get("SYSTEM_PULLREQUEST_SOURCECOMMITID")
        return head or get_variable(self.environment, "BUILD_SOURCEVERSION")

    def find_status(self, commit: str, context: str) -> Status | None:
        route, query = (*self.route, f"commitId={commit}"), ("latestOnly=true", "top=1000")
        states = {word: state for state, word in _STATUS_STATES.items()}
        try:
            for status in self._invoke(_OF_COMMITS, route, query=query)["value"]:
                if _join_context(status["context"]) == context:
                    # A state that gitsync never posts counts as none, so that the next status replaces it.
                    state = states.get(status["state"])
                    return Status(state, str(status["description"] or "")) if state else None
        except (KeyError, TypeError):
            raise self.client.make_unexpected() from None
        return None

    def post_status(self, commit: str, context: str, status: Status) -> None:
        genre, _, name = context.rpartition("/")
        body = {
            "state": _STATUS_STATES[status.state],
            "description": status.description,
            "context": {"genre": genre, "name": name},
            **({"targetUrl": self.log_url} if self.log_url else {}),
        }
        self._invoke(_OF_COMMITS, (*self.route, f"commitId={commit}"), "POST", body)

    def find_deployment(self, commit: str, environment: str) -> Deployment | None:
        raise ConfigError(
            f"Azure Repos does not accept a deployment of {commit[:12]} to {environment} from a program.",
            hint="Remove --deployment. Azure Pipelines records its deployment jobs itself.",
        )

    def post_deployment(self, commit: str, environment: str, status: Status, running: str) -> None:  # noqa: ARG002 - all are refused
        self.find_deployment(commit, environment)

    def _read_request(self, request: Any) -> PullRequest:
        number = str(int(request["pullRequestId"]))
        return PullRequest(
            number=number,
            state=_STATES.get(request["status"], RequestState.CLOSED),
            title=str(request["title"]),
            body=str(request.get("description") or ""),
            url=f"{self.web}/pullrequest/{number}",
        )

    @property
    def _repository(self) -> tuple[str, ...]:
        project, repository = (parameter.partition("=")[2] for parameter in self.route)
        return "--project", project, "--repository", repository

    def _run_repos(self, arguments: Sequence[str], body: str = "") -> Any:
        """Run a command about pull requests: `invoke` mixes up their routes, which have one name."""
        command = ["repos", "pr", *arguments, "--organization", self.organization, "--output", "json"]
        with open_temporary_folder() as folder:
            if body:
                file = folder / "body.md"
                file.write_text(body)
                command += ["--description", f"@{file}"]
            return self.client.read(command)[0]

    def _name(self, number: str) -> tuple[str, ...]:
        return (*self.route, f"pullRequestId={number}")

    def _invoke(
        self,
        resource: str,
        route: Sequence[str],
        method: str = "GET",
        body: Any = None,
        *,
        query: Sequence[str] = (),
        version: str = _VERSION,
    ) -> Any:
        area, _, name = resource.partition("/")
        command = ["devops", "invoke", "--organization", self.organization, "--area", area, "--resource", name]
        command += ["--route-parameters", *route] if route else []
        command += ["--query-parameters", *query] if query else []
        command += ["--http-method", method, "--api-version", version, "--output", "json"]
        with open_temporary_folder() as folder:
            # The program takes the body of a request only from a file.
            if body is not None:
                file = folder / "body.json"
                file.write_text(json.dumps(body))
                command += ["--in-file", str(file)]
            return self.client.read(command)[0]


def _join_context(context: Any) -> str:
    # Other programs may post a context without a genre, which is optional.
    return f"{context['genre']}/{context['name']}" if context.get("genre") else str(context["name"])


def open_azure_repos(environment: Mapping[str, str], use: HostUse) -> AzureRepos:
    """Open the repository of a run of Azure Pipelines."""
    organization = get_variable(environment, "SYSTEM_COLLECTIONURI")
    project = get_variable(environment, "SYSTEM_TEAMPROJECT")
    repository = get_variable(environment, "BUILD_REPOSITORY_ID")
    ref = environment.get("SYSTEM_PULLREQUEST_TARGETBRANCH") or environment.get("BUILD_SOURCEBRANCH", "")
    name = environment.get("BUILD_REPOSITORY_NAME") or repository
    return AzureRepos(
        client=HostClient(Program.AZ, environment, use, _HINTS[use]),
        organization=organization,
        web=f"{organization}{quote(project)}/_git/{quote(name)}",
        route=(f"project={project}", f"repositoryId={repository}"),
        log_url=find_job_url(environment),
        base=read_branch(ref),
        environment=environment,
    )
