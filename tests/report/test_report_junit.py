"""The report as JUnit XML: read again by the library, and by a plain XML parser."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from junitparser import Failure, JUnitXml, Skipped

from gitsync.model.reconcile_policy import Policy
from gitsync.model.verdict import Action, Difference, Verdict
from gitsync.report.junit import render
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

PENDING = replace(DRIFTED, verdict=Verdict.PENDING, key=key("VirtualNetwork", "spoke", NET))
SKIPPED = result(key("Vault", "kv", "keyvault.azure.com"), Verdict.SKIP, policy=Policy.SKIP)


def cases(value):
    return {case.name: case for suite in JUnitXml.fromstring(render(value).encode()) for case in suite}


def outcome(case):
    if not case.result:
        return "output" if case.system_out else "passed"
    return {Failure: "failure", Skipped: "skipped"}[type(case.result[0])]


PLANNED = report(IN_SYNC, DRIFTED, REFUSED, ORPHAN, PENDING, SKIPPED, command="plan", problems=PROBLEMS)
OUTCOMES = [
    ("ResourceGroup/core", "passed", "as it should be"),
    ("VirtualNetwork/hub", "failure", "drift"),
    ("StorageAccount/logs", "failure", "not fine"),
    ("VirtualNetwork/spoke", "output", "what a sync will do is no failure, and is told"),
    ("VirtualNetworksSubnet/old", "failure", "a delete is more than a change: it takes something away"),
    ("Vault/kv", "skipped", "its policy says so"),
    ("NotYaml", "failure", "a file that cannot be read"),
    ("UnknownField: spec.locatoin", "output", "a warning"),
]


@pytest.mark.parametrize(("name", "expected", "why"), OUTCOMES, ids=[o[-1] for o in OUTCOMES])
def test_what_fails_and_what_passes(name, expected, why):
    assert outcome(cases(PLANNED)[name]) == expected, why


def test_there_is_a_case_for_every_resource_and_problem():
    document = JUnitXml.fromstring(render(PLANNED).encode())
    assert (document.tests, document.failures, document.skipped, document.errors) == (8, 4, 1, 0)
    assert [(suite.name, suite.tests) for suite in document] == [
        ("gitsync plan: manifests", 2),
        ("gitsync plan: resources", 6),
    ]


def test_what_a_sync_fixed_passes():
    mended = cases(report(DRIFTED, replace(REFUSED, verdict=Verdict.DRIFTED)))
    assert outcome(mended["VirtualNetwork/hub"]) == "passed"
    assert outcome(mended["StorageAccount/logs"]) == "failure"


def test_a_failure_shows_the_differences_and_the_location_of_the_manifest():
    case = ET.fromstring(render(PLAN)).find(".//testcase[@name='VirtualNetwork/hub']")
    assert (case.get("file"), case.get("line")) == ("net/hub.yaml", "1")
    assert '/tags/env: (absent) → "prod"' in case.find("failure").text
    assert case.find("failure").get("type") == "drifted"
    moved = ET.fromstring(render(change(PLAN, root="infra")))
    assert moved.find(".//testcase[@name='VirtualNetwork/hub']").get("file") == "infra/net/hub.yaml"


def test_the_time_is_that_of_the_run():
    document = ET.fromstring(render(FULL))
    assert float(document.get("time")) == 72.0
    assert document.find("testsuite").get("timestamp") == "2026-01-02T03:04:05"


def test_a_line_that_moves_keeps_the_names_of_cases():
    moved = replace(PLANNED, problems=tuple(replace(problem, line=problem.line + 7) for problem in PROBLEMS))
    assert cases(moved).keys() == cases(PLANNED).keys()


def test_the_order_of_what_was_put_in_does_not_matter():
    turned = replace(PLANNED, problems=PLANNED.problems[::-1], results=PLANNED.results[::-1])
    assert render(turned) == render(PLANNED)


def test_an_empty_report_is_a_document():
    assert ET.fromstring(render(report())).get("tests") == "0"


@pytest.mark.parametrize(
    "text", ["a\x00b\x1b[2J", "lone \ud800 surrogate", "\ufffe", "]]><x>&\"'", "one\ntwo\r\nthree"]
)
def test_any_azure_text_can_be_written(text):
    unexpected = result(
        key("VirtualNetwork", "x<y", NET),
        Verdict.UNKNOWN,
        Action.NONE,
        failed("Failed", text),
        is_fine=False,
        differences=(Difference("/a", text, None, "x"),),
    )
    document = ET.fromstring(render(report(unexpected)).encode("utf-8"))
    assert document.find(".//testcase").get("name") == "VirtualNetwork/x<y"
    assert document.find(".//failure").get("message").startswith("VirtualNetwork/x<y is unknown: Failed: ")


def test_what_the_run_tolerates_is_not_a_failure():
    waiting = change(REFUSED, verdict=Verdict.BLOCKED, is_tolerated=True)
    assert [outcome(case) for case in cases(report(waiting)).values()] == ["output"]
