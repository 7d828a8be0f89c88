"""The page: one file that contains its style, its script and its picture, and may load nothing.

What the page may do is named in it, by the digests of its own style and script (Content Security Policy): what slipped
in with a name or a message would not run.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode

from markupsafe import Markup

from gitsync.model.report import Report
from gitsync.report.headline import format_found, shorten_revision
from gitsync.report.html.contents import list_contents
from gitsync.report.html.links import make_links
from gitsync.report.html.listing import render_filters, render_listing
from gitsync.report.html.markup import read_own, render_template
from gitsync.report.html.picture import render_picture
from gitsync.report.html.problems import ERRORS, WARNINGS, render_problems
from gitsync.report.html.sections import FAILED, IN_SYNC, split_results
from gitsync.report.html.summary import render_header, render_run

_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='none' "
    "stroke='%230a7' stroke-width='2.4' stroke-linecap='round' d='M3 8a5 5 0 0 1 9-3M13 8a5 5 0 0 1-9 3'/%3E%3C/svg%3E"
)
"""Inlined, so that no browser requests one from a server."""


def render(report: Report) -> str:
    """The report as one HTML file. Equal reports are equal bytes."""
    style, script = read_own("page.css"), read_own("page.js")
    links, sections = make_links(report), split_results(report.results)
    found = render_listing(report, sections, links)
    errors, warnings = (render_problems(report.problems, links, part=part) for part in (ERRORS, WARNINGS))
    page = render_template(
        "page.html",
        policy=_make_policy(style, script),
        title=f"gitsync {report.command} of {shorten_revision(report.revision)}: {format_found(report)}",
        icon=_ICON,
        style=style,
        header=render_header(report, sections, links),
        contents=list_contents(report, sections),
        filters=render_filters(report.results),
        failed=found.get(FAILED.name, Markup()),
        errors=errors,
        sections=[found[section.name] for section in sections if section not in {FAILED, IN_SYNC}],
        warnings=warnings,
        in_sync=found.get(IN_SYNC.name, Markup()),
        picture=render_picture(report.results),
        run=render_run(report, links),
        script=script,
    )
    return f"{page}\n"


def _make_policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(content: str) -> str:
    """As a policy names a style or a script (CSP level 3, §2.3.1)."""
    return f"sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
