"""The page in a browser: it opens quietly, asks nothing, narrows its list, and can be read by everybody."""

import asyncio
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from browser import PROGRAM, new_page, started
from large_reports import landing_zone
from report_builders import IN_SYNC, key, report
from test_report_html import EVIL, everywhere

from gitsync.report.html.page import render

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed; it is looked for by name in PATH")

SMALL, LARGE = landing_zone(groups=2, every=5), landing_zone(groups=77, every=17)


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
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/report.html", asked
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def opened():
    """A function of a report and of what to look for on its page, which a browser opens from a server."""
    with started() as address:

        def run(value, look, **options):
            with served(render(value)) as (url, asked):
                found = asyncio.run(_looked(address, url, look, options))
            assert asked == ["/report.html"]
            return found

        yield run


async def _looked(address, url, look, options):
    async with new_page(address, **options) as page:
        await page.open(url)
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


async def pressed(page, key):
    for kind in ("keyDown", "keyUp"):
        await page.send("Input.dispatchKeyEvent", type=kind, key=key, text=key if len(key) == 1 else "")


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


@pytest.fixture(scope="module")
def searched(opened):
    """What each search says and shows: one page for all of them, which is reset after each."""

    async def look(page):
        everything, found = await page.value(COUNT), {}
        for text, _, _ in SEARCHES:
            await typed(page, text)
            found[text] = (await counted(page, everything), await page.value(SHOWN))
            await page.value("document.querySelector('[type=reset]').click()")
            assert await counted(page, found[text][0]) == everything
        return found

    return opened(LARGE, look)


@pytest.mark.parametrize(("text", "fits", "why"), SEARCHES, ids=[s[-1] for s in SEARCHES])
def test_search_narrows_the_list(text, fits, why, searched):
    number = sum(map(fits, LARGE.results))
    assert number > 0
    assert searched[text] == (f"{number} of 1,003 resources", number), why


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
        await pressed(page, "/")
        inside = await page.value("document.activeElement.type")
        before = await page.value(COUNT)
        await page.send("Input.insertText", text="nothing is like this")
        narrowed = await counted(page, before)
        told = await page.value("document.getElementById('none').checkVisibility()")
        await pressed(page, "Escape")
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

    assert opened(LARGE, look) == (False, True)


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
        write_rules = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in write_rules.items()]
        await page.send("Emulation.setEmulatedMedia", features=features)
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
        await page.send("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
        return await page.value("[innerWidth, document.documentElement.scrollWidth]")

    assert opened(SMALL, look) == [390, 390]


def test_paper_has_what_is_folded_and_no_form(opened):
    async def look(page):
        inside = "[...document.querySelectorAll('.inside')].every((one) => one.checkVisibility())"
        form = "document.getElementById('filters').checkVisibility()"
        before = await page.value(inside)
        await page.send("Emulation.setEmulatedMedia", media="print")
        return before, await page.value(f"dispatchEvent(new Event('beforeprint')); {inside}"), await page.value(form)

    assert opened(landing_zone(groups=20, every=5), look) == (False, True, False)
