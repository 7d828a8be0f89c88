"""The parts of the page: what belongs to which, and their order, from the page as text."""

import re
from dataclasses import replace

import pytest

from gitsync.model.condition import Severity
from gitsync.model.problem import SourceLocation
from gitsync.model.result import Replacement
from gitsync.model.verdict import Action, Verdict
from gitsync.report.html.page import render
from gitsync.report.ordering import choose_section
from gitsync.report.wording import list_body
from tests.report.report_builders import (
    DRIFTED,
    FULL,
    IN_SYNC,
    NET,
    PLAN,
    PROBLEMS,
    READY,
    REFUSED,
    failed,
    key,
    report,
    result,
)
from tests.support.parts import change

HELD = failed("PruneHeld", "a.yaml cannot be read.", Severity.WARNING)
SECTIONS = [
    (REFUSED, "failed", "what failed, whatever it was to become"),
    (result(key("A", "b"), Verdict.INVALID, condition=failed("Invalid", "no")), "failed", "a wrong manifest"),
    (result(key("A", "b"), Verdict.DELETE, Action.DELETE), "deletes", "what is deleted"),
    (result(key("A", "b"), Verdict.DELETE), "removed", "what stays because nothing is pruned"),
    (
        result(key("A", "b"), Verdict.PENDING, replacement=Replacement(reason="R.")),
        "replaces",
        "what Azure refuses in place",
    ),
    (result(key("A", "b"), Verdict.BLOCKED, condition=HELD, is_fine=True), "waiting", "a held delete"),
    (DRIFTED, "changes", "drift"),
    (result(key("A", "b"), Verdict.CREATE, Action.CREATE), "changes", "a create"),
    (result(key("A", "b"), Verdict.DETACH, Action.DETACH), "changes", "what leaves the records"),
    (result(key("A", "b"), Verdict.SKIP), "others", "what a policy leaves alone"),
    (replace(IN_SYNC, attempts=REFUSED.attempts), "others", "in sync after failed tries"),
    (IN_SYNC, "in-sync", "in sync"),
]


@pytest.mark.parametrize(("one", "name", "why"), SECTIONS, ids=[s[-1] for s in SECTIONS])
def test_a_resource_belongs_to(one, name, why):
    assert choose_section(one).name == name, why


def parts(page):
    """The names of the sections, in the order of the page."""
    return re.findall(r'<section id="([a-z-]+)"', page)


MIXED = [replace(one, key=key("A", f"n{number}")) for number, (one, *_) in enumerate(SECTIONS)]


def test_failures_come_first_then_deletes_then_other_changes():
    page = render(report(*MIXED, command="plan", problems=PROBLEMS))
    order = [
        "failed",
        "errors",
        "deletes",
        "replaces",
        "removed",
        "changes",
        "waiting",
        "others",
        "warnings",
        "in-sync",
    ]
    assert parts(page) == [*order, "graph", "run"]


def test_the_contents_name_every_part_with_its_number():
    page = render(report(*MIXED, command="plan", problems=PROBLEMS))
    contents = page[page.index("<nav") : page.index("</nav>")]
    entries = re.findall(r'<a href="#([a-z-]+)"><span>([^<]+)</span>(?: <span class="count">(\d+)</span>)?', contents)
    assert [name for name, _, _ in entries] == parts(page)
    assert ("failed", "Failed", "2") in entries
    assert ("deletes", "To delete", "1") in entries
    assert ("errors", "Errors in manifests", "1") in entries
    assert ("graph", "Graph", "") in entries


@pytest.mark.parametrize(
    ("value", "titles"), [(PLAN, ("To delete", "To change")), (FULL, ("Deleted", "Changed"))], ids=["plan", "sync"]
)
def test_titles_show_whether_it_was_done(value, titles):
    assert all(f">{title} <span" in render(value) for title in titles)


@pytest.mark.parametrize("absent", [IN_SYNC, DRIFTED])
def test_a_part_without_content_is_left_out(absent):
    page = render(report(absent))
    assert len(parts(page)) == 3
    assert parts(page)[1:] == ["graph", "run"]


