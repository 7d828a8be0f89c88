"""Escaping of foreign text. Text from manifests and Azure must not move a cursor, close a table or mention a person.

In Markdown all of it is formatted as code, where HTML, links and mentions have no effect.
"""

from __future__ import annotations

import json
import re
from typing import Any

from gitsync.logging import escape_controls
from gitsync.model.condition import Condition
from gitsync.model.gvk import Key
from gitsync.status.advice import find_code_advice

_MEANINGFUL = re.compile(r"(?<=:)//|(?<=www)\.|[<>&|`*_\[\]{}#@~\\$^]", re.IGNORECASE)
"""The characters of markup, links, mentions and formulas."""

_LONGEST = 1000  # characters of one value; an ARM id is shorter


def format_value(value: Any) -> str:
    """Format one side of a difference on one line, as JSON; `(absent)` without a value. Very long
    values are truncated, with their length.
    """
    if value is None:
        return "(absent)"
    text = escape_controls(json.dumps(value, ensure_ascii=False, sort_keys=True, default=str))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"


def format_code(text: str) -> str:
    """Format a text as code in Markdown, on one line, inside a table too; "" stays "".

    Special characters are written as HTML entities: unlike a backslash, that holds for every host,
    and an entity is never read as markup (CommonMark §2.5).
    """
    line = escape_controls(" ".join(text.split()))
    encoded = _MEANINGFUL.sub(lambda match: "".join(f"&#{ord(character)};" for character in match[0]), line)
    return f"<code>{encoded}</code>" if line else ""


def format_advice(condition: Condition | None, key: Key, max_length: int) -> str:
    """Format what to do about a condition as Markdown: its own advice, which may quote Azure, as
    code, shortened; "" for none.
    """
    own = format_code(shorten(condition.advice, max_length)) if condition and not condition.is_ready else ""
    return " ".join(filter(None, (own, find_code_advice(condition, key))))


def format_block(lines: list[str], language: str) -> str:
    """Format a fenced code block of Markdown, whose fence is longer than any inside."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}{language}", *map(escape_controls, lines), fence])


def shorten(text: str, max_length: int) -> str:
    """Shorten a text to at most `max_length` characters, with an ellipsis if it was longer."""
    return text if len(text) <= max_length else text[:max_length] + "…"
