"""A check of the set-up, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gitsync.errors import GitsyncError


class CheckLevel(StrEnum):
    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the doctor."""

    name: str  # stable
    level: CheckLevel
    message: str  # a sentence
    hint: str = ""  # what to do, "" if nothing
    values: Mapping[str, str] = field(default_factory=dict)  # what the message shows, by name, for programs
    commands: tuple[str, ...] = ()  # for a POSIX shell: the hint describes them


def make_ok(name: str, message: str) -> Check:
    return Check(name=name, level=CheckLevel.OK, message=message)


def make_doubt(name: str, message: str, hint: str = "") -> Check:
    """A warning: a run may work anyway, or the check got no result."""
    return Check(name=name, level=CheckLevel.WARNING, message=message, hint=hint)


def make_failure(name: str, error: GitsyncError) -> Check:
    """An error: a run would end with it."""
    return Check(name=name, level=CheckLevel.ERROR, message=error.message, hint=error.hint)


def has_errors(checks: Iterable[Check]) -> bool:
    return any(check.level is CheckLevel.ERROR for check in checks)
