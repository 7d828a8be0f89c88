"""How long texts are shortened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.formats.long_text import (
    AROUND,
    count_characters,
    count_equal_start,
    cut_end,
    cut_middle,
    leave_out_equal_start,
)


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [("abc", 3, "abc"), ("abcd", 3, "a…d"), ("abcdefgh", 6, "abc…gh"), ("", 3, "")],
)
def test_the_middle_goes(text, most, shown):
    assert cut_middle(text, most) == shown


@given(st.text(), st.integers(3, 20))
def test_both_ends_stay(text, most):
    shown = cut_middle(text, most)
    assert len(shown) <= max(most, 0)
    assert (shown[:1], shown[-1:]) == (text[:1], text[-1:])


@pytest.mark.parametrize(
    ("one", "other", "shown", "why"),
    [
        ("a" * 200 + "b", "a" * 200 + "c", ("… 150 equal characters …" + "a" * 50 + "b"), "the difference is too far"),
        ("a" * 200, "a" * 201, ("… 150 equal characters …" + "a" * 50), "one text is the beginning of the other"),
        ("a" * 49 + "b" * 200, "a" * 49 + "c" * 200, "a" * 49 + "b" * 200, "the first 100 characters show it"),
        ("a" * 200, "a" * 200, "a" * 200, "equal texts have nothing to show"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value and len(value) < 60 else "",
)
def test_texts_that_begin_alike_are_shown_from_where_they_differ(one, other, shown, why):
    assert leave_out_equal_start(one, other, 100)[0] == shown, why


@given(st.text("ab", max_size=5), st.text("ab", max_size=5), st.integers(0, 9000))
def test_texts_that_differ_do_so_in_what_is_shown(one, other, length):
    one, other = "x" * length + one, "x" * length + other
    alike = count_equal_start(one, other)
    assert (one[:alike], one[alike : alike + 1] == other[alike : alike + 1]) == (other[:alike], one == other)
    shown = [text[: 2 * AROUND] for text in leave_out_equal_start(one, other, 2 * AROUND)]
    assert (shown[0] == shown[1]) == (one == other)


@given(st.text("ab", max_size=300), st.integers(0, 3000), st.integers(100, 200), st.integers(100, 200))
def test_a_shortened_text_keeps_its_length(end, length, most, later):
    text = "x" * length + end
    cut = cut_end(text, most)
    assert (cut == text) == (len(text) <= most)
    assert count_characters(cut) == count_characters(cut_end(cut, later)) == len(text)
    rest, _ = leave_out_equal_start(text, "x" * length + "c", most)
    assert count_characters(rest) == count_characters(cut_end(rest, most)) == len(text)
