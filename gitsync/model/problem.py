"""A problem of the input: what is wrong, where, and how to fix it. Problems are collected, not thrown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


@dataclass(frozen=True, slots=True, order=True)
class SourceLocation:
    """Where a manifest stands: path inside the source, and its first line (from 1)."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class Level(StrEnum):
    """A note is about something that gitsync does not use: reports count it, and -v lists it."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with the input.

    `code` is stable and meant for machines (PascalCase); `field` is a path such as `spec.a.b[0]`, or "". `unit` is the
    name of the unit that it is about, "" for the folder of its file; `parts` are the folders that a unit which is not
    built has files in. `rendered_by` are the names of the units that made the manifest of the file; empty if it is a
    document of that.
    `invalidates`: an error makes its manifest invalid, so nothing is sent. Without it, a run fails the resource only
    at the stage that the problem is about. `is_unread`: it is about a document with an ASO group that is not read,
    such as a template. That is a warning of a run, and an error of `validate` and of a run with --strict.
    """

    code: str
    message: str
    hint: str = ""
    level: Level = Level.ERROR
    path: str = ""
    line: int = 0
    field: str = ""
    invalidates: bool = True
    unit: str = ""
    parts: tuple[str, ...] = ()
    rendered_by: tuple[str, ...] = ()
    is_unread: bool = False

    @property
    def is_error(self) -> bool:
        return self.level is Level.ERROR

    @property
    def is_note(self) -> bool:
        return self.level is Level.NOTE

    @property
    def holds_deletes(self) -> bool:
        """Return whether it may hide a manifest: an error does, and a note, since what it is about may be one. A document
        with a group like none of ASO is another operator's.
        """
        return self.is_error or (self.is_note and self.code != UNKNOWN_GROUP)

    @property
    def place(self) -> str:
        """The file and line for people: `net/hub.yaml:3`; "" for a problem of no file."""
        return f"{self.path}:{self.line}" if self.path and self.line else self.path

    @property
    def order(self) -> tuple[str, int, str, str, str]:
        """Sort key: as a reader goes through the files."""
        return (self.path, self.line, self.field, self.code, self.message)


UNKNOWN_GROUP: Final = "UnknownGroup"
EMPTY_SOURCE = "EmptySource"
TOO_MANY_DELETES = "TooManyDeletes"
SUPERSEDED = "RevisionSuperseded"
AGENT_UNKNOWN = "AgentUnknown"
KEY_MISSING = "DigestKeyMissing"

REFUSALS: Final = frozenset({TOO_MANY_DELETES, SUPERSEDED, AGENT_UNKNOWN, KEY_MISSING})
"""The codes of problems for which a sync is refused as a whole, before anything was touched; a plan goes on and shows
them.
"""


def is_refused(problems: Iterable[Problem]) -> bool:
    """Return whether a sync with these problems is refused."""
    return any(problem.code in REFUSALS for problem in problems)
