"""The page of a rehearsal in a browser: it opens quietly, fits a phone, and can be read by everybody."""

from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from gitsync.workflows.rehearsal.rehearsal_page import render
from gitsync.workflows.rehearsal.timeline import MOST_ROWS
from tests.report.browser import AXE, PHONE, PROGRAM, new_page
from tests.report.test_report_html_browser import AUDIT, CONTRAST, served, show_as
from tests.support.hostile_texts import HOSTILE
from tests.workflows.rehearsal.rehearsals import REBUILD, UNEVEN, rebuilt
from tests.workflows.rehearsal.test_rehearsal_report import make_hostile

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed; it is looked for by name in PATH"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.together("browser"),
]

LARGE = rebuilt(300)
UNFOLD = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page(browser):
    async with new_page(browser) as page:
        yield page


@pytest.fixture
def opened(page):
    """A function of a rehearsal, which a browser opens from a server: its page, to look at within the context."""

    @asynccontextmanager
    async def opened(rehearsal, **options):
        with served(render(rehearsal)) as (url, paths):
            await page.open(url, **options)
            yield page
            assert page.complaints == []
            assert page.requested == []
        assert paths == ["/report.html"]

    return opened


@pytest.mark.parametrize("rehearsal", [UNEVEN, LARGE], ids=["one with findings", "a large one"])
async def test_a_phone_shows_the_page_in_its_width(rehearsal, opened):
    async with opened(rehearsal, size=PHONE) as page:
        await page.value(UNFOLD)
        assert (await page.value("[innerWidth, document.documentElement.scrollWidth]")) == [400, 400]


@pytest.mark.parametrize("options", [{}, {"size": PHONE}], ids=["on a desk", "on a phone"])
async def test_names_and_bars_are_beside_or_above_each_other(options, opened):
    """Each row is as high as its name and its bar, which do not overlap, and each bar is inside of the picture."""
    async with opened(LARGE, **options) as page:
        wrong = await page.value(
            """[...document.querySelectorAll('.rows li')].filter((one) => {
              if (!one.checkVisibility()) return false;
              const [who, plot] = ['.who', '.plot'].map((part) => one.querySelector(part).getBoundingClientRect());
              const bar = one.querySelector('.work').getBoundingClientRect();
              const is_beside = plot.left >= who.right - 1, is_below = plot.top >= who.bottom - 1;
              return !(is_beside || is_below) || bar.left < plot.left - 2 || bar.right > plot.right + 2;
            }).length"""
        )
        shown = await page.value("[...document.querySelectorAll('.rows li')].filter((a) => a.checkVisibility()).length")
        assert (wrong, shown) == (0, MOST_ROWS)


async def test_what_is_folded_opens_without_a_script(opened):
    async with opened(LARGE, script=False) as page:
        await page.value("document.querySelectorAll('details').forEach((one) => one.setAttribute('open', ''))")
        assert (await page.value("document.querySelectorAll('.rows li').length")) == len(LARGE.writes)


async def test_a_hostile_name_makes_no_element(opened):
    async with opened(make_hostile("".join(HOSTILE[name] for name in HOSTILE if name != "long"))) as page:
        assert (await page.value("document.querySelectorAll('script, img, b, a:not([href^=\"#\"])').length")) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_text_stands_out_from_what_is_behind_it(scheme, opened):
    async with opened(REBUILD) as page:
        await show_as(page, scheme)
        assert (await page.value(CONTRAST)) == []


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed; npm brings it")
@pytest.mark.parametrize("rehearsal", [UNEVEN, REBUILD], ids=["one with findings", "a rebuild"])
async def test_axe_finds_nothing_serious(rehearsal, opened):
    async with opened(rehearsal) as page:
        await page.value(UNFOLD)
        await page.value(AXE.read_text(encoding="utf-8") + "; true")
        await show_as(page, "light")
        found = await page.value(AUDIT)
        await page.send("Emulation.setDeviceMetricsOverride", **PHONE)
        await show_as(page, "dark")
        assert (found + await page.value(AUDIT)) == []
