"""The page in a browser: it opens quietly, requests nothing, narrows its list, and can be read by everybody."""

import asyncio
import threading
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import pytest_asyncio

from gitsync.model.problem import SourceLocation
from gitsync.model.verdict import Action, Difference, Verdict
from gitsync.report.html.page import render
from tests.report.browser import AXE, DESKTOP, PHONE, PROGRAM, new_page
from tests.report.large_reports import landing_zone
from tests.report.report_builders import DRIFTED, FULL, IN_SYNC, PROBLEMS, REFUSED, TARGET, key, report, result
from tests.report.test_report_html import EVIL, everywhere

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed; it is looked for by name in PATH"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.together("browser"),
]

SMALL, LARGE = landing_zone(groups=2, every=5), replace(landing_zone(groups=77, every=17), target=TARGET)
FOLDED = landing_zone(groups=20, every=5)
"""So many resources that their list is folded."""

STANDARD = (SMALL, LARGE, FOLDED)


@contextmanager
def served(page):
    """The page on a server; and what was requested of it."""
    requested = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            requested.append(self.path)
            content = page.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/report.html", requested
        finally:
            server.shutdown()
            thread.join()


@cache
def _render_standard(number):
    return render(STANDARD[number])


def _render(value):
    """The page; those that most tests look at are made once."""
    standard = next((number for number, standard_value in enumerate(STANDARD) if standard_value is value), None)
    return render(value) if standard is None else _render_standard(standard)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page(browser):
    """One page for all tests, since a process that shows another costs more than what most tests do."""
    async with new_page(browser) as page:
        yield page


@pytest.fixture
def opened(page):
    """A function of a report, which a browser opens from a server: its page, to look at within the context."""

    @asynccontextmanager
    async def opened(value, **options):
        with served(_render(value)) as (url, requested):
            await page.open(url, **options)
            yield page
            assert page.complaints == []
            assert page.requested == []
            assert page.of("Page.javascriptDialogOpening") == []
        assert requested == ["/report.html"]

    return opened


SHOWN = "[...document.querySelectorAll('.resource')].filter((one) => one.checkVisibility()).length"
KIND = "document.querySelector('select[name=kind]')"
COUNT = "document.querySelector('output').textContent"


@pytest.mark.parametrize("value", [SMALL, LARGE], ids=["28 resources", "1003 resources"])
async def test_the_page_opens_quietly_and_asks_nothing(value, opened):
    number = len(value.results)
    async with opened(value) as page:
        assert (await page.value("document.querySelectorAll('.resource').length"), await page.value(COUNT)) == (
            number,
            f"{number:,} resources",
        )


async def typed(page, text):
    await page.value("document.querySelector('[type=search]').focus()")
    await page.send("Input.insertText", text=text)


async def show_as(page, scheme):
    """Light or dark, and without transitions, in which colours are neither."""
    features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    await page.send(
        "Emulation.setEmulatedMedia", features=[{"name": name, "value": value} for name, value in features.items()]
    )


async def counted(page, before):
    """How many there are once the list was narrowed."""
    for _ in range(500):
        if (now := await page.value(COUNT)) != before:
            return now
        await asyncio.sleep(0.02)
    raise AssertionError(f"still {before}")


SEARCHES = [
    ("managedcluster-2", lambda r: "managedcluster-2" in str(r.key), "a name"),
    ("MANAGEDCLUSTER-2", lambda r: "managedcluster-2" in str(r.key), "in any letter case"),
    ("app-007 vault", lambda r: "app-007" in r.key.name and r.key.kind == "Vault", "every word must fit"),
    ("rate-limit", lambda r: any("rate-limit" in str(d.live) for d in r.differences), "what differs, folded or not"),
    ("app-011/net.yaml", lambda r: "app-011/net.yaml" in str(r.manifest.source), "a file"),
]


