"""Run git in one repository. No other module does.

GIT_DIR always names the repository, so git never searches for one, and the content of a folder cannot pose as a
repository. All arguments come from gitsync. This module turns the error output of git into a readable message.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gitsync.errors import GitError, SourceError
from gitsync.model.secret import Secret
from gitsync.settings.processes.programs import Grace, Program, ProgramCall, run, select_environment

_REMOTE_COMMANDS = frozenset({"fetch", "ls-remote", "push"})
_LONGEST_KEPT = 2**18  # bytes of an answer that is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A git directory that gitsync made."""

    folder: Path
    environment: Mapping[str, str] = field(repr=False)  # added to what git gets of the process's own
    timeout: float  # seconds, for each command
    secrets: tuple[Secret, ...] = ()  # kept out of every message
    grace: Grace = field(default_factory=Grace)  # once it has begun, git ends with it
    _answers: dict[tuple[str, ...], bytes] = field(default_factory=dict, init=False, repr=False, compare=False)

    def run(self, *arguments: str, stdin: Sequence[bytes] = ()) -> bytes:
        """Run `git ARGUMENTS` to its end and return what it printed; GitError otherwise."""
        call = self._call(arguments, stdin)
        try:
            result = run(call)
        except TimeoutError:
            raise self._make_timeout_error(arguments[0], call) from None
        except OSError as error:
            hint = "Install git 2.31 or newer, and add it to the PATH."
            raise SourceError("git cannot be started.", hint=hint) from error
        if result.code:
            raise self._make_failure(arguments[0], result.complaint)
        return result.output

    def query(self, *arguments: str) -> bytes:
        """Run git to read objects that are named by their full ids. They never change, so git runs once, unless the
        answer is long, as for a large tree.
        """
        answer = self._answers.get(arguments)
        if answer is None:
            # A failure is not kept, since objects may be fetched.
            answer = self.run(*arguments)
            if len(answer) <= _LONGEST_KEPT:
                self._answers[arguments] = answer
        return answer

    def confirms(self, *arguments: str) -> bool:
        """Return whether `git ARGUMENTS` succeeds, for a check about objects that are named by their full ids."""
        try:
            # A yes is kept.
            self.query(*arguments)
        except GitError:
            return False
        return True

    def succeeds(self, *arguments: str) -> bool:
        """Return whether `git ARGUMENTS` succeeds, for checks that git answers by its exit code."""
        try:
            self.run(*arguments)
        except GitError:
            return False
        return True

    def line(self, *arguments: str) -> str:
        """Run git and return the one line that it prints."""
        return self.run(*arguments).decode("utf-8", "replace").rstrip("\n")

    @property
    def is_shallow(self) -> bool:
        """Whether the history is cut off: git keeps a list of the commits where it is (gitrepository-layout(5))."""
        return (self.folder / "shallow").exists()

    def _call(self, arguments: tuple[str, ...], stdin: Sequence[bytes]) -> ProgramCall:
        location_variables = {"GIT_DIR": str(self.folder), "GIT_CEILING_DIRECTORIES": str(self.folder.parent)}
        return ProgramCall(
            program=Program.GIT,
            command=("git", *arguments),
            environment={**select_environment(Program.GIT, os.environ), **self.environment, **location_variables},
            timeout=self.timeout,
            grace=self.grace,
            folder=self.folder if self.folder.is_dir() else Path("/"),
            stdin=stdin,
            has_secrets=False,  # none that is not in the repository, which is a folder
        )

    def _make_timeout_error(self, command: str, call: ProgramCall) -> GitError:
        if call.was_told_to_end:
            return GitError(
                f"git {command} was stopped because the run was stopped.", hint="Run gitsync again.", timed_out=True
            )
        return GitError(
            f"git {command} did not end within {self.timeout:g} seconds.",
            hint="Check that the host is reachable, or raise --git-timeout.",
            timed_out=True,
            is_outage=command in _REMOTE_COMMANDS,
        )

    def _make_failure(self, command: str, complaint: bytes) -> GitError:
        text = complaint.decode("utf-8", "replace").strip()
        for secret in self.secrets:
            text = text.replace(secret.reveal(), "***")
        message, hint = explain_complaint(command, text)
        return GitError(message, hint=hint, is_outage=_tells_outage(text))


# Turns the error output of git into a message with a hint.
#
# git reports causes only as English text (the runner fixes its language). The text is shown unchanged, without control
# characters, which a remote may have added; the table only adds hints. gitsync decides nothing by this text but the
# exit code of what it refuses anyway: 75 if a server did not answer, else 2.


_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NO_NEWS = ("hint:", "To ")
_LINES = 6
_REDIRECTED = (
    "The server redirects, and git sends no token after a redirect: use the URL it redirects to, often the "
    "same with .git at the end."
)

