"""Did you mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.problems.suggest import measure_distance, suggest

WORDS = st.text(alphabet="abcdé-", max_size=9)


@pytest.mark.parametrize(
    ("word", "choices", "expected", "why"),
    [
        ("locaton", ["location", "allocation"], "location", "a letter left out"),
        ("loaction", ["location"], "location", "two letters swapped are one edit"),
        ("ARMID", ["armId", "name"], "armId", "case is the nearest of all mistakes"),
        ("detach_on_delete", ["detach-on-delete"], "detach-on-delete", "dashes and underscores are mixed up"),
        ("sku", ["spec", "tags"], None, "a short word has few letters to get wrong"),
        ("kind", ["kind"], None, "a word is no misspelling of itself"),
        ("core-nett", ["core-neta", "core-netb"], "core-neta", "ties go to the first in order"),
        ("x" * 200, ["x" * 199], None, "nobody types such a name"),
        ("storageaccount", [], None, "nothing to choose from"),
        ("abcdefghijkl", ["abcdefgh"], None, "four edits are too many however long the word"),
    ],
)
def test_nearest(word, choices, expected, why):
    assert suggest(word, choices) == expected, why


@given(WORDS, WORDS)
def test_distance_is_that_of_the_textbook(one, other):
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) + 1):
        for j in range(len(other) + 1):
            if not i or not j:
                table[i][j] = i + j
                continue
            best = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (one[i - 1] != other[j - 1]))
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                best = min(best, table[i - 2][j - 2] + 1)
            table[i][j] = best
    full = table[-1][-1]
    assert measure_distance(one, other, 9) == full
    assert measure_distance(one, other, 2) == (full if full <= 2 else None)


@given(st.lists(WORDS), WORDS)
def test_the_order_of_choices_does_not_matter(choices, word):
    assert suggest(word, choices) == suggest(word, reversed(choices))
