"""Makes HTML that is safe whatever its content: the templates of the page, and how they are filled.

Escaping is decided here, once: every value that a template shows is escaped unless it is `Markup`, which only a
template or a function of this module makes. A name that a template misspells is an error.
"""

from __future__ import annotations

import hashlib
import pkgutil
import re
from functools import cache
from html import escape
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from gitsync.model.gvk import Key
from gitsync.report.html.looks import LOOKS, choose_tone
from gitsync.report.wording import format_plural, format_renderers
from gitsync.settings.logging import escape_controls

_INDENT = re.compile(r"^ +", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")
_BREAK = re.compile(r"(?<=/)(?=[^/\s])")
"""Where a path or an id may go on in the next line, rather than inside a word."""


def render_template(name: str, **values: Any) -> Markup:
    """Fill a template of the folder `templates`. jinja2.UndefinedError for a value that it needs and does not get."""
    return Markup(_make_environment().get_template(name).render(values))  # noqa: S704 - the template has escaped


def read_own(name: str) -> Markup:
    """Read a file of this package (its style, its script, a template), as it is. Raises FileNotFoundError if there is
    none.
    """
    content = pkgutil.get_data(__name__, name)
    if content is None:
        raise FileNotFoundError(name)
    return Markup(content.decode())  # noqa: S704 - nothing from outside


@cache
def _make_environment() -> Environment:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        # jinja2's own escape leaves control and direction characters as they are
        finalize=lambda value: value if isinstance(value, Markup | StrictUndefined) else _escape(str(value)),
        trim_blocks=True,
        # without indentation: a page may repeat a template thousands of times
        loader=FunctionLoader(lambda name: _INDENT.sub("", read_own(f"templates/{name}"))),
    )
    environment.filters |= {
        # paths, ids and names may break after a slash
        "breakable": lambda text: Markup("<wbr/>").join(map(_escape, _BREAK.split(str(text)))),
        # a sentence of gitsync, in which backticks mark code
        "prose": lambda text: Markup(_CODE.sub(r"<code>\1</code>", str(_escape(text)))),  # noqa: S704 - it is escaped
        "anchor": make_anchor,
        "tone": choose_tone,
        "plural": format_plural,
        "renderers": format_renderers,
    }
    environment.globals |= {"LOOKS": LOOKS}
    return environment


def _escape(text: str) -> Markup:
    """Escape a text for HTML, with control and direction characters spelled out."""
    return Markup(escape(escape_controls(text)))  # noqa: S704 - it is escaped


def make_anchor(key: Key) -> str:
    """Make the id of the element that shows a resource."""
    return f"r-{hashlib.sha256(str(key).encode('utf-8', 'backslashreplace')).hexdigest()[:12]}"