async def test_search_narrows_the_list(opened):
    """One page for all: each search begins from the whole list again."""
    assert all(any(map(fits, FOLDED.results)) for _, fits, _ in SEARCHES)
    async with opened(FOLDED) as page:
        everything = await page.value(COUNT)
        for text, fits, why in SEARCHES:
            number = sum(map(fits, FOLDED.results))
            await typed(page, text)
            narrowed = await counted(page, everything)
            assert (narrowed, await page.value(SHOWN)) == (f"{number} of {everything}", number), why
            await page.press("Escape")
            await counted(page, narrowed)


async def test_filters_go_together_and_can_be_taken_back(opened):
    def count(*verdicts, kind=""):
        return sum(r.verdict in verdicts and r.key.kind.startswith(kind) for r in FOLDED.results)

    narrowed = [count("drifted"), count("drifted", "conflict"), count("drifted", "conflict", kind="Vault")]
    everything = f"{len(FOLDED.results)} resources"
    async with opened(FOLDED) as page:
        told = [await page.value(COUNT)]
        for script in (
            "document.querySelector('[value=drifted]').click()",
            "document.querySelector('[value=conflict]').click()",
            f"{KIND}.value = 'Vault'; {KIND}.dispatchEvent(new Event('input', {{bubbles: true}}))",
            "document.querySelector('[type=reset]').click()",
        ):
            await page.value(script)
            told.append(await counted(page, told[-1]))
        assert told == [everything, *(f"{number} of {everything}" for number in narrowed), everything]


async def test_a_slash_leads_to_the_search_and_escape_out_of_it(opened):
    number = len(SMALL.results)
    async with opened(SMALL) as page:
        await page.press("/")
        inside = await page.value("document.activeElement.type")
        before = await page.value(COUNT)
        await page.send("Input.insertText", text="nothing is like this")
        narrowed = await counted(page, before)
        told = await page.value("document.getElementById('none').checkVisibility()")
        await page.press("Escape")
        assert (inside, narrowed, told, await counted(page, narrowed)) == (
            "search",
            f"0 of {number} resources",
            True,
            f"{number} resources",
        )


async def test_a_resource_group_of_the_picture_narrows_the_list_to_it(opened):
    async with opened(LARGE) as page:
        before = await page.value(COUNT)
        click = "dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))"
        await page.value(f"document.querySelector('[data-group*=app-005] rect').{click}")
        assert (await counted(page, before)) == "13 of 1,003 resources"


async def test_a_link_unfolds_what_it_leads_to(opened):
    is_shown = "document.querySelector('tr.resource').checkVisibility()"
    async with opened(FOLDED) as page:
        before = await page.value(is_shown)
        await page.value("location.hash = document.querySelector('tr.resource').id")
        await page.value("new Promise((done) => setTimeout(done, 100))")
        assert (before, await page.value(is_shown)) == (False, True)


async def test_without_a_script_all_can_be_read(opened):
    """There is no form, what is few is unfolded, and all that is folded opens by the browser's own means."""
    async with opened(SMALL, script=False) as page:
        seen = await page.value("document.body.innerText")
        form = await page.value("document.getElementById('filters').checkVisibility()")
        everything = await page.value(
            "document.querySelectorAll('details').forEach((one) => one.setAttribute('open', '')); " + SHOWN
        )
    assert form is False
    assert everything == len(SMALL.results)
    assert "Search and filters need JavaScript" in seen
    for shown in SMALL.results:
        assert shown.key.name in seen
        for difference in shown.differences:
            assert difference.path in seen
            assert difference.rule in seen


async def test_foreign_text_runs_nothing(opened):
    everything = everywhere("".join(text for text, _ in EVIL))
    async with opened(everything) as page:
        await page.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert (await page.value("document.querySelectorAll('script, img, style').length")) == 2


