"""Many problems of one code and cause are one line for people, and all of them for machines."""

import json as json_module
from dataclasses import replace

import pytest

from gitsync.model.problem import Level, Problem
from gitsync.report import json, junit, markdown, sarif, text
from gitsync.report.alike import MOST_ALIKE
from gitsync.report.wording import shorten_problems
from tests.report.report_builders import FULL


def problem(
    number, code="OwnerNotFound", message="spec.owner names ResourceGroup/rg{}, which nobody declares.", **more
):
    values = {"path": f"a{number:03}.yaml", "line": number, "field": "spec.owner", "hint": "Add its manifest."}
    return Problem(code=code, message=message.format(number), **{**values, **more})


def many(count, **more):
    return [problem(number, **more) for number in range(count)]


def test_more_than_ten_of_one_cause_are_the_first_with_their_number_and_three_locations():
    (shown,) = shorten_problems(reversed(many(392)))
    assert (shown.path, shown.line, shown.hint) == ("a000.yaml", 0, "Add its manifest.")
    assert shown.message.splitlines() == [
        "spec.owner names ResourceGroup/rg0, which nobody declares.",
        "392 problems are like this one: a000.yaml, a001.yaml:1, a002.yaml:2 and 389 more.",
    ]


def test_up_to_ten_are_shown_one_by_one():
    assert shorten_problems(reversed(many(MOST_ALIKE))) == many(MOST_ALIKE)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"code": "UnknownKind"}, "another code"),
        ({"level": Level.WARNING}, "a warning"),
        ({"message": "spec.owner names {}, which is in a cycle."}, "another cause"),
        ({"hint": "Did you mean core?"}, "another remedy"),
    ],
)
def test_each_cause_is_shown(other, why):
    assert len(shorten_problems([*many(20), *many(20, **other)])) == 2, why
    assert len(shorten_problems([*many(20), *many(3, **other)])) == 4, why


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        (["spec.{} is an unknown field.", "spec.a.{} is an unknown field."], "paths"),
        (["The value of {} under data is not text."], "values"),
        (["'a b{}' is not YAML at column 3: it ends."], "quoted texts"),
        (["Redis of cache.azure.com has no version v1api2020060{}."], "versions"),
    ],
)
def test_names_make_no_other_cause(messages, why):
    problems = [problem(number, message=messages[number % len(messages)]) for number in range(20)]
    assert len(shorten_problems(problems)) == 1, why


def test_words_of_the_field_make_no_other_cause():
    words = ["alpha", "beta", "gamma"]
    problems = [
        problem(n, message=f"The value of {words[n % 3]} under data is not text.", field=f"data.{words[n % 3]}")
        for n in range(20)
    ]
    assert len(shorten_problems(problems)) == 1


REPORT = replace(FULL, problems=tuple(many(30)), results=())


@pytest.mark.parametrize("form", [text, markdown])
def test_forms_for_people_are_short(form):
    shown = form.render(REPORT)
    assert shown.count("which nobody declares") == 1
    assert "30 problems are like this one" in shown


def test_the_text_reports_where_all_are():
    assert "`--output json` has every problem." in text.render(REPORT)
    assert "`--output json`" not in text.render(replace(REPORT, problems=tuple(many(3))))


@pytest.mark.parametrize("form", [json, junit, sarif])
def test_forms_for_machines_have_each(form):
    assert form.render(REPORT).count("which nobody declares") >= 30


def test_json_has_each_with_its_location():
    problems = json_module.loads(json.render(REPORT))["problems"]
    assert [finding["message"] for finding in problems] == [problem.message for problem in many(30)]
