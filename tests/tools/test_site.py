"""The links of the documentation lead to pages of the site where it has them, else to the repository."""

import importlib.util
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
HOME = "https://code.example/acme/gitsync"


@pytest.fixture(scope="module")
def site():
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "tools" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("source", "link", "expected", "why"),
    [
        ("docs/git.md", "[a](status.md#files)", "[a](status.md#files)", "a page beside it"),
        ("docs/how-to/x.md", "[a](../git.md)", "[a](../git.md)", "a page above it"),
        ("docs/git.md", "[a](../CHANGELOG.md)", "[a](CHANGELOG.md)", "a file beside docs/ is a page of the site"),
        ("CONTRIBUTING.md", "[a](docs/git.md#x)", "[a](git.md#x)", "that page leads back into docs/"),
        (
            "docs/git.md",
            "[a `b`](../gitsync/agent/run)",
            f"[a `b`]({HOME}/blob/HEAD/gitsync/agent/run)",
            "code is in the repository",
        ),
        ("docs/git.md", "[a](https://x.example/)", "[a](https://x.example/)", "an address stays"),
        ("docs/git.md", "[a](#here)", "[a](#here)", "an anchor stays"),
        ("docs/git.md", "![a](images/report.png)", "![a](images/report.png)", "an image is copied with the pages"),
        ("docs/git.md", "```\n[a](../gitsync)\n```", "```\n[a](../gitsync)\n```", "code is shown as it is"),
    ],
)
def test_links_work_on_the_site(site, source, link, expected, why):
    assert site.rewrite_links(link, source, HOME) == expected, why


def test_a_link_to_the_repository_is_text_where_none_is_known(site):
    assert site.rewrite_links("see [the code](../gitsync/agent/run.py).", "docs/git.md", "") == "see the code."


@pytest.mark.parametrize(
    ("element", "is_refused"),
    [
        ('<script src="https://cdn.example/x.js"></script>', True),
        ('<link rel="stylesheet" href="//fonts.example/css">', True),
        ('<img src="https://images.example/x.png">', True),
        ('<script src="assets/x.js"></script>', False),
        ('<a href="https://x.example/">x</a>', False),
    ],
)
def test_a_page_loads_nothing_from_another_host(site, element, is_refused):
    assert bool(site.find_loaded(f"<p>{element}</p>")) is is_refused


def test_the_navigation_has_every_page():
    """The build fails for a page that is missing; this fails sooner, and without MkDocs."""
    settings = yaml.load((ROOT / ".mkdocs.yml").read_text(), Loader=yaml.BaseLoader)

    def list_pages(entry):
        if isinstance(entry, str):
            return [entry]
        return [page for child in (entry.values() if isinstance(entry, dict) else entry) for page in list_pages(child)]

    pages = {str(path.relative_to(ROOT / "docs")) for path in ROOT.glob("docs/**/*.md")}
    decisions = {page for page in pages if page.startswith("decisions/") and page != "decisions/README.md"}
    beside = {"CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"}
    assert sorted(list_pages(settings["nav"])) == sorted((pages - decisions) | beside)
