"""The last commit of a manifest that was removed from git, as text."""

from __future__ import annotations

from gitsync.logging import escape_controls
from gitsync.model.commit import LastCommit
from gitsync.report.headline import shorten_revision


def format_last_commit(commit: LastCommit | None) -> str:
    """Its id, author and subject on one line, or why it is not known; "" for a resource that is in git."""
    if commit is None:
        return ""
    if commit.doubt:
        return f"not known: {commit.doubt}"
    author = f" by {commit.author}" if commit.author else ""
    subject = f": {commit.subject}" if commit.subject else ""
    return escape_controls(f"{shorten_revision(commit.commit)}{author}{subject}")
