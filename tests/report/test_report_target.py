"""The target of a run, at the top of every form of a report."""

import json
from dataclasses import replace

import pytest

from gitsync.model.report import RunTarget
from gitsync.report import junit, markdown, sarif, summary, text
from gitsync.report.html.page import render as render_page
from gitsync.report.json import build_document
from gitsync.report.run_facts import list_target
from tests.report.report_builders import FULL, RECORDS, TARGET, report


@pytest.mark.parametrize(
    ("target", "expected", "why"),
    [
        (RunTarget(), {}, "a report that was made without one"),
        (
            TARGET,
            {
                "Source": "https://github.com/contoso/estate at 0123456789ab (main)",
                "Subscription": "Contoso Production (0000)",
                "Endpoint": "https://management.azure.com",
                "Identity": "client-secret (client 1111, object 2222, tenant 3333)",
                "Agent": "gitsync",
            },
            "all of it",
        ),
        (
            RunTarget(repository="/estate", agent="a"),
            {"Source": "/estate at the uncommitted working tree", "Agent": "a"},
            "a plan of two revisions has no part in Azure",
        ),
        (
            RunTarget(subscription="1", other_subscriptions=("2", "3")),
            {"Subscription": "1; by credential Secrets: 2, 3"},
            "without a name that may be read",
        ),
        (RunTarget(other_subscriptions=("2",)), {"Subscription": "by credential Secrets: 2"}, "no global credential"),
    ],
)
def test_what_is_known_is_listed(target, expected, why):
    assert dict(list_target(target)) == expected, why


@pytest.mark.parametrize(
    ("render", "is_last"),
    [(text.render, True), (markdown.render, True), (render_page, False), (junit.render, False)],
    ids=["text", "markdown", "html", "junit"],
)
def test_a_form_shows_it(render, is_last):
    shown = render(FULL)
    for _, value in list_target(TARGET):
        assert value in shown.replace("&#47;", "/")
    assert (shown.index("Contoso Production") > shown.rindex("VirtualNetwork")) == is_last


def test_programs_get_its_members():
    assert build_document(FULL)["target"]["subscriptionName"] == "Contoso Production"
    assert sarif.build_log(FULL)["runs"][0]["properties"]["target"] == build_document(FULL)["target"]
    assert json.loads(json.dumps(build_document(report())))["target"]["repository"] == ""


def test_the_summary_of_the_branch_has_what_does_not_change_with_who_signs_in():
    other = replace(TARGET, identity="azure-cli")
    shown = summary.render(RECORDS, revision=TARGET.revision, target=TARGET)
    assert shown == summary.render(RECORDS, revision=TARGET.revision, target=other)
    assert "Contoso Production" in shown


def test_nothing_in_it_moves_a_cursor():
    unexpected = replace(FULL, target=replace(TARGET, subscription_name="x\x1b[2J"))
    assert "\x1b" not in text.render(unexpected) + markdown.render(unexpected) + render_page(unexpected) + junit.render(
        unexpected
    )