CONTRAST = """(() => {
  const channel = (value) => { const c = value / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const behind = (one) => {
    for (; one; one = one.parentElement) {
      const colour = numbers(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return null;
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const one = node.parentElement;
    if (!node.data.trim() || !one.checkVisibility() || one.closest('svg, script, style')) continue;
    const [a, b] = [light(numbers(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(`${ratio.toFixed(2)}: ${node.data.slice(0, 40)} in ${one.tagName}.${one.className}`);
  }
  return [...new Set(low)].sort();
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_text_stands_out_from_what_is_behind_it(scheme, opened):
    """WCAG 2.2, success criterion 1.4.3: 4.5 to 1."""
    async with opened(landing_zone(groups=3, every=4)) as page:
        await show_as(page, scheme)
        behind, low = await page.value("getComputedStyle(document.body).backgroundColor"), await page.value(CONTRAST)
    assert (behind == "rgb(255, 255, 255)") == (scheme == "light")
    assert low == []


async def test_a_page_that_leaves_some_out_counts_those_it_has(opened):
    many = report(*(replace(IN_SYNC, key=key("A", f"b{number}")) for number in range(5001)))
    async with opened(many) as page:
        assert (await page.value(COUNT)) == "5,000 resources on this page"


async def test_a_phone_shows_the_page_in_its_width(opened):
    async with opened(SMALL, size=PHONE) as page:
        assert (await page.value("[innerWidth, document.documentElement.scrollWidth]")) == [400, 400]


async def test_paper_has_what_is_folded_and_no_form(opened):
    async with opened(FOLDED) as page:
        inside = "[...document.querySelectorAll('.inside')].every((one) => one.checkVisibility())"
        form = "document.getElementById('filters').checkVisibility()"
        before = await page.value(inside)
        await page.send("Emulation.setEmulatedMedia", media="print")
        assert (
            before,
            await page.value(f"dispatchEvent(new Event('beforeprint')); {inside}"),
            await page.value(form),
        ) == (False, True, False)


REFUSALS = [replace(REFUSED, key=key("A", f"b{number}")) for number in range(9)]
CREATES = report(*(result(key("A", f"b{n}"), Verdict.CREATE, Action.CREATE) for n in range(60)), command="plan")
FIRST = "document.querySelector('#deletes .card > summary, #changes .card > summary')"
STATES = [
    (replace(CREATES, target=TARGET), "creates alone"),
    (replace(landing_zone(groups=4, every=6), target=TARGET), "failures, deletes and changes"),
    (report(*REFUSALS, DRIFTED, problems=PROBLEMS, target=TARGET), "many failures, and problems"),
    (LARGE, "a thousand resources"),
]


@pytest.mark.parametrize(("value", "why"), STATES, ids=[s[-1] for s in STATES])
async def test_the_first_change_shows_without_scrolling(value, why, opened):
    async with opened(value) as page:
        assert (await page.value(f"{FIRST}.getBoundingClientRect().bottom")) < DESKTOP["height"], why


AUDIT = """axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations
  .filter(({impact}) => impact === 'serious' || impact === 'critical')
  .map(({id, nodes}) => `${id}: ${nodes.map(({html}) => html.slice(0, 120)).join(' | ')}`))"""


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed; npm brings it")
async def test_axe_finds_nothing_serious(opened):
    """With all that is folded shown, so that it is looked at too; on a desk, and in the dark on a phone."""
    few = landing_zone(groups=1, every=5)
    everything = replace(few, results=(*few.results, *FULL.results), problems=PROBLEMS, target=TARGET)
    async with opened(everything) as page:
        await page.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        await page.value(AXE.read_text(encoding="utf-8") + "; true")
        await show_as(page, "light")
        found = await page.value(AUDIT)
        await page.send("Emulation.setDeviceMetricsOverride", **PHONE)
        await show_as(page, "dark")
        assert (found + await page.value(AUDIT)) == []


async def test_the_keyboard_reaches_and_opens_the_first_resource(opened):
    focused = "document.activeElement"
    async with opened(FOLDED) as page:
        await page.press("Tab")
        skip = await page.value(f"{focused}.className")
        await page.press("Enter")
        await page.press("Tab")
        inside = await page.value(f"{focused}.matches('#resources .card > summary')")
        before = await page.value(f"{focused}.parentElement.open")
        await page.press("Enter")
        assert (skip, inside, before, await page.value(f"{focused}.parentElement.open")) == ("skip", True, False, True)


async def test_every_control_is_reached_and_shows_its_focus(opened):
    """Tab goes through the page to its end, and what has the focus has an outline."""
    async with opened(SMALL) as page:
        reached = []
        for _ in range(400):
            await page.press("Tab")
            now = await page.value(
                "(({tagName, name, className}) => [tagName, name || className, "
                "getComputedStyle(document.activeElement).outlineStyle])(document.activeElement)"
            )
            if now[0] == "BODY":
                break
            reached.append(tuple(now))
        cards = await page.value("document.querySelectorAll('.card').length")
    tags = [tag for tag, *_ in reached]
    assert {"text", "kind", "verdict", "unfold", "fold"} <= {name for _, name, _ in reached}
    assert tags.count("SUMMARY") >= cards > 3
    assert {outline for *_, outline in reached} <= {"solid", "auto"}


BROKEN_WORDS = """(() => {
  document.querySelectorAll('details').forEach((one) => { one.open = true; });
  const broken = new Set();
  for (const cell of document.querySelectorAll('th, td, dd, dt, .title, .tiles a')) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const head = node.parentElement.closest('thead');
      if (node.parentElement.closest('pre') || !node.parentElement.checkVisibility()) continue;
      if (head && getComputedStyle(head).position === 'absolute') continue; // for screen readers alone
      for (const { 0: word, index } of node.data.matchAll(/[A-Za-z]+/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.add(word);
      }
    }
  }
  return [...broken].sort();
})()"""

LONG = result(
    key("NetworkSecurityGroupsSecurityRule", "allow-https-from-spokes", "network.azure.com"),
    Verdict.DRIFTED,
    Action.UPDATE,
    arm_id=f"{SMALL.results[-1].arm_id}/networkSecurityGroups/hub/securityRules/allow-https-from-spokes",
    source=SourceLocation("platform/network/security-groups/hub-network.yaml", 176),
    differences=(Difference("/properties/sourceApplicationSecurityGroups/0/id", "Deny", "Allow", "changed in Azure"),),
)


async def test_no_word_is_broken(opened):
    """At four widths, none of which has to be scrolled sideways."""
    value = replace(
        SMALL, results=(*SMALL.results, LONG, replace(LONG, key=key("A", "b"), differences=())), target=TARGET
    )
    async with opened(value) as page:
        found = {}
        for width in (1440, 1000, 640, 400):
            await page.send("Emulation.setDeviceMetricsOverride", **DESKTOP | {"width": width})
            fits = await page.value("document.documentElement.scrollWidth <= innerWidth")
            found[width] = await page.value(BROKEN_WORDS), fits
        assert found == dict.fromkeys((1440, 1000, 640, 400), ([], True))


async def test_the_contents_lead_to_the_graph_and_unfold_it(opened):
    async with opened(FOLDED) as page:
        folded = await page.value("document.querySelector('#graph .scroller').checkVisibility()")
        await page.value("document.querySelector('.contents [href=\"#graph\"]').click()")
        await page.until_value("document.querySelector('#graph .scroller').checkVisibility()")
        assert folded is False


async def test_filters_are_folded_on_a_phone_and_a_slash_unfolds_them(opened):
    async with opened(SMALL, size=PHONE) as page:
        folded = await page.value("document.querySelector('[type=search]').checkVisibility()")
        await page.press("/")
        assert (folded, await page.value("document.activeElement.type")) == (False, "search")


async def test_a_search_shows_failures_that_are_folded(opened):
    value = report(*REFUSALS, DRIFTED)
    async with opened(value) as page:
        before = await page.value(SHOWN)
        told = await page.value(COUNT)
        await typed(page, "b8")
        await counted(page, told)
        assert (before, await page.value(SHOWN)) == (3, 1)
