"""The report as Markdown: golden text, room, and foreign text that stays text."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.condition import Severity
from gitsync.model.problem import Problem
from gitsync.model.verdict import Action, Difference, Verdict
from gitsync.report.escape import format_block, format_code, format_prose
from gitsync.report.markdown import LIMIT, MARKER, render
from gitsync.settings.logging import escape_controls
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

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(("name", "value"), [("sync.md", FULL), ("plan.md", PLAN)])
def test_a_report_reads_as_it_should(name, value):
    assert render(value) == (GOLDEN / name).read_text(encoding="utf-8")


def test_what_was_removed_from_git_is_distinguished_from_what_only_azure_has():
    sides = (Difference("/a", None, 1, "removed from git"), Difference("/b", None, 2, "differs from git"))
    text = render(report(replace(DRIFTED, differences=sides)))
    assert "  /a (removed from git)\n- 1\n" in text
    assert "  /b\n- 2\n" in text


def test_a_workflow_finds_its_comment_by_the_first_line():
    assert render(FULL).splitlines()[0] == MARKER


def test_a_run_without_anything_to_say_is_short():
    assert "|" not in render(report(IN_SYNC))
    assert "details" not in render(report(IN_SYNC))


def test_an_interrupted_run_reports_it():
    assert "**Interrupted**" in render(replace(FULL, interrupted=True))


def many(count, of):
    return [replace(of, key=key("VirtualNetwork", f"hub-{number:05}", NET)) for number in range(count)]


COUNT = 1000
"""So many that all of them would be longer than a comment may be."""

HUGE = [
    (lambda: report(*many(COUNT, DRIFTED)), "many equal changes"),
    (lambda: report(*many_changes(COUNT)), "many changes"),
    (lambda: report(*many(COUNT, ORPHAN), command="plan"), "many deletes"),
    (lambda: report(*many(3, replace(REFUSED, condition=failed("Failed", "x|`<" * 20_000)))), "endless messages"),
    (lambda: report(problems=many_causes(COUNT)), "many problems"),
    (lambda: report(replace(DRIFTED, differences=many_differences())), "many differences"),
    (lambda: report(*many(400, REFUSED), *many_changes(400), problems=PROBLEMS * 400), "all of it"),
]


def many_changes(count):
    """Changes that are not equal."""
    sides = [(Difference("/tags/number", str(number), None, "changed in git"),) for number in range(count)]
    return [replace(drifted, differences=side) for drifted, side in zip(many(count, DRIFTED), sides, strict=True)]


def many_causes(count):
    """Problems that are not alike: a word of small letters for each."""
    words = ("".join(chr(97 + int(digit)) for digit in str(number)) for number in range(count))
    return tuple(replace(PROBLEMS[0], message=f"This is wrong because of {word}.") for word in words)


def many_differences():
    return tuple(Difference(f"/a/{n}", "y" * 900, n, "x") for n in range(COUNT))


@pytest.mark.parametrize(("make", "why"), HUGE, ids=[h[-1] for h in HUGE])
def test_a_comment_is_never_refused_for_its_length(make, why):
    text = render(make())
    assert len(text) < LIMIT, why
    assert "…" in text or "folded" in text, "and it says that something was left out"
    assert text.count("<details") == text.count("</details>")
    assert text.count("```") % 2 == 0


def test_what_is_left_out_is_counted():
    text = render(report(*many_changes(COUNT)))
    details, rows = text.count("<details"), text.count("| <code>VirtualNetwork/hub-")
    assert f"… and {COUNT - details - rows} more resources, left out" in text
    assert f"… without the details of {COUNT - details} resources, to keep this short." in text
    assert all(text.count(f"<code>VirtualNetwork/hub-{number:05}</code>") <= 1 for number in range(COUNT))


def test_equal_changes_are_shown_once_with_their_number():
    text = render(report(*many(83, DRIFTED), command="plan"))
    assert text.count("<details") == 1
    assert "<summary>83 <code>VirtualNetwork</code> · update, drifted<br>" in text
    assert "hub-00000, hub-00001, hub-00002 and 80 more</summary>" in text
    assert "83 resources are folded: the page of the report (`--output html`) lists them." in text


def test_a_resource_stands_once():
    value = replace(FULL, results=(*FULL.results, *many(3, REFUSED)))
    text = render(value)
    for resource in value.results:
        shown = text.count(f"<code>{resource.key.kind}/{resource.key.name}</code>")
        assert shown == (resource.verdict is not Verdict.IN_SYNC), resource.key


def test_what_failed_has_its_reason_and_what_waits_for_it():
    cause = replace(REFUSED, attempts=())
    waiting = [
        change(REFUSED, key=key("Blob", str(number)), verdict=Verdict.BLOCKED, blocked_by=cause.key, attempts=(),
                condition=failed("WaitingForOwner", "Wait.", Severity.WARNING))
        for number in range(3)
    ]  # fmt: skip
    text = render(report(cause, *waiting))
    assert (
        "<br>AccountNameInvalid: logs is not a valid storage account name. 3 resources wait for it.</summary>" in text
    )


def test_an_invalid_manifest_has_its_reason_where_it_failed():
    problem = Problem(code="UnknownField", message="spec.x is unknown.", hint="Remove it.", path="azure.yaml", line=4)
    invalid = replace(REFUSED, verdict=Verdict.INVALID, condition=failed("Failed", "The manifest is invalid."))
    text = render(report(replace(invalid, attempts=(), action=Action.NONE), problems=[problem]))
    assert "| invalid | <code>azure.yaml:3</code> | Failed: The manifest is invalid. |" in text
    assert "- **UnknownField** <code>azure.yaml:4</code>: spec.x is unknown. Remove it." in text


EVIL = [
    ("a | b", "closes a cell"),
    ("a\\| b", "closes a cell behind a backslash"),
    ("</code></summary><img src=x>", "HTML"),
    ("`code` ``` fence", "closes a span"),
    ("@admin please", "calls a person"),
    ("#1 fixes GH-2", "refers to an issue"),
    ("[x](javascript:y) ![i](https://e.test/p.png)", "a link and an image"),
    ("https://evil.test and www.evil.test", "links of themselves"),
    ("_a_ **b** ~~c~~ $d$", "emphasis and formulas"),
    ("# head\n- list\n> quote\n| row |", "several lines"),
    ("x\x1b[2J\u202e", "control characters"),
]


@pytest.mark.parametrize(("text", "why"), EVIL, ids=[e[-1] for e in EVIL])
def test_foreign_text_stays_text(text, why):
    span = format_code(text)
    inner = span.removeprefix("<code>").removesuffix("</code>")
    assert re.findall(r"[<>|`@\[\]*_~\\\n]|#(?!\d+;)|://|www\.", inner) == [], why
    assert unescape(inner) == escape_controls(" ".join(text.split())), "and it is shown whole"


PROSE = [
    ("spec.a is not a field of Server.", "spec.a is not a field of Server.", "a sentence stays one"),
    ("Run `gitsync accept X`.", "Run <code>gitsync accept X</code>.", "what backticks mark is code"),
    ("It must match ^a$.", "It must match <code>&#94;a&#36;</code>.", "a pattern is code, its full stop is not"),
    ("Ask @admin.", "Ask <code>&#64;admin</code>.", "no mention"),
    ("See #1 or GH-2", "See <code>&#35;1</code> or <code>GH-2</code>", "no reference"),
    ("www.evil.test", "<code>www&#46;evil.test</code>", "no link"),
    ("a :tada: b:100: c", "a <code>:tada</code>: <code>b:100</code>: c", "no emoji"),
    ("1. first", "<code>1</code>. first", "no list"),
    ("- first", "<code>-</code> first", "no list either"),
    ("/close", "<code>/close</code>", "no action of GitLab"),
    ("a | b", "a <code>&#124;</code> b", "no cell"),
    ("", "", "nothing"),
]


@pytest.mark.parametrize(("text", "shown", "why"), PROSE, ids=[row[-1] for row in PROSE])
def test_a_sentence_is_prose_without_markup(text, shown, why):
    assert format_prose(text) == shown, why


@given(st.text(max_size=80) | st.text("ab1.:@#`-/(_ ", max_size=40))
def test_no_text_leaves_its_prose(text):
    prose = format_prose(text)
    outside = re.sub("<code>.*?</code>", "", prose)
    assert not set(outside) & set("<>|`@[]{}*_~\\^&#$+=\n\r")
    assert not re.search(r"://|www\.|^\d+[.)]( |$)|^- |^/|:\w+:", outside)
    complete = unescape(re.sub("</?code>", "", prose))
    assert complete.replace("`", "").split() == escape_controls(" ".join(text.split())).replace("`", "").split()


@given(st.text(max_size=80))
def test_no_text_leaves_its_code(text):
    inner = format_code(text).removeprefix("<code>").removesuffix("</code>")
    assert not set(inner) & set("<>|`@[]*_~\\\n\r$")
    fenced = format_block([text], "diff").split("\n")
    assert len(fenced) == 3
    assert fenced[0].removesuffix("diff") == fenced[2]
    assert fenced[2] not in fenced[1]


def test_foreign_names_break_no_table():
    evil = result(
        key("Kind", "a|b\n<x>", NET, "n|s"),
        Verdict.DRIFTED,
        condition=failed("R|x", "m | m"),
        differences=(Difference("/`` ```", "```", "```` x", "x"),),
        is_fine=False,
    )
    [summary] = [line for line in render(report(evil)).splitlines() if line.startswith("<details")]
    assert "|" not in summary
    assert summary.count("<") == summary.count(">")
    waits = change(evil, differences=(), blocked_by=key("Kind", "c|d"))
    rows = [line for line in render(report(waits)).splitlines() if line.startswith("| ")]
    assert {row.count("|") for row in rows} == {5}
