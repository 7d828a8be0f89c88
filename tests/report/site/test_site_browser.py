"""The site in a browser, opened from a disk: pages, search, filters, keyboard, back button, and foreign text."""

import asyncio
import itertools
import threading
from contextlib import asynccontextmanager, contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pytest
import pytest_asyncio

from gitsync.report.site.shapes import MOST_CHANGES
from tests.report.browser import AXE, DESKTOP, PHONE, PROGRAM, new_page
from tests.report.site.estates import Estate, landing_zone, three_targets
from tests.report.test_report_html import EVIL
from tests.report.test_report_html_browser import CONTRAST, show_as

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed; it is looked for by name in PATH"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.together("browser"),
]

MANY = 2307  # groups of 13 resources: 29,993 with the hub


def make_hostile():
    """Foreign text wherever a status branch, a manifest or a setting can reach."""
    estate, evil = Estate(), "".join(text for text, _ in EVIL) + "\u202egnp\x1b[31m"
    estate.target(
        "t", title=evil, source=evil, branch=evil, headline=evil, agents=[evil], trust=evil, notes=[evil],
        commitUrl="javascript:alert(1)//", heartbeats=[(evil, evil, evil)], days=[("2026-11-01", 1, 0, 0)], begins=evil,
        run={"at": evil, "commit": evil, "target": "t", "revision": evil, "command": evil, "agent": evil, "headline": evil, "exitCode": 1, "outcomes": [(evil, 1)], "events": [], "changed": []},
    )  # fmt: skip
    segments = "/providers/Microsoft.Storage/storageAccounts/"
    for number, state in enumerate(("failed", "drifted", "held", "untrusted", evil)):
        name = f"{evil}{number}"
        row = estate.add(
            "t", (f"Kind{evil}", "storage.azure.com", segments), name, scope="/subscriptions/0/resourceGroups/g", namespace=evil,
            state=state if state in {"failed", "drifted", "held", "untrusted"} else "unknown", message=evil, text=evil, trust=evil, notes=[evil],
            hold={"key": "", "until": evil, "reason": evil}, history=[(evil, evil, "failed", evil), (evil, evil, evil, evil)],
        )  # fmt: skip
        estate.references += [(row, 0, "reference"), (0, row, "set")]
        key = estate.rows[row]["key"]
        estate.open.append(
            {"target": "t", "key": key, "verdict": evil, "since": evil, "until": "", "how": "", "fields": [evil]}
        )
        estate.runs.append(
            {"at": "2026-11-01T00:00:00Z", "commit": evil, "target": "t", "revision": evil, "command": evil, "agent": evil, "headline": evil, "exitCode": 9, "outcomes": [], "events": [(evil, 900), ("__proto__", 1)], "changed": [(key, evil, evil)]}
        )  # fmt: skip
    estate.more = {
        "coverage": {"files": [(evil, "{"), (evil, '{"managed": 1, "unmanaged": 2, "share": 0.3, "resources": [{"armId": "<img src=x>"}]}')]},
        "audit": {"files": [(evil, '{"operations": [{"armId": "<b>", "verb": "<i>", "origin": "__proto__", "author": {"author": "person", "name": "Ada"}}]}')]},
    }  # fmt: skip
    return estate


def make_burst():
    """One run with more events than it names."""
    estate = Estate()
    estate.target("t")
    keys = [f"ResourceGroup.resources.azure.com/shop/rg-{number}" for number in range(69)]
    changed = [(key, "created", "") for key in keys[:MOST_CHANGES]] + [(key, "ready", "") for key in keys[:3]]
    run = {"at": "2026-11-01T00:00:00Z", "commit": "", "target": "t", "revision": "", "command": "sync", "agent": ""}
    counts = {"outcomes": [], "events": [("created", 69), ("ready", 3)], "changed": changed}
    estate.runs.append({**run, **counts, "headline": "Created 69", "exitCode": 0})
    return estate


