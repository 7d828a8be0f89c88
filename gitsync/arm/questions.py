"""The POST requests that a plan may send: each asks Azure something and changes nothing.

A plan promises to read only (docs/security.md). ARM has some questions as a POST, since they have a body; this table is
all of them, and a reader sends no other.
"""

from __future__ import annotations

import re
from typing import Final

_SUBSCRIPTION: Final = "/subscriptions/[^/]+"
_PROVIDERS: Final = f"{_SUBSCRIPTION}/providers"

QUESTIONS: Final = (
    "/providers/microsoft.resources/validateresources",
    f"{_SUBSCRIPTION}(/resourcegroups/[^/]+)?/providers/microsoft.policyinsights/checkpolicyrestrictions",
    f"{_PROVIDERS}/[^/]+(/locations/[^/]+)?/check(mhsm)?nameavailability",
)
"""Patterns of paths, in lower case."""

_QUESTION = re.compile("|".join(QUESTIONS))


def is_question(path: str) -> bool:
    """Tell whether a POST to a path changes nothing."""
    return _QUESTION.fullmatch(path.casefold()) is not None
