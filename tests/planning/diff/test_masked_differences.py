"""What Azure gives back where git has a secret does not show, however the difference is cut."""

from __future__ import annotations

import pytest

from gitsync.model.secret import MASKED, Secret
from gitsync.model.verdict import Comparison, Difference, Verdict
from gitsync.planning.diff.first_sight import Unverified, compare_first_sight
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.masked_differences import list_secret_shapes, redact_comparison, redact_value
from gitsync.planning.diff.projection import project

GIT = {"properties": {"key": Secret("k"), "users": [{"login": "a", "password": Secret("p")}], "tags": {"a/b": "c"}}}


@pytest.mark.parametrize(
    "path, live, shown, why",
    [
        ("/properties/key", "from azure", MASKED, "the leaf itself"),
        ("/properties/Key", "from azure", MASKED, "names compare without case"),
        ("/properties/key/inner", "from azure", MASKED, "below it"),
        ("/properties/users/1/password", "from azure", MASKED, "an entry that git does not have"),
        ("/properties/users", [{"password": "x"}, {"login": "b"}], [{"password": MASKED}, {"login": "b"}], "a list"),
        ("/properties", {"key": "x", "tags": None}, {"key": MASKED, "tags": None}, "an object"),
        ("/properties/users/0/login", "b", "b", "beside it"),
        ("/properties/tags/a~1b", "d", "d", "a name with a slash"),
        ("/properties/key", None, None, "what Azure does not have shows as that"),
    ],
)
def test_a_secret_does_not_show(path, live, shown, why):
    comparison = Comparison(verdict=Verdict.DRIFTED, differences=(Difference(path, None, live, "x"),))
    assert redact_comparison(comparison, list_secret_shapes(GIT)).differences[0].live == shown, why


def test_what_was_a_secret_once_stays_hidden():
    shapes = list_secret_shapes({"properties": {}}, {"properties": {"key": MASKED}}, None)
    assert redact_value({"properties": {"key": "x"}}, shapes) == {"properties": {"key": MASKED}}


@pytest.mark.parametrize(
    ("git", "azure"), [([Secret("k")], ["k"]), (["a", Secret("k")], ["k", "a"]), ([MASKED], ["k"])]
)
def test_a_list_with_a_secret_is_not_a_baseline_and_not_compared(git, azure):
    """Azure may keep it in another order, so any of its values may be the secret."""
    assert project({"list": git, "other": 1}, {"list": azure, "other": 1}) == {"other": 1}
    if git != [MASKED]:
        assert list(compare_first_sight({"list": git}, {"list": azure}, Hints())) == [Unverified(("list",))]


def test_without_secrets_nothing_is_hidden():
    assert redact_value({"a": [1]}, list_secret_shapes({"a": [1]})) == {"a": [1]}
