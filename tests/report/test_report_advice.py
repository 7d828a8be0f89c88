"""What to do about an error is reported in every form, beside what Azure said and not in it."""

import json
from dataclasses import replace
from html import unescape

import pytest

from gitsync.model.verdict import Action, Verdict
from gitsync.planning.status.advice import find_advice
from gitsync.report import json as as_json
from gitsync.report import junit, markdown, pipelines, records, sarif, summary, text
from gitsync.report.html import page
from tests.report.report_builders import IN_SYNC, failed, key, record, report, result

LOCKED = result(
    key("VirtualNetwork", "hub", "network.azure.com"),
    Verdict.PENDING,
    Action.NONE,
    failed("ScopeLocked", "The scope cannot perform write operation.", request_id="11-22"),
)
TOLD = find_advice("ScopeLocked", "Microsoft.Network/virtualNetworks")
REPORT = report(LOCKED, exit_code=1)
RECORD = record(LOCKED.key, LOCKED.condition)


@pytest.mark.parametrize(
    ("render", "says"),
    [
        (text.render, f"  What to do: {TOLD}\n"),
        (markdown.render, f"\n**What to do:** {TOLD}\n"),
        (page.render, f"<strong>What to do: </strong>{TOLD}</p>"),
        (junit.render, f"What to do: {TOLD}\n"),
    ],
    ids=["text", "markdown", "html", "junit"],
)
def test_a_report_shows_what_to_do(render, says):
    assert TOLD
    assert says in unescape(render(REPORT))
    assert "What to do" not in render(report(IN_SYNC))


def test_json_has_it_as_a_field_of_its_own():
    (told,) = json.loads(as_json.render(REPORT))["resources"]
    assert (told["message"], told["advice"]) == (LOCKED.condition.message, TOLD)
    assert json.loads(as_json.render(report(IN_SYNC)))["resources"][0]["advice"] == ""


def test_sarif_reports_what_to_do():
    (found,) = json.loads(sarif.render(REPORT))["runs"][0]["results"]
    assert f"What to do: {TOLD}" in found["message"]["text"]


def test_an_annotation_reports_what_to_do():
    (_headline, line) = pipelines.annotate_github(REPORT)
    assert f"%0AWhat to do: {TOLD}%0A" in line


def test_describe_reports_what_to_do():
    lines = records.describe_record(RECORD, revision=None)
    assert [line.split(":", 1)[1].strip() for line in lines if "What to do:" in line] == [TOLD]
    ready = records.describe_record(record(LOCKED.key), revision=None)
    assert not [line for line in ready if "What to do" in line]


def test_the_summary_reports_each_piece_of_advice_once():
    spoke = record(key("VirtualNetwork", "spoke", "network.azure.com"), LOCKED.condition)
    found = summary.render([RECORD, spoke], revision=None)
    names = "<code>VirtualNetwork/hub</code>, <code>VirtualNetwork/spoke</code>"
    assert f"\n## What to do\n\n- {names}: {TOLD}\n" in found
    assert "What to do" not in summary.render([record(LOCKED.key)], revision=None)


HOSTILE = "The identity is missing <b>write</b> on /a/[b](http://x)\x1b[31m | `c`."
OWN = result(LOCKED.key, Verdict.PENDING, Action.NONE, replace(LOCKED.condition, advice=HOSTILE))


def test_advice_of_an_error_comes_before_that_of_its_code():
    (told,) = json.loads(as_json.render(report(OWN, exit_code=1)))["resources"]
    assert told["message"] == LOCKED.condition.message
    assert told["advice"] == f"{HOSTILE} {TOLD}"


@pytest.mark.parametrize(
    "render", [markdown.render, lambda _: summary.render([record(OWN.key, OWN.condition)], revision=None)]
)
def test_in_markdown_it_is_prose_without_markup_since_it_may_quote_azure(render):
    rendered = render(report(OWN, exit_code=1))
    assert "<b>" not in rendered
    assert "](http" not in rendered
    assert "\x1b" not in rendered
    assert TOLD in rendered


@pytest.mark.parametrize("render", [text.render, page.render, junit.render, pipelines.annotate_azure_pipelines])
def test_no_form_shows_its_control_characters(render):
    assert "\x1b" not in str("".join(render(report(OWN, exit_code=1))))