ESTATES = {
    "burst": make_burst,
    "three": three_targets,
    "many": partial(landing_zone, MANY, every=700),
    "hostile": make_hostile,
    "empty": Estate,
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page(browser):
    """One page for all tests, since a process that shows another costs more than what most tests do."""
    async with new_page(browser) as page:
        yield page


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """A function of the name of an estate, which writes its site once: the address of its page."""

    @cache
    def write(name):
        # A space and a number sign in the path, as folders of people have them.
        return ESTATES[name]().write(tmp_path_factory.mktemp(f"a site #{name}")).as_uri()

    return write


def find_folder(address):
    return Path(unquote(urlsplit(address).path)).parent


@contextmanager
def serve_folder(folder):
    """The folder on a server; and what was requested of it."""
    requested = []

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self):
            requested.append(self.path)
            super().do_GET()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", requested
        finally:
            server.shutdown()
            thread.join()


DONE = "!document.querySelector('main[aria-busy]')"
NUMBERS = itertools.count()


@pytest.fixture
def opened(page, sites):
    """A function of an estate and a route, which a browser opens: its page, to look at within the context."""

    @asynccontextmanager
    async def opened(name, route="#/", **options):
        # As a page of its own: of one that differs in the route alone, the browser would keep what it has. An empty page
        # between two would be shown by a process of its own.
        await page.open(f"{sites(name)}?{next(NUMBERS)}{route}", **options)
        await page.until_value(DONE)
        yield page
        folder = sites(name).removesuffix("index.html")
        assert [url for url in page.requested if not url.startswith(folder)] == []
        assert page.complaints == []
        assert page.of("Page.javascriptDialogOpening") == []

    return opened


async def go(page, route):
    """As by a link: the page that the route leads to is shown."""
    await page.value(
        f"if (location.hash !== {route!r}) {{ document.querySelector('main').setAttribute('aria-busy', ''); location.hash = {route!r}; }}"
    )
    await page.until_value(DONE)


ALL = ("#/", "#/tree", "#/activity", "#/drift", "#/graph", "#/coverage", "#/audit")
HEADING = "document.querySelector('h1').textContent"
COUNT = "document.querySelector('output').textContent"
ROWS = "[...document.querySelectorAll('.row')].map((row) => row.querySelector('.name').textContent)"
ACTIVE = "document.querySelector('.row.active .name').textContent"


async def typed(page, text):
    await page.value("document.querySelector('[type=search]').focus()")
    await page.send("Input.insertText", text=text)


async def counted(page, expected):
    await page.until_value(f"{COUNT} === {expected!r}")


PAGES = [
    ("#/", "3 targets: 2 failed, 2 with open drift", "the overview"),
    ("#/tree", "Tree", "the tree"),
    ("#/activity", "Activity", "runs"),
    ("#/drift", "3 resources with open drift", "drift"),
    ("#/graph", "Graph of team-0", "the graph of the place with the most to see"),
    ("#/graph/production/namespace/platform", "Graph of platform", "a chosen graph"),
    ("#/resource/production/team-0/keyvault.azure.com/Vault/app-000-vault-1", "app-000-vault-1", "a resource"),
    ("#/resource/production/team-0/keyvault.azure.com/Vault/old-vault", "Vault/old-vault", "one that is gone"),
    ("#/resource/production/team-0/keyvault.azure.com/Vault/nothing", "Not found", "one that never was"),
    ("#/nothing", "Not found", "a page that never was"),
    ("#/%E0%A4%A", "Not found", "an address that is not encoded"),
    ("#/coverage", "Coverage", "what was left for the site"),
    ("#/audit", "Audit", "the same"),
    ("#/toString", "Not found", "a name that objects have"),
]


async def test_each_page_has_its_address(opened):
    async with opened("three") as page:
        for route, heading, why in PAGES:
            await go(page, route)
            assert (await page.value(HEADING)) == heading, why
            assert "[object" not in (await page.value("document.body.innerText")), why
            assert (await page.value("document.title")).endswith("(gitsync site)"), why


