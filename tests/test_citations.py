"""What the code and the documents cite of docs/reference exists, and nothing cites documents that no reader has."""

import re
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).resolve()
ROOT = HERE.parent.parent
REFERENCE = ROOT / "docs" / "reference"
PAGES = sorted(REFERENCE.glob("*.md"))
SUFFIXES = {".py", ".md", ".yaml", ".toml"}
FILES = sorted(
    path
    for folder in ("gitsync", "tests", "tools", "bench", "docs", "examples")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in SUFFIXES and path != HERE
)

CITATION = re.compile(r"docs/reference/(?P<page>[\w-]+\.md)(?P<anchors>(?:(?:, )?#[\w-]+)*)")
"""A page, and after it one or more anchors: `docs/reference/NAME.md#one, #two`."""

PUBLIC = re.compile(r"(?:RFC \d+|ISO 8601|XML 1\.0|CSP level 3,|SARIF|CommonMark|Reference Manual) §")
"""Standards that a reader finds by their name."""
MAY_BE_OLD = re.compile(r"§|DESIGN|aso-facts|spec[:,]\s")
OLD = re.compile(r"§|(?<![\w\"])(?:DESIGN|aso-facts)\b|\bspec[:,] (?:semantics|extensions|deps|peers)\b")


def one_line(text: str) -> str:
    """The text without its line breaks, since docstrings and comments are wrapped."""
    return re.sub(r"\s+(?:# )?", " ", text)


@cache
def anchors(page: str) -> frozenset[str] | None:
    """The anchors of a page: its headings as a renderer names them, and explicit ones; None if there is no page."""
    path = REFERENCE / page
    if not path.is_file():
        return None
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.casefold()).strip().replace(" ", "-") for heading in headings}
    return frozenset(slugs | set(re.findall(r'<a (?:id|name)="([^"]+)"', text)))


def citations(text: str) -> set[tuple[str, str]]:
    """Pairs of page and anchor; the anchor is empty for a page as a whole."""
    if "docs/reference/" not in text:  # as most: one line of each file takes long
        return set()
    return {
        (match["page"], anchor)
        for match in CITATION.finditer(one_line(text))
        for anchor in re.findall(r"#([\w-]+)", match["anchors"]) or [""]
    }


def list_old(text: str) -> list[str]:
    """The citations of sections, but those of public standards."""
    return OLD.findall(PUBLIC.sub("", one_line(text))) if MAY_BE_OLD.search(text) else []


def test_every_citation_leads_to_a_page_and_an_anchor():
    broken = [
        f"{path.relative_to(ROOT)}: {page}#{anchor}"
        for path in FILES
        for page, anchor in sorted(citations(path.read_text(encoding="utf-8")))
        if (known := anchors(page)) is None or (anchor and anchor not in known)
    ]
    assert broken == []


def test_no_file_cites_documents_that_are_not_in_the_repository():
    """Sections are cited of public standards only."""
    left = [
        f"{path.relative_to(ROOT)}: {found}" for path in FILES for found in list_old(path.read_text(encoding="utf-8"))
    ]
    assert left == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_anchors_are_unique_and_readable(page):
    """A heading that occurs twice has a number in its anchor, and a section number means nothing to a reader."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(headings) == len({heading.casefold() for heading in headings})
    assert [heading for heading in headings if re.match(r"[\d.§]", heading)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(docs/reference/design.md#drift)", {("design.md", "drift")}),
        ("(docs/reference/design.md#drift,\n    # #order)", {("design.md", "drift"), ("design.md", "order")}),
        ("docs/reference/design.md.", {("design.md", "")}),
    ],
)
def test_citations_are_found_across_lines(text, expected):
    assert citations(text) == expected


@pytest.mark.parametrize(
    ("text", "is_old"),
    [
        ("(spec: semantics §7.4)", True),
        ("(DESIGN\n    §4, Drift)", True),
        ("(§9.2)", True),
        ("aso-facts' README", True),
        ("spec: {location: westeurope}", False),
        ("DESIGNATED", False),
        ("spec: Mapping[str, Any]", False),
    ],
)
def test_old_citations_are_recognised(text, is_old):
    assert bool(list_old(text)) is is_old