_OUTAGE = re.compile(
    r"""
      Could\ not\ resolve\ (host|proxy) | Temporary\ failure\ in\ name\ resolution
    | Failed\ to\ connect | Connection\ (refused|timed\ out|(was\ )?reset|closed\ by\ remote\ host)
    | Operation\ timed\ out | No\ route\ to\ host | Network\ is\ unreachable
    | Empty\ reply\ from\ server | RPC\ failed;\ curl
    | returned\ error:\ (408|429|5\d\d)
    """,
    re.VERBOSE,
)

_NOT_REACHED = "Check the URL of the remote (`git remote -v`), the network, and the proxy if there is one."

_OUTRUN = "Run this again: another run has pushed to the branch in the meantime."

_NAME_TAKEN = "Choose another branch with --status-branch: git keeps no branch whose name is the folder of another."

_FULL = ("No space left", "Disk quota exceeded")

_FULL_SERVER = re.compile(rf"^remote: .*(?:{'|'.join(_FULL)})", re.MULTILINE)
"""What the git of the server writes if its disk is full; a local remote has a disk of its own too."""

_HINTS: tuple[tuple[str, str], ...] = (
    # A ref cannot be locked for more than one reason, and a race is only some of them.
    ("exists; cannot create", _NAME_TAKEN),
    ("refname conflict", _NAME_TAKEN),
    (".lock': Permission denied", "Grant the identity write access to the repository, or use --status-dir."),
    ("(stale info)", _OUTRUN),
    ("(fetch first)", _OUTRUN),
    ("(non-fast-forward)", _OUTRUN),
    ("but expected", _OUTRUN),
    ("reference already exists", _OUTRUN),
    ("reference does not exist", _OUTRUN),
    ("unable to resolve reference", _OUTRUN),
    ("incorrect old value", _OUTRUN),
    (".lock': File exists", _OUTRUN),
    ("dubious ownership", "Trust the folder: git config --global --add safe.directory FOLDER."),
    ("terminal prompts disabled", "Set GITSYNC_GIT_TOKEN to a token that may read the repository."),
    ("could not read Username", "Set GITSYNC_GIT_TOKEN to a token that may read the repository."),
    ("could not read Password", "Set GITSYNC_GIT_TOKEN to a token that may read the repository."),
    ("Authentication failed", "The token was not accepted: check GITSYNC_GIT_TOKEN, its scopes and its expiry."),
    ("returned error: 401", "The token was not accepted: check GITSYNC_GIT_TOKEN, its scopes and its expiry."),
    ("returned error: 403", "Grant the token read access to the contents, and write access to push."),
    ("returned error: 301", _REDIRECTED),
    ("returned error: 302", _REDIRECTED),
    ("returned error: 307", _REDIRECTED),
    ("returned error: 308", _REDIRECTED),
    ("marked as read only", "The key is read-only: allow write access for it, or use --status-dir."),
    ("Permission denied (", "The ssh key was not accepted: check the agent, or GIT_SSH_COMMAND."),
    ("Host key verification failed", "Add the host to known_hosts (ssh-keyscan), after checking its fingerprint."),
    ("Could not resolve host", "Check the host's name, and the proxy if there is one."),
    ("Failed to connect", _NOT_REACHED),
    ("Connection refused", _NOT_REACHED),
    ("Connection timed out", _NOT_REACHED),
    ("certificate problem", "Set the CA with GIT_SSL_CAINFO, or http.sslCAInfo in the git settings."),
    ("certificate verification failed", "Set the CA with GIT_SSL_CAINFO, or http.sslCAInfo."),
    ("transport '", "Use https://, ssh:// or file://."),
    ("does not appear to be a git repository", "Check the URL of the repository."),
    ("not found", "Check the URL; a token without access to the repository gets the same error."),
    ("protected branch", "Allow this identity to push to the branch, or choose another with --status-branch."),
    ("branch is currently checked out", "Switch the work tree to another branch."),
    *((full, "Free some space in the temporary folder (TMPDIR).") for full in _FULL),
    ("cannot lock ref", _OUTRUN),
    ("(failed to update ref)", _OUTRUN),  # many servers do not show why
)


def explain_complaint(command: str, complaint: str) -> tuple[str, str]:
    """Return (message, hint) for what git wrote on stderr; the hint is "" if none fits."""
    text = _CONTROL.sub("", complaint)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(_NO_NEWS)]
    reason = " / ".join(lines[-_LINES:]) or "git gave no reason"
    hint = next((hint for needle, hint in _HINTS if needle in text), "")
    hint = "Free some space on the server of the repository." if _FULL_SERVER.search(text) else hint
    return f"git {command} failed: {reason.rstrip('.')}.", hint


def _tells_outage(complaint: str) -> bool:
    """Return whether git reports that a server did not answer, or is out of order."""
    # What the server itself reports is text of its hooks, and counts for nothing.
    own = (line for line in complaint.splitlines() if not line.startswith("remote:"))
    return any(map(_OUTAGE.search, own))
