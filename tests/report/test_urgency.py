"""What came of a resource, and the order of a report: causes above what waits for them."""

from dataclasses import replace

import pytest

from gitsync.model.condition import Severity
from gitsync.model.result import Outcome
from gitsync.model.verdict import Action, Verdict
from gitsync.report import junit, markdown, text
from gitsync.report.findings import list_findings
from gitsync.report.html.page import render as render_page
from gitsync.report.json import build_document
from gitsync.report.ordering import collect_causes, describe_causes
from tests.report.report_builders import DRIFTED, IN_SYNC, NET, ORPHAN, READY, REFUSED, failed, key, report, result
from tests.support.parts import change

NETWORK = replace(REFUSED, key=key("VirtualNetwork", "hub", NET))
WAITING = failed("WaitingForOwner", "Owner cannot be found.", Severity.WARNING)
SUBNET = result(
    key("VirtualNetworksSubnet", "one", NET),
    Verdict.BLOCKED,
    condition=WAITING,
    blocked_by=NETWORK.key,
)
CARD = result(key("Interface", "a", NET), Verdict.BLOCKED, condition=WAITING, blocked_by=SUBNET.key)
MOVED = replace(DRIFTED, key=key("VirtualNetwork", "spoke", NET))
BROKEN = report(IN_SYNC, CARD, SUBNET, MOVED, NETWORK)


@pytest.mark.parametrize(
    ("value", "expected", "why"),
    [
        (IN_SYNC, Outcome.UNCHANGED, "nothing to do"),
        (DRIFTED, Outcome.CHANGED, "it was written"),
        (ORPHAN, Outcome.CHANGED, "a delete is a change"),
        (REFUSED, Outcome.FAILED, "Azure refused the write, whatever the verdict"),
        (change(IN_SYNC, fault=KeyError("x")), Outcome.FAILED, "a bug is a failure, even of what is in sync"),
        (SUBNET, Outcome.BLOCKED, "it waits for its owner"),
        (change(SUBNET, is_fine=True, blocked_by=None), Outcome.BLOCKED, "a held delete is no failure, but waits"),
        (result(CARD.key, Verdict.UNKNOWN, condition=WAITING), Outcome.FAILED, "it could not be read"),
        (result(CARD.key, Verdict.INVALID, condition=failed("Failed", "x")), Outcome.FAILED, "the manifest is wrong"),
        (
            result(CARD.key, Verdict.UNKNOWN, condition=failed("NotReached", "x")),
            Outcome.BLOCKED,
            "the run had ended: nothing was tried",
        ),
        (
            result(CARD.key, Verdict.DRIFTED, condition=failed("Flapping", "x", Severity.WARNING)),
            Outcome.BLOCKED,
            "a person has to look first",
        ),
        (
            result(CARD.key, Verdict.CREATE, Action.CREATE, failed("Reconciling", "x", Severity.INFO)),
            Outcome.BLOCKED,
            "Azure still works on it",
        ),
        (result(CARD.key, Verdict.SKIP, condition=READY), Outcome.UNCHANGED, "it is left alone"),
    ],
)
def test_the_outcome(value, expected, why):
    assert value.outcome is expected, why


def test_the_cause_is_what_does_not_wait_itself():
    assert collect_causes(BROKEN.results) == {SUBNET.key: NETWORK.key, CARD.key: NETWORK.key}
    assert set(describe_causes(BROKEN.results).values()) == {"blocked by VirtualNetwork/hub"}


def test_a_resource_that_waits_for_one_outside_of_the_run_keeps_its_reason():
    without = change(BROKEN, results=tuple(each for each in BROKEN.results if each.key != NETWORK.key))
    assert describe_causes(without.results) == {}
    assert "blocked by" not in text.render(without)
    assert all(each.condition.reason in text.render(without) for each in without.results if each.ending.blocked_by)


def test_a_circle_of_waiting_ends():
    one, other = change(SUBNET, blocked_by=CARD.key), change(CARD, blocked_by=SUBNET.key)
    assert collect_causes([one, other]).keys() == {one.key, other.key}


@pytest.mark.parametrize(
    "render", [text.render, markdown.render, render_page, junit.render], ids=["text", "markdown", "html", "junit"]
)
def test_the_cause_stands_first_and_its_victims_name_it(render):
    shown = render(BROKEN)
    at = [shown.index(name) for name in ("VirtualNetwork/hub", "VirtualNetworksSubnet/one")]
    assert at == sorted(at)
    assert shown.index("AccountNameInvalid") < shown.index("VirtualNetworksSubnet/one")
    assert shown.count("blocked by VirtualNetwork/hub") >= 2


@pytest.mark.parametrize("render", [text.render, markdown.render], ids=["text", "markdown"])
def test_failures_are_counted_where_a_reader_begins(render):
    assert "1 failed, 2 waiting; updated 1" in render(BROKEN)
    assert "failed" not in render(report(IN_SYNC, DRIFTED))


def test_one_finding_has_what_failed_and_how_many_wait_for_it():
    [finding] = list_findings(BROKEN)
    assert finding.title.startswith("VirtualNetwork/hub failed: AccountNameInvalid")
    assert finding.details[-1] == "2 resources wait for it."


def test_a_program_reads_outcomes_and_causes():
    document = build_document(BROKEN)
    assert document["outcomes"] == {"failed": 1, "blocked": 2, "changed": 1, "unchanged": 1}
    found = {resource["name"]: (resource["outcome"], resource["blockedBy"]) for resource in document["resources"]}
    assert found["one"] == ("blocked", str(NETWORK.key))
    assert found["hub"] == ("failed", None)
