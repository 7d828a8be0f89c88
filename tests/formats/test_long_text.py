"""How long texts are shortened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.formats.long_text import cut_middle


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
