"""The report as one HTML file: what it holds, that foreign text stays text, that it is the same bytes, and small."""

import base64
import hashlib
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.verdict import Action, Difference, Verdict
from gitsync.report.html.looks import EXITS, LOOKS
from gitsync.report.html.page import render
from tests.report.large_reports import landing_zone
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
from tests.support.parts import change

VOID = {"meta", "link", "input"}
BREAK = "<wbr/>"
"""Where a path may go on in the next line; no part of any text."""


class Elements(HTMLParser):
    """The elements of a page with their attributes and the text of each; AssertionError where they do not nest."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.all, self.words = [], [], Counter()
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names))
        self.all.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.all.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words[data.strip()] += 1

    def of(self, tag):
        return [attributes for name, attributes in self.all if name == tag]

    def values(self, attribute):
        return [attributes[attribute] for _, attributes in self.all if attribute in attributes]


def only(differences, **more):
    return render(report(replace(DRIFTED, differences=differences, **more)))


HELD = [
    ("0123456789abcdef0123456789abcdef01234567", "the revision"),
    ("2026-01-02T03:05:17Z", "when it ended"),
    ("4 reads, 1 write, 2 polls in 1m12s", "requests and time"),
    ("a resource failed, is invalid or is not Ready", "what the exit code means"),
    ("1 failed, 1 error in manifests; updated 1, deleted 1", "a sentence on the whole"),
    ("4 resources, 2 of 3 Ready", "how many there are"),
    ("changed in Azure", "what a verdict means"),
    ("VirtualNetwork/hub", "a name"),
    ("/subscriptions/0000/resourceGroups/core/hub", "an ARM id"),
    ("/tags/env", "the path of a difference"),
    ('"10.1.0.0/16"', "what Azure has"),
    ("changed in Azure since it was last seen", "the rule that decided"),
    ("/properties/secret", "what was not compared"),
    ("logs is not a valid storage account name.", "a message"),
    ("Request id 11-22", "the request id of a condition"),
    ("429 TooManyRequests", "a failed try"),
    ("Deleting", "a reason"),
    ("Did you mean spec.location?", "how to mend a problem"),
    ("azure.yaml:9", "where a problem is"),
    ("1 resource in sync and Ready", "what is in sync"),
]


@cache
def read_full():
    return unescape(re.sub(rf"</?mark>|{BREAK}", "", render(FULL)))


@pytest.mark.parametrize(("words", "why"), HELD, ids=[h[-1] for h in HELD])
def test_the_page_holds(words, why):
    assert words in read_full(), why


def test_a_page_of_a_plan_reports_what_a_sync_would_do():
    text = render(PLAN)
    assert "a sync would create 1, update 1, delete 1" in text
    assert "uncommitted working tree" in text


@pytest.mark.parametrize("code", EXITS, ids=[look.means for look in EXITS.values()])
def test_the_page_explains_its_exit_code(code):
    assert f"<code>{code}</code> {EXITS[code].means}" in render(replace(PLAN, exit_code=code))


def test_what_stands_for_azure_in_a_plan_of_two_commits_is_named():
    page = render(change(PLAN, base="fedcba"))
    assert "Compared with" in page
    assert "Compared with revision fedcba, not with Azure." in page
    assert ">fedcba<" in page
    assert "not in the older revision" in page
    assert ">Azure<" not in page
    assert "Compared with" not in render(PLAN)


def test_an_empty_run_has_a_page():
    page = render(report())
    assert "No resources." in page
    assert 'id="graph"' not in page
    assert 'id="filters"' not in page
    Elements(page)


def test_an_interrupted_run_reports_it():
    assert "Interrupted: the next run continues" in render(replace(FULL, interrupted=True))
    assert "Interrupted" not in render(FULL)


def test_equal_reports_are_equal_bytes():
    turned = replace(FULL, results=FULL.results[::-1], problems=FULL.problems[::-1])
    assert render(turned) == render(FULL)


def test_every_verdict_has_a_look():
    assert set(LOOKS) == set(Verdict)
    assert len({look.sign for look in LOOKS.values()}) == len(LOOKS), "signs tell verdicts apart where colour does not"
    page = render(report(*(result(key("A", verdict.value), verdict) for verdict in Verdict)))
    assert all(f'data-verdict="{verdict.value}"' in page for verdict in Verdict)


def test_the_most_urgent_comes_first():
    page = render(report(IN_SYNC, DRIFTED, REFUSED, result(key("A", "p"), Verdict.PENDING, Action.UPDATE)))
    shown = re.findall(r'class="resource card [^>]* data-kind="(\w+)"', page)
    assert shown == ["StorageAccount", "VirtualNetwork", "A"]


def test_the_page_is_well_formed_and_its_links_lead_somewhere():
    page = Elements(render(landing_zone(groups=3, every=5)))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    links = [attributes["href"] for attributes in page.of("a")]
    assert {link[1:] for link in links} <= set(ids)
    assert len(links) > 30, "boxes of the picture and owners"
    assert set(page.values("aria-labelledby")) <= set(ids)


def test_every_control_is_described():
    """Each control is in a label, or is a button with words."""
    page = render(landing_zone(groups=3, every=5))
    form = page[page.index("<form") : page.index("</form>")]
    labels = re.findall(r"<label.*?</label>", form, flags=re.DOTALL)
    inside = sum(label.count("<input") + label.count("<select") for label in labels)
    assert inside == form.count("<input") + form.count("<select") > 3
    assert all(re.sub(r"<[^>]+>", "", button) for button in re.findall(r"<button.*?</button>", form))


def test_tables_name_their_rows_and_columns():
    page = Elements(render(FULL))
    tables = len(page.of("table"))
    assert tables >= 5
    assert len(page.of("caption")) == tables
    assert {head.get("scope") for head in page.of("th")} == {"row", "col"}


def test_the_page_may_do_nothing_but_its_own_style_and_script():
    page = render(FULL)
    policy = unescape(re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)[1])
    for tag, name in (("style", "style-src"), ("script", "script-src")):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    head = page[: page.index("<style>")]
    assert page.index("Content-Security-Policy") < page.index("<link"), "a policy holds for what comes after it"
    assert "http://www.w3.org/2000/svg" in head


def test_nothing_in_the_page_is_requested_from_a_server():
    elements = Elements(render(FULL))
    addresses = [*elements.values("src"), *(a["href"] for a in elements.of("link")), *elements.values("action")]
    assert all(address.startswith("data:") for address in addresses)
    assert all(a["href"].startswith("#") or a["rel"] == "noreferrer" for a in elements.of("a"))
    assert "url(" not in render(FULL)
    assert "@import" not in render(FULL)


EVIL = [
    ("<script>alert(1)</script>", "a script"),
    ("</script><script>alert(1)</script>", "the end of ours"),
    ("</style><img src=x onerror=alert(1)>", "the end of the style"),
    ('" onmouseover="alert(1)" x="', "an attribute"),
    ("' autofocus onfocus=alert(1) '", "an attribute in single quotes"),
    ("]]><!-- --!> <![CDATA[", "comments and sections"),
    ("javascript:alert(1)", "an address"),
    ("</title></svg></details><h1>", "ends of elements"),
    ("\u202eevil\x00\x1b[2J\ud800", "directions, controls, and half a character"),
    ("&lt;b&gt; &amp;", "entities"),
]


def everywhere(text):
    """A report that holds a text wherever one may come from outside."""
    evil = key(text, text, NET, text)
    condition = failed(text, text, request_id=text)
    attempts = tuple(replace(a, code=text, message=text, request_id=text) for a in REFUSED.attempts)
    sides = (Difference(f"/{text}", text, {text: [text]}, text), Difference("/b", f"{text}\n{text}", text, text))
    shown = result(
        evil, Verdict.DRIFTED, condition=condition, arm_id=text, source=SourceLocation(text, 1), attempts=attempts,
        differences=sides, unverified=(text,), api_version=text, depends_on=(evil, IN_SYNC.key),
    )  # fmt: skip
    group = f"/subscriptions/s/resourceGroups/{text.replace('/', '-')}"
    quiet = result(key(text, "b", NET, text), arm_id=group, owner=evil)
    problem = Problem(code=text, message=text, hint=text, path=text, line=1, field=text)
    return report(shown, quiet, IN_SYNC, problems=[problem], revision=text)


def made_of(page):
    """Elements, each with the names of its attributes, by number: names from outside decide over their order."""
    return Counter((tag, *sorted(attributes)) for tag, attributes in Elements(page.replace(BREAK, "")).all)


def refused(text):
    return report(replace(REFUSED, condition=failed(text, text), key=key("A", text)))


@cache
def made_of_calm(make):
    return made_of(render(make("calm")))


@pytest.mark.parametrize(("text", "why"), EVIL, ids=[e[-1] for e in EVIL])
def test_foreign_text_stays_text(text, why):
    page = render(everywhere(text))
    assert made_of(page) == made_of_calm(everywhere), why
    page.encode("utf-8")


@given(st.text(min_size=1, max_size=40).map("~{}".format))  # a code that has advice shows more
def test_no_text_changes_what_the_page_is_made_of(text):
    assert made_of(render(refused(text))) == made_of_calm(refused)


def test_what_else_is_not_known_of_a_path_is_reported():
    secret = change(DRIFTED, because={"/properties/secret": "there is no digest"})
    assert "<code>/properties/secret</code>: there is no digest" in render(report(secret)).replace(BREAK, "")


SIDES = [
    (Difference("/a", 1, 2, "r"), "<del><code>2</code></del>", "what Azure has"),
    (Difference("/a", 1, 2, "r"), "<ins><code>1</code></ins>", "what git asks for"),
    (Difference("/a", None, 2, "r"), '<span class="absent">(absent)</span>', "git asks for nothing any more"),
    (Difference("/a", "abcdefgh-1", "abcdefgh-2", "r"), "abcdefgh-<mark>2</mark>", "the part that is not the same"),
    (Difference("/a", "abc", "xyz", "r"), "<code>&quot;xyz&quot;</code>", "nothing marked where little is the same"),
    (Difference("/a", "one\ntwo\n", "one\n2\n", "r"), "<del>-2</del>\n<ins>+two</ins>", "lines of a longer text"),
    (Difference("/a", {"b": 1}, {"b": 2}, "r"), "<del>-  &quot;b&quot;: 2</del>", "lines of what is not one value"),
    (Difference("/a", [], None, "r"), "<ins><code>[]</code></ins>", "an empty list is a value"),
    (Difference("/a", None, "one\ntwo\n", "r"), "<del>-one</del>\n<del>-two</del>", "lines of what has gone"),
]


@pytest.mark.parametrize(("difference", "shown", "why"), SIDES, ids=[s[-1] for s in SIDES])
def test_a_difference_shows(difference, shown, why):
    assert shown in only((difference,)), why


def test_a_quiet_resource_is_a_row_and_one_with_failed_tries_is_not():
    page = render(report(IN_SYNC, replace(IN_SYNC, key=key("A", "b"), attempts=REFUSED.attempts)))
    assert page.count('<tr class="resource"') == 1
    assert page.count('<details class="resource card') == 1


def test_few_are_unfolded_and_many_are_not():
    def opened(count):
        page = render(report(*(replace(DRIFTED, key=key("A", f"b{n}")) for n in range(count))))
        return len(re.findall(r'<details class="resource card[^>]* open[ >]', page))

    assert opened(5) == 5
    assert opened(50) == 0


ENDLESS = replace(REFUSED, condition=failed("F", "<" * 10_000))
LARGE = {  # what a page is made of, and its most bytes; made in the test, since it takes a while
    "hundreds of resources": (lambda: landing_zone(groups=25, every=17), 500_000),
    "in sync, many": (lambda: report(*_many(IN_SYNC, 300)), 300_000),
    # Long ones fill half of the room of what is inside cards, in less time than short ones.
    "drifted, very many": (lambda: report(*_many(ENDLESS, 100), *_many(DRIFTED, 5000, name="c")), 5_700_000),
    "endless messages": (lambda: report(*_many(ENDLESS, 250)), 5_000_000),
    "many differences": (
        lambda: report(
            replace(DRIFTED, differences=tuple(Difference(f"/{n}", "y" * 900, n, "x") for n in range(9999)))
        ),
        1_000_000,
    ),
    "long texts": (
        lambda: report(replace(DRIFTED, differences=(Difference("/a", "a\n" * 90_000, "b\n" * 90_000, "x"),))),
        1_000_000,
    ),
    "many problems": (lambda: report(problems=PROBLEMS * 5000), 1_000_000),
}


def _many(result, count, name="b"):
    return (replace(result, key=key("A", f"{name}{n}")) for n in range(count))


@cache
def render_large(why):
    return render(LARGE[why][0]())


@pytest.mark.parametrize("why", LARGE)
def test_the_page_stays_small(why):
    assert len(render_large(why).encode()) < LARGE[why][1]


def test_what_is_left_out_is_reported():
    page = render_large("drifted, very many")
    assert "… and 100 more resources, left out to keep this page small; report.json has all." in page
    assert "Left out to keep this page small; report.json has it." in page
    assert render_large("many problems").count("… and 4500 more problems, left out") == 2, "errors, and warnings"
    few = replace(DRIFTED, differences=tuple(Difference(f"/{n}", 1, 2, "x") for n in range(201)))
    assert "… and 1 more difference, left out" in render(report(few))


def test_a_namespace_or_kind_can_be_chosen_only_where_there_are_two():
    assert '<select name="namespace">' not in render(report(IN_SYNC, DRIFTED))
    assert '<select name="kind">' in render(report(IN_SYNC, DRIFTED))
    assert '<select name="namespace">' in render(FULL)
