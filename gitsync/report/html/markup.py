"""HTML that is safe whatever its content.

Apart, so that escaping is decided once: what is put into a page is `Markup`, and only the functions here make it. A
plain str where markup is wanted is an error of the type checker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import NewType

from gitsync.logging import escape_controls

Markup = NewType("Markup", str)
Attribute = str | int | None
"""True and False are numbers too (PEP 285)."""

_EMPTY = frozenset({"meta", "link", "input", "col", "rect", "path"})
"""Elements without content; those of SVG are closed in the same tag."""

_SPAN = re.compile(r"`([^`]+)`")


def text(value: str) -> Markup:
    """Foreign text: escaped, and control and direction characters spelled out."""
    return Markup(escape(escape_controls(value)))


def element(tag: str, /, *content: Markup, **attributes: Attribute) -> Markup:
    """An element. Attributes are escaped; one that is True stands alone, one that is None or False is left out. In
    their names a trailing underscore is dropped (`class_`), and others become dashes (`data_verdict`).
    """
    opened = "".join([tag, *(_attribute(key, value) for key, value in attributes.items())])
    if tag in _EMPTY:
        return Markup(f"<{opened}/>")
    return Markup(f"<{opened}>{''.join(content)}</{tag}>")


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'


def joined(parts: Iterable[Markup], between: Markup = Markup("")) -> Markup:
    """Pieces one after another."""
    return Markup(between.join(parts))


NOTHING = Markup("")
BREAK = Markup("\n")


def raw(own: str) -> Markup:
    """A text of this package's own (its style and its script), as it is; never anything from outside."""
    return Markup(own)


def prose(sentence: str) -> Markup:
    """A sentence of gitsync, in which backticks mark code."""
    return Markup(_SPAN.sub(r"<code>\1</code>", text(sentence)))


def code(value: str, **attributes: Attribute) -> Markup:
    """Foreign text as code; "" stays ""."""
    return element("code", text(value), **attributes) if value else NOTHING


def table(caption: Markup, head: Iterable[str], rows: Iterable[Markup], *, class_: str) -> Markup:
    """A table with a caption, and headings that name their columns; "" heads nothing. Each row is a <tr>."""
    heads = (element("th", text(title), scope="col") if title else element("td") for title in head)
    return element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *heads)),
        BREAK,
        element("tbody", joined(rows, BREAK)),
        class_=class_,
    )


def facts(pairs: Iterable[tuple[str, Markup]]) -> Markup:
    """A description list; terms without a value are omitted."""
    items = (element("div", element("dt", text(term)), element("dd", value)) for term, value in pairs if value)
    return element("dl", *items, class_="facts")
