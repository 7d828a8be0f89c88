"""Run git in one repository: the only place that does.

GIT_DIR always names the repository, so git never searches for one, and the content of a folder cannot pose as a
repository. All arguments come from gitsync. This module turns the error output of git into a readable message.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gitsync.errors import GitsyncError, SourceError
from gitsync.git.complaint import explain_complaint
from gitsync.model.secret import Secret
from gitsync.processes.grace_period import Grace
from gitsync.processes.programs import Program, ProgramCall, run, select_environment


class GitFailedError(GitsyncError):
    """git refused or took too long. It does not leave `repo`: callers raise what it means to them.

    `timed_out` says that it was killed, and that trying again would take as long.
    """

    def __init__(self, message: str, *, hint: str = "", timed_out: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.timed_out = timed_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A git directory that gitsync made. `environment` is added to what git gets of the process's own, `timeout` is in
    seconds for each command, `secrets` are kept out of every message. Once `grace` has begun, git ends with it.
    """

    folder: Path
    environment: Mapping[str, str] = field(repr=False)
    timeout: float
    secrets: tuple[Secret, ...] = ()
    grace: Grace = field(default_factory=Grace)

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run `git ARGUMENTS` to its end and return what it printed; GitFailedError otherwise."""
        call = self._call(arguments, stdin)
        try:
            ended = run(call)
        except TimeoutError:
            raise self._overtime(arguments[0], call) from None
        except OSError as error:
            raise _not_installed() from error
        if ended.code:
            raise self._failure(arguments[0], ended.complaint)
        return ended.output

    def succeeds(self, *arguments: str) -> bool:
        """Whether `git ARGUMENTS` ends well, for questions that git answers so."""
        try:
            self.run(*arguments)
        except GitFailedError:
            return False
        return True

    def line(self, *arguments: str) -> str:
        """Run git and return the one line that it prints."""
        return self.run(*arguments).decode("utf-8", "replace").rstrip("\n")

    def _call(self, arguments: tuple[str, ...], stdin: bytes) -> ProgramCall:
        named = {"GIT_DIR": str(self.folder), "GIT_CEILING_DIRECTORIES": str(self.folder.parent)}
        return ProgramCall(
            program=Program.GIT,
            command=("git", *arguments),
            environment={**select_environment(Program.GIT, os.environ), **self.environment, **named},
            timeout=self.timeout,
            grace=self.grace,
            folder=self.folder if self.folder.is_dir() else Path("/"),
            stdin=stdin,
        )

    def _overtime(self, command: str, call: ProgramCall) -> GitFailedError:
        if call.was_told_to_end:
            return GitFailedError(
                f"git {command} was stopped because the run was stopped.", hint="Run gitsync again.", timed_out=True
            )
        return GitFailedError(
            f"git {command} did not end within {self.timeout:g} seconds.",
            hint="Check that the host is reachable, or raise --git-timeout.",
            timed_out=True,
        )

    def _failure(self, command: str, complaint: bytes) -> GitFailedError:
        text = complaint.decode("utf-8", "replace").strip()
        for secret in self.secrets:
            text = text.replace(secret.reveal(), "***")
        message, hint = explain_complaint(command, text)
        return GitFailedError(message, hint=hint)


def _not_installed() -> SourceError:
    return SourceError("git cannot be started.", hint="Install git 2.31 or newer, and add it to the PATH.")
