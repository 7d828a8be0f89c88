"""Error classifiers that are rows: of a kind, a code and what the message must say, the class
(docs/reference/kinds.md#error-overrides).

Apart from the modules of the groups, which hold the rows. A row alters what the rest of the chain says, and nothing of
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
from gitsync.status.error_classes import Classification

ANY_CODE = "*"


class Class(StrEnum):
    """What a row makes of an error."""

    RETRYABLE = "retryable"
    """Another try may go better; how soon is as the rest of the chain says."""
    SLOW = "retryable, slow"
    FATAL = "fatal"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRule:
    """One row. The code compares with case. The message must hold each text of `says`, and match `matches`, a pattern
    whose dot crosses no line.
    """

    kind: str
    code: str
    says: tuple[str, ...] = ()
    matches: str = ""
    becomes: Class = Class.RETRYABLE

    def fits(self, error: ArmError) -> bool:
        """Tell whether the row speaks of this error."""
        return (
            self.code in {ANY_CODE, error.code}
            and all(text in error.message for text in self.says)
            and bool(re.search(self.matches, error.message))
        )


@dataclass(frozen=True, slots=True)
class Refusals:
    """The classifier that the rows of one kind make; each that fits is applied, in their order."""

    rows: tuple[ErrorRule, ...]

    def __call__(self, error: ArmError, next: Callable[[ArmError], Classification]) -> Classification:  # noqa: A002 - ASO's word
        found = next(error)
        for row in self.rows:
            found = _altered(found, row.becomes) if row.fits(error) else found
        return found


def _altered(found: Classification, becomes: Class) -> Classification:
    if becomes is Class.FATAL:
        return Classification(Retry.NEVER)
    keeps_its_speed = becomes is Class.RETRYABLE and not found.is_fatal
    return found if keeps_its_speed else Classification(Retry.SLOW)


def classified(group: str, rows: Iterable[ErrorRule]) -> Extensions:
    """One registration for each kind of the group that the rows, sorted by kind, name."""
    by_kind = groupby(rows, key=lambda row: row.kind)
    return tuple(Extension(group=group, kind=kind, classify=Refusals(tuple(found))) for kind, found in by_kind)