def test_what_blocks_most_is_first_and_reports_it():
    """Among failures by number of what waits for them, not by name."""
    blocks_two, blocks_none = (replace(REFUSED, key=key("A", name)) for name in ("z", "a"))
    waits = failed("WaitingForOwner", "A/z is not Ready.", Severity.INFO)
    waiting = [
        result(key("B", f"b{n}"), Verdict.CREATE, condition=waits, is_fine=False, blocked_by=key("A", "z"))
        for n in range(2)
    ]
    page = render(report(blocks_none, blocks_two, *waiting)).replace("<wbr/>", "")
    titles = re.findall(r'<span class="title">([^<]+)<', page)
    assert titles == ["A/z", "A/a", "B/b0", "B/b1"]
    assert page.count(">blocks 2 resources<") == 1
    assert page.count(">blocked by A/z<") == 2


def test_many_failures_leave_room_for_the_first_change():
    page = render(report(*(replace(REFUSED, key=key("A", f"b{n}")) for n in range(9)), DRIFTED))
    assert "7 more failed" in page
    shown = page[page.index('<section id="failed"') : page.index('class="fold rest"')]
    assert shown.count('class="resource card') == 2
    assert page.count('class="resource card') == 10
    assert "more failed" not in render(report(*(replace(REFUSED, key=key("A", f"b{n}")) for n in range(3)))), (
        "not for one"
    )


def test_changes_are_listed_by_urgency_and_then_owners_first():
    net = key("VirtualNetwork", "a", NET)
    group = result(key("ResourceGroup", "z"), Verdict.CREATE, Action.CREATE)
    owned = result(net, Verdict.CREATE, Action.CREATE, owner=group.key)
    pending = result(key("ZZ", "p"), Verdict.PENDING, Action.UPDATE)
    page = render(report(owned, group, pending, DRIFTED)).replace("<wbr/>", "")
    titles = re.findall(r'<span class="title">([^<]+)<', page)
    assert titles == ["VirtualNetwork/hub", "ZZ/p", "ResourceGroup/z", "VirtualNetwork/a"]


def test_the_body_of_a_create_is_folded():
    created = result(key("A", "b"), Verdict.CREATE, Action.CREATE, READY, body={"location": "westeurope", "tags": {}})
    page = render(report(created))
    body = page[page.index('<details class="body"') :]
    assert body.startswith('<details class="body">'), "not open"
    assert "Request body, 4 lines" in body
    assert "&quot;location&quot;: &quot;westeurope&quot;" in body


def test_the_default_tags_of_a_create_are_shown_with_where_they_are_set():
    tags = {"team": SourceLocation("gitsync.yaml", 2)}
    created = result(
        key("A", "b"), Verdict.CREATE, Action.CREATE, READY, body={"tags": {"team": "web"}}, default_tags=tags
    )
    assert "default tags: team (gitsync.yaml:2)" in render(report(created)).replace("<wbr/>", "")
    assert list_body(created) == ["# default tags: team (gitsync.yaml:2)", "tags:", "  team: web"]


def test_what_must_be_replaced_is_marked_folded_and_unfolded():
    taken = Replacement(reason="Azure cannot move it.", takes=(key("A", "child"),))
    page = render(report(change(DRIFTED, verdict=Verdict.PENDING, action=Action.NONE, replacement=taken)))
    card = page[page.index('<details class="resource card tone-delete" open') :].replace("<wbr/>", "")
    assert '<span class="mark">replace needed</span>' in card
    assert "Azure cannot move it. A delete would also delete A/child." in card
    assert "<dd>replace needed</dd>" in card


def test_a_long_body_is_cut_and_marked():
    created = result(
        key("A", "b"), Verdict.CREATE, Action.CREATE, READY, body={f"k{n:03}": "x" * 900 for n in range(500)}
    )
    page = render(report(created))
    assert "… and 102 more lines, left out" in page
    assert "x" * 500 not in page


HEADLINES = [
    (PLAN, "1 failed; a sync would create 1, update 1, delete 1"),
    (report(IN_SYNC, command="plan"), "A sync would change nothing"),
    (report(IN_SYNC), "Nothing changed"),
    (report(command="validate", problems=PROBLEMS), "1 error and 1 warning"),
    (report(DRIFTED, command="plan", base="fedcba"), "The change would update 1"),
]


@pytest.mark.parametrize(("value", "headline"), HEADLINES, ids=[h[-1] for h in HEADLINES])
def test_the_headline_reports_what_it_comes_to(value, headline):
    assert f"<h1>{headline}</h1>" in render(value)
