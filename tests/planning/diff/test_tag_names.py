"""Names of tags have no case: a provider may answer them in small letters. Their values have case."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.formats.leaf_changes import compute_changes
from gitsync.model.verdict import Verdict
from gitsync.planning.diff.projection import build_merge_patch
from gitsync.planning.diff.three_way import Remembered, compare, is_untouched, make_baseline

GIT = {"tags": {"Environment": "Prod", "Cost": "A"}}
SMALL = {"tags": {"environment": "Prod", "cost": "A"}}


def remember(sent: dict[str, Any], answer: dict[str, Any]) -> Remembered:
    return Remembered(applied=sent, baseline=make_baseline(sent, answer))


def tell(
    desired: dict[str, Any], live: dict[str, Any], before: Remembered
) -> tuple[Verdict, list[tuple[str, Any, Any]]]:
    found = compare(desired, live, before)
    return found.verdict, [(difference.path, difference.desired, difference.live) for difference in found.differences]


@pytest.mark.parametrize(
    ("desired", "live", "verdict", "expected", "why"),
    [
        (GIT, SMALL, Verdict.IN_SYNC, [], "Azure's spelling is no drift"),
        (GIT, GIT, Verdict.IN_SYNC, [], "nor is another answer in git's"),
        (SMALL, GIT, Verdict.IN_SYNC, [], "nor does another spelling in git ask for a write"),
        (
            GIT,
            {"tags": {"environment": "Prod", "cost": "B"}},
            Verdict.DRIFTED,
            [("/tags/Cost", "A", "B")],
            "a changed value is",
        ),
        (GIT, {"tags": {"environment": "PROD", "cost": "A"}}, Verdict.DRIFTED, [("/tags/Environment", "Prod", "PROD")], "also by case alone"),
        (GIT, {"tags": {"environment": "Prod"}}, Verdict.DRIFTED, [("/tags/Cost", "A", None)], "a removed tag is"),
        ({"tags": {"Environment": "Prod"}}, SMALL, Verdict.PENDING, [("/tags/Cost", None, "A")], "what git removes is found"),
        ({"tags": {"ENVIRONMENT": "Test", "Cost": "A"}}, SMALL, Verdict.PENDING, [("/tags/ENVIRONMENT", "Test", "Prod")], "a value that git changes"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("answer", [GIT, SMALL], ids=["answered as sent", "answered in small letters"])
def test_with_a_baseline(desired, live, verdict, expected, why, answer):
    assert tell(desired, live, remember(GIT, answer)) == (verdict, expected), why


def test_an_unchanged_resource_is_recognized_at_once():
    before = remember(GIT, SMALL)
    assert before.has_all(GIT, SMALL)
    assert before.has_all(GIT, GIT)
    assert not before.has_all(GIT, {"tags": {"environment": "Prod", "cost": "B"}})


def test_a_patch_sends_no_tags_that_azure_has():
    assert build_merge_patch(GIT, SMALL) == {}
    changed = {"tags": {"Environment": "Prod", "Cost": "B"}}
    assert build_merge_patch(changed, SMALL) == changed


TAGS = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.sampled_from(["x", "X", ""]), max_size=3)
CASES = st.lists(st.booleans(), min_size=3, max_size=3)


def spell(tags, upper):
    return {
        "tags": {
            name.upper() if up else name: value for (name, value), up in zip(sorted(tags.items()), upper, strict=False)
        }
    }


@given(TAGS, TAGS, TAGS, CASES, CASES, CASES, CASES)
def test_no_spelling_changes_what_is_shown(sent, desired, live, first, second, third, fourth):
    """The verdict and the tags that differ are those of the same tags in one spelling."""

    def evaluate(*spellings):
        body, answer, now, later = (
            spell(tags, upper) for tags, upper in zip((sent, sent, desired, live), spellings, strict=True)
        )
        before = remember(body, answer)
        found = compare(now, later, before)
        told = {difference.path.casefold(): (difference.desired, difference.live) for difference in found.differences}
        assert len(told) == len(found.differences), "each tag is reported once"
        alone = {difference.path.casefold() for difference in compare(now, later, None).differences}
        untouched = is_untouched(now, before.applied, before.baseline, later)
        assert not (untouched and found.differences)
        return found.verdict, told, alone

    small = [False] * 3
    assert evaluate(first, second, third, fourth) == evaluate(small, small, small, small)


@given(TAGS, TAGS, CASES, CASES)
def test_the_changes_of_two_spellings(left, right, first, second):
    plain = [(path, *values) for path, *values in compute_changes({"tags": left}, {"tags": right})]
    spelled = [
        (tuple(map(str.casefold, path)), *values)
        for path, *values in compute_changes(spell(left, first), spell(right, second))
    ]
    assert sorted(spelled, key=str) == sorted(plain, key=str)
