"""Posts the comment that a pull request has about a target: a new report replaces it. Each host does so with its own
program (`gh`, `glab`, `az`), which signs in as the job does.

The comment is found by its first line, among those of the identity that posts. Anybody may write a comment with such
a line, and could edit it later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from gitsync.errors import ConfigError, PublishError
from gitsync.processes.programs import Program, ProgramCall, run, select_environment
from gitsync.report.markdown import MARKER

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._ ]|-(?!-)){0,59}")
_TIMEOUT = 120.0  # seconds of one request, with the retries of the program


class Comment(NamedTuple):
    """A comment as its host knows it. `address` has what the host needs to replace it."""

    address: tuple[str, ...]
    text: str


class CommentHost(Protocol):
    """The pull request of a pipeline, on the host that runs it. Its methods raise PublishError if the host refuses."""

    @property
    def log_url(self) -> str:
        """Where people read the log of this job; "" if the host does not say."""
        ...

    def list_own(self) -> Iterable[Comment]:
        """List the comments that the identity of the pipeline wrote, the oldest first."""
        ...

    def create(self, text: str) -> None: ...

    def replace(self, comment: Comment, text: str) -> None: ...


def post(host: CommentHost, text: str, name: str = "") -> bool:
    """Post a report, or replace the comment with the report before it. Returns whether there was
    one.

    `name` distinguishes the comments of several targets. Raises ConfigError if it cannot be part of a
    comment's first line.
    """
    mark = make_mark(name)
    log = f"[Log of this run]({host.log_url})" if host.log_url else ""
    parts = (f"**{name}**" if name else "", text.removeprefix(MARKER).strip(), log)
    content = mark + "\n" + "\n\n".join(part for part in parts if part) + "\n"
    # Only comments of its own: anybody may write one with this first line, and could edit it later.
    old = next((one for one in host.list_own() if one.text.partition("\n")[0].strip() == mark), None)
    if old is None:
        host.create(content)
    elif old.text.splitlines() != content.splitlines():  # hosts change the ends of lines
        host.replace(old, content)
    return old is not None


def make_mark(name: str) -> str:
    """Make the first line of a comment, which no page shows. Raises ConfigError if the name does
    not fit into it.
    """
    if name and not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} is no name of a comment.",
            hint="Use letters, digits, blanks, dots, underscores and single dashes; 60 characters at most.",
        )
    return f"{MARKER.removesuffix(' -->')} {name} -->" if name else MARKER


@dataclass(frozen=True, slots=True)
class HostClient:
    """One of the programs, with the environment of the job. `hint` says how to give it the right to comment."""

    program: Program
    environment: Mapping[str, str] = field(repr=False)
    hint: str

    def run(self, arguments: Sequence[str], stdin: str = "") -> str:
        """Run a command, and return what it prints. Raises PublishError if it fails."""
        call = ProgramCall(
            program=self.program,
            command=[self.program.value, *arguments],
            environment=select_environment(self.program, self.environment),
            timeout=_TIMEOUT,
            stdin=stdin.encode(),
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

    def read(self, arguments: Sequence[str]) -> list[Any]:
        """Read the JSON documents that a command prints: one for each page. Raises PublishError if
        there are none.
        """
        text = self.run(arguments).strip()
        documents: list[Any] = []
        decoder = json.JSONDecoder()
        try:
            while text:
                document, end = decoder.raw_decode(text)
                documents.append(document)
                text = text[end:].lstrip()
        except (ValueError, RecursionError):
            documents = []
        if not documents:
            raise self._fail("printed no JSON", f"Update {self.program.value}.")
        return documents

    def make_unexpected(self) -> PublishError:
        """Make the error for an answer of another form than the documented one."""
        return self._fail("gave an answer of an unknown form", f"Update {self.program.value}.")

    def _fail(self, what: str, hint: str) -> PublishError:
        return PublishError(f"The comment was not posted: {self.program.value} {what}.", hint=hint)


def get_variable(environment: Mapping[str, str], name: str) -> str:
    """Get a variable that the host sets in every job. Raises ConfigError without it."""
    value = environment.get(name, "")
    if not value:
        raise ConfigError(f"{name} is not set, so the pull request is unknown.", hint="Run it in a job of the host.")
    return value
