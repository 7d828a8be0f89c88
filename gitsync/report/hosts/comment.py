"""Posts the comment that a pull request has about a target: a new report replaces it.

The comment is found by its first line, among those of the identity that posts. Anybody may write a comment with such a
line, and could edit it later.
"""

from __future__ import annotations

import re

from gitsync.errors import ConfigError
from gitsync.report.hosts.host import PullRequestHost
from gitsync.report.markdown import MARKER

# Two dashes in a row would end the HTML comment that has the name.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._ ]|-(?!-)){0,59}")


def post(host: PullRequestHost, number: str, text: str, name: str = "") -> bool:
    """Post a report on a pull request, or replace the comment with the report before it. Returns whether there was one.

    `name` distinguishes the comments of several targets. Raises ConfigError if it cannot be part of a comment's first
    line.
    """
    mark = make_mark(name)
    log = f"[Log of this run]({host.log_url})" if host.log_url else ""
    parts = (f"**{name}**" if name else "", text.removeprefix(MARKER).strip(), log)
    content = mark + "\n" + "\n\n".join(part for part in parts if part) + "\n"
    # Only comments of its own: anybody may write one with this first line, and could edit it later.
    old = next((comment for comment in host.list_own(number) if comment.text.partition("\n")[0].strip() == mark), None)
    if old is None:
        host.create(number, content)
    elif old.text.splitlines() != content.splitlines():  # hosts change the ends of lines
        host.replace(number, old, content)
    return old is not None


def check_name(name: str) -> None:
    """Check the name of a target, which is a part of a comment's first line, of a context, and of paths of a host.
    Raises ConfigError if it does not fit.
    """
    if name and not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} is not a valid name of a target.",
            hint="Use letters, digits, spaces, dots, underscores and single dashes; 60 characters at most.",
        )


def make_mark(name: str) -> str:
    """Make the first line of a comment, which no page shows. Raises ConfigError if the name does not fit into it."""
    check_name(name)
    return f"{MARKER.removesuffix(' -->')} {name} -->" if name else MARKER