async def test_an_empty_site_says_so(opened):
    async with opened("empty") as page:
        assert (await page.value(HEADING)) == "Nothing to show"
        assert (await page.value("document.querySelectorAll('nav li:not([hidden])').length")) == 5
        await go(page, "#/coverage")
        assert (await page.value(HEADING)) == "Not found"
        await go(page, "#/tree")
        assert (await page.value(COUNT)) == "0 resources"
        await go(page, "#/graph")
        assert (await page.value(HEADING)) == "Graph"


async def test_the_overview_has_failures_first(opened):
    async with opened("three") as page:
        assert (
            await page.value("[...document.querySelectorAll('.target-card h2')].map((one) => one.textContent)")
        ) == ["test", "production", "quiet"]
        text = await page.value("document.querySelector('main').innerText")
        for part in (
            "2 records are altered",
            "until 2026-12-24: The freeze before the sale",
            "History is cut off",
            "since",
            "exit code 130",
        ):
            assert part in text
        assert (await page.value("document.querySelectorAll('.trend svg[aria-label]').length")) == 9


async def test_numbers_of_the_overview_lead_to_the_tree(opened):
    async with opened("three") as page:
        await page.value("document.querySelector('.target-card .legend a[href*=drifted][href*=production]').click()")
        await page.until_value("!!document.querySelector('.row')")
        assert (await page.value(COUNT)) == "2 of 98 resources"
        assert (await page.value("document.querySelector('[name=target]').value")) == "production"


async def test_the_tree_begins_where_there_is_something_to_see(opened):
    async with opened("three", "#/tree") as page:
        names = await page.value(ROWS)
        assert names[:3] == ["11111111-2222-3333-4444-555555555555", "app-000-rg", "app-000"]
        assert "app-000-vault-1" in names
        first = "document.querySelector('.row').textContent"
        assert "2 drifted" in (await page.value(first)), "the worst below"
        assert (await page.value("document.querySelector('.row').className")) == "row tone-stop scope"


SEARCHES = [
    ("vault-1", "7 of 98 resources", "a name"),
    ("VAULT-1", "7 of 98 resources", "in any letter case"),
    ("vault-1 team-0", "3 of 98 resources", "every word must fit"),
    ("app-003 microsoft.network", "3 of 98 resources", "a part of the ARM id"),
    ("nothing like it", "0 of 98 resources", "nothing"),
]


async def test_search_narrows_the_tree_and_is_in_the_address(opened):
    async with opened("three", "#/tree") as page:
        for text, count, why in SEARCHES:
            await typed(page, text)
            await counted(page, count)
            assert (await page.value("new URLSearchParams(location.hash.split('?')[1]).get('q')")) == text, why
            await page.press("Escape")
            await counted(page, "98 resources")
        assert (await page.value("location.hash")) == "#/tree"


async def test_filters_go_together_and_can_be_taken_back(opened):
    async with opened("three", "#/tree") as page:
        for script, count in (
            ("document.querySelector('[value=drifted]').click()", "3 of 98 resources"),
            ("document.querySelector('[value=held]').click()", "5 of 98 resources"),
            ("Object.assign(document.querySelector('[name=kind]'), {value: 'Vault.keyvault.azure.com'}).dispatchEvent(new Event('input', {bubbles: true}))", "2 of 98 resources"),
            ("Object.assign(document.querySelector('[name=namespace]'), {value: 'team-1'}).dispatchEvent(new Event('input', {bubbles: true}))", "1 of 98 resources"),
            ("document.querySelector('[type=reset]').click()", "98 resources"),
        ):  # fmt: skip
            await page.value(script)
            await counted(page, count)


async def test_the_back_button_leads_back_to_the_same_rows(opened):
    async with opened("three", "#/tree?q=app-000&state=drifted") as page:
        before = await page.value(ROWS)
        await page.value("document.querySelector('.row a.name[href*=vault-1]').click()")
        await page.until_value(f"{HEADING} === 'app-000-vault-1'")
        await page.value("history.back()")
        await page.until_value(f"{HEADING} === 'Tree' && {DONE} && !!document.querySelector('.row')")
        assert (await page.value(ROWS)) == before
        await page.value("history.forward()")
        await page.until_value(f"{HEADING} === 'app-000-vault-1'")


