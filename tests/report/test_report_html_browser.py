"""The page in a browser: it opens quietly, asks nothing, narrows its list, and can be read by everybody."""

import asyncio
import threading
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gitsync.model.problem import SourceLocation
from gitsync.model.verdict import Action, Difference, Verdict
from gitsync.report.html.page import render
from tests.report.browser import AXE, DESKTOP, PHONE, PROGRAM, new_page, started
from tests.report.large_reports import landing_zone
from tests.report.report_builders import DRIFTED, FULL, IN_SYNC, PROBLEMS, REFUSED, TARGET, key, report, result
from tests.report.test_report_html import EVIL, everywhere

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed; it is looked for by name in PATH")

SMALL, LARGE = landing_zone(groups=2, every=5), replace(landing_zone(groups=77, every=17), target=TARGET)
FOLDED = landing_zone(groups=20, every=5)
"""So many resources that their list is folded."""

STANDARD = (SMALL, LARGE, FOLDED)


@contextmanager
def served(page):
    """The page on a server; and what was asked of it."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
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
            yield f"http://127.0.0.1:{server.server_port}/report.html", asked
        finally:
            server.shutdown()
            thread.join()


@cache
def _render_standard(number):
    return render(STANDARD[number])


def _render(value):
    """The page; those that most tests look at are made once."""
    standard = next((number for number, one in enumerate(STANDARD) if one is value), None)
    return render(value) if standard is None else _render_standard(standard)


@pytest.fixture(scope="module")
def opened():
    """A function of a report and of what to look for on its page, which a browser opens from a server. There is one
    page for all tests, since a process that shows another costs more than what most tests do.
    """
    with started() as address, asyncio.Runner() as runner:
        stack = AsyncExitStack()
        page = runner.run(stack.enter_async_context(new_page(address)))

        def run(value, look, **options):
            with served(_render(value)) as (url, asked):
                found = runner.run(_looked(page, url, look, options))
            assert asked == ["/report.html"]
            return found

        yield run
        runner.run(stack.aclose())


async def _looked(page, url, look, options):
    await page.open(url, **options)
    found = await look(page)
    assert page.complaints == []
    assert page.asked == []
    assert page.of("Page.javascriptDialogOpening") == []
    return found


SHOWN = "[...document.querySelectorAll('.resource')].filter((one) => one.checkVisibility()).length"
KIND = "document.querySelector('select[name=kind]')"
COUNT = "document.querySelector('output').textContent"


@pytest.mark.parametrize("value", [SMALL, LARGE], ids=["28 resources", "1003 resources"])
def test_the_page_opens_quietly_and_asks_nothing(value, opened):
    async def look(page):
        return await page.value("document.querySelectorAll('.resource').length"), await page.value(COUNT)

    number = len(value.results)
    assert opened(value, look) == (number, f"{number:,} resources")


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
    ("app-011/net.yaml", lambda r: "app-011/net.yaml" in str(r.source), "a file"),
]


def test_search_narrows_the_list(opened):
    """One page for all: each search begins from the whole list again."""

    async def look(page):
        everything, found = await page.value(COUNT), []
        for text, *_ in SEARCHES:
            await typed(page, text)
            found.append((await counted(page, everything), await page.value(SHOWN)))
            await page.press("Escape")
            await counted(page, found[-1][0])
        return found

    numbers = [sum(map(fits, LARGE.results)) for _, fits, _ in SEARCHES]
    assert min(numbers) > 0
    expected = [(f"{number} of 1,003 resources", number) for number in numbers]
    for one, other, (_, _, why) in zip(opened(LARGE, look), expected, SEARCHES, strict=True):
        assert one == other, why


def test_filters_go_together_and_can_be_taken_back(opened):
    async def look(page):
        told = [await page.value(COUNT)]
        for script in (
            "document.querySelector('[value=drifted]').click()",
            "document.querySelector('[value=conflict]').click()",
            f"{KIND}.value = 'Vault'; {KIND}.dispatchEvent(new Event('input', {{bubbles: true}}))",
            "document.querySelector('[type=reset]').click()",
        ):
            await page.value(script)
            told.append(await counted(page, told[-1]))
        return told

    def count(*verdicts, kind=""):
        return sum(r.verdict in verdicts and r.key.kind.startswith(kind) for r in LARGE.results)

    narrowed = [count("drifted"), count("drifted", "conflict"), count("drifted", "conflict", kind="Vault")]
    everything = "1,003 resources"
    assert opened(LARGE, look) == [everything, *(f"{number} of {everything}" for number in narrowed), everything]


def test_a_slash_leads_to_the_search_and_escape_out_of_it(opened):
    async def look(page):
        await page.press("/")
        inside = await page.value("document.activeElement.type")
        before = await page.value(COUNT)
        await page.send("Input.insertText", text="nothing is like this")
        narrowed = await counted(page, before)
        told = await page.value("document.getElementById('none').checkVisibility()")
        await page.press("Escape")
        return inside, narrowed, told, await counted(page, narrowed)

    number = len(SMALL.results)
    assert opened(SMALL, look) == ("search", f"0 of {number} resources", True, f"{number} resources")


def test_a_resource_group_of_the_picture_narrows_the_list_to_it(opened):
    async def look(page):
        before = await page.value(COUNT)
        click = "dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))"
        await page.value(f"document.querySelector('[data-place*=app-005] rect').{click}")
        return await counted(page, before)

    assert opened(LARGE, look) == "13 of 1,003 resources"


def test_a_link_unfolds_what_it_leads_to(opened):
    is_shown = "document.querySelector('tr.resource').checkVisibility()"

    async def look(page):
        before = await page.value(is_shown)
        await page.value("location.hash = document.querySelector('tr.resource').id")
        await page.value("new Promise((done) => setTimeout(done, 100))")
        return before, await page.value(is_shown)

    assert opened(FOLDED, look) == (False, True)


def test_without_a_script_all_can_be_read(opened):
    """There is no form, what is few is unfolded, and all that is folded opens by the browser's own means."""

    async def look(page):
        seen = await page.value("document.body.innerText")
        form = await page.value("document.getElementById('filters').checkVisibility()")
        everything = await page.value(
            "document.querySelectorAll('details').forEach((one) => one.setAttribute('open', '')); " + SHOWN
        )
        return seen, form, everything

    seen, form, everything = opened(SMALL, look, script=False)
    assert form is False
    assert everything == len(SMALL.results)
    assert "Search and filters need JavaScript" in seen
    for one in SMALL.results:
        assert one.key.name in seen
        for difference in one.differences:
            assert difference.path in seen
            assert difference.rule in seen


