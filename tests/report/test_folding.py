"""Equal changes are one line, many creates are counts, and the numbers add up to all resources."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.formats.name_list import name_first
from gitsync.model.attribution import Attribution, AuthorKind
from gitsync.model.check import CheckFinding, CheckName, CheckVerdict
from gitsync.model.plan import LastCommit
from gitsync.model.problem import SourceLocation
from gitsync.model.result import FailedRequest, ManifestField, Stage
from gitsync.model.verdict import Action, Difference, Verdict
from gitsync.report import text
from gitsync.report.alike import MOST_ALIKE, MOST_NAMED, split_alike
from gitsync.report.folding import MOST_PLAIN, fold_results
from gitsync.report.html import page
from gitsync.report.ordering import SECTIONS, describe_causes, split_results
from tests.report.report_builders import NET, ORPHAN, READY, failed, key, report, result
from tests.support.parts import change

MANY = MOST_ALIKE + 1
TAG = Difference("/tags/env", "prod", "test", "changed in git")


def update(number, differences=(TAG,), **more):
    source = SourceLocation(f"n{number:03}.yaml", 1)
    fields = {"/tags/env": ManifestField("spec.tags.env", replace(source, line=9))}
    values = {"source": source, "differences": differences, "fields": fields}
    of = key("VirtualNetwork", f"n{number:03}", NET)
    return result(of, Verdict.PENDING, Action.UPDATE, **values | more)


def create(number, kind="VirtualNetwork", group="core", **more):
    arm_id = f"/subscriptions/0000/resourceGroups/{group}/providers/x/{number}"
    return result(key(kind, f"c{number:04}", NET), Verdict.CREATE, Action.CREATE, arm_id=arm_id, **more)


def plan(*results):
    return report(*results, command="plan")


def list_section(shown, title):
    """List the lines of a section without its title."""
    [section] = [part.splitlines() for part in shown.split("\n\n") if part.startswith(title)]
    return section[1:]


def test_equal_changes_are_one_line_with_their_number_and_the_first_three():
    shown = text.render(plan(*(update(number) for number in range(83))))
    assert list_section(shown, "To change (83)") == [
        "  Values: Azure → git",
        "  update   83 VirtualNetwork   n000, n001, n002 and 80 more",
        '    ~ spec.tags.env: "test" → "prod"',
        "  83 resources are folded; -v lists them.",
    ]


def test_up_to_ten_equal_changes_are_listed():
    shown = text.render(plan(*map(update, range(MOST_ALIKE))))
    assert "folded" not in shown
    assert shown.count("~ spec.tags.env") == MOST_ALIKE


DIFFERING = [
    ({"differences": (replace(TAG, desired="demo"),)}, "another new value"),
    ({"differences": (replace(TAG, live="demo"),)}, "another old value"),
    ({"differences": (TAG, replace(TAG, path="/tags/team"))}, "one more field"),
    ({"differences": (replace(TAG, path="/tags/team"),)}, "another field"),
    ({"verdict": Verdict.DRIFTED}, "it drifted"),
    ({"unverified": ("/properties/secret",)}, "not all is compared"),
    ({"condition": replace(READY, message="It is being moved.")}, "there is a message"),
    ({"changed_by": (Attribution(author=AuthorKind.PERSON, name="rob"),)}, "somebody changed it"),
    (
        {"attempts": (FailedRequest(at="2026-01-02T03:04:06Z", stage=Stage.ACT, status=429, code="Wait", message=""),)},
        "a write failed first",
    ),
    (
        {"checks": (CheckFinding(check=CheckName.POLICY, verdict=CheckVerdict.WARNING, message="TLS."),)},
        "a check warns of it",
    ),
]


@pytest.mark.parametrize(("more", "why"), DIFFERING, ids=[row[-1] for row in DIFFERING])
def test_a_change_that_differs_has_its_own_line(more, why):
    other = change(update(500), **more)
    lines = list_section(text.render(plan(*map(update, range(MANY)), other)), f"To change ({MANY + 1})")
    assert sum("VirtualNetwork/n500" in line for line in lines) == 1, why
    assert any(f"{MANY} VirtualNetwork " in line for line in lines), why


def test_long_values_that_begin_alike_are_not_equal():
    long = "x" * 3000
    ends = (replace(TAG, desired=f"{long}{number}") for number in range(MANY))
    assert "folded" not in text.render(plan(*(update(number, (tag,)) for number, tag in enumerate(ends))))


def test_equal_changes_show_their_check_and_author_once():
    finding = CheckFinding(
        check=CheckName.POLICY, verdict=CheckVerdict.WARNING, code="Audit", message="TLS.", path="/tags/env"
    )
    changes = [
        change(
            update(number),
            checks=(finding,),
            changed_by=(
                Attribution(author=AuthorKind.AZURE, at=f"2026-11-23T22:{number:02}:00Z", correlation_id=str(number)),
            ),
        )
        for number in range(MANY)
    ]
    shown = text.render(plan(*changes))
    assert shown.count("Warning from policy: Audit: TLS. (spec.tags.env)\n") == 1
    assert shown.count("Changed by Azure itself, 2026-11-23 22:00 to 22:10 UTC\n") == 1


def test_many_creates_are_counts_by_kind_and_group():
    servers = [create(number, "Server", f"rg-{number % 4}") for number in range(41)]
    networks = [create(100 + number) for number in range(20)]
    shown = text.render(plan(*servers, *networks, create(999, "Vault")))
    assert list_section(shown, "To change (62)") == [
        "  create   1 Vault             c0999",
        "  create   20 VirtualNetwork   in core",
        "  create   41 Server           in 4 resource groups: rg-0 (11), rg-1 (10), rg-2 (10) and 1 more",
        "  62 resources are folded; -v lists them.",
    ]


def test_kinds_of_one_name_are_distinguished():
    other = [replace(create(number), key=key("VirtualNetwork", f"o{number}", "other.com")) for number in range(30)]
    shown = text.render(plan(*map(create, range(30)), *other))
    assert "30 VirtualNetwork.network.azure.com " in shown
    assert "30 VirtualNetwork.other.com " in shown


def test_up_to_fifty_creates_are_listed():
    shown = text.render(plan(*map(create, range(MOST_PLAIN))))
    assert "folded" not in shown
    assert shown.count("VirtualNetwork/c") == MOST_PLAIN


def test_what_waits_is_counted_by_what_it_waits_for():
    causes = [result(key("StorageAccount", name), Verdict.CREATE, condition=failed("Denied", "No.")) for name in "ab"]
    waiting = [
        result(
            key("Container", f"w{number}"), Verdict.BLOCKED, condition=failed("WaitingForOwner", "Wait."),
            blocked_by=causes[number % 3 == 0].key,
        )
        for number in range(300)
    ]  # fmt: skip
    shown = text.render(report(*causes, *waiting))
    assert "  200 Container   blocked by StorageAccount/a, " in shown
    assert "  100 Container   blocked by StorageAccount/b, " in shown
    assert "    200 resources wait for it.\n" in shown


NEVER = [
    (lambda number: replace(ORPHAN, key=key("VirtualNetwork", f"n{number}", NET)), "a delete"),
    (
        lambda number: replace(ORPHAN, key=key("VirtualNetwork", f"n{number}", NET), action=Action.NONE),
        "a removed resource",
    ),
    (
        lambda number: replace(update(number), condition=failed("Denied", "No."), is_fine=False, action=Action.NONE),
        "a failure",
    ),
    (lambda number: replace(update(number), action=Action.REPLACE), "a replacement"),
    (
        lambda number: change(
            update(number), checks=(CheckFinding(check=CheckName.LOCKS, verdict=CheckVerdict.REFUSED),)
        ),
        "what Azure would refuse",
    ),
    (
        lambda number: change(
            update(number), verdict=Verdict.DETACH, action=Action.DETACH, last_commit=LastCommit(commit="0")
        ),
        "a resource that is no longer managed",
    ),
    (
        lambda number: change(update(number), verdict=Verdict.HELD, withheld=Verdict.DELETE, action=Action.NONE),
        "a held delete",
    ),
]


@pytest.mark.parametrize(("make", "why"), NEVER, ids=[row[-1] for row in NEVER])
def test_what_must_be_seen_is_listed(make, why):
    results = [make(number) for number in range(MOST_PLAIN + 10)]
    shown = text.render(plan(*results))
    assert all(f"VirtualNetwork/{resource.key.name}" in shown for resource in results), why
    assert "folded" not in shown


def test_verbose_text_and_the_page_list_all():
    value = plan(*map(update, range(MANY)), *map(create, range(MOST_PLAIN + 10)))
    assert "folded" in text.render(value)
    verbose, html = text.render(value, verbose=True), page.render(value)
    for shown in value.results:
        assert f"VirtualNetwork/{shown.key.name}" in verbose
        assert shown.key.name in html
    assert "folded" not in verbose


RESULTS = st.lists(
    st.one_of(
        st.builds(update, st.integers(0, 9), st.sampled_from([(TAG,), (replace(TAG, live="demo"),), ()])),
        st.builds(create, st.integers(0, 9), st.sampled_from(["A", "B"]), st.sampled_from(["core", "edge"])),
        st.sampled_from([ORPHAN, replace(update(1), is_fine=False, condition=failed("Denied", "No."))]),
    ),
    max_size=40,
).map(lambda found: [replace(resource, key=key(resource.key.kind, f"n{at}")) for at, resource in enumerate(found * 5)])


@given(RESULTS)
def test_the_sum_of_the_counts_is_the_number_of_resources(results):
    value = plan(*results)
    causes = describe_causes(value.results)
    sections = split_results(value.results)
    for section, inside in sections.items():
        listed, folds = fold_results(section, inside, causes, writes=False)
        seen = [*(resource.key for resource in listed), *(shown.key for fold in folds for shown in fold.results)]
        assert sorted(seen) == sorted(resource.key for resource in inside)
    shown = text.render(value)
    for section in SECTIONS[:-1]:
        if section not in sections:
            continue
        lines = list_section(shown, f"{section.planned} (")
        counts = [int(found[1]) for line in lines if (found := re.match(r"  (?:create|update) +(\d+) [A-Z]", line))]
        alone = sum(bool(re.match(r"  (?:[a-z]+ +)?[A-Z]\w*/", line)) for line in lines)
        assert sum(counts) + alone == len(sections[section])


@given(st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=80))
def test_splitting_loses_nothing_and_keeps_the_order(likenesses):
    parts = split_alike(list(enumerate(likenesses)), lambda item: item[1])
    assert sorted(item for part in parts for item in part) == list(enumerate(likenesses))
    assert [part[0] for part in parts] == sorted(part[0] for part in parts)
    assert all(len(part) == 1 or (len(part) > MOST_ALIKE and part[0][1] is not None) for part in parts)


def test_the_first_names_are_named_and_the_others_counted():
    assert name_first(["a"], MOST_NAMED) == "a"
    assert name_first(["a", "b", "c"], MOST_NAMED) == "a, b, c"
    assert name_first(["a", "b", "c", "d"], MOST_NAMED) == "a, b, c and 1 more"
