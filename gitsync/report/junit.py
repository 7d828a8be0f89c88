"""Renders a report as JUnit XML, for the test results of a pipeline: one test case per problem and per resource.

Errors and drift fail; planned changes pass, with a note in the output of the case. The only time is that of the whole
run.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from xml.etree import ElementTree as ET

from junitparser import Attr, Failure, IntAttr, JUnitXml, Skipped, TestCase, TestSuite

from gitsync.model.report import Report
from gitsync.model.verdict import Verdict
from gitsync.report.author_texts import list_busy_authors, list_doubts
from gitsync.report.check_texts import MOST_REASONS, format_way_on, list_unchecked
from gitsync.report.findings import (
    ReportFinding,
    Weight,
    list_identity_findings,
    list_result_findings,
    make_problem_finding,
)
from gitsync.report.headline import format_headline
from gitsync.report.hidden_people import leave_out_people
from gitsync.report.ordering import describe_causes, shorten_names, sort_by_urgency
from gitsync.report.run_facts import format_coverage, list_target
from gitsync.settings.logging import escape_controls


class _Case(TestCase):
    """A test case with the location of its manifest, in the attributes that pytest and GitLab use for it."""

    file = Attr()
    line = IntAttr()


def render(report: Report) -> str:
    """Render the report as JUnit XML, with a newline at its end, and without names of people."""
    report = leave_out_people(report)
    document = JUnitXml(f"gitsync {report.command}")
    manifests = _make_suite("manifests", _make_problem_cases(report), report)
    for name, value in list_target(report.target):
        manifests.add_property(name.lower(), _clean_text(value))
    manifests.add_property("read", _clean_text(format_coverage(report.source.coverage)))
    resources = _make_suite("resources", _make_resource_cases(report), report)
    resources.add_property("headline", _clean_text(format_headline(report)))
    for outcome, count in report.outcomes.items():
        resources.add_property(outcome.value, str(count))
    if way_on := format_way_on(report):
        resources.add_property("if a check is wrong", _clean_text(way_on))
    for line in (*list_busy_authors(report), *(doubt.text for doubt in list_doubts(report)[:MOST_REASONS])):
        resources.add_property("who changed it", _clean_text(line))
    for row in list_unchecked(report)[:MOST_REASONS]:
        resources.add_property("not checked", _clean_text(row.text))
    document.append(manifests)
    document.append(resources)
    document.update_statistics()
    # The library adds up the times of cases, which are not measured.
    elapsed = datetime.fromisoformat(report.finished) - datetime.fromisoformat(report.started)
    document.time = resources.time = elapsed.total_seconds()
    # Not by `document.write`, which uses minidom: Python 3.13 changed what that escapes.
    root = ET.fromstring(document.tostring())  # noqa: S314 - it was just made here
    ET.indent(root, "\t")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _make_suite(name: str, cases: Iterable[TestCase], report: Report) -> TestSuite:
    suite = TestSuite(f"gitsync {report.command}: {name}")
    # The schema of JUnit has no time zone.
    suite.timestamp = report.started.removesuffix("Z")
    suite.add_testcases(list(cases))
    return suite


def _make_problem_cases(report: Report) -> Iterable[TestCase]:
    # Cases have no line numbers in their names, so that they keep their history when the file changes above them.
    for problem in sorted(report.problems, key=lambda problem: problem.order):
        finding = make_problem_finding(problem, report)
        name = ": ".join(part for part in (problem.code, problem.field) if part)
        yield _make_case(name, problem.path or "gitsync", finding)


def _make_resource_cases(report: Report) -> Iterable[TestCase]:
    """Make the cases of resources: what failed comes first, then what waits for that."""
    names, causes = shorten_names(result.key for result in report.results), describe_causes(report.results)
    for result in sort_by_urgency(report.results):
        # Each resource has a case of its own, so a finding for several of them is in all of their cases.
        identity = [finding for _, finding in list_identity_findings([result], report)]
        findings = [*list_result_findings(result, report, causes.get(result.key, "")), *identity]
        case = _make_case(names[result.key], f"{result.key.namespace}.{result.key.kind}", *findings)
        if result.verdict is Verdict.SKIP and result.is_fine:
            reason = result.message or f"Its reconcile policy is {result.manifest.policy.value}."
            case.result = Skipped(_clean_text(reason))
        yield case


def _make_case(name: str, group: str, *findings: ReportFinding) -> _Case:
    """Make a case of its findings: the first has the location, and each that is a failure fails it."""
    case = _Case(_clean_text(name), _clean_text(group))
    if findings and findings[0].path:
        case.file = _clean_text(findings[0].path)
    if findings and findings[0].line:
        case.line = findings[0].line
    notes = [finding for finding in findings if finding.weight is Weight.NOTE or finding.is_advice]
    failures = [finding for finding in findings if finding not in notes]
    if notes:
        case.system_out = _clean_text("\n".join(note.text for note in notes))
    if failures:
        failure = Failure(_clean_text(failures[0].headline), failures[0].rule)
        failure.text = _clean_text("\n".join(finding.text for finding in failures))
        case.result = failure
    return case


def _clean_text(text: str) -> str:
    """Clean a text for XML: lines of printable characters (XML 1.0 §2.2 has no way to write the others)."""
    return "\n".join(map(escape_controls, text.splitlines()))