def test_foreign_text_runs_nothing(opened):
    everything = everywhere("".join(text for text, _ in EVIL))

    async def look(page):
        await page.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        return await page.value("document.querySelectorAll('script, img, style').length")

    assert opened(everything, look) == 2


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
def test_text_stands_out_from_what_is_behind_it(scheme, opened):
    """WCAG 2.2, success criterion 1.4.3: 4.5 to 1."""

    async def look(page):
        await show_as(page, scheme)
        return await page.value("getComputedStyle(document.body).backgroundColor"), await page.value(CONTRAST)

    behind, low = opened(landing_zone(groups=3, every=4), look)
    assert (behind == "rgb(255, 255, 255)") == (scheme == "light")
    assert low == []


def test_a_page_that_leaves_some_out_counts_those_it_has(opened):
    async def look(page):
        return await page.value(COUNT)

    many = report(*(replace(IN_SYNC, key=key("A", f"b{number}")) for number in range(5001)))
    assert opened(many, look) == "5,000 resources on this page"


def test_a_phone_shows_the_page_in_its_width(opened):
    async def look(page):
        return await page.value("[innerWidth, document.documentElement.scrollWidth]")

    assert opened(SMALL, look, size=PHONE) == [400, 400]


def test_paper_has_what_is_folded_and_no_form(opened):
    async def look(page):
        inside = "[...document.querySelectorAll('.inside')].every((one) => one.checkVisibility())"
        form = "document.getElementById('filters').checkVisibility()"
        before = await page.value(inside)
        await page.send("Emulation.setEmulatedMedia", media="print")
        return before, await page.value(f"dispatchEvent(new Event('beforeprint')); {inside}"), await page.value(form)

    assert opened(FOLDED, look) == (False, True, False)


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
def test_the_first_change_shows_without_scrolling(value, why, opened):
    async def look(page):
        return await page.value(f"{FIRST}.getBoundingClientRect().bottom")

    assert opened(value, look) < DESKTOP["height"], why


