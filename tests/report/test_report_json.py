"""report.json: its schema, its bytes."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from gitsync.model.condition import ConditionStatus, Severity
from gitsync.model.problem import Level
from gitsync.model.reconcile_policy import Policy
from gitsync.model.result import Outcome, Stage
from gitsync.model.verdict import Action, Verdict
from gitsync.report.json import render
from tests.report.golden_runs import RUNS
from tests.report.report_builders import DRIFTED, FULL, IN_SYNC, PLAN, failed, report, result
from tests.support.json_schemas import list_faults, read_schema

SCHEMA = read_schema("report")
GOLDEN = Path(__file__).parent / "golden"


def complain(value):
    return list_faults("report", json.loads(render(value)))


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("value", [FULL, PLAN, report(), RUNS["outside"]], ids=["sync", "plan", "empty", "outside"])
def test_a_report_keeps_the_schema(value):
    assert complain(value) == []


def test_a_report_of_before_is_one_still():
    """It has no target and no outcomes: a program that reads reports meets both."""
    document = json.loads((GOLDEN / "sync-of-before.json").read_text(encoding="utf-8"))
    assert "outcomes" not in document
    assert list_faults("report", document) == []


def test_the_schema_refuses_what_is_not_a_report():
    assert complain(replace(FULL, command="render")) != []
    assert complain(replace(FULL, started="yesterday")) != []


def test_the_schema_has_every_word_of_the_model():
    words = {
        "verdict": (SCHEMA["$defs"]["verdict"], Verdict),
        "action": (SCHEMA["$defs"]["resource"]["properties"]["action"], Action),
        "outcome": (SCHEMA["$defs"]["outcome"], Outcome),
        "policy": (SCHEMA["$defs"]["resource"]["properties"]["policy"], Policy),
        "ready": (SCHEMA["$defs"]["resource"]["properties"]["ready"], ConditionStatus),
        "condition": (SCHEMA["$defs"]["resource"]["properties"]["severity"], Severity),
        "problem": (SCHEMA["$defs"]["problem"]["properties"]["severity"], set(Level) - {Level.NOTE}),
        "stage": (SCHEMA["$defs"]["attempt"]["properties"]["stage"], Stage),
    }
    for name, (schema, enum) in words.items():
        assert set(schema["enum"]) == {member.value for member in enum}, name


def test_the_bytes_are_what_they_were():
    assert render(FULL) == (GOLDEN / "sync.json").read_text(encoding="utf-8")


def test_the_order_of_what_was_put_in_does_not_matter():
    turned = replace(
        FULL,
        problems=FULL.problems[::-1],
        results=tuple(replace(r, differences=r.differences[::-1]) for r in FULL.results[::-1]),
    )
    assert render(turned) == render(FULL)


def test_a_side_that_is_absent_is_null():
    sides = [(d["path"], d["live"]) for d in json.loads(render(report(DRIFTED)))["resources"][0]["differences"]]
    assert ("/tags/env", None) in sides


def test_any_azure_text_can_be_written():
    unexpected = result(IN_SYNC.key, condition=failed("Failed", "lone \ud800 surrogate, \x1b, \u2028"))
    assert json.loads(render(report(unexpected)).encode("ascii"))["resources"][0]["message"].startswith("lone \ud800")
