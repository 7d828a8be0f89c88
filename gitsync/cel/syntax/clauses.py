"""The clauses of a format string: `%s`, `%.2f`, `%%` (CEL's string extension, version 3).

Separate from what they show, since the checker reads literal format strings before anything is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_CLAUSE: Final = re.compile(r"%(?:(?P<percent>%)|(?:\.(?P<digits>[0-9]{1,18}))?(?P<letter>[sdfebxXo]))", re.ASCII)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause that takes a value; `precision` is None if the clause gives none."""

    letter: str
    precision: int | None


def split_clauses(template: str) -> Iterator[str | Clause]:
    """The text and the clauses of a format string in their order. ValueError for a `%` that begins no clause."""
    here = 0
    while (at := template.find("%", here)) >= 0:
        yield template[here:at]
        found = _CLAUSE.match(template, at)
        if found is None:
            raise ValueError("unrecognized clause; use %s %d %f %e %b %o %x %X, or %% for a percent sign")
        yield "%" if found["percent"] else Clause(found["letter"], int(found["digits"]) if found["digits"] else None)
        here = found.end()
    yield template[here:]
