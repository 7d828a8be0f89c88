"""Ages as kubectl prints them."""

from datetime import UTC, datetime

import pytest

from gitsync.report.records import format_age
from gitsync.report.wording import format_duration

SECONDS = [
    (0, "0s"),
    (119, "119s"),
    (120, "2m"),
    (150, "2m30s"),
    (600, "10m"),
    (10_799, "179m"),
    (10_800, "3h"),
    (12_000, "3h20m"),
    (86_400, "24h"),
    (2 * 86_400, "2d"),
    (2 * 86_400 + 7200, "2d2h"),
    (400 * 86_400, "400d"),
    (800 * 86_400, "2y70d"),
    (9 * 365 * 86_400, "9y"),
]


@pytest.mark.parametrize(("seconds", "text"), SECONDS, ids=[row[1] for row in SECONDS])
def test_a_duration_is_in_its_largest_units(seconds, text):
    assert format_duration(seconds) == text


NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("since", "text", "why"),
    [
        ("2026-01-02T03:03:05Z", "60s", "a minute"),
        ("2026-01-02T04:04:05Z", "0s", "a clock that is ahead"),
        ("", "<unknown>", "nothing"),
        ("yesterday", "<unknown>", "no moment"),
        ("2026-01-02T03:03:05", "<unknown>", "no time zone"),
    ],
)
def test_an_age_is_the_time_since_a_moment(since, text, why):
    assert format_age(since, NOW) == text, why
