"""Error classifiers that are rows: of a kind, a code and what the message must say, the class
(docs/reference/kinds.md#error-overrides).

Separate from the modules of the groups, which hold the rows. A row changes the class of the rest of the chain, but not
the code or the message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from gitsync.errors import ArmError
from gitsync.extensions.api import Extension, Extensions
from gitsync.model.condition import Retry
from gitsync.planning.status.error_classes import Classification

ANY_CODE = "*"


class Class(StrEnum):
    """The class that a row gives an error."""

    RETRYABLE = "retryable"
    """Another try may succeed; the rest of the chain decides how soon."""
    SLOW = "retryable, slow"
    FATAL = "fatal"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRule:
    """One row."""

    kind: str
    code: str  # compared with case
    says: tuple[str, ...] = ()  # the message must hold each of these texts
    matches: str = ""  # a pattern that the message must match, whose dot crosses no line
    becomes: Class = Class.RETRYABLE

    def fits(self, error: ArmError) -> bool:
        """Return whether the row matches this error."""
        return (
            self.code in {ANY_CODE, error.code}
            and all(text in error.message for text in self.says)
            and bool(re.search(self.matches, error.message))
        )


@dataclass(frozen=True, slots=True)
class Refusals:
    """The classifier of one kind; each matching row is applied, in their order."""

    rows: tuple[ErrorRule, ...]

    def __call__(self, error: ArmError, next: Callable[[ArmError], Classification]) -> Classification:  # noqa: A002 - ASO's word
        classification = next(error)
        for row in self.rows:
            classification = _reclassify(classification, row.becomes) if row.fits(error) else classification
        return classification


def _reclassify(classification: Classification, becomes: Class) -> Classification:
    if becomes is Class.FATAL:
        return Classification(Retry.NEVER)
    # A fatal class has no speed to keep, and ASO takes a missing one as slow.
    keeps_its_speed = becomes is Class.RETRYABLE and not classification.is_fatal
    return classification if keeps_its_speed else Classification(Retry.SLOW)


def make_classifiers(group: str, rows: Iterable[ErrorRule]) -> Extensions:
    """One registration for each kind of the group in the rows, which are sorted by kind."""
    by_kind = groupby(rows, key=lambda row: row.kind)
    return tuple(Extension(group=group, kind=kind, classify=Refusals(tuple(rules))) for kind, rules in by_kind)
