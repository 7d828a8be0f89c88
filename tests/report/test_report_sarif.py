"""The report as SARIF: held to the schema, and what a host makes of it."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from gitsync.desired.problems.problem_codes import find_code_meaning
from gitsync.model.problem import SourceLocation
from gitsync.model.verdict import Action, Verdict
from gitsync.report.findings import FAILED
from gitsync.report.sarif import build_log, render
from tests.report.report_builders import (
    DRIFTED,
    FULL,
    IN_SYNC,
    NET,
    ORPHAN,
    PLAN,
    PROBLEMS,
    REFUSED,
    failed,
    key,
    report,
    result,
)
from tests.support.parts import change

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0-rtm.4.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)

EVERY_VERDICT = report(
    *(
        replace(DRIFTED, verdict=verdict, key=key("VirtualNetwork", verdict.value, NET), is_fine=fine)
        for verdict in Verdict
        for fine in [verdict not in {Verdict.BLOCKED, Verdict.INVALID, Verdict.UNKNOWN}]
    ),
    command="plan",
)


def complain(value):
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(json.loads(render(value)))]


def results(value):
    return build_log(value)["runs"][0]["results"]


def rules(value):
    return {rule["id"]: rule for rule in build_log(value)["runs"][0]["tool"]["driver"]["rules"]}


@pytest.mark.parametrize("value", [FULL, PLAN, report(), EVERY_VERDICT], ids=["sync", "plan", "empty", "all"])
def test_a_report_keeps_the_schema(value):
    assert complain(value) == []


def test_the_schema_refuses_what_is_not_sarif():
    wrong = build_log(FULL)
    wrong["runs"][0]["results"][0]["level"] = "fatal"
    wrong["runs"][0]["results"][0]["line"] = 3
    assert len(list(VALIDATOR.iter_errors(wrong))) == 2


def test_a_result_is_at_the_line_of_its_manifest():
    drifted = next(shown for shown in results(PLAN) if shown["ruleId"] == "drifted")
    assert drifted["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "net/hub.yaml", "uriBaseId": "SRCROOT"},
                "region": {"startLine": 1},
            }
        }
    ]
    assert '/tags/env: (absent) → "prod"' in drifted["message"]["text"]


def uri(value):
    return results(value)[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]


def test_a_path_is_a_relative_uri_from_the_top_of_the_repository():
    unexpected = report(change(DRIFTED, source=SourceLocation("a b/#1 ü?.yaml", 2)), command="plan")
    assert uri(unexpected) == "a%20b/%231%20%C3%BC%3F.yaml"
    assert uri(change(unexpected, root="infra")).startswith("infra/a%20b/")


def test_a_result_points_at_its_rule_and_every_rule_reports_how_to_fix():
    found = rules(EVERY_VERDICT)
    assert set(found) == {verdict.value for verdict in Verdict} - {"in-sync", "skip"}
    ids = list(found)
    assert all(ids[shown["ruleIndex"]] == shown["ruleId"] for shown in results(EVERY_VERDICT))
    assert all(rule["help"]["text"] and rule["shortDescription"]["text"] for rule in found.values())
    assert {tag for rule in found.values() for tag in rule["properties"]["tags"]} == {"resource"}, "each has its own"


LEVELS = [
    ("drifted", "warning", "Azure moved"),
    ("missing", "warning", "it is gone"),
    ("delete", "warning", "it takes something away"),
    ("conflict", "warning", "both moved"),
    ("failed-before", "warning", "it may fail again"),
    ("pending", "note", "there is something to do"),
    ("create", "note", "there is something to do"),
    ("blocked", "error", "it cannot go on"),
    ("unknown", "error", "it could not be read"),
]


@pytest.mark.parametrize(("rule", "level", "why"), LEVELS, ids=[row[0] for row in LEVELS])
def test_how_much_a_result_matters(rule, level, why):
    assert [shown["level"] for shown in results(EVERY_VERDICT) if shown["ruleId"] == rule] == [level], why


def test_problems_come_with_their_code_and_hint():
    problem = next(shown for shown in results(FULL) if shown["ruleId"] == "UnknownField")
    assert problem["level"] == "warning"
    assert problem["message"]["text"].endswith("Did you mean spec.location?")
    assert rules(FULL)["UnknownField"]["shortDescription"]["text"] == find_code_meaning("UnknownField").cause


def test_a_sync_reports_what_it_left_and_not_what_it_fixed():
    left = report(DRIFTED, REFUSED, replace(DRIFTED, action=Action.NONE, key=key("VirtualNetwork", "kept", NET)))
    assert [refusal["ruleId"] for refusal in results(left)] == [FAILED, "drifted"]


def test_an_invalid_manifest_is_reported_once_by_its_problems():
    invalid = result(IN_SYNC.key, Verdict.INVALID, condition=failed("Failed", "bad"), is_fine=False)
    assert [shown["ruleId"] for shown in results(report(invalid, problems=PROBLEMS))] == ["NotYaml", "UnknownField"]
    assert [shown["ruleId"] for shown in results(report(invalid))] == ["invalid"]


def prints(value):
    return [(shown["ruleId"], shown["partialFingerprints"]) for shown in results(value)]


def test_fingerprints_stay_when_lines_and_values_move():
    moved = replace(
        PLAN,
        problems=tuple(replace(problem, line=problem.line + 5) for problem in PLAN.problems),
        results=tuple(
            change(
                r,
                source=r.manifest.source and SourceLocation(r.manifest.source.path, r.manifest.source.line + 5),
                differences=r.differences[:1],
            )
            for r in PLAN.results
        ),
    )
    assert prints(moved) == prints(PLAN)


def test_equal_problems_have_fingerprints_of_their_own():
    twice = report(problems=(PROBLEMS[0], replace(PROBLEMS[0], line=20)))
    first, second = (shown["partialFingerprints"]["primaryLocationLineHash"] for shown in results(twice))
    assert first != second
    assert first.rpartition(":")[0] == second.rpartition(":")[0]


def test_what_has_no_file_is_distinguished_from_the_results():
    plan = report(ORPHAN, command="plan")
    assert results(plan) == []
    notes = build_log(plan)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert [note["message"]["text"].partition(":")[0] for note in notes] == [
        "Would delete VirtualNetworksSubnet/old (holds data)"
    ]


def test_a_delete_is_a_result_where_its_manifest_was():
    plan = report(change(ORPHAN, last_source=SourceLocation("net/old.yaml", 0)), command="plan", root="infra")
    [shown] = results(plan)
    assert (shown["ruleId"], shown["level"]) == ("delete", "warning")
    assert shown["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "infra/net/old.yaml", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 1},
    }
    assert complain(plan) == []


def test_foreign_text_makes_no_link():
    evil = replace(REFUSED, condition=failed("Failed", "[click](https://e.test) \x1b[2J"))
    text = results(report(evil))[0]["message"]["text"]
    assert "](" not in text
    assert text.isprintable() or "\n" in text
    assert "\x1b" not in text


def test_the_order_of_what_was_put_in_does_not_matter():
    turned = replace(FULL, problems=FULL.problems[::-1], results=FULL.results[::-1])
    assert render(turned) == render(FULL)
