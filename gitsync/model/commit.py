"""A commit of the source, as reports show it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCommit:
    """The last commit that changed a manifest before it was removed from git.

    Author and subject are text from git: short, without e-mail addresses, and as untrusted as a manifest. `doubt` says
    why the commit is not known; the others are "" then.
    """

    commit: str = ""
    author: str = ""
    subject: str = ""
    doubt: str = ""
