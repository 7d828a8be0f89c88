"""The report for a person: golden texts, and what it never does."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.agent.reconcile.result_builder import NO_TURN
from gitsync.model.arm_id import ArmId
from gitsync.model.condition import Condition, ConditionStatus
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.result import FailedRequest, Stage
from gitsync.model.verdict import Action, Difference, Verdict
from gitsync.report import junit, markdown, sarif
from gitsync.report.html import page
from gitsync.report.problem_lines import format_problems
from gitsync.report.text import Extent, render
from tests.report.report_builders import DRIFTED, FULL, IN_SYNC, NET, PLAN, REFUSED, failed, key, report, result
from tests.support.parts import change

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(("name", "value"), [("sync.txt", FULL), ("plan.txt", PLAN)])
def test_a_report_reads_as_it_should(name, value):
    assert render(value) == (GOLDEN / name).read_text(encoding="utf-8")


def test_the_order_of_results_and_problems_does_not_matter():
    turned = replace(FULL, results=FULL.results[::-1], problems=FULL.problems[::-1])
    assert render(turned) == render(FULL)


def test_colour_changes_no_character():
    painted = render(FULL, colour=True)
    assert "\x1b[31mupdate, drifted\x1b[0m" in painted
    assert "\x1b[32m    + /tags/env" in painted
    plain = painted
    for code in ("0", "1", "31", "32", "33"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert plain == render(FULL)


def test_a_terminal_wraps_words_and_cuts_none():
    words = " ".join(f"word{number}" for number in range(30))
    arm_id = "/subscriptions/" + "x" * 200
    value = report(replace(REFUSED, condition=failed("Failed", words), arm_id=ArmId(arm_id)))
    wrapped = render(value, width=100)
    assert max(len(line) for line in wrapped.splitlines() if "word" in line) <= 100
    assert " ".join(wrapped.split()).count("word") == 30
    assert arm_id in wrapped


def test_a_narrow_terminal_gives_the_location_a_line_of_its_own():
    lines = render(FULL, width=40).splitlines()
    at = lines.index("    create   StorageAccount/logs")
    assert lines[at + 1] == "        azure.yaml:3"


def test_many_resources_are_counted_where_there_is_nothing_to_report():
    quiet = [result(key("ResourceGroup", f"rg-{number}")) for number in range(60)]
    text = render(report(*quiet, DRIFTED))
    assert "60 resources in sync and Ready, not listed." in text
    assert "rg-1" not in text
    assert "VirtualNetwork/hub" in text
    assert "in sync" not in render(report(DRIFTED))


def test_what_is_in_sync_as_far_as_azure_reports_is_counted():
    partly = change(IN_SYNC, key=key("Vault", "kv"), unverified=("/properties/secret",))
    assert "2 resources in sync and Ready, not listed; for 1 of them, Azure does not return" in render(
        report(IN_SYNC, partly)
    )


PLANNED = Condition(status=ConditionStatus.UNKNOWN, reason="Planned")
QUIET = [
    ({}, "1 resource in sync and Ready, not listed.", "in sync and Ready"),
    ({"condition": PLANNED}, "1 resource in sync, not listed.", "a plan that knows of no condition"),
    ({"condition": failed("Failed", "no")}, "ResourceGroup/core", "not Ready when it was last written"),
    ({"action": Action.UPDATE}, "ResourceGroup/core", "written"),
    ({"verdict": Verdict.SKIP}, "ResourceGroup/core", "left alone"),
]


@pytest.mark.parametrize(("more", "shown", "why"), QUIET, ids=[q[-1] for q in QUIET])
def test_a_resource_needs_no_look_where_it_is(more, shown, why):
    of_a_plan = report(replace(IN_SYNC, **{"is_fine": True} | more), command="plan")
    assert shown in render(of_a_plan), why
    assert ("in sync" in render(of_a_plan)) == ("in sync" in shown)


LONG = "x" * 80

SIDES = [
    (Difference("/a", 1, 2, "r"), ["    ~ /a: 2 → 1"], "another value"),
    (Difference("/a", 1, None, "r"), ["    + /a: 1"], "a leaf that Azure does not have"),
    (Difference("/a", None, 2, "r"), ["    - /a: 2"], "a leaf that git does not ask for"),
    (Difference("/a", None, 2, "removed from git"), ["    - /a: 2 (removed from git)"], "one that it asked for before"),
    (
        Difference("/a", f"{LONG}1", f"{LONG}2", "r"),
        ["    ~ /a:", f'        - "{LONG}2"', f'        + "{LONG}1"'],
        "long",
    ),
]


@pytest.mark.parametrize(("difference", "lines", "why"), SIDES, ids=[s[-1] for s in SIDES])
def test_a_difference_is_shown_as_a_diff(difference, lines, why):
    shown = render(report(change(DRIFTED, differences=(difference,), unverified=()))).splitlines()
    start = next(number for number, line in enumerate(shown) if "/a:" in line)
    assert shown[start : start + len(lines)] == lines, why


def test_what_comes_is_green_and_what_goes_is_red():
    sides = (Difference("/a", 1, None, "r"), Difference("/b", None, 2, "r"), Difference("/c", 1, 2, "r"))
    text = render(report(replace(DRIFTED, differences=sides)), colour=True)
    assert "\x1b[32m    + /a: 1\x1b[0m" in text
    assert "\x1b[31m    - /b: 2\x1b[0m" in text
    assert "\x1b[33m    ~ /c: 2 → 1\x1b[0m" in text


def test_an_empty_run_reports_it():
    assert render(report()).startswith("Nothing changed\nsync of 0123456789ab: 0 resources\n")


def count(*results):
    return render(report(*results)).splitlines()[1].partition(": ")[2]


FOUND = [
    ((IN_SYNC,), "1 resource, in sync and Ready", "one"),
    ((IN_SYNC, replace(IN_SYNC, key=key("A", "b"))), "2 resources, all in sync and Ready", "several"),
    ((IN_SYNC, DRIFTED), "2 resources, all Ready, 1 in sync", "what was written is in the headline"),
    ((IN_SYNC, REFUSED), "2 resources, 1 of 2 Ready, 1 in sync", "what failed is in the headline, too"),
    (
        (IN_SYNC, replace(IN_SYNC, key=key("A", "b"), verdict=Verdict.SKIP)),
        "2 resources, all Ready, 1 in sync, 1 skip",
        "no other line counts it",
    ),
]


@pytest.mark.parametrize(("results", "found", "why"), FOUND, ids=[row[-1] for row in FOUND])
def test_a_sync_counts_what_its_headline_does_not(results, found, why):
    assert count(*results) == found, why


def test_the_sides_of_a_difference_are_named_once():
    twice = render(report(DRIFTED, replace(DRIFTED, key=key("A", "b"), is_fine=False)))
    assert twice.count("Values: Azure → git") == 1
    assert twice.index("Failed (1)") < twice.index("Values: ") < twice.index("Changed (1)")
    assert "Values: " not in render(report(IN_SYNC))


def test_a_result_repeats_nothing_of_the_plan_before_it():
    value = report(DRIFTED, REFUSED)
    in_full, short = render(value), render(value, extent=Extent.RESULT)
    assert "VirtualNetwork/hub" in in_full
    assert "VirtualNetwork/hub" not in short
    assert "StorageAccount/logs" in short, "what failed is shown"
    assert render(report(DRIFTED), extent=Extent.RESULT).splitlines()[:3] == [
        "Updated 1",
        "sync of 0123456789ab: 1 resource, Ready",
        "",
    ]


def test_an_interrupted_run_reports_it():
    assert "Interrupted: the next run continues" in render(replace(FULL, interrupted=True))


def test_a_try_that_a_stop_has_ended_is_reported_once():
    refusal = FailedRequest(at="2026-01-02T03:04:05Z", stage=Stage.ACT, status=503, code="ServerBusy", message="Wait.")
    ended = replace(refusal, status=0, code="Interrupted", message="The run was stopped before Azure responded.")
    stopped = report(replace(REFUSED, condition=failed("Interrupted", ended.message), attempts=(refusal, ended)))
    assert render(stopped).count(ended.message) == 1
    assert "act: 503 ServerBusy: Wait." in render(stopped)
    assert "act: Interrupted" not in render(stopped)
    assert "act: Interrupted" in render(stopped, verbose=True)


def test_what_a_stopped_run_did_not_reach_is_a_number():
    unreached = [
        result(key("ResourceGroup", f"rg-{number}"), Verdict.UNKNOWN, condition=NO_TURN, is_fine=False)
        for number in range(400)
    ]
    stopped = replace(report(IN_SYNC, REFUSED, *unreached), interrupted=True)
    assert "400 resources not reached, not listed; -v lists them." in render(stopped)
    assert "rg-1" not in render(stopped)
    assert "rg-399" in render(stopped, verbose=True)


def test_groups_and_namespaces_are_shown_where_they_tell_something():
    twins = [result(key("Cluster", "a", group), Verdict.DRIFTED) for group in ("kusto.azure.com", "redis.azure.com")]
    text = render(report(*twins))
    assert "Cluster.kusto.azure.com/a" in text
    assert "  default:\n" not in text
    assert "  default:\n" in render(report(twins[0], replace(twins[1], key=key("Cluster", "a", namespace="other"))))


def test_a_long_value_is_cut_and_reports_how_long_it_is():
    long = replace(DRIFTED, differences=(Difference("/properties/customData", "x" * 5000, 1, "changed in git"),))
    assert "… (5,000 characters)" in render(report(long))


@pytest.mark.parametrize("render_form", [render, markdown.render, sarif.render, junit.render, page.render])
@pytest.mark.parametrize("start", ["x" * 5000, "<a>\n" * 400], ids=["a line", "lines"])
def test_every_form_shows_where_long_values_differ(render_form, start):
    sides = f"{start}Allow", f"{start}Deny"
    changes = (Difference("/properties/policy", *sides, "changed in git"),)
    shown = render_form(report(replace(DRIFTED, action=Action.UPDATE, differences=changes), command="plan"))
    assert "Allow" in shown
    assert "Deny" in shown


STEPS = [
    (report(replace(DRIFTED), command="plan"), "run `gitsync accept`", "drift has two ways out"),
    (
        report(result(key("A", "b"), Verdict.UNKNOWN, condition=failed("Failed", "AuthorizationFailed"))),
        "could not be read",
        "nothing was decided",
    ),
    (
        report(result(key("A", "b"), Verdict.UNKNOWN, condition=failed("Failed", "a fault"), fault=KeyError("x"))),
        "Report the internal error",
        "no person's mistake",
    ),
    (report(result(key("A", "b"), Verdict.ADOPT), command="plan"), "--adopt report", "the delta comes first"),
    (report(result(key("A", "b"), Verdict.DELETE), command="plan"), "gitsync sync --prune", "prune is off"),
    (
        report(result(key("A", "b"), Verdict.CREATE), command="plan"),
        "Run `gitsync sync` to apply these",
        "the next command",
    ),
    (report(REFUSED), "gitsync describe KIND/NAME", "where to look"),
    (FULL, "Run `gitsync validate`", "problems can be seen offline"),
]


@pytest.mark.parametrize("command", ["plan", "sync"])
def test_what_is_flapping_is_not_promised_to_be_written(command):
    held = replace(DRIFTED, action=Action.NONE, is_fine=False, condition=failed("Flapping", "It was written"))
    text = render(report(held, command=command))
    assert "Flapping resources are paused" in text
    assert "`gitsync sync`" not in text
    assert "The next run retries" not in text


@pytest.mark.parametrize(("value", "advice", "why"), STEPS, ids=[s[-1] for s in STEPS])
def test_what_to_do_next_is_reported(value, advice, why):
    assert advice in render(value), why


def test_what_was_not_reached_is_not_reported_as_unreadable():
    missed = result(key("A", "b"), Verdict.UNKNOWN, condition=failed("NotReached", "The run ended."))
    assert "could not be read" not in render(report(missed))


def test_a_quiet_run_gives_no_advice():
    assert render(report(IN_SYNC)).count("\n\n") == 2


@given(st.text(max_size=60))
def test_foreign_text_never_reaches_the_terminal_as_it_is(text):
    foreign = result(
        key("A", "b", NET),
        Verdict.DRIFTED,
        condition=failed("Failed", text),
        is_fine=False,
        arm_id=text,
        differences=(Difference("/" + text, text, {text: [text]}, "x"),),
    )
    lines = render(report(foreign), width=80, colour=False).split("\n")
    assert all(line.isprintable() for line in lines)


def test_problems_alone_are_lines_with_location_and_hint():
    assert format_problems(FULL.problems) == [
        "a.yaml: error: NotYaml",
        "    This is not YAML.",
        "azure.yaml:9: warning: UnknownField spec.locatoin",
        "    spec.locatoin is not a field of ResourceGroup.",
        "    Did you mean spec.location?",
    ]


def test_an_invalid_manifest_is_reported_once_with_its_errors():
    invalid = result(
        key("ResourceGroup", "core"),
        Verdict.INVALID,
        condition=failed("Failed", "The manifest is invalid: it has no location."),
        source=SourceLocation("azure.yaml", 3),
        is_fine=False,
    )
    problem = Problem(code="MissingField", message="It has no location.", path="azure.yaml", line=5)
    shown = render(report(invalid, problems=[problem], command="plan"))
    assert shown.startswith("1 failed; a sync would change nothing\n")
    assert "  invalid   ResourceGroup/core   azure.yaml:3\n\nErrors in manifests (1)\n" in shown
    assert "The manifest is invalid" not in shown
    elsewhere = render(report(invalid, problems=[replace(problem, path="other.yaml")], command="plan"))
    assert elsewhere.startswith("1 failed, 1 error in manifests; a sync")
    assert "The manifest is invalid" in elsewhere
