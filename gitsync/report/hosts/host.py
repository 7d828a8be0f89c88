"""What every host of pipelines can do for gitsync, and its program: `gh`, `glab` or `az`, signed in as the job."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from gitsync.errors import ConfigError, PublishError
from gitsync.settings.processes.programs import Program, ProgramCall, run, select_environment

HEADS = "refs/heads/"
"""What the refs of branches begin with."""

_TIMEOUT = 120.0  # seconds of one request, with the retries of the program


class HostUse(StrEnum):
    """What a host is opened for; the value is what a refusal means."""

    COMMENT = "The comment was not posted"
    PULL_REQUEST = "The pull request was not written"
    STATUS = "The status was not posted"


class Comment(NamedTuple):
    """A comment as its host shows it."""

    address: tuple[str, ...]  # what the host needs to replace it
    text: str


class RequestState(StrEnum):
    OPEN = "open"
    CLOSED = "closed"  # without a merge
    MERGED = "merged"


class PullRequest(NamedTuple):
    """A pull request as its host shows it."""

    number: str  # as the host spells it
    state: RequestState
    title: str
    body: str  # its description, with the mark of gitsync
    url: str  # where people read it


class PullRequestHost(Protocol):
    """The repository of a pipeline, on the host that runs it. Its methods raise PublishError if the host refuses.

    Numbers of pull requests are those that people know.
    """

    @property
    def log_url(self) -> str:
        """Where people read the log of this job; "" if the host does not say."""
        ...

    @property
    def base(self) -> str:
        """The target branch of the job's pull request, or the branch that the job runs for; "" for any other job, such
        as one for a tag.
        """
        ...

    @property
    def longest_body(self) -> int:
        """How many characters the text of a pull request may have."""
        ...

    def find_number(self) -> str:
        """Find the pull request of the job. Raises ConfigError if the job is not about one."""
        ...

    def list_own(self, number: str) -> Iterable[Comment]:
        """List the comments that the identity of the pipeline wrote, the oldest first."""
        ...

    def create(self, number: str, text: str) -> None:
        """Write a comment."""
        ...

    def replace(self, number: str, comment: Comment, text: str) -> None: ...

    def find_request(self, branch: str) -> PullRequest | None:
        """Find the pull request of a branch of this repository: the open one, else the latest; None without any."""
        ...

    def open_request(self, branch: str, base: str, title: str, body: str) -> PullRequest: ...

    def edit_request(self, number: str, body: str) -> None: ...

    def close_request(self, number: str) -> None: ...


class StatusState(StrEnum):
    """The state of a commit. Each host has its own words for these."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"


class Status(NamedTuple):
    """The state of a commit in one context."""

    state: StatusState
    description: str  # one line of plain text


class Deployment(NamedTuple):
    """The last deployment of a commit to an environment."""

    number: str
    state: StatusState | None  # None for one that counts no more


class StatusHost(Protocol):
    """The commits of a repository, on the host of its pipeline. Its methods raise PublishError if the host refuses."""

    @property
    def longest_description(self) -> int:
        """How many characters the description of a status may have."""
        ...

    def read_commit(self) -> str:
        """Read the commit that people see: of a pull request its last one, not what merging it makes. Raises
        ConfigError if the host does not say.
        """
        ...

    def find_status(self, commit: str, context: str) -> Status | None:
        """Find what a context has said last of a commit."""
        ...

    def post_status(self, commit: str, context: str, status: Status) -> None:
        """Say it of a commit, with a link to the log of the job."""
        ...

    def find_deployment(self, commit: str, environment: str) -> Deployment | None:
        """Find the last deployment of a commit that gitsync recorded. Raises ConfigError if the host has none."""
        ...

    def post_deployment(self, commit: str, environment: str, status: Status, running: str) -> None:
        """Record the state of a deployment: of the one that is `running`, or of a new one if that is ""."""
        ...


class PipelineHost(PullRequestHost, StatusHost, Protocol):
    """All that the host of a pipeline can do."""


def choose_request(requests: Iterable[PullRequest]) -> PullRequest | None:
    """Choose the open one of the pull requests of a branch, else the latest."""
    found = sorted(requests, key=lambda request: (request.state is RequestState.OPEN, int(request.number)))
    return found[-1] if found else None


@dataclass(frozen=True, slots=True)
class HostClient:
    """One of the programs, with the environment of the job."""

    program: Program
    environment: Mapping[str, str] = field(repr=False)
    use: HostUse  # what the job does with it
    hint: str  # how to grant it the right for that

    def run(self, arguments: Sequence[str], stdin: str = "") -> str:
        """Run a command, and return what it prints. Raises PublishError if it fails."""
        call = ProgramCall(
            program=self.program,
            command=[self.program.value, *arguments],
            environment=select_environment(self.program, self.environment),
            timeout=_TIMEOUT,
            stdin=(stdin.encode(),) if stdin else (),
        )
        try:
            ended = run(call)
        except TimeoutError:
            raise self._fail(f"did not end within {_TIMEOUT:g} seconds", "Run the job again.") from None
        except OSError as error:
            raise self._fail(f"cannot be started: {error.strerror}", f"Install {self.program.value}.") from error
        if ended.code != 0:
            lines = (ended.complaint or ended.output).decode("utf-8", "replace").splitlines()
            reason = next(filter(None, (line.strip() for line in lines)), "it gave no reason")
            raise self._fail(f"failed: {reason[:300].rstrip('.')}", self.hint)
        return ended.output.decode("utf-8", "replace")

    def read(self, arguments: Sequence[str], stdin: str = "") -> list[Any]:
        """Read the JSON documents that a command prints: one for each page. Raises PublishError if there are none."""
        text = self.run(arguments, stdin).strip()
        documents: list[Any] = []
        decoder = json.JSONDecoder()
        try:
            # With `--paginate`, a program prints one document after the other.
            while text:
                document, end = decoder.raw_decode(text)
                documents.append(document)
                text = text[end:].lstrip()
        except (ValueError, RecursionError):
            # Without the page that cannot be read, the comment to replace could be missing.
            documents = []
        if not documents:
            raise self._fail("printed no JSON", f"Update {self.program.value}.")
        return documents

    def make_unexpected(self) -> PublishError:
        """Make the error for an answer of another form than the documented one."""
        return self._fail("returned an unexpected response", f"Update {self.program.value}.")

    def _fail(self, what: str, hint: str) -> PublishError:
        return PublishError(f"{self.use.value}: {self.program.value} {what}.", hint=hint)


def read_branch(ref: str) -> str:
    """Read the name of a branch from its ref; "" for any other ref: nothing can be merged to `refs/pull/1/merge`."""
    return ref.removeprefix(HEADS) if ref.startswith(HEADS) else ""


def get_variable(environment: Mapping[str, str], name: str) -> str:
    """Get a variable that the host sets in every job. Raises ConfigError without it."""
    value = environment.get(name, "")
    if not value:
        raise ConfigError(
            f"{name} is not set. The host sets it in every job.", hint="Run this command in a job of the host."
        )
    return value