async def test_the_keyboard_walks_the_tree(opened):
    async with opened("three", "#/tree") as page:
        await page.value("document.querySelector('.tree').focus()")
        steps = [
            (["Home"], "11111111-2222-3333-4444-555555555555", "the first"),
            (["ArrowDown", "ArrowDown"], "app-000", "down"),
            (["ArrowRight", "ArrowRight"], "app-000-back", "unfolds, then goes inside"),
            (["ArrowLeft"], "app-000", "to what is above"),
            (["ArrowLeft", "ArrowLeft"], "app-000-rg", "folds, then goes up"),
            (["ArrowLeft", "ArrowDown"], "app-001-rg", "what is folded is passed"),
            (["End"], "operators", "the last"),
            (["Home"], "11111111-2222-3333-4444-555555555555", "and back"),
        ]
        for keys, name, why in steps:
            for key in keys:
                await page.press(key)
            await page.until_value("!!document.querySelector('.row.active')")
            assert (await page.value(ACTIVE)) == name, why
            assert await page.value(
                "document.getElementById(document.querySelector('.tree').getAttribute('aria-activedescendant')).classList.contains('active')"
            )
        await page.press("ArrowDown")
        await page.press("Enter")
        await page.until_value(f"{HEADING} === 'app-000-rg'")
        assert (await page.value("document.activeElement.tagName")) == "H1"


async def test_a_slash_leads_to_the_search_from_every_page(opened):
    async with opened("three", "#/drift") as page:
        await page.press("/")
        await page.until_value("document.activeElement.type === 'search'")
        await page.value("document.activeElement.blur()")
        await page.press("/")
        assert (await page.value("document.activeElement.type")) == "search"


async def test_thirty_thousand_resources_are_quick(opened, sites):
    """The first page is at most 5 MB, and has only the rows in view, wherever it is scrolled."""
    async with opened("many", "#/tree") as page:
        folder = find_folder(sites("many"))
        loaded = [
            "index.html",
            *(str(path.relative_to(folder)) for path in folder.glob("assets/*")),
            *(f"data/{name}.js" for name in ("words", "site", "tree")),
        ]
        assert sum((folder / path).stat().st_size for path in loaded) < 5_000_000
        await counted(page, "29,993 resources")
        await page.value("document.querySelector('[name=unfold]').click()")
        height = await page.value("document.querySelector('.room').offsetHeight")
        assert height == (29_993 + 1) * 34
        for part in (0.25, 0.5, 0.99, 0):
            await page.value(f"document.querySelector('.tree').scrollTop = {part} * {height}")
            await page.value("new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))")
            shown = await page.value(
                "(({top, bottom}) => [...document.querySelectorAll('.row')].filter((row) => row.getBoundingClientRect().bottom > top && row.getBoundingClientRect().top < bottom).length)(document.querySelector('.tree').getBoundingClientRect())"
            )
            assert 15 < shown <= (await page.value("document.querySelectorAll('.row').length")) < 80
        await typed(page, "app-1234 cluster")
        await counted(page, "2 of 29,993 resources")
        await go(page, "#/graph")
        assert (await page.value("document.querySelectorAll('.box').length")) < 310


RESOURCE = "#/resource/production/team-0/keyvault.azure.com/Vault/app-000-vault-1"


