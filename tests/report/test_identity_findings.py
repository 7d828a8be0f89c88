"""A change of identity in the forms of a report that list findings: SARIF, JUnit and annotations."""

import json
from dataclasses import replace
from html import unescape

import pytest

from gitsync.model.identity import IdentityChange, IdentityIds, WritingIdentity
from gitsync.model.problem import SourceLocation
from gitsync.report import pipelines, sarif
from gitsync.report.findings import IDENTITY_RULE, Weight, list_findings
from gitsync.report.identity_texts import IDENTITY_HINT
from gitsync.report.junit import render as render_junit
from tests.report.golden_runs import plan, sync
from tests.report.report_builders import DRIFTED, IN_SYNC, ORPHAN, REFUSED
from tests.support.parts import change

SECRET = SourceLocation("red/secret.yaml", 3)
BEFORE = WritingIdentity(ids=IdentityIds("client-a", "tenant-a"), subscription="0000")
NOW = WritingIdentity(credential="aso-credential", ids=IdentityIds("client-b", "tenant-b"), source=SECRET)
CHANGE = IdentityChange(before=BEFORE, now=NOW)
MOVED = change(IN_SYNC, identity=CHANGE)
ALSO = change(DRIFTED, identity=CHANGE)
FORMS = {
    "sarif": lambda report: json.dumps(sarif.build_log(report), ensure_ascii=False),
    "junit": lambda report: unescape(render_junit(report)),
    "github": lambda report: "\n".join(pipelines.annotate_github(report)),
    "azure": lambda report: "\n".join(pipelines.annotate_azure_pipelines(report)),
}


def find(*results, command=plan):
    return [finding for finding in list_findings(command(*results)) if finding.rule == IDENTITY_RULE]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_names_both_identities_the_secret_and_what_it_means(form):
    shown = FORMS[form](plan(MOVED))
    for part in ("client-a", "client-b", "tenant-b", "red/secret.yaml", IDENTITY_HINT):
        assert part.replace(",", "%2C") in shown or part in shown, part


def test_resources_of_one_change_share_a_finding_that_names_them():
    (finding,) = find(MOVED, ALSO)
    assert (finding.path, finding.line, finding.weight, finding.is_advice) == (
        SECRET.path,
        SECRET.line,
        Weight.WARNING,
        True,
    )
    assert finding.title == "Another identity than before writes 2 resources"
    assert all(f"{each.key.kind}/{each.key.name}" in finding.details[1] for each in (MOVED, ALSO))


def test_changes_from_two_secrets_are_two_findings():
    other = replace(CHANGE, now=replace(NOW, credential="blue", ids=IdentityIds("client-c", "tenant-a")))
    first, second = find(MOVED, change(DRIFTED, identity=other))
    assert first.identity != second.identity


def test_a_delete_comes_before_a_change_of_identity_and_a_change_after_it():
    order = [finding.rule for finding in list_findings(plan(MOVED, DRIFTED, ORPHAN))]
    assert order == ["delete", IDENTITY_RULE, "drifted"]


def test_the_case_of_a_resource_passes_with_a_note():
    shown = render_junit(plan(MOVED))
    assert "<failure" not in shown
    assert "Another identity than before writes" in shown


@pytest.mark.parametrize(
    ("result", "count", "why"),
    [(MOVED, 0, "the sync has done it"), (change(REFUSED, identity=CHANGE), 1, "it may be why the sync failed")],
)
def test_a_sync_reports_only_what_it_did_not_do(result, count, why):
    assert len(find(result, command=sync)) == count, why