AUDIT = """axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations
  .filter(({impact}) => impact === 'serious' || impact === 'critical')
  .map(({id, nodes}) => `${id}: ${nodes.map(({html}) => html.slice(0, 120)).join(' | ')}`))"""


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed; npm brings it")
def test_axe_finds_nothing_serious(opened):
    """With all that is folded shown, so that it is looked at too; on a desk, and in the dark on a phone."""

    async def look(page):
        await page.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        await page.value(AXE.read_text(encoding="utf-8") + "; true")
        await show_as(page, "light")
        found = await page.value(AUDIT)
        await page.send("Emulation.setDeviceMetricsOverride", **PHONE)
        await show_as(page, "dark")
        return found + await page.value(AUDIT)

    few = landing_zone(groups=1, every=5)
    everything = replace(few, results=(*few.results, *FULL.results), problems=PROBLEMS, target=TARGET)
    assert opened(everything, look) == []


def test_the_keyboard_reaches_and_opens_the_first_resource(opened):
    focused = "document.activeElement"

    async def look(page):
        await page.press("Tab")
        skip = await page.value(f"{focused}.className")
        await page.press("Enter")
        await page.press("Tab")
        inside = await page.value(f"{focused}.matches('#resources .card > summary')")
        before = await page.value(f"{focused}.parentElement.open")
        await page.press("Enter")
        return skip, inside, before, await page.value(f"{focused}.parentElement.open")

    assert opened(LARGE, look) == ("skip", True, False, True)


def test_every_control_is_reached_and_shows_its_focus(opened):
    """Tab goes through the page to its end, and what has the focus has an outline."""

    async def look(page):
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
        return reached, await page.value("document.querySelectorAll('.card').length")

    reached, cards = opened(SMALL, look)
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


def test_no_word_is_broken(opened):
    """At four widths, none of which has to be scrolled sideways."""
    value = replace(
        SMALL, results=(*SMALL.results, LONG, replace(LONG, key=key("A", "b"), differences=())), target=TARGET
    )

    async def look(page):
        found = {}
        for width in (1440, 1000, 640, 400):
            await page.send("Emulation.setDeviceMetricsOverride", **DESKTOP | {"width": width})
            fits = await page.value("document.documentElement.scrollWidth <= innerWidth")
            found[width] = await page.value(BROKEN_WORDS), fits
        return found

    assert opened(value, look) == dict.fromkeys((1440, 1000, 640, 400), ([], True))


def test_the_contents_lead_to_the_graph_and_unfold_it(opened):
    async def look(page):
        folded = await page.value("document.querySelector('#graph .scroller').checkVisibility()")
        await page.value("document.querySelector('.contents [href=\"#graph\"]').click()")
        await page.until_value("document.querySelector('#graph .scroller').checkVisibility()")
        return folded

    assert opened(LARGE, look) is False


def test_filters_are_folded_on_a_phone_and_a_slash_unfolds_them(opened):
    async def look(page):
        folded = await page.value("document.querySelector('[type=search]').checkVisibility()")
        await page.press("/")
        return folded, await page.value("document.activeElement.type")

    assert opened(SMALL, look, size=PHONE) == (False, "search")


def test_a_search_shows_failures_that_are_folded(opened):
    value = report(*REFUSALS, DRIFTED)

    async def look(page):
        before = await page.value(SHOWN)
        told = await page.value(COUNT)
        await typed(page, "b8")
        await counted(page, told)
        return before, await page.value(SHOWN)

    assert opened(value, look) == (3, 1)
