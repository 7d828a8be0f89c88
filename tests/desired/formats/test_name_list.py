"""Names in a sentence."""

import pytest

from gitsync.desired.formats.name_list import name_first


@pytest.mark.parametrize(
    ("names", "expected", "why"),
    [
        ([], "", "nothing to name"),
        (["a"], "a", "one"),
        (["a", "b"], "a, b", "as many as fit"),
        (["a", "b", "c"], "a, b and 1 more", "one more than fits"),
        ((1, 2, 3, 4), "1, 2 and 2 more", "anything that has a text"),
    ],
)
def test_the_first_names_are_shown_and_the_others_counted(names, expected, why):
    assert name_first(names, 2) == expected, why
