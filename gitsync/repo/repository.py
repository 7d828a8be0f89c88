"""Run git in one repository: the only place that starts it.

git runs with arguments that gitsync made, no terminal, no controlling session, and a time limit after which it and
all that it started (ssh, the https helper) are killed; killing git alone would leave us waiting for its children.
What it prints on failure becomes a sentence for people here, once.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitsync.errors import GitsyncError, SourceError
from gitsync.model.secret import Secret
from gitsync.repo.complaint import explain

# A hook that runs gitsync sets these; they would lead git to another repository than the one it is run in.
_LEADING_ELSEWHERE = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
)


class GitFailedError(GitsyncError):
    """git refused or took too long. It does not leave `repo`: callers raise what it means to them.

    `timed_out` says that it was killed, and that trying again would take as long.
    """

    def __init__(self, message: str, *, hint: str = "", timed_out: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.timed_out = timed_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A folder that git runs in. `environment` is added to that of the process, `timeout` is in seconds for each
    command, `secrets` are kept out of every message. `is_bare` says that the folder is the repository itself: git then
    need not look for one, which a person's settings may forbid (safe.bareRepository).
    """

    folder: Path
    environment: Mapping[str, str] = field(repr=False)
    timeout: float
    secrets: tuple[Secret, ...] = ()
    is_bare: bool = False

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run `git ARGUMENTS` to its end and return what it printed; GitFailedError otherwise."""
        guard = self._start(arguments)  # GitPython's: it ends the process when it is thrown away
        process = guard.proc
        try:
            output, complaint = process.communicate(stdin, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            raise GitFailedError(
                f"git {arguments[0]} did not end within {self.timeout:g} seconds.",
                hint="Is the host reachable? --git-timeout gives it longer.",
                timed_out=True,
            ) from None
        finally:
            _end(process)
        if process.returncode:
            raise self._failure(arguments[0], complaint)
        return bytes(output)

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

    def _start(self, arguments: tuple[str, ...]) -> Any:
        """Start git with GitPython. That refuses to be imported where git is not installed, and takes 80 ms to be
        imported: a plain folder is read without it.
        """
        try:
            from git import Git, GitCommandNotFound  # noqa: PLC0415 - see above
        except ImportError as error:
            raise _not_installed() from error
        unset = [word for name in _LEADING_ELSEWHERE if name in os.environ for word in ("-u", name)]
        try:
            return Git(self.folder).execute(
                [*(["env", *unset] if unset else []), "git", *(["--git-dir=."] if self.is_bare else []), *arguments],
                istream=subprocess.PIPE,
                as_process=True,
                env=self.environment,
                start_new_session=True,  # no terminal to ask on, and a group of its own to kill
            )
        except (GitCommandNotFound, OSError) as error:
            raise _not_installed() from error

    def _failure(self, command: str, complaint: bytes) -> GitFailedError:
        text = complaint.decode("utf-8", "replace").strip()
        for secret in self.secrets:
            text = text.replace(secret.reveal(), "***")
        message, hint = explain(command, text)
        return GitFailedError(message, hint=hint)


def _not_installed() -> SourceError:
    return SourceError("git cannot be started.", hint="Install git 2.31 or newer, and have it on the PATH.")


def _end(process: Any) -> None:
    """Kill what is left of the process and its children, and close its pipes."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if not stream.closed:
            stream.close()
