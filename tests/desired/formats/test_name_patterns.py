"""Patterns of names with `*`: what they match, and that they match as a regular expression does."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.formats.name_patterns import matches_name


@pytest.mark.parametrize(
    ("pattern", "name", "matches", "why"),
    [
        ("hidden-*", "hidden-title", True, "the end is any text"),
        ("hidden-*", "hidden-", True, "also none"),
        ("hidden-*", "hidden", False, "the fixed part is all of it"),
        ("hidden-*", "my-hidden-title", False, "the name begins with it"),
        ("Hidden-*", "hidden-LINK:/subscriptions/x", True, "case does not count"),
        ("*-cost", "team-cost", True, "at the beginning"),
        ("*cost*", "costs", True, "on both sides"),
        ("a*b*c", "a-b-b-c", True, "several"),
        ("a*b*c", "acb", False, "in their order"),
        ("a*a", "a", False, "one letter is not both ends"),
        ("a**a", "aa", True, "two stars are one"),
        ("*", "", True, "anything"),
        ("team", "TEAM", True, "without a star, the name itself"),
        ("team", "teams", False, "and no other"),
        ("a.c", "abc", False, "no other character is special"),
    ],
)
def test_patterns(pattern, name, matches, why):
    assert matches_name(pattern, name) is matches, why


@given(st.text("ab*", max_size=8), st.text("abAB", max_size=10))
def test_a_pattern_matches_as_a_regular_expression(pattern, name):
    expression = ".*".join(map(re.escape, pattern.split("*")))
    assert matches_name(pattern, name) is bool(re.fullmatch(expression, name, re.IGNORECASE | re.DOTALL))


def test_a_hostile_pattern_takes_linear_time():
    assert not matches_name("*a" * 250 + "*b", "a" * 500_000)
