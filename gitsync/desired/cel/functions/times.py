"""Reads, writes and calculates timestamps and durations, and returns their parts.

Nanoseconds are kept, unlike in Python's datetime, which is used for the calendar only. Without a time zone the parts of
a timestamp are in UTC. Months, days of the year and days of the month count from 0; `getDate` from 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo

from gitsync.desired.cel.values import Duration, Timestamp
from gitsync.errors import EvaluationError

SECOND: Final = 1_000_000_000
_MINUTE: Final = 60 * SECOND
_HOUR: Final = 60 * _MINUTE
_MILLISECOND: Final = 1_000_000

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = -62_135_596_800 * SECOND
_LAST: Final = 253_402_300_800 * SECOND - 1
_LONGEST: Final = 2**63 - 1

_UNITS: Final[dict[str, int]] = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": _MILLISECOND,
    "s": SECOND,
    "m": _MINUTE,
    "h": _HOUR,
}
_LENGTH: Final = re.compile(r"(?<![\d.])(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_POINT: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII)
_OFFSET: Final = re.compile(r"([+-]?)(\d{1,2}):(\d{1,2})", re.ASCII)


def make_timestamp(nanoseconds: int, offset: int = 0) -> Timestamp:
    """Make a point in time, with the offset from UTC in seconds that its text has. Raises EvaluationError out of
    range.
    """
    if not _FIRST <= nanoseconds <= _LAST:
        raise EvaluationError("timestamp out of range: years are from 1 to 9999")
    return Timestamp(nanoseconds, offset)


def make_duration(nanoseconds: int) -> Duration:
    if not -_LONGEST - 1 <= nanoseconds <= _LONGEST:
        raise EvaluationError("duration out of range")
    return Duration(nanoseconds)


def parse_timestamp(text: str) -> Timestamp:
    """Read RFC 3339, as in 2024-01-02T03:04:05.678Z."""
    found = _POINT.fullmatch(text)
    if found is None:
        raise EvaluationError("timestamp: the text is not a date and time in RFC 3339 format")
    *date, fraction, sign, hours, minutes = found.groups()
    try:
        year, month, day, hour, minute, second = map(int, date)
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        raise EvaluationError("timestamp: the date or time does not exist") from None
    if int(hours or 0) > 23 or int(minutes or 0) > 59:
        raise EvaluationError("timestamp: the offset from UTC is not valid")
    offset = (int(hours or 0) * _HOUR + int(minutes or 0) * _MINUTE) * (-1 if sign == "-" else 1)
    local = (moment - _EPOCH) // timedelta(seconds=1) * SECOND
    local += int((fraction or "")[:9].ljust(9, "0"))  # digits beyond nanoseconds are dropped
    return make_timestamp(local - offset, offset // SECOND)


def _format_fraction(nanoseconds: int) -> str:
    """Write the digits after the point, without trailing zeros: ".5", or nothing."""
    return f".{nanoseconds:09}".rstrip("0") if nanoseconds else ""


def write_timestamp(time: Timestamp) -> str:
    """Write RFC 3339, with the offset of the original text."""
    seconds, rest = divmod(time.nanoseconds, SECOND)
    try:
        # With a time zone, Python would write an offset itself, and in another form.
        moment = _EPOCH.replace(tzinfo=None) + timedelta(seconds=seconds + time.offset)
    except OverflowError:
        raise EvaluationError("timestamp out of range: years are from 1 to 9999") from None
    hours, minutes = divmod(abs(time.offset) // 60, 60)
    offset = f"{'-' if time.offset < 0 else '+'}{hours:02}:{minutes:02}" if time.offset else "Z"
    return f"{moment.isoformat()}{_format_fraction(rest)}{offset}"


def parse_duration(text: str) -> Duration:
    """Read a sequence of numbers with units, as in 1h30m, -1.5s or 100ms."""
    unsigned = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    if unsigned == "0":
        return Duration(0)
    parts = list(_LENGTH.finditer(unsigned))
    if not parts or "".join(part[0] for part in parts) != unsigned or any(not (p[1] or p[2]) for p in parts):
        raise EvaluationError("duration: the text is not a sequence of numbers with units, as in 1h30m or 1.5s")
    # 64 bits have 19 digits.
    if any(len(part[1]) > 19 for part in parts):
        raise EvaluationError("duration out of range")
    total = 0
    for part in parts:
        # Fifteen digits are exact to less than a nanosecond even of hours.
        unit, digits = _UNITS[part[3]], (part[2] or "")[:15]
        scale: int = 10 ** len(digits)
        total += int(part[1] or 0) * unit + int(digits or 0) * unit // scale
    return make_duration(-total if text.startswith("-") else total)


def write_duration(length: Duration) -> str:
    seconds, rest = divmod(abs(length.nanoseconds), SECOND)
    return f"{'-' if length.nanoseconds < 0 else ''}{seconds}{_format_fraction(rest)}s"


def _read_zone(name: str) -> tzinfo:
    """Return the time zone of a name ("Europe/Berlin") or of an offset ("+02:00")."""
    # zoneinfo supports names only.
    found = _OFFSET.fullmatch(name)
    if found is not None:
        offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
        # Python takes no offset of a day or more, and no zone has such a name.
        if offset < timedelta(days=1):
            return timezone(-offset if found[1] == "-" else offset)
    try:
        return ZoneInfo(name or "UTC")
    except (LookupError, ValueError, OSError):
        raise EvaluationError("unknown time zone: use a name like Europe/Berlin or an offset like +02:00") from None


def _move_to_zone(time: Timestamp, zone: str) -> datetime:
    moment = _EPOCH + timedelta(seconds=time.nanoseconds // SECOND)
    try:
        return moment.astimezone(_read_zone(zone))
    except OverflowError:
        raise EvaluationError("timestamp out of range: years are from 1 to 9999") from None


_PARTS: Final[dict[str, Callable[[datetime], int]]] = {
    "getFullYear": lambda moment: moment.year,
    "getMonth": lambda moment: moment.month - 1,
    "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda moment: moment.day - 1,
    "getDate": lambda moment: moment.day,
    "getDayOfWeek": lambda moment: moment.isoweekday() % 7,
    "getHours": lambda moment: moment.hour,
    "getMinutes": lambda moment: moment.minute,
    "getSeconds": lambda moment: moment.second,
}

_LENGTHS: Final = {"getHours": _HOUR, "getMinutes": _MINUTE, "getSeconds": SECOND, "getMilliseconds": _MILLISECOND}


def _make_part_reader(part: Callable[[datetime], int]) -> Callable[..., int]:
    return lambda time, zone="": part(_move_to_zone(time, zone))


def _read_milliseconds(time: Timestamp, zone: str = "") -> int:
    # An unknown zone is an error here too, although no zone changes the milliseconds.
    _read_zone(zone)
    return time.nanoseconds % SECOND // _MILLISECOND


def _make_unit_counter(unit: int) -> Callable[[Duration], int]:
    return lambda length: abs(length.nanoseconds) // unit * (-1 if length.nanoseconds < 0 else 1)


def _move(time: Timestamp, length: Duration) -> Timestamp:
    return make_timestamp(time.nanoseconds + length.nanoseconds, time.offset)


FUNCTIONS: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    **{(name, "timestamp"): _make_part_reader(part) for name, part in _PARTS.items()},
    **{(name, "timestamp", "string"): _make_part_reader(part) for name, part in _PARTS.items()},
    ("getMilliseconds", "timestamp"): _read_milliseconds,
    ("getMilliseconds", "timestamp", "string"): _read_milliseconds,
    **{(name, "duration"): _make_unit_counter(unit) for name, unit in _LENGTHS.items()},
    ("_+_", "timestamp", "duration"): _move,
    ("_+_", "duration", "timestamp"): lambda length, time: _move(time, length),
    ("_+_", "duration", "duration"): lambda first, other: make_duration(first.nanoseconds + other.nanoseconds),
    ("_-_", "timestamp", "duration"): lambda time, length: make_timestamp(
        time.nanoseconds - length.nanoseconds, time.offset
    ),
    ("_-_", "timestamp", "timestamp"): lambda first, other: make_duration(first.nanoseconds - other.nanoseconds),
    ("_-_", "duration", "duration"): lambda first, other: make_duration(first.nanoseconds - other.nanoseconds),
    ("-_", "duration"): lambda length: make_duration(-length.nanoseconds),
}
