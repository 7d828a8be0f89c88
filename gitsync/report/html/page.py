"""The page: one file that contains its style, its script and its picture, and may load nothing.

What the page may do is named in it, by the digests of its own style and script (Content Security Policy): what slipped
in with a name or a message would not run.
"""

from __future__ import annotations

import hashlib
import pkgutil
from base64 import b64encode
from functools import cache

from gitsync.model.report import Report
from gitsync.report.headline import format_found, shorten_revision
from gitsync.report.html.listing import render_listing
from gitsync.report.html.markup import BREAK, Markup, element, joined, raw, text
from gitsync.report.html.picture import render_picture
from gitsync.report.html.summary import render_header, render_problems, render_summary

_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='none' "
    "stroke='%230a7' stroke-width='2.4' stroke-linecap='round' d='M3 8a5 5 0 0 1 9-3M13 8a5 5 0 0 1-9 3'/%3E%3C/svg%3E"
)
"""Inlined, so that no browser requests one from a server."""


def render(report: Report) -> str:
    """The report as one HTML file. Equal reports are equal bytes."""
    parts = (
        element("a", text("Skip to the resources"), href="#resources", class_="skip"),
        render_header(report),
        element("main", *_sections(report)),
        element("script", _own("page.js")),
    )
    body = element("body", BREAK, joined(parts, BREAK), BREAK)
    return f"<!doctype html>\n{element('html', BREAK, _head(report), BREAK, body, lang='en')}\n"


def _sections(report: Report) -> tuple[Markup, ...]:
    return (
        render_summary(report),
        BREAK,
        render_problems(report.problems),
        BREAK,
        render_picture(report.results),
        BREAK,
        render_listing(report),
    )


def _head(report: Report) -> Markup:
    title = f"gitsync {report.command} of {shorten_revision(report.revision)}: {format_found(report)}"
    parts = (
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", text(title)),
        element("link", rel="icon", href=_ICON),
        element("style", _own("page.css")),
    )
    return element("head", BREAK, joined(parts, BREAK), BREAK)


def _policy() -> str:
    return (
        f"default-src 'none'; style-src '{_digest('page.css')}'; script-src '{_digest('page.js')}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _own(name: str) -> Markup:
    """A file of this package."""
    content = pkgutil.get_data(__name__, name)
    if content is None:
        raise FileNotFoundError(name)
    return raw(content.decode())


def _digest(name: str) -> str:
    """As a policy names a style or a script (CSP level 3, §2.3.1)."""
    return f"sha256-{b64encode(hashlib.sha256(_own(name).encode()).digest()).decode()}"
