"""Numbers, switches and quantities that are written in different ways, and dates, times and durations (ISO 8601 and
.NET's spelling), compared as the value, the instant or the length that they mean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from typing import Any, Final

from gitsync.desired.formats.json_members import is_number
from gitsync.planning.diff.rules.rule import EquivalenceRule, Leaf, RuleOutcome, make_outcome
from gitsync.planning.diff.rules.words import FREE

_QUANTITY: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[KMGTPE])i")
_ISO_DURATION: Final = re.compile(
    r"(?P<sign>-?)P(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
_TIME_SPAN: Final = re.compile(
    r"(?P<sign>-?)(?:(?P<days>\d+)\.)?(?P<hours>\d\d):(?P<minutes>\d\d)(?P<seconds>:\d\d(?:\.\d+)?)?"
)
_DATE: Final = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?:[T ](?P<time>\d\d:\d\d(?::\d\d)?)(?P<fraction>\.\d+)?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?)?",
    re.IGNORECASE,
)
Length = tuple[int, Fraction]
"""Months and seconds: a month has no length in seconds, and a year has twelve of them."""


def _compare_number_with_text(leaf: Leaf) -> RuleOutcome | None:
    """The text must be the number as JSON writes it: "1.10" is a version, and not 1.1."""
    text, value = _put_text_first(leaf)
    if not isinstance(text, str) or not is_number(value):
        return None
    # JSON may have 2.0 where the text has "2", and both are one number.
    is_integer = isinstance(value, int) or value.is_integer()
    return make_outcome(text == json.dumps(value) or (is_integer and text == json.dumps(int(value))))


def _compare_boolean_with_text(leaf: Leaf) -> RuleOutcome | None:
    text, value = _put_text_first(leaf)
    if not isinstance(text, str) or not isinstance(value, bool):
        return None
    return make_outcome(text.casefold() == str(value).casefold())


def _put_text_first(leaf: Leaf) -> tuple[Any, Any]:
    """(the text, the other value), whichever side has the text."""
    return (leaf.desired, leaf.live) if isinstance(leaf.desired, str) else (leaf.live, leaf.desired)


def _compare_quantities(leaf: Leaf) -> RuleOutcome | None:
    desired, found = _QUANTITY.fullmatch(leaf.desired), _QUANTITY.fullmatch(leaf.live)
    return make_outcome(_count_bytes(desired) == _count_bytes(found)) if desired and found else None


def _count_bytes(quantity: re.Match[str]) -> Fraction:
    return Fraction(quantity["number"]) * (1 << 10 * ("KMGTPE".index(quantity["unit"]) + 1))


QUANTITY_RULES: Final = (
    EquivalenceRule(
        name="a quantity",
        evidence="Kubernetes' resource quantities, which Container Apps take: '1.0Gi' is '1Gi' is '1024Mi'.",
        decide=_compare_quantities,
    ),
)

MIXED_RULES: Final = (
    EquivalenceRule(
        name="a number as text",
        evidence="API specifications have the type string for many numbers, such as autoscale's capacities; the value "
        "is the same.",
        decide=_compare_number_with_text,
    ),
    EquivalenceRule(
        name="a boolean as text",
        evidence="API specifications have the type string for many switches; the value is the same.",
        decide=_compare_boolean_with_text,
    ),
)


def parse_length(text: str) -> Length | None:
    """What a duration means: "PT60S" is "PT1M" is "00:01:00", and "P1M" is none of them."""
    parts = _parse_duration(text)
    return parts and (12 * parts[0] + parts[1], parts[2])


def parse_time_span(text: str) -> Fraction | None:
    """The seconds of a duration in .NET's TimeSpan, whose year has 365 days and whose month has 30."""
    parts = _parse_duration(text)
    return parts and 86400 * (365 * parts[0] + 30 * parts[1]) + parts[2]


