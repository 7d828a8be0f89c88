"""Make a commit from files, without a working tree and an index: one `git fast-import`
(docs/reference/design.md#git-access).

It becomes a ref in the mirror of gitsync; it is not visible to others before it is pushed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gitsync.repository.git.git_command import Repository
from gitsync.repository.git.state.former_tree import Files

SKIP_CI: Final = " [skip ci]"
"""How the subject of a status commit ends, so that it starts no pipeline."""

_REF = "refs/gitsync/written"
_NOT_IN_A_NAME = re.compile(r"[<>\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Author:
    """The author of status commits."""

    name: str = "gitsync"
    email: str = "gitsync@localhost"

    def __str__(self) -> str:
        return f"{_NOT_IN_A_NAME.sub('', self.name).strip()} <{_NOT_IN_A_NAME.sub('', self.email).strip()}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit to write."""

    parent: str | None  # a commit id, None for the first commit of a branch
    files: Files  # by path; nothing else is in the commit
    message: str
    author: Author
    time: datetime  # written in UTC and whole seconds
    executable: frozenset[str] = frozenset()  # the paths of files that are programs


def write_commit(repository: Repository, commit: Commit) -> str:
    """Write a commit and return its id. GitError if git refuses it."""
    stream = tuple(_format_stream(commit))  # not as one text: that would be all records of an estate once more
    # A commit need not follow the one that the ref had before, so the ref is moved by force.
    return repository.run("fast-import", "--quiet", "--done", "--force", stdin=stream).decode().rstrip("\n")


def format_status_message(headline: str, revision: str | None) -> str:
    """Format the headline, marked so that it starts no pipeline, and the revision of the status."""
    subject = " ".join(headline.split()) + SKIP_CI
    return f"{subject}\n\nRevision: {revision}\n" if revision else f"{subject}\n"


def _format_stream(commit: Commit) -> Iterator[bytes]:
    """Format a commit in git's own words (git-fast-import(1))."""
    yield b"feature done\n"
    yield f"commit {_REF}\nmark :1\ncommitter {commit.author} {int(commit.time.timestamp())} +0000\n".encode()
    yield from _format_data(commit.message.encode())
    if commit.parent:
        yield f"from {commit.parent}\n".encode()
    for path, content in sorted(commit.files.items()):
        quoted = '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        if content is None:
            yield f"D {quoted}\n".encode()
        else:
            mode = "100755" if path in commit.executable else "100644"
            yield f"M {mode} inline {quoted}\n".encode()
            yield from _format_data(content)
    yield b"get-mark :1\n"  # prints the id of the commit
    yield b"done\n"


def _format_data(content: bytes) -> Iterator[bytes]:
    yield f"data {len(content)}\n".encode()
    yield content
    yield b"\n"
