"""The comment that a pull request has about a target, and how a new report replaces it.

The comment is found by its first line, among those of the identity that posts. Anybody may write a comment with such
a line, and could edit it later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from gitsync.errors import ConfigError
from gitsync.report.markdown import MARKER

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._ ]|-(?!-)){0,59}")


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
        """The comments that the identity of the pipeline wrote, the oldest first."""
        ...

    def create(self, text: str) -> None: ...

    def replace(self, comment: Comment, text: str) -> None: ...


def post(host: CommentHost, text: str, name: str = "") -> bool:
    """Post a report, or replace the comment with the report before it. True if there was one.

    `name` tells apart the comments of several targets. ConfigError if it cannot be part of a comment's first line.
    """
    mark = make_mark(name)
    content = _compose(mark, text, name, host.log_url)
    old = next((comment for comment in host.list_own() if _first_line(comment.text) == mark), None)
    if old is None:
        host.create(content)
    elif old.text.splitlines() != content.splitlines():  # hosts change the ends of lines
        host.replace(old, content)
    return old is not None


def make_mark(name: str) -> str:
    """The first line of a comment, which no page shows. ConfigError if the name does not fit into it."""
    if name and not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} is no name of a comment.",
            hint="Use letters, digits, blanks, dots, underscores and single dashes; 60 characters at most.",
        )
    return f"{MARKER.removesuffix(' -->')} {name} -->" if name else MARKER


def _compose(mark: str, text: str, name: str, log_url: str) -> str:
    body = text.removeprefix(MARKER).strip()
    parts = (f"**{name}**" if name else "", body, f"[Log of this run]({log_url})" if log_url else "")
    return mark + "\n" + "\n\n".join(part for part in parts if part) + "\n"


def _first_line(text: str) -> str:
    return text.partition("\n")[0].strip()