async def test_a_resource_shows_what_is_known(opened):
    async with opened("three", RESOURCE) as page:
        text = await page.value("document.querySelector('main').innerText")
        for part in (
            "drifted",
            "spec.accessTier",
            '"Hot"',
            '"Cool"',
            "changed in Azure since",
            "shop/storage.yaml:1",
            "name: Standard_LRS",
            "5d0e7a1c-",
            "14s to create",
            "repaired by a run",
            "ResourceGroup/app-000-rg",
            "/properties/publicNetworkAccess",
        ):
            assert part in text
        links = await page.value("[...document.querySelectorAll('main a')].map((one) => one.getAttribute('href'))")
        assert (
            "https://portal.azure.com/#resource/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/app-000-rg/providers/Microsoft.KeyVault/vaults/app-000-vault-1"
            in links
        )
        assert any(link.startswith("https://github.com/contoso/production/commit/") for link in links)
        assert (await page.value("document.querySelectorAll('#relations .box').length")) == 2
        await page.value(
            "document.querySelector('#relations a.box:not(.chosen)').dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))"
        )
        await page.until_value(f"{HEADING} === 'app-000-rg'")
        assert "Below it" in (await page.value("document.querySelector('main').innerText"))


async def test_the_place_of_a_resource_leads_to_the_tree(opened):
    async with opened("three", RESOURCE) as page:
        await page.value("document.querySelector('.path a').click()")
        await page.until_value(f"{HEADING} === 'Tree' && !!document.querySelector('.row.active')")
        assert (await page.value(ACTIVE)) == "11111111-2222-3333-4444-555555555555"


async def test_the_graph_zooms_by_keys_and_buttons(opened):
    percent = "document.querySelector('.zoom .count').textContent"
    async with opened("three", "#/graph/production/group/11111111-2222-3333-4444-555555555555/app-000-rg") as page:
        assert (await page.value("document.querySelectorAll('.box').length")) == 14, "with the network of another group"
        assert (await page.value("document.querySelectorAll('.box.outside').length")) == 1
        await page.value("document.querySelector('.scroller').focus()")
        for key, expected in (("1", "100%"), ("+", "125%"), ("-", "100%"), ("-", "85%")):
            await page.press(key)
            assert (await page.value(percent)) == expected
        await page.value("document.querySelector('[aria-label^=Larger]').click()")
        assert (await page.value(percent)) == "100%"
        await page.value(
            "Object.assign(document.querySelector('[name=graph-of]'), {value: '#/graph/quiet/namespace/team-0'}).dispatchEvent(new Event('change'))"
        )
        await page.until_value(
            "document.querySelectorAll('.box').length === 14 && location.hash === '#/graph/quiet/namespace/team-0'"
        )


async def test_earlier_months_are_loaded_when_asked_for(opened):
    async with opened("three", "#/activity") as page:
        before = await page.value("document.querySelectorAll('.run').length")
        await page.value("document.querySelector('.earlier').click()")
        await page.until_value(f"document.querySelectorAll('.run').length > {before}")
        assert (before, await page.value("document.querySelectorAll('.run').length")) == (12, 24)
        assert await page.value("document.querySelector('.earlier').hidden")


async def test_a_run_counts_all_of_its_events(opened):
    async with opened("burst", "#/activity") as page:
        badges = "[...document.querySelectorAll('.changes .badge')].map((one) => one.textContent)"
        assert await page.value(badges) == ["+ 69 created", "✓ 3 ready"]
        await page.value("document.querySelector('.changes button').click()")
        names = await page.value("[...document.querySelectorAll('.changes .names')].map((one) => one.innerText)")
        assert [len(text.splitlines()) for text in names] == [26, 3]
        assert names[0].endswith("and 44 more")
        assert await page.value("document.activeElement.textContent") == "ResourceGroup/rg-8"


