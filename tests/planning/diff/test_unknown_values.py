"""A value that a plan does not have counts on no side of a comparison, wherever it is."""

from __future__ import annotations

import pytest

from gitsync.desired.formats.json_pointer import format_pointer
from gitsync.model.secret import MASKED, Placeholder
from gitsync.model.verdict import Verdict
from gitsync.planning.diff.three_way import Remembered, compare, make_baseline, remove_secrets
from gitsync.planning.diff.unknown_values import (
    add_unknown_values,
    blank_all,
    blank_baseline,
    collect_unknown_values,
    match_paths,
)

OPEN = Placeholder("<configmap c/k>", why="nobody read it", is_public=True)
HIDDEN = Placeholder("<secret s/k>", why="nobody read it")
TEXT = "<configmap c/k>"


def evaluate(desired, applied, live, baseline):
    """The comparison of a plan that does not know some values of `desired`."""
    unknown = collect_unknown_values(desired)
    comparison = compare(
        blank_all(desired, unknown, desired),
        blank_all(live, unknown, desired),
        Remembered(blank_all(applied, unknown, desired), blank_baseline(baseline, unknown, desired)),
    )
    return add_unknown_values(comparison, unknown, "")


def body(value):
    return {"location": "west", "properties": {"x": value}}


OTHERS = [{"name": "b", "at": "2"}, {"name": "a", "at": "1"}]
SAME = [
    (body(OPEN), body("old"), body("old"), "/properties/x", "nothing changed"),
    (body(OPEN), body("old"), body("new"), "/properties/x", "Azure changed, perhaps to what git has now"),
    (body(HIDDEN), body(MASKED), {"location": "west", "properties": {}}, "/properties/x", "Azure returns no secret"),
    (body(HIDDEN), body(MASKED), body("it does"), "/properties/x", "or returns it"),
    (body(HIDDEN), body({"a": MASKED}), {"location": "west", "properties": {"x": {}}}, "/properties/x", "a whole Secret"),
    (body([{"name": "a", "at": OPEN}]), body([{"name": "a", "at": "1"}]), body([{"name": "a", "at": "3"}]),
     "/properties/x/0/at", "in a list"),
    (body([{"name": "a", "at": OPEN}, {"name": "b", "at": "2"}]), body(OTHERS), body(OTHERS),
     "/properties/x/0/at", "in a list in another order"),
    (body(["p", OPEN]), body(["p", "q"]), body(["q", "p"]), "/properties/x", "in a list of plain values"),
    (body(OPEN), body("old"), {"location": "west", "properties": {"x": {"now": "an object"}}}, "/properties/x", "another form"),
]  # fmt: skip


@pytest.mark.parametrize("desired, applied, live, path, why", SAME)
def test_a_value_that_is_not_known_is_not_a_difference(desired, applied, live, path, why):
    found = evaluate(desired, applied, live, make_baseline(applied, applied))
    assert (found.verdict, found.differences) == (Verdict.IN_SYNC, ()), why
    assert found.unverified == (path,), why
    assert found.because == {path: "not known to a plan: nobody read it"}


DIFFERENT = [
    ({**body(OPEN), "location": "east"}, body("old"), body("old"), [("/location", "east", "west")], "git, beside it"),
    (body(OPEN), body("old"), {**body("new"), "location": "north"}, [("/location", "west", "north")], "Azure, beside it"),
    (body(OPEN), {"location": "west"}, {"location": "west"}, [("/properties/x", TEXT, None)], "nothing is there yet"),
    (body(HIDDEN), {"location": "west"}, {"location": "west"}, [("/properties/x", MASKED, None)], "nor a secret"),
    (body([{"name": "a", "at": OPEN}, {"name": "b", "at": "5"}]), body(OTHERS), body(OTHERS),
     [("/properties/x/1/at", "5", "2")], "the entry beside it"),
]  # fmt: skip


@pytest.mark.parametrize("desired, applied, live, differences, why", DIFFERENT)
def test_what_is_known_is_compared(desired, applied, live, differences, why):
    found = evaluate(desired, applied, live, make_baseline(applied, {**live, "location": "west"}))
    assert [
        (difference.path, difference.desired, difference.live) for difference in found.differences
    ] == differences, why
    assert not {path for path, *_ in differences} & {*found.unverified}, why


def test_a_document_without_the_value_stays_as_it_is():
    reference = body([{"name": "a", "at": OPEN}])
    for document in (None, {}, {"properties": {"x": []}}, {"properties": {"x": [{"name": "b"}]}}, {"properties": 1}):
        assert blank_all(document, collect_unknown_values(reference), reference) == document


def test_the_pointers_of_a_plan_file_lead_to_the_same_places():
    reference = {"a/b": [{"x": OPEN}], "c": {"0": HIDDEN}}
    unknown = collect_unknown_values(reference)
    pointers = [format_pointer(path) for path in unknown]
    assert pointers == ["/a~1b/0/x", "/c/0"]
    assert tuple(match_paths(reference, pointers)) == tuple(unknown)


def test_a_public_value_shows_where_it_comes_from_and_a_secret_does_not():
    assert remove_secrets({"a": OPEN, "b": HIDDEN}) == {"a": TEXT, "b": MASKED}
    assert (f"{OPEN}", str(HIDDEN), f"{HIDDEN.as_public()}") == (TEXT, MASKED, "<secret s/k>")
