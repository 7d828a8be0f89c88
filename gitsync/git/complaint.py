"""Turns the error output of git into a message with a hint.

git reports causes only as English text (the runner fixes its language). The text is shown unchanged, without control
characters, which a remote may have added; the table only adds hints. gitsync never decides by this text.
"""

from __future__ import annotations

import re

_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NO_NEWS = ("hint:", "To ")
_LINES = 6
_REDIRECTED = (
    "The server redirects, and git sends no token after a redirect: use the URL it redirects to, often the "
    "same with .git at the end."
)

_HINTS: tuple[tuple[str, str], ...] = (
    ("dubious ownership", "Trust the folder: git config --global --add safe.directory FOLDER."),
    ("terminal prompts disabled", "Set GITSYNC_GIT_TOKEN to a token that may read the repository."),
    ("could not read Username", "Set GITSYNC_GIT_TOKEN to a token that may read the repository."),
    ("could not read Password", "Set GITSYNC_GIT_TOKEN to a token that may read the repository."),
    ("Authentication failed", "The token was not accepted: check GITSYNC_GIT_TOKEN, its scopes and its expiry."),
    ("returned error: 401", "The token was not accepted: check GITSYNC_GIT_TOKEN, its scopes and its expiry."),
    ("returned error: 403", "Grant the token read access to the contents, and write access for status."),
    ("returned error: 301", _REDIRECTED),
    ("returned error: 302", _REDIRECTED),
    ("returned error: 307", _REDIRECTED),
    ("returned error: 308", _REDIRECTED),
    ("marked as read only", "The key is read-only: allow write access for it, or use --status-dir."),
    ("Permission denied (", "The ssh key was not accepted: check the agent, or GIT_SSH_COMMAND."),
    ("Host key verification failed", "Add the host to known_hosts (ssh-keyscan), after checking its fingerprint."),
    ("Could not resolve host", "Check the host's name, and the proxy if there is one."),
    ("certificate problem", "Set the CA with GIT_SSL_CAINFO, or http.sslCAInfo in the settings of git."),
    ("certificate verification failed", "Set the CA with GIT_SSL_CAINFO, or http.sslCAInfo."),
    ("transport '", "Use https://, ssh:// or file://."),
    ("does not appear to be a git repository", "Check the URL of the repository."),
    ("not found", "Check the URL; a token without access to the repository gets the same error."),
    ("protected branch", "Allow this identity to push to the branch, or choose another with --status-branch."),
    ("branch is currently checked out", "Switch the work tree to another branch."),
    ("No space left", "Free some space in the temporary folder (TMPDIR)."),
)


def explain_complaint(command: str, complaint: str) -> tuple[str, str]:
    """Return (message, hint) for what git wrote on stderr; the hint is "" if none fits."""
    text = _CONTROL.sub("", complaint)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(_NO_NEWS)]
    reason = " / ".join(lines[-_LINES:]) or "git gave no reason"
    hint = next((hint for needle, hint in _HINTS if needle in text), "")
    return f"git {command} failed: {reason.rstrip('.')}.", hint
