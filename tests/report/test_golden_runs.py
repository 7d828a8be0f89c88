"""Twelve runs in every form that people read: golden files, and what they have in common.

To write the files after a change of wording: GITSYNC_WRITE_GOLDEN=1 pytest tests/report/test_golden_runs.py
"""

import json
import os
import re
from functools import cache
from html import unescape
from pathlib import Path

import pytest

from gitsync.report import markdown, pipelines, sarif, summary, text
from gitsync.report.headline import format_headline
from gitsync.report.html import page
from gitsync.report.junit import render as render_junit
from tests.report.golden_runs import RUNS
from tests.report.report_builders import record

GOLDEN = Path(__file__).parent / "golden/runs"


def outline_sarif(value):
    """Outline a log as its reader sees the alerts: level, rule, location and message of each."""
    run = json.loads(sarif.render(value))["runs"][0]
    lines = [run["properties"]["headline"]]
    for result in run.get("results", []):
        location = result["locations"][0]["physicalLocation"]
        where = f"{location['artifactLocation']['uri']}:{location['region']['startLine']}"
        lines.append(
            f"{result['level']} {result['ruleId']} {where}\n    " + result["message"]["text"].replace("\n", "\n    ")
        )
    notifications = run["invocations"][0]["toolExecutionNotifications"]
    lines += [
        f"{notification['level']}\n    " + notification["message"]["text"].replace("\n", "\n    ")
        for notification in notifications
    ]
    return "\n".join(lines) + "\n"


def outline_page(value):
    """Outline a page as one who scans it: the headings, and the names of resources in them."""
    shown = re.sub(r"<(style|script)>.*?</\1>", "", page.render(value), flags=re.DOTALL)
    found = re.findall(r'<(h1|h2)[^>]*>(.*?)</\1>|<span class="title">(.*?)</span>', shown, flags=re.DOTALL)
    words = [(tag, re.sub(r"<[^>]+>", "", heading or title)) for tag, heading, title in found]
    marks = {"h1": "# ", "h2": "## "}
    return "".join(f"{marks.get(tag, '- ')}{' '.join(unescape(word).split())}\n" for tag, word in words)


def summarise(value):
    """The summary of the status branch that a sync leaves; "" for a plan, which leaves none."""
    records = [record(result.key, result.condition) for result in value.results if result.action.value != "delete"]
    target = {"revision": value.revision, "problems": value.problems, "target": value.target}
    return summary.render(records, **target) if value.command == "sync" else ""


FORMS = {
    "report.txt": lambda value: text.render(value, width=80, names=True),
    "report.md": markdown.render,
    "page.txt": outline_page,
    "github.txt": lambda value: "".join(f"{line}\n" for line in pipelines.annotate_github(value)),
    "azure.txt": lambda value: "".join(f"{line}\n" for line in pipelines.annotate_azure_pipelines(value)),
    "sarif.txt": outline_sarif,
    "junit.xml": render_junit,
    "SUMMARY.md": summarise,
}


@cache
def show(form, run):
    return FORMS[form](RUNS[run])


BY_FORM = [pytest.param(run, form, id=f"{run}-{form}") for run in RUNS for form in FORMS]


@pytest.mark.parametrize(("run", "form"), BY_FORM)
def test_a_report_reads_as_it_should(run, form):
    shown, file = show(form, run), GOLDEN / run / form
    if os.environ.get("GITSYNC_WRITE_GOLDEN"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(shown, encoding="utf-8") if shown else file.unlink(missing_ok=True)
    expected = file.read_text(encoding="utf-8") if file.exists() else ""
    assert shown == expected, "Is the change meant? Write the files as the top of this module says."


@pytest.mark.parametrize("run", RUNS)
def test_every_form_begins_with_the_same_headline(run):
    value = RUNS[run]
    headline = format_headline(value)
    assert text.render(value).startswith(f"{headline}\n")
    assert show("report.md", run).startswith(f"<!-- gitsync -->\n### {headline}\n")
    assert show("page.txt", run).startswith(f"# {headline}\n")
    assert show("sarif.txt", run).startswith(f"{headline}\n")
    assert headline in unescape(show("junit.xml", run))
    annotations = pipelines.annotate_github(value)
    assert not annotations or headline in annotations[0]


TITLES = (
    "Failed",
    "Azure would refuse",
    "Error",
    "To delete",
    "Deleted",
    "Replace needed",
    "Removed from git",
    "To change",
    "Changed outside of git",
    "Changed",
)
ORDER = (*TITLES, "Waiting", "No change in Azure", "Warnings")
HEADINGS = {
    "report.txt": r"^(\w[\w ,]*) \(\d+\)$",
    "report.md": r"^#### (.*) \(\d+\)$",
    "page.txt": r"^## ([A-Z][a-z ,]*)",
}


def find_titles(form, run):
    """Find the sections in their order, by the beginning of their titles."""
    # Without -v, a text only counts what a run did not reach.
    shown = text.render(RUNS[run], verbose=True) if form == "report.txt" else show(form, run)
    headings = re.findall(HEADINGS[form], shown, flags=re.MULTILINE)
    found = [next((title for title in ORDER if heading.startswith(title)), "") for heading in headings]
    return [title for title in found if title]


@pytest.mark.parametrize("run", RUNS)
def test_every_form_has_the_same_sections_in_the_same_order(run):
    titles = find_titles("report.txt", run)
    assert titles == sorted(titles, key=ORDER.index)
    assert find_titles("report.md", run) == titles
    on_page = [title for title in find_titles("page.txt", run) if title in titles]
    assert on_page == [title for title in titles if title in on_page]


@pytest.mark.parametrize("run", RUNS)
def test_target_and_cost_are_last_and_never_in_a_line_with_the_effect(run):
    for form in ("report.txt", "report.md"):
        shown = show(form, run)
        target, cost = shown.index("Source:"), shown.index(" in 1m12s")
        sections = re.findall(HEADINGS[form], shown[target:], flags=re.MULTILINE)
        assert target < cost
        assert not sections
        assert not any(
            " in 1m12s" in line and ("would create" in line or "would update" in line) for line in shown.splitlines()
        )


@pytest.mark.parametrize("run", RUNS)
def test_a_terminal_of_80_columns_cuts_no_word(run):
    value = RUNS[run]
    narrow, wide = text.render(value, width=80), text.render(value)
    for line in narrow.splitlines():
        longest = max(map(len, line.split()), default=0)
        assert len(line) <= 80 or longest > 60, "only an id or a path that fills a line exceeds it"
    headline = format_headline(value).split()
    count = len(wide.split())
    assert narrow.split()[:count] == wide.split()
    assert narrow.split()[count:] in ([], headline), "it may be long enough to repeat the headline"


@pytest.mark.parametrize("run", RUNS)
def test_a_report_longer_than_a_screen_repeats_its_headline(run):
    lines = text.render(RUNS[run], width=200).splitlines()
    assert (lines[-1] == lines[0]) == (len(lines) > 25)


def test_most_next_steps_are_two_and_fit_the_flags():
    assert "Run `gitsync sync" not in text.render(RUNS["deletes"]), "it is refused"
    for run in ("all-outcomes", "deletes"):
        assert "--prune`" not in text.render(RUNS[run]), "the plan deletes, so it has the flag"
