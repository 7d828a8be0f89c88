"""The site of the documentation in a browser: its home describes gitsync, and everybody can read its pages."""

import functools
import http.server
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import pytest_asyncio

from tests.report.browser import AXE, DESKTOP, PHONE, PROGRAM, new_page

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed; it is looked for by name in PATH"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.together("browser"),
]
ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "getting-started.md")
"""The home, and a page with tables and code. All pages take five times as long to build."""
SETTINGS = f"""\
INHERIT: {ROOT}/.mkdocs.yml
docs_dir: docs
site_dir: site
hooks: [{ROOT}/tools/site.py]
nav: [{", ".join(PAGES)}]
not_in_nav: "*.md"
strict: false
"""
AUDIT = """axe.run(document, {
  resultTypes: ['violations'],
  // The theme does this where there is a pointer that hovers, which a browser without a screen has not.
  rules: {'scrollable-region-focusable': {enabled: false}},
}).then(({violations}) => violations
  .filter(({impact}) => impact === 'serious' || impact === 'critical')
  .map(({id, nodes}) => `${id}: ${nodes.map(({html}) => html.slice(0, 120)).join(' | ')}`))"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of a site with some of the pages."""
    top = tmp_path_factory.mktemp("site")
    (top / "docs").mkdir()
    for name in (*PAGES, "images", "stylesheets"):
        (top / "docs" / name).symlink_to(ROOT / "docs" / name)
    (top / "mkdocs.yml").write_text(SETTINGS)
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", str(top / "mkdocs.yml")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Handler, directory=top / "site")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page(browser):
    async with new_page(browser) as page:
        yield page


async def test_the_home_shows_the_ways_in_on_the_first_screen(site, page):
    locations = "[...document.querySelectorAll('article h1, article p, article img, article .cards')]"
    await page.open(f"{site}/", size={**DESKTOP, "height": 1200})
    names = await page.value(f"{locations}.filter(e => !e.closest('li')).slice(0, 6).map(e => e.localName).join(' ')")
    text = await page.value("document.querySelector('article p').innerText")
    ends = await page.value("document.querySelector('article .cards').getBoundingClientRect().bottom")
    cards = await page.value("[...document.querySelectorAll('.cards strong')].map(e => e.innerText)")
    assert [url for url in page.requested if not url.startswith(site)] == []
    assert names == "h1 p p img p div"
    assert text.startswith("GitOps for Azure without a cluster.")
    assert cards == ["Try it", "In a pipeline", "From ASO, Flux or Argo CD"]
    assert ends <= 1200


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed; npm brings it")
@pytest.mark.parametrize("path", ["/", "/getting-started/"])
async def test_axe_finds_nothing_serious(site, page, path):
    """On a desk, and in the dark on a phone."""
    found = []
    await page.open(f"{site}{path}")
    still = [{"name": "prefers-reduced-motion", "value": "reduce"}]  # colours on their way are neither
    await page.send("Emulation.setEmulatedMedia", features=still)
    await page.value(AXE.read_text(encoding="utf-8") + "; true")
    for size, scheme in ((DESKTOP, "default"), (PHONE, "slate")):
        await page.send("Emulation.setDeviceMetricsOverride", **size)
        await page.value(f"document.querySelector('input[data-md-color-scheme={scheme}]').click()")
        await page.until_value(f"document.body.dataset.mdColorScheme === '{scheme}'")
        found += [f"{scheme}: {name}" for name in await page.value(AUDIT)]
    assert found == []


WINGS = ROOT / "docs" / "images" / "wings.svg"
FAR_OUT = """(() => {
  const holds = ({x, y, width, height}, [left, top]) => x <= left && left <= x + width && y <= top && top <= y + height;
  const boxes = [...document.querySelectorAll('rect')].map(rect => rect.getBBox());
  return [...document.querySelectorAll('.name, .line')].filter(text => {
    const {x, y, width, height} = text.getBBox();
    const box = boxes.findLast(box => holds(box, [x, y]));
    return !holds(box, [x + width, y + height]);
  }).map(text => text.textContent);
})()"""
"""The texts that end outside of the smallest box in which they begin."""


async def test_no_text_of_the_picture_of_the_wings_leaves_its_box(page):
    await page.open(WINGS.as_uri())
    assert await page.value(FAR_OUT) == []
