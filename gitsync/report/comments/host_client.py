"""The command lines of hosts (`gh`, `glab`, `az`), which sign in as the job does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitsync.errors import ConfigError, PublishError
from gitsync.processes.programs import Program, ProgramCall, run, select_environment

_TIMEOUT = 120.0  # seconds of one request, with the retries of the program


@dataclass(frozen=True, slots=True)
class HostClient:
    """One of the programs, with the environment of the job. `hint` says how to give it the right to comment."""

    program: Program
    environment: Mapping[str, str] = field(repr=False)
    hint: str

    def run(self, arguments: Sequence[str], stdin: str = "") -> str:
        """What a command prints. PublishError if it fails."""
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
            raise self._fail(f"failed: {_summarise(ended.complaint or ended.output)}", self.hint)
        return ended.output.decode("utf-8", "replace")

    def read(self, arguments: Sequence[str]) -> list[Any]:
        """The JSON documents that a command prints: one for each page. PublishError if there are none."""
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
        """The error for an answer of another form than the documented one."""
        return self._fail("gave an answer of an unknown form", f"Update {self.program.value}.")

    def _fail(self, what: str, hint: str) -> PublishError:
        return PublishError(f"The comment was not posted: {self.program.value} {what}.", hint=hint)


def get_variable(environment: Mapping[str, str], name: str) -> str:
    """A variable that the host sets in every job. ConfigError without it."""
    value = environment.get(name, "")
    if not value:
        raise ConfigError(f"{name} is not set, so the pull request is unknown.", hint="Run it in a job of the host.")
    return value


def _summarise(complaint: bytes) -> str:
    lines = (line.strip() for line in complaint.decode("utf-8", "replace").splitlines())
    return next(filter(None, lines), "it gave no reason")[:300].rstrip(".")
