"""Git takes over what Azure has, as with a revert: then nothing has drifted, whatever either had before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.verdict import Verdict
from gitsync.planning.diff.three_way import Remembered, compare, make_baseline

SCALARS = st.sampled_from(["a", "b", 1, 2, True, False])
LEAVES = SCALARS | st.lists(SCALARS, max_size=2, unique_by=str)
ENTRIES = st.lists(st.dictionaries(st.sampled_from("uv"), LEAVES, max_size=2), max_size=3)
NAMED = st.dictionaries(st.sampled_from(["one", "two"]), st.dictionaries(st.sampled_from("pq"), LEAVES)).map(
    lambda rules: [{"name": name, **fields} for name, fields in rules.items()]
)
BODIES = st.fixed_dictionaries(
    {"location": st.just("westeurope")},
    optional={
        "tags": st.dictionaries(st.sampled_from("ts"), st.sampled_from("ab"), min_size=1),
        "properties": st.fixed_dictionaries(
            {}, optional={"f": LEAVES, "g": LEAVES, "entries": ENTRIES, "rules": NAMED}
        ),
    },
)


@given(before=BODIES, now=BODIES)
def test_what_git_has_and_azure_too_is_in_sync(before: dict[str, Any], now: dict[str, Any]):
    found = compare(now, now, Remembered(before, make_baseline(before, before)))
    assert (found.verdict, found.differences) == (Verdict.IN_SYNC, ())


ROWS = [
    ([{"v": "x"}], [{"u": "b"}, {"v": "y"}], "entries without a name, of which Azure has more"),
    ([{"v": "x"}], [{"u": "b"}], "an entry with another field"),
]


@pytest.mark.parametrize(("before", "now", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_lists(before, now, why):
    old, new = ({"properties": {"entries": entries}} for entries in (before, now))
    assert compare(new, new, Remembered(old, make_baseline(old, old))).verdict is Verdict.IN_SYNC, why
