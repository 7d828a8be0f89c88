"""Members and owners that an update takes from Entra ID objects: counted at the head of every form of a report."""

import json

import pytest

from gitsync.model.verdict import Action, Difference, Verdict
from gitsync.report import markdown, text
from gitsync.report.document import read_report
from gitsync.report.headline import format_headline
from gitsync.report.json import render
from tests.report.report_builders import READY, failed, key, report, result

A, B = "3f2a8a1e-1111-4111-8111-11111111111a", "3f2a8a1e-1111-4111-8111-11111111111b"


def member(desired, live, name="SecurityGroup~1team", of="memberIds"):
    return Difference(f"/{of}/{name}", desired, live, "removed from git")


def group(*differences, action=Action.UPDATE, condition=READY):
    of = key("SecurityGroup", "team", "entra.azure.com")
    return result(of, Verdict.PENDING, action, condition, differences=differences, arm_id="/groups/team")


BOTH = (member(None, A), member(None, B, B))
UPDATES = "A sync would update 1"
ROWS = [
    ("plan", group(member(None, A)), f"{UPDATES}; 1 member would be removed", "one"),
    ("plan", group(*BOTH), f"{UPDATES}; 2 members would be removed", "two"),
    ("plan", group(*BOTH, member(None, A, of="ownerIds")), f"{UPDATES}; 2 members and 1 owner would be removed", "owners"),
    ("plan", group(member(None, A, of="addedMemberIds")), f"{UPDATES}; 1 member would be removed", "given up"),
    ("plan", group(member(A, None)), UPDATES, "an addition takes nobody"),
    ("plan", group(member(B, A)), f"{UPDATES}; 1 member would be removed", "a name that stands for another object"),
    ("plan", group(member(None, A), member(A.upper(), None, A)), UPDATES, "another name of the same object"),
    ("plan", group(Difference("/memberIds", None, {"a": A}, "changed in git")), UPDATES, "without a list, members stay"),
    ("plan", group(Difference("/description", None, "Team", "removed from git")), UPDATES, "another field"),
    ("plan", group(Difference("", None, "Team", "removed from git")), UPDATES, "the body as a whole"),
    ("plan", group(*BOTH, action=Action.NONE), "A sync would change nothing", "no action removes them"),
    ("sync", group(*BOTH), "Updated 1; 2 members removed", "a sync did"),
    ("sync", group(*BOTH, condition=failed("Denied", "No.")), "1 failed; nothing changed", "a failure proves nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "row", "headline", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_the_headline_counts_who_is_removed(command, row, headline, why):
    value = report(row, command=command)
    assert format_headline(value) == headline, why
    assert text.render(value).splitlines()[0] == headline
    assert f"### {headline}\n" in markdown.render(value)
    assert json.loads(render(value))["headline"] == headline
    assert format_headline(read_report(render(value).encode(), "b")) == headline, "JSON keeps what it needs"


def test_members_are_counted_before_owners_whichever_comes_first():
    owner, first_member = member(None, A, of="ownerIds"), member(None, A)
    for results in ([group(owner), group(first_member)], [group(owner, first_member)]):
        assert "1 member and 1 owner would be removed" in format_headline(report(*results, command="plan"))
