"""A problem of the input: what is wrong, where, and how to fix it. Problems are collected, not raised."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


@dataclass(frozen=True, slots=True, order=True)
class SourceLocation:
    """The location of a manifest: its path in the source, and its first line (from 1)."""

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
    """One thing that is wrong with the input."""

    code: str  # stable, in PascalCase, and meant for machines
    message: str
    hint: str = ""
    level: Level = Level.ERROR
    path: str = ""
    line: int = 0  # 0 if it is not known
    field: str = ""  # a path such as `spec.a.b[0]`, or ""
    invalidates: bool = True
    """It makes its manifest invalid, so nothing is sent; if not, a run fails the resource only at the stage that the
    problem is about.
    """

    unit: str = ""  # the name of the unit, "" for the folder of the file
    parts: tuple[str, ...] = ()  # the folders with files of a unit that is not built
    rendered_by: tuple[str, ...] = ()
    """The names of the units that rendered the manifest; empty for a document of the file."""

    is_unread: bool = False
    """A document with an ASO group was not read, such as a template: a warning in a run, and an error in `validate` and
    with --strict.
    """

    @property
    def is_error(self) -> bool:
        return self.level is Level.ERROR

    @property
    def is_note(self) -> bool:
        return self.level is Level.NOTE

    @property
    def may_hide_manifest(self) -> bool:
        """Return whether it may hide a manifest: an error may, and a note, whose document may be a manifest. Only a
        group that is unlike ASO's belongs to another operator.
        """
        return self.is_error or (self.is_note and self.code != UNKNOWN_GROUP)

    @property
    def location(self) -> str:
        """The file and line for people: `net/hub.yaml:3`; "" for a problem without a file."""
        return f"{self.path}:{self.line}" if self.path and self.line else self.path

    @property
    def order(self) -> tuple[str, int, str, str, str]:
        """The sort key: the order in which a reader goes through the files."""
        return (self.path, self.line, self.field, self.code, self.message)


UNKNOWN_GROUP: Final = "UnknownGroup"
EMPTY_SOURCE = "EmptySource"
TOO_MANY_DELETES = "TooManyDeletes"
SUPERSEDED = "RevisionSuperseded"
AGENT_UNKNOWN = "AgentUnknown"
KEY_MISSING = "DigestKeyMissing"
RULE_INVALID = "RuleInvalid"

REFUSALS: Final = frozenset({TOO_MANY_DELETES, SUPERSEDED, AGENT_UNKNOWN, KEY_MISSING, RULE_INVALID})
"""The codes of problems for which a sync is refused before its first write. A plan goes on and shows them."""


def is_refused(problems: Iterable[Problem]) -> bool:
    """Return whether a sync with these problems is refused."""
    return any(problem.code in REFUSALS for problem in problems)
