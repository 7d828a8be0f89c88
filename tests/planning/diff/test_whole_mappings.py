"""Mappings that git has as a whole, such as the privileges of a database user by database."""

import pytest

from gitsync.model.verdict import Verdict
from gitsync.planning.diff.three_way import Remembered, compare, make_baseline

APP, OTHER = {"app": ["SELECT"]}, {"other": ["INSERT"]}


def see(desired, live, before=None):
    """The verdict and the paths that differ, of a body that was written and seen as `before`; None: at first sight."""
    remembered = None
    if before is not None:
        remembered = Remembered(applied=wrap(desired), baseline=make_baseline(wrap(desired), wrap(before)))
    comparison = compare(wrap(desired), wrap(live), remembered)
    untouched = remembered is not None and remembered.has_all(wrap(desired), wrap(live))
    assert not (untouched and comparison.differences), "the short way says the same as the long one"
    return comparison.verdict, [difference.path.rpartition("/")[2] for difference in comparison.differences]


def wrap(mapping):
    return {"databasePrivileges": mapping}


@pytest.mark.parametrize(
    ("desired", "live", "before", "expected", "why"),
    [
        (APP, APP, None, (Verdict.ADOPT, []), "the same"),
        (APP, APP | OTHER, None, (Verdict.ADOPT, ["other"]), "more than git has, at first sight"),
        ({}, OTHER, None, (Verdict.ADOPT, ["other"]), "git has it empty"),
        ({}, {}, None, (Verdict.ADOPT, []), "empty in both"),
        (APP, APP, APP, (Verdict.IN_SYNC, []), "nothing changed"),
        (APP, APP | OTHER, APP, (Verdict.DRIFTED, ["other"]), "a member came"),
        ({}, OTHER, {}, (Verdict.DRIFTED, ["other"]), "a member came into an empty one"),
        ({}, {}, {}, (Verdict.IN_SYNC, []), "it stayed empty"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_member_that_git_does_not_have_differs(desired, live, before, expected, why):
    assert see(desired, live, before) == expected, why


def test_other_mappings_are_compared_by_the_members_that_git_has():
    assert compare({"properties": APP}, {"properties": APP | OTHER}, None).differences == ()