async def test_foreign_text_runs_nothing_and_leads_nowhere(opened):
    async with opened("hostile") as page:
        scripts = await page.value("document.querySelectorAll('script').length")
        hostile = "(await gitsync.estate.open())"
        routes = await page.value(
            f"(async () => {{ const e = {hostile}; return [...Array(e.count).keys()].map((row) => gitsync.estate.address('t', e.key(row))); }})()"
        )
        assert len(routes) == 5
        for route in (*ALL, *routes):
            await go(page, route)
            assert (await page.value(HEADING)) != "Not found", route
            await page.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            assert (
                await page.value(
                    "document.querySelectorAll('main :is(script, img, style, iframe, b, [style*=url])').length"
                )
            ) == 0
            links = await page.value(
                "[...document.querySelectorAll('main [href]')].map((one) => one.getAttribute('href'))"
            )
            assert [
                link
                for link in links
                if not link.startswith(("#/", "https://portal.azure.com/#resource/", "https://github.com/"))
            ] == []
            text = await page.value("document.querySelector('main').textContent")
            assert "\u202e" not in text
            assert "\x1b" not in text
            assert "Ada" not in text, "a site names no people"
        loaded = await page.value("[...document.scripts].map((one) => one.getAttribute('src'))")
        assert scripts <= len(loaded)
        assert all(source.startswith(("assets/", "data/")) for source in loaded)


AUDIT = """axe.run(document, {resultTypes: ['violations'], preload: false}).then(({violations}) => violations
  .map(({id, nodes}) => `${id}: ${nodes.map(({html}) => html.slice(0, 160)).join(' | ')}`))"""


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed; npm brings it")
async def test_axe_finds_nothing(opened):
    """On a desk, and in the dark on a phone."""
    found = {}
    async with opened("three") as page:
        await page.value(AXE.read_text(encoding="utf-8") + "; true")
        for route in (RESOURCE, *ALL):
            await go(page, route)
            for size, scheme in ((DESKTOP, "light"), (PHONE, "dark")):
                await page.send("Emulation.setDeviceMetricsOverride", **size)
                await show_as(page, scheme)
                found[scheme, route] = await page.value(AUDIT)
                found[scheme, route, "contrast"] = await page.value(CONTRAST)
    problems = {where: what for where, what in found.items() if what}
    assert not problems, problems


async def test_no_page_is_wider_than_the_window(opened):
    wide = {}
    async with opened("three") as page:
        for route in (RESOURCE, *ALL):
            await go(page, route)
            for width in (1600, 1000, 640, 360):
                await page.send("Emulation.setDeviceMetricsOverride", **DESKTOP | {"width": width})
                wide[width, route] = await page.value("document.documentElement.scrollWidth - innerWidth")
    assert {where: by for where, by in wide.items() if by > 0} == {}


async def test_every_control_is_reached_and_shows_its_focus(opened):
    async with opened("three", "#/tree") as page:
        reached = []
        for _ in range(60):
            await page.press("Tab")
            now = await page.value(
                "((one) => [one.tagName, one.name || one.className, getComputedStyle(one).outlineStyle])(document.activeElement)"
            )
            if now[0] == "BODY":
                break
            reached.append(tuple(now))
    names = {name for _, name, _ in reached}
    assert {"skip", "home", "text", "kind", "namespace", "target", "state", "unfold", "fold", "tree"} <= names
    assert {outline for *_, outline in reached} <= {"solid", "auto"}


async def test_a_server_may_have_the_site_below_a_path(page, sites):
    """The folder is served as `/…/a site/`, and nothing is requested above it."""
    folder = find_folder(sites("three"))
    with serve_folder(folder.parent) as (url, requested):
        await page.open(f"{url}/{quote(folder.name)}/", size=DESKTOP)
        await page.until_value(DONE)
        await go(page, RESOURCE)
        assert (await page.value(HEADING)) == "app-000-vault-1"
        assert page.complaints == []
    assert all(path.startswith(f"/{quote(folder.name)}/") for path in requested)


async def test_without_a_script_the_page_says_what_it_needs(page, sites):
    await page.open(f"{sites('three')}?{next(NUMBERS)}", script=False)
    assert "This site needs JavaScript" in (await page.value("document.body.innerText"))


async def test_pages_wait_for_no_other_page(opened):
    """The second of two clicks wins, however long the first one takes."""
    async with opened("three") as page:
        await page.value("location.hash = '#/graph'; setTimeout(() => { location.hash = '#/drift'; })")
        await page.until_value(f"{HEADING} === '3 resources with open drift'")
        await asyncio.sleep(0)
        assert (await page.value("document.querySelector('main').dataset.page")) == "drift"
