"""Patterns of Azure's types, for hostile texts too."""

import pytest

from gitsync.desired.formats.linear_pattern import may_match


@pytest.mark.parametrize(
    ("text", "pattern", "matched", "why"),
    [
        ("abc", "^[a-z]+$", True, "it matches"),
        ("ab1", "^[a-z]+$", False, "it does not"),
        ("xab1", "ab", True, "a part is enough"),
        ("é" * 3, "^.{3}$", True, "characters, not bytes"),
        ("anything", "^(?!x)[a-z]$", True, "a look-ahead is not supported"),
        ("anything", "^[\\w-\\.]+$", True, "a range of classes is not valid"),
        ("\ud800", "^[a-z]+$", False, "half of a surrogate pair"),
        ("a" * 100_000 + "!", "^[a-zA-Z0-9]+([._]?[a-zA-Z0-9]+)*$", False, "exponential with other engines"),
    ],
)
def test_a_pattern_is_matched_in_linear_time(text, pattern, matched, why):
    assert may_match(text, pattern) is matched, why
