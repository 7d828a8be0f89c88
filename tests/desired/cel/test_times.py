"""Points in time and lengths of time: read, written, reckoned with, taken apart."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.cel.functions.times import SECOND, parse_duration, parse_timestamp, write_duration, write_timestamp
from gitsync.desired.cel.values import Duration, Timestamp
from gitsync.errors import EvaluationError
from tests.desired.cel.evaluating import row, value_of


@pytest.mark.parametrize(
    ("text", "written"),
    [
        row("2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z", "in UTC"),
        row("2024-01-02T03:04:05.5Z", "2024-01-02T03:04:05.5Z", "with a fraction"),
        row("2024-01-02T03:04:05.123456789Z", "2024-01-02T03:04:05.123456789Z", "to the nanosecond"),
        row("2024-01-02T03:04:05.1234567899Z", "2024-01-02T03:04:05.123456789Z", "and no further"),
        row("2024-01-02T03:04:05.500Z", "2024-01-02T03:04:05.5Z", "without zeros at the end"),
        row("2024-01-02T03:04:05+02:00", "2024-01-02T03:04:05+02:00", "east of Greenwich"),
        row("2024-01-02T03:04:05-05:30", "2024-01-02T03:04:05-05:30", "and west"),
        row("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "the first"),
        row("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z", "the last"),
        row("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z", "before the epoch"),
        row("2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z", "a leap day"),
    ],
)
def test_timestamps_are_rfc_3339(text, written):
    assert value_of("string(timestamp(x))", x=text) == written


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2024-01-02", "a day is not a point in time"),
        ("2024-01-02T03:04:05", "without an offset it could be any"),
        ("2024-01-02 03:04:05Z", "a T stands between"),
        ("2023-02-29T00:00:00Z", "there is no such day"),
        ("2024-01-02T25:00:00Z", "nor such an hour"),
        ("2024-01-02T24:00:00Z", "midnight is the next day's"),
        ("2024-01-02T03:04:60Z", "leap seconds are not known"),
        ("2024-01-02T03:04:05+24:00", "there is no such offset"),
        ("2024-01-02T03:04:05.Z", "a point without digits"),
        ("0000-01-01T00:00:00Z", "years start at 1"),
        ("0001-01-01T00:00:00+01:00", "in UTC, too"),
        ("٢٠٢٤-01-02T03:04:05Z", "digits are those of ASCII"),
        ("", "nothing is none"),
    ],
)
def test_what_is_not_a_timestamp_is_refused(text, why):
    with pytest.raises(EvaluationError, match="timestamp"):
        value_of("timestamp(x)", x=text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        row("1h30m", "5400s", "a row of units"),
        row("1.5s", "1.5s", "a fraction"),
        row("-1.5s", "-1.5s", "backwards"),
        row("+2m", "120s", "forwards"),
        row("100ms", "0.1s", "thousandths"),
        row("3us", "0.000003s", "millionths"),
        row("3µs", "0.000003s", "with the micro sign"),
        row("3μs", "0.000003s", "or the Greek letter"),
        row("1ns", "0.000000001s", "the smallest"),
        row("0", "0s", "nothing needs no unit"),
        row("-0", "0s", "whatever its sign"),
        row(".5h", "1800s", "without a zero before the point"),
        row("1.h", "3600s", "or behind it"),
        row("9223372036854775807ns", "9223372036.854775807s", "the longest"),
        row("-9223372036854775808ns", "-9223372036.854775808s", "and its counterpart"),
    ],
)
def test_durations_are_numbers_with_units(text, written):
    assert value_of("string(duration(x))", x=text) == written


@pytest.mark.parametrize("text", ["", "5", "s", "1d", ".s", "1 h", "1h-5m", "--1s", "1hx", "-", "٣s"])
def test_what_is_not_a_duration_is_refused(text):
    with pytest.raises(EvaluationError, match="duration: the text is not a sequence of numbers with units"):
        value_of("duration(x)", x=text)


@pytest.mark.parametrize("text", ["9223372036854775808ns", "300000000h", "99999999999999999999s"])
def test_durations_end_somewhere(text):
    with pytest.raises(EvaluationError, match="duration out of range"):
        value_of("duration(x)", x=text)


T = "timestamp('2024-03-01T03:04:05.678Z')"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        row(f"{T}.getFullYear()", 2024, "the year"),
        row(f"{T}.getMonth()", 2, "months count from 0"),
        row(f"{T}.getDayOfYear()", 60, "days of the year from 0"),
        row(f"{T}.getDayOfMonth()", 0, "days of the month from 0"),
        row(f"{T}.getDate()", 1, "but the date from 1"),
        row(f"{T}.getDayOfWeek()", 5, "a Friday; Sunday is 0"),
        row("timestamp('2024-03-03T00:00:00Z').getDayOfWeek()", 0, "that Sunday"),
        row(f"{T}.getHours()", 3, "hours"),
        row(f"{T}.getMinutes()", 4, "minutes"),
        row(f"{T}.getSeconds()", 5, "seconds"),
        row(f"{T}.getMilliseconds()", 678, "thousandths of the second"),
        row(f"{T}.getHours('America/New_York')", 22, "in another time zone"),
        row(f"{T}.getDate('America/New_York')", 29, "where it is another day"),
        row(f"{T}.getMonth('America/New_York')", 1, "and another month"),
        row(f"{T}.getHours('+02:30')", 5, "by an offset"),
        row(f"{T}.getMinutes('+02:30')", 34, "with minutes"),
        row(f"{T}.getHours('-04:00')", 23, "west"),
        row(f"{T}.getHours('02:00')", 5, "without a sign it is east"),
        row(f"{T}.getMilliseconds('UTC')", 678, "which changes no thousandths"),
        row(f"{T}.getHours('')", 3, "no name is UTC"),
        row("timestamp('2024-07-01T12:00:00Z').getHours('Europe/Berlin')", 14, "in summer"),
        row("timestamp('2024-01-01T12:00:00Z').getHours('Europe/Berlin')", 13, "and in winter"),
        row("duration('3h45m10.5s').getHours()", 3, "whole hours"),
        row("duration('3h45m').getMinutes()", 225, "all minutes"),
        row("duration('1m1.9s').getSeconds()", 61, "all seconds, whole"),
        row("duration('1.5s').getMilliseconds()", 1500, "all thousandths"),
        row("duration('-90m').getHours()", -1, "towards zero"),
        row(f"{T} + duration('1s') > {T}", True, "later"),
        row(f"duration('1s') + {T} == {T} + duration('1s')", True, "from either side"),
        row(f"{T} - duration('1s') < {T}", True, "earlier"),
        row(f"string({T} - timestamp('2024-03-01T00:00:00Z'))", "11045.678s", "between two points"),
        row("duration('1h') + duration('1m') - duration('1s') == duration('3659s')", True, "lengths add up"),
        row("-duration('1h') == duration('-1h')", True, "and turn round"),
        row("timestamp(60) == timestamp('1970-01-01T00:01:00Z')", True, "of seconds since 1970"),
        row(
            "timestamp(timestamp(0)) == timestamp(0) && duration(duration('0s')) == duration('0s')",
            True,
            "of themselves",
        ),
    ],
)
def test_parts_and_sums(expression, expected):
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        row("timestamp('9999-12-31T23:59:59Z') + duration('1s')", "timestamp out of range: years are from 1 to 9999", "time ends"),
        row("timestamp('0001-01-01T00:00:00Z') - duration('1ns')", "timestamp out of range: years are from 1 to 9999", "and starts"),
        row("timestamp(9223372036854775807)", "timestamp out of range: years are from 1 to 9999", "seconds, too"),
        row("timestamp('9999-12-31T23:59:59Z').getHours('+10:00')", "timestamp out of range: years are from 1 to 9999", "in every zone"),
        row("timestamp('9999-12-31T23:59:59Z') - timestamp('0001-01-01T00:00:00Z')", "duration out of range", "a long time"),
        row("duration('9223372036854775807ns') + duration('1ns')", "duration out of range", "the longest and more"),
        row("-duration('-9223372036854775808ns')", "duration out of range", "the one without an opposite"),
        row(f"{T}.getHours('Mars/Base')", "unknown time zone: use a name like Europe/Berlin or an offset like +02:00", "no such place"),
        row(f"{T}.getHours('America')", "unknown time zone: use a name like Europe/Berlin or an offset like +02:00", "a continent is a folder"),
        row(f"{T}.getHours('../../etc/passwd')", "unknown time zone: use a name like Europe/Berlin or an offset like +02:00", "nor is it a path"),
        row(f"{T}.getHours('/etc/passwd')", "unknown time zone: use a name like Europe/Berlin or an offset like +02:00", "of any sort"),
        row(f"{T}.getHours('a\\u0000b')", "unknown time zone: use a name like Europe/Berlin or an offset like +02:00", "nor half of one"),
        row(f"{T}.getHours('+25:00')", "unknown time zone: use a name like Europe/Berlin or an offset like +02:00", "days have 24 hours"),
        row(f"{T}.getMilliseconds('Mars/Base')", "unknown time zone: use a name like Europe/Berlin or an offset like +02:00", "asked for in vain"),
        row(f"dyn({T}) + 1", "no such overload: _+_(timestamp, int)", "one what?"),
        row(f"dyn({T}) + {T}", "no such overload: _+_(timestamp, timestamp)", "points do not add up"),
    ],
)  # fmt: skip
def test_parts_and_sums_refuse(expression, message):
    with pytest.raises(EvaluationError) as failed:
        value_of(expression)
    assert failed.value.message == message


points = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)).map(  # noqa: DTZ001 - the strategy adds the zone
    lambda moment: Timestamp(
        round((moment.replace(microsecond=0) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()) * SECOND
    )
)
lengths = st.integers(-(2**63), 2**63 - 1).map(Duration)


@given(points, st.integers(0, SECOND - 1))
def test_a_timestamp_reads_back(point, nanoseconds):
    point = Timestamp(point.nanoseconds + nanoseconds)
    assert parse_timestamp(write_timestamp(point)) == point


@given(lengths)
def test_a_duration_reads_back(length):
    assert parse_duration(write_duration(length)) == length


@given(points, lengths)
def test_there_and_back_again(point, length):
    try:
        there = value_of("t + d", t=point, d=length)
    except EvaluationError as failed:
        assert failed.message.startswith("timestamp out of range")
    else:
        assert value_of("t - d", t=there, d=length) == point


@given(st.text(), st.text("0123456789.hmsnuµ+-"))
def test_any_text_is_a_time_or_refused(text, near):
    for candidate in (text, near):
        for read in (parse_duration, parse_timestamp):
            try:
                read(candidate)
            except EvaluationError as failed:
                assert failed.message.startswith(("timestamp", "duration"))
