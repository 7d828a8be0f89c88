"""Lines that start with a variable: its value decides whether `${OFF} tags: …` is a field or a comment.

A document is read before its variables are replaced, so a variable must be part of a key or a value. Those at the start
of a line are replaced in the text: an empty value or a comment adds no field, and every line keeps its number.
"""

from __future__ import annotations

import re
from typing import Final

from gitsync.desired.manifests.expansions import ExpansionBudget
from gitsync.desired.manifests.substitution import SWITCH, expand_text
from gitsync.errors import InvalidExpansionError
from gitsync.model.variables import VariableValues

_BEGIN: Final = re.compile(rb"^([ \t]*)(\$(?:\{[^{}\n]{1,200}\}|[A-Za-z_][A-Za-z0-9_]{0,100}))(?=[ \t#])", re.MULTILINE)
_COMMENT: Final = re.compile(r"#[^\r\n]*")


def replace_begins(content: bytes, values: VariableValues, budget: ExpansionBudget) -> tuple[bytes, frozenset[str]]:
    """Replace each variable at the start of a line, before a blank, if its value is known and is empty or a comment.
    Return the text, and the names of these variables. Raises TooLargeExpansionError.
    """
    # A document that turns the replacement off is not known before it is parsed.
    if not _BEGIN.search(content) or SWITCH.encode() in content:
        return content, frozenset()
    names: set[str] = set()

    def convert(match: re.Match[bytes]) -> bytes:
        written = match[2].decode("utf-8", "replace")
        if values.is_partial and not values.are_mentioned(written):
            return match[0]  # it stays as it is, and so does its default
        try:
            expanded = expand_text(values.normalize(written), values, budget)
        except InvalidExpansionError:
            return match[0]
        # A value from a Secret would become a part of the text, which nothing masks.
        if not expanded.names or expanded.unset or expanded.secrets:
            return match[0]
        if expanded.text and not _COMMENT.fullmatch(expanded.text):
            return match[0]  # a part of the key
        names.update(expanded.names)
        return match[1] + expanded.text.encode()

    return _BEGIN.sub(convert, content), frozenset(names)