def _parse_duration(text: str) -> tuple[int, int, Fraction] | None:
    """Years, months, and the seconds of all the rest."""
    found = _ISO_DURATION.fullmatch(text)
    # The expression also takes "P" and "P1DT", which ISO 8601 does not have.
    if found and any(character.isdigit() for character in text) and not text.endswith("T"):
        sign = -1 if found["sign"] else 1
        days = 7 * int(found["weeks"] or 0) + int(found["days"] or 0)
        seconds = _count_seconds(days, found["hours"], found["minutes"], found["seconds"])
        return sign * int(found["years"] or 0), sign * int(found["months"] or 0), sign * seconds
    found = _TIME_SPAN.fullmatch(text)
    if found:
        sign = -1 if found["sign"] else 1
        seconds_text = (found["seconds"] or "").removeprefix(":")
        return 0, 0, sign * _count_seconds(int(found["days"] or 0), found["hours"], found["minutes"], seconds_text)
    return None


def _count_seconds(days: int, hours: str | None, minutes: str | None, seconds: str | None) -> Fraction:
    return 86400 * days + 3600 * int(hours or 0) + 60 * int(minutes or 0) + Fraction(seconds or 0)


def parse_instant(text: str) -> Fraction | None:
    """The moment that a date means, in seconds; midnight for a day, UTC where no zone is given. None for no date."""
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    try:
        moment = datetime.fromisoformat(f"{found['day']}T{found['time'] or '00:00'}").replace(
            tzinfo=_parse_zone(found["zone"])
        )
        since = moment - datetime(1, 1, 2, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None  # a thirteenth month, or the hour before the first
    return Fraction(since.days * 86400 + since.seconds) + Fraction(found["fraction"] or 0)


def _parse_zone(text: str | None) -> timezone:
    if text is None or text in "zZ":
        return UTC
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)


def _parse_interval(text: str) -> tuple[object, ...] | None:
    """A repeating interval (ISO 8601 §5.6): "R/date/duration"."""
    parts = text.split("/")
    repeats = parts[:1] if parts[0].startswith("R") else []
    if len(parts) < 2:
        return None
    meant = [parse_length(part) or parse_instant(part) for part in parts[len(repeats) :]]
    # Any other text with slashes, such as a path, must stay for the rules below.
    return None if None in meant else (*repeats, *meant)


_TIME_OF_CHANGE: Final = re.compile(
    r"(?:last)?(?:creat(?:ed|ion)|updated?|modif(?:ied|ication))(?:on|at|date|time|datetime|timestamp)(?:utc)?"
)


def _compare_times_of_change(leaf: Leaf) -> RuleOutcome | None:
    # In tags and descriptions a time is somebody's own text, and a change of it is drift.
    if not _TIME_OF_CHANGE.fullmatch(leaf.name) or leaf.above & FREE:
        return None
    return None if None in (parse_instant(leaf.desired), parse_instant(leaf.live)) else RuleOutcome.UNTOLD


def _compare_by(read: Callable[[str], object | None]) -> Callable[[Leaf], RuleOutcome | None]:
    def decide(leaf: Leaf) -> RuleOutcome | None:
        desired = read(leaf.desired)
        found = None if desired is None else read(leaf.live)
        return None if found is None else make_outcome(desired == found)

    return decide


TIME_RULES: Final = (
    EquivalenceRule(
        name="a duration",
        evidence="ISO 8601 §5.5.2 and .NET's TimeSpan, Azure's two spellings: 'PT60S' is 'PT1M' is '00:01:00'.",
        decide=_compare_by(parse_length),
    ),
    EquivalenceRule(
        name="a date",
        evidence="RFC 3339: 'Z' and '+00:00' are one zone; providers add '.0000000', or leave UTC out.",
        decide=_compare_by(parse_instant),
    ),
    EquivalenceRule(
        name="a repeating interval",
        evidence="ISO 8601 §5.6, in backup policies: 'R/2023-06-07T10:26:32+00:00/PT4H'.",
        decide=_compare_by(_parse_interval),
    ),
    EquivalenceRule(
        name="a time of change",
        evidence="Recorded: the creationDate of a billing instruction comes back as the time of the request.",
        decide=_compare_times_of_change,
    ),
)
