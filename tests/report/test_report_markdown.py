"""The report as Markdown: golden text, room, and foreign text that stays text."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.logging import escape_controls
from gitsync.model.verdict import Difference, Verdict
from gitsync.report.escape import format_block, format_code
from gitsync.report.markdown import LIMIT, MARKER, render
from tests.report.report_builders import (
    DRIFTED,
    FULL,
    IN_SYNC,
    NET,
    PLAN,
    PROBLEMS,
    REFUSED,
    failed,
    key,
    report,
    result,
)

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


HUGE = [
    (lambda: report(*many(5000, DRIFTED)), "many resources"),
    (lambda: report(*many(3, replace(REFUSED, condition=failed("Failed", "x|`<" * 50_000)))), "endless messages"),
    (lambda: report(problems=many_causes(5000)), "many problems"),
    (lambda: report(replace(DRIFTED, differences=many_differences())), "many differences"),
    (lambda: report(*many(400, REFUSED), *many(400, DRIFTED), problems=PROBLEMS * 400), "all of it"),
]


def many_causes(count):
    """Problems that are not alike: a word of small letters for each."""
    words = ("".join(chr(97 + int(digit)) for digit in str(number)) for number in range(count))
    return tuple(replace(PROBLEMS[0], message=f"This is wrong because of {word}.") for word in words)


def many_differences():
    return tuple(Difference(f"/a/{n}", "y" * 900, n, "x") for n in range(9999))


@pytest.mark.parametrize(("make", "why"), HUGE, ids=[h[-1] for h in HUGE])
def test_a_comment_is_never_refused_for_its_length(make, why):
    text = render(make())
    assert len(text) < LIMIT, why
    assert "…" in text, "and it says that something was left out"
    assert text.count("<details") == text.count("</details>")
    assert text.count("```") % 2 == 0


def test_what_is_left_out_is_counted():
    text = render(report(*many(5000, DRIFTED)))
    rows = text.count("| <code>VirtualNetwork/hub-")
    assert f"… and {5000 - rows} more resources, left out" in text
    assert f"… and {5000 - text.count('<details')} more resources with details, left out" in text


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
    rows = [line for line in render(report(evil)).splitlines() if line.startswith("| ")]
    assert {row.count("|") for row in rows} == {5}
