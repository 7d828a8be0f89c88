"""The annotation `gitsync/hold`, which leaves a resource as it is in Azure until the end of a day in UTC
(docs/hold.md): `until 2026-12-01, incident 4711`.

It needs a day and a reason, so that no hold lasts without limit and no one has to guess why. The caller passes the
current day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from gitsync.desired.catalog.type_words import quote_scalar
from gitsync.desired.problems.finding import Finding
from gitsync.model.hold import HeldUntil
from gitsync.model.problem import Level
from gitsync.model.resource import Resource

HOLD: Final = "gitsync/hold"
MOST_DAYS: Final = 90
LONGEST_REASON: Final = 200
"""Characters of a reason: reports and records have it."""

_HOLD: Final = re.compile(r"until\s+([^\s,]+)\s*,\s*(\S.*)", re.DOTALL)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATES: Final = re.compile(rf"(?<!\d){_DATE.pattern}(?!\d)")


def read_hold(resource: Resource, today: date | None) -> HeldUntil | None:
    """Return the hold of a manifest that lasts on a day; None without one, and for one that is not valid or has
    ended.
    """
    hold = _parse(resource.annotations.get(HOLD, ""), today)
    return hold if isinstance(hold, HeldUntil) and (today is None or hold.lasts(today)) else None


def check_hold(resource: Resource, today: date | None) -> Iterator[Finding]:
    """Check the form and the day of the annotation, and warn of a hold that has ended."""
    hold = _parse(resource.annotations.get(HOLD, ""), today)
    if isinstance(hold, Finding):
        yield hold
    elif hold is not None and today is not None and not hold.lasts(today):
        yield Finding(
            code="HoldEnded",
            level=Level.WARNING,
            path=("metadata", "annotations", HOLD),
            message=f"The hold of {resource.key} ended on {hold.day}: gitsync writes it again.",
            hint="Remove the annotation, or set a later day.",
        )


def _parse(text: str, today: date | None) -> HeldUntil | Finding | None:
    """Read an annotation; an empty one counts as absent."""
    if not text:
        return None
    parts = _HOLD.fullmatch(text.strip())
    if parts is None:
        return _make_error(
            f"{HOLD} must be `until DATE, reason`, but is {quote_scalar(text)}.", _make_example(text, today)
        )
    day = _read_date(parts[1]) if _DATE.fullmatch(parts[1]) else None
    if day is None:
        return _make_error(f"{HOLD} has {quote_scalar(parts[1])}, which is not a date.", _make_example(text, today))
    # A hold without an end would be forgotten, and hide drift.
    if today is not None and day > (last := today + timedelta(days=MOST_DAYS)):
        return _make_error(
            f"{HOLD} lasts until {day}, which is more than {MOST_DAYS} days ahead.",
            f"Set {last} or an earlier day. To exclude a resource permanently, set its reconcile policy to skip.",
        )
    # Reports and records have a reason in one line.
    reason = " ".join(parts[2].split())
    if len(reason) > LONGEST_REASON:
        return _make_error(
            f"{HOLD} has a reason of {len(reason)} characters.", f"Use at most {LONGEST_REASON}: name an issue."
        )
    return HeldUntil(day, reason)


def _read_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _make_example(text: str, today: date | None) -> str:
    """Make a hint with a hold that is allowed: until the date in the text, else until the end of the next month, so
    that the hint is not another one each day.
    """
    if today is None:
        return f"Write it as `until YYYY-MM-DD, incident 4711`, with a date at most {MOST_DAYS} days ahead."
    days = filter(None, map(_read_date, _DATES.findall(text)))
    given = (day for day in days if today <= day <= today + timedelta(days=MOST_DAYS))
    after_next = (today.replace(day=1) + timedelta(days=62)).replace(day=1)
    return f"Write it as `until {next(given, after_next - timedelta(days=1))}, incident 4711`."


def _make_error(message: str, hint: str) -> Finding:
    return Finding(code="HoldAnnotation", path=("metadata", "annotations", HOLD), message=message, hint=hint)
