"""Renders the pages of the site: one file of HTML, its style and its scripts. They are the same for every estate, and
load what they show from the files of `data/` (shapes.py).

The style is that of the report, with a part of its own. The policy of the page allows scripts and styles beside it and
nothing else, so a name or a message that slipped into the markup would neither run nor load anything.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from typing import Any, Final

from gitsync.report.html.looks import EXITS, VerdictLook
from gitsync.report.html.markup import read_own, render_template
from gitsync.report.html.page import ICON
from gitsync.report.outside_texts import OUTSIDE_SIDES
from gitsync.report.site.data_files import encode_data, name_data_file
from gitsync.report.site.site_looks import EVENTS, ORIGINS, STATES
from gitsync.report.wording import DURATION_STEPS, YEAR

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
)
SCRIPTS: Final = (
    "dom",
    "data",
    "words",
    "estate",
    "rows",
    "graph_layout",
    "picture",
    "overview",
    "filters",
    "tree",
    "graph",
    "resource",
    "activity",
    "files",
    "main",
)
"""In the order in which a page runs them: each uses only those before it."""

_PAGES: Final = (
    # The name of a page in addresses, its title, and the member of `has` without which a site has none.
    ("overview", "Overview", ""),
    ("tree", "Tree", ""),
    ("activity", "Activity", ""),
    ("drift", "Drift", ""),
    ("graph", "Graph", ""),
    ("coverage", "Coverage", "coverage"),
    ("audit", "Audit", "audit"),
)


def render_pages() -> Mapping[str, bytes]:
    """Render all files that do not depend on an estate, by their paths in the site."""
    index = render_template("site.html", policy=POLICY, icon=ICON, pages=_PAGES, scripts=SCRIPTS)
    style = f"{read_own('page.css')}\n/* The site */\n{_read_asset('site.css')}"
    return {
        "index.html": f"{index}\n".encode(),
        "assets/site.css": style.encode(),
        **{f"assets/{name}.js": _read_asset(f"{name}.js").encode() for name in SCRIPTS},
        name_data_file("words"): encode_data("words", _build_words()),
    }


def _build_words() -> Mapping[str, Any]:
    """Build what the scripts share with the report: the looks of words, and how durations are written."""
    return {
        "states": _build_looks(STATES),
        "events": _build_looks(EVENTS),
        "origins": _build_looks(ORIGINS),
        "exits": [(code, look.tone.name.lower(), look.means) for code, look in EXITS.items()],
        "sides": {"azure": ("Azure", "git"), "outside": OUTSIDE_SIDES},
        "steps": [*DURATION_STEPS, (None, YEAR, "y", 0, "")],
    }


def _build_looks(looks: Mapping[Any, VerdictLook]) -> list[tuple[str, str, str, str]]:
    return [(word, look.sign, look.tone.name.lower(), look.means) for word, look in looks.items()]


def _read_asset(name: str) -> str:
    content = pkgutil.get_data(__name__, f"assets/{name}")
    if content is None:
        raise FileNotFoundError(name)
    return content.decode()
