"""What checks say of changes, in the forms that the golden runs do not have whole."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gitsync.model.check import CheckFinding, CheckName, CheckVerdict
from gitsync.model.report import RequestCounts
from gitsync.model.result import Outcome
from gitsync.model.verdict import Action, Verdict
from gitsync.report import json as json_report
from gitsync.report import markdown, pipelines, sarif, text
from gitsync.report.check_texts import format_checked, format_way_on, list_shown, list_unchecked
from gitsync.report.html import page
from gitsync.report.masked import mask_report
from gitsync.report.ordering import REFUSED, choose_section
from tests.report.golden_runs import AUDITED, DENIED, FINE, LOCKED, NEW, OLD, RUNS, UNASKED, plan
from tests.report.report_builders import IN_SYNC, key, result
from tests.report.test_report_json import SCHEMA
from tests.support.parts import change

CHECKED = RUNS["checks"]


def test_json_has_every_finding_with_all_that_is_known():
    document = json.loads(json_report.render(CHECKED))
    Draft202012Validator(SCHEMA).validate(document)
    by_name = {resource["name"]: resource.get("checks") for resource in document["resources"]}
    assert by_name["core"] is None, "no check concerns what does not change"
    assert [entry["verdict"] for entry in by_name["keys"]] == ["refused", "not-checked", "fine", "fine", "fine"]
    assert by_name["old"][1] == {
        "check": "policy",
        "verdict": "not-checked",
        "code": "AuthorizationFailed",
        "message": "The identity lacks the right Microsoft.PolicyInsights/checkPolicyRestrictions/read.",
        "advice": "Grant Microsoft.PolicyInsights/checkPolicyRestrictions/read to gitsync's identity.",
        "contact": "",
        "path": "",
        "missingRight": "Microsoft.PolicyInsights/checkPolicyRestrictions/read",
    }
    assert document["requests"]["questions"] == 3


def test_verbose_text_names_what_was_not_checked_and_counts_what_was():
    lines = text.render(CHECKED, verbose=True).splitlines()
    requested = lines.index(
        "Policy check skipped for 2 resources: the identity lacks the right "
        "Microsoft.PolicyInsights/checkPolicyRestrictions/read."
    )
    assert lines[requested + 1] == "  VirtualNetwork/hub, StorageAccount/old"
    assert "Checked: policy (2), names (3), locks (4), versions (3)." in lines
    assert "Checked:" not in text.render(CHECKED)


FLAGS = [
    (tuple(CheckName), [DENIED], "`--checks=preflight,names,locks,quota,versions`", "the default without one"),
    (tuple(CheckName), [DENIED, LOCKED], "`--checks=preflight,names,quota,versions`", "without both, once"),
    ((CheckName.POLICY, CheckName.QUOTA), [DENIED], "`--checks=quota`", "what the run had, and not the default"),
    ((CheckName.LOCKS,), [LOCKED], "`--checks=none`", "nothing is left"),
]


@pytest.mark.parametrize(("names", "findings", "flag", "why"), FLAGS, ids=[row[-1] for row in FLAGS])
def test_the_way_on_is_a_flag_to_copy_and_said_once(names, findings, flag, why):
    value = plan(*(change(NEW, key=key("Vault", str(n)), checks=tuple(findings)) for n in range(3)), checks=names)
    assert flag in format_way_on(value), why
    for shown in (text.render(value), markdown.render(value)):
        assert shown.count(flag) == 1
    assert page.render(value).count(flag.strip("`")) == 1


def test_nothing_refused_needs_no_way_on():
    assert format_way_on(plan(change(NEW, checks=(AUDITED, UNASKED, *FINE)))) == ""


def test_the_rule_of_a_check_reports_how_to_go_on_without_it():
    rules = {rule["id"]: rule for rule in sarif.build_log(CHECKED)["runs"][0]["tool"]["driver"]["rules"]}
    assert "`--checks=preflight,policy,names,quota,versions`" in rules["check-locks"]["help"]["text"]
    assert rules["check-policy"]["defaultConfiguration"] == {"level": "error"}
    assert {rules[rule]["properties"]["tags"][0] for rule in ("check-locks", "check-policy")} == {"resource"}


@pytest.mark.parametrize("check", CheckName)
def test_every_check_has_a_rule(check):
    log = sarif.build_log(plan(change(NEW, checks=(replace(DENIED, check=check),))))
    results = [request for request in log["runs"][0]["results"] if request["ruleId"] == f"check-{check}"]
    assert [shown["level"] for shown in results] == ["error"]


def test_a_check_changes_neither_the_outcome_nor_what_a_sync_would_do():
    plain, refused = change(NEW, checks=()), change(NEW, checks=(DENIED,))
    assert refused.outcome is plain.outcome is Outcome.CHANGED
    outputs = pipelines.list_outputs(plan(refused, OLD))
    assert (outputs["refused"], outputs["creates"], outputs["failed"]) == ("1", "1", "0")


def test_a_warning_is_left_out_once_the_change_is_made():
    made = result(key("Vault", "keys"), Verdict.CREATE, Action.CREATE, checks=(AUDITED,))
    assert list_shown(made, writes=True) == []
    assert list_shown(made, writes=False) == [AUDITED]
    assert list_shown(replace(made, is_fine=False), writes=True) == [AUDITED]


def test_a_refused_delete_reports_what_it_would_take():
    value = plan(change(OLD, checks=(LOCKED,)))
    assert choose_section(value.results[0]) is REFUSED
    for shown in (text.render(value), markdown.render(value), page.render(value)):
        assert "It holds data: a delete also deletes its blobs, files, queues and tables." in shown


def test_the_cost_counts_checks():
    shown = text.render(plan(IN_SYNC, requests=RequestCounts(reads=12, checks=3)))
    assert "12 reads, 3 checks in 1m12s" in shown


def test_texts_of_checks_are_masked():
    leaking = replace(DENIED, message="It is hunter2.", advice="Not hunter2.", contact="Ask hunter2.", code="hunter2")
    masked = mask_report(plan(change(NEW, checks=(leaking,))), lambda value: value.replace("hunter2", "***"))
    for shown in (json_report.render(masked), text.render(masked), page.render(masked), sarif.render(masked)):
        assert "hunter2" not in shown
        assert "It is ***." in shown


def test_azure_text_is_neither_markup_nor_a_command():
    hostile = replace(DENIED, message="<b>x</b>\n::error::y\x1b[2J|", contact="@everyone ](http://x)")
    value = plan(change(NEW, checks=(hostile, replace(UNASKED, message="<i>z</i>\x1b[2J"))))
    assert "<b>" not in page.render(value)
    assert "<i>" not in page.render(value)
    assert "\x1b" not in text.render(value, verbose=True)
    assert "<b>" not in markdown.render(value)
    assert "\n::error::y" not in "\n".join(pipelines.annotate_github(value))


FINDINGS = st.builds(
    CheckFinding,
    check=st.sampled_from(CheckName),
    verdict=st.sampled_from(CheckVerdict),
    code=st.sampled_from(["A", "B"]),
    message=st.sampled_from(["One.", "Two."]),
)


@given(st.lists(st.lists(FINDINGS, max_size=4), max_size=6))
def test_what_has_no_answer_is_counted_and_never_fine(findings):
    results = [change(IN_SYNC, key=key("Vault", str(n)), checks=tuple(found)) for n, found in enumerate(findings)]
    unanswered = {
        (finding.check, finding.message, found.key)
        for found in results
        for finding in found.change.checks
        if finding.verdict is CheckVerdict.NOT_CHECKED
    }
    assert {(row.check, row.reason, of) for row in list_unchecked(plan(*results)) for of in row.keys} == unanswered
    answered = {
        finding.check
        for found in results
        for finding in found.change.checks
        if finding.verdict is not CheckVerdict.NOT_CHECKED
    }
    assert all((f"{check} (" in format_checked(results)) == (check in answered) for check in CheckName)
