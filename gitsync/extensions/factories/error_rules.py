"""Error classifiers that are rows: of a kind, a code and what the message must say, the class
(docs/reference/kinds.md#error-overrides).

Separate from the modules of the groups, which hold the rows. A row changes the class of the rest of the chain, but not
the code or the message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby

from gitsync.errors import ArmError
from gitsync.extensions.api import Extension, Extensions
from gitsync.planning.status.error_classes import Classification

ANY_CODE = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRule:
    """One row."""

    kind: str
    code: str  # compared with case
    says: tuple[str, ...] = ()  # the message must hold each of these texts
    matches: str = ""  # a pattern that the message must match, whose dot crosses no line
    becomes: Classification = Classification.RETRYABLE

    def fits(self, error: ArmError) -> bool:
        """Return whether the row matches this error."""
        return (
            self.code in {ANY_CODE, error.code}
            and all(text in error.message for text in self.says)
            and bool(re.search(self.matches, error.message))
        )


@dataclass(frozen=True, slots=True)
class Refusals:
    """The classifier of one kind; the last matching row decides."""

    rows: tuple[ErrorRule, ...]

    def __call__(self, error: ArmError, next: Callable[[ArmError], Classification]) -> Classification:  # noqa: A002 - ASO's word
        matching = [row.becomes for row in self.rows if row.fits(error)]
        return matching[-1] if matching else next(error)


def make_classifiers(group: str, rows: Iterable[ErrorRule]) -> Extensions:
    """One registration for each kind of the group in the rows, which are sorted by kind."""
    by_kind = groupby(rows, key=lambda row: row.kind)
    return tuple(Extension(group=group, kind=kind, classify=Refusals(tuple(rules))) for kind, rules in by_kind)
