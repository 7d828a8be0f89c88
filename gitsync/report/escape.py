"""Escaping of foreign text. Text from manifests and Azure must not move a cursor, close a table or mention a person.

In Markdown, names and values are formatted as code, where HTML, links and mentions have no effect; a sentence is prose,
in which only the words that could have one are code.
"""

from __future__ import annotations

import json
import re
from typing import Any

from gitsync.desired.formats.long_text import count_characters, leave_out_equal_start
from gitsync.model.arm_id import ArmId
from gitsync.model.condition import Condition
from gitsync.planning.status.advice import find_condition_advice
from gitsync.settings.logging import escape_controls

_MEANINGFUL = re.compile(r"(?<=:)//|(?<=www)\.|[<>&|`*_\[\]{}#@~\\$^]", re.IGNORECASE)
"""The characters of markup, links, mentions and formulas."""

_LONGEST = 1000  # characters of one value; an ARM id is shorter


def format_value(value: Any) -> str:
    """Format one side of a difference on one line, as JSON; `(absent)` without a value. Very long values are truncated,
    with their length.
    """
    text = _write_value(value)
    return _cut(text, value, text, _LONGEST)


def format_sides(live: Any, desired: Any, most: int = _LONGEST) -> tuple[str, str]:
    """Format both sides of a difference as `format_value` does one, of about `most` characters at most."""
    sides = _write_value(live), _write_value(desired)
    # Long values that begin alike are shown from where they differ, so that no two values look equal.
    live_text, desired_text = leave_out_equal_start(*sides, most)
    return _cut(live_text, live, sides[0], most), _cut(desired_text, desired, sides[1], most)


def _cut(text: str, value: Any, written: str, most: int) -> str:
    """Cut what is shown of a value, with its length: the characters of a text, which a result may have shortened
    before, or those of any other value as JSON (`written`).
    """
    if len(text) <= most:
        return text
    count = count_characters(value) if isinstance(value, str) else len(written)
    return f"{text[:most]}… ({count:,} characters)"


def _write_value(value: Any) -> str:
    if value is None:
        return "(absent)"
    return escape_controls(json.dumps(value, ensure_ascii=False, sort_keys=True, default=str))


def format_code(text: str) -> str:
    """Format a text as code in Markdown, on one line, inside a table too; "" stays ""."""
    line = escape_controls(" ".join(text.split()))
    # Special characters are written as HTML entities: unlike a backslash, that holds for every host, and an entity is
    # never read as markup (CommonMark §2.5).
    encoded = _MEANINGFUL.sub(lambda match: "".join(f"&#{ord(character)};" for character in match[0]), line)
    return f"<code>{encoded}</code>" if line else ""


def format_prose(text: str) -> str:
    """Format a sentence in Markdown, on one line, inside a table or a summary too. What backticks mark is code, and so
    is each word with a character that may be markup, a link or a mention: a host looks for these after it has decoded
    entities, and skips only code.
    """
    line = escape_controls(" ".join(text.split()))
    parts = _SPAN.split(line)  # every second one was in backticks
    marked = (format_code(part) if number % 2 else _WORD.sub(_mark_word, part) for number, part in enumerate(parts))
    return "".join(marked)


_SPAN = re.compile(r"`([^`\s](?:[^`]*[^`\s])?)`")
_WORD = re.compile(r"(?P<start>^)?(?P<word>\S+?)(?P<end>[.,;:!?]*)(?=\s|$)")
_HARMLESS = re.compile(r"""[("'“]*[^\W_]+(?:[-.,/'\u2019][^\W_]+)*(?::[0-9]+)?[)"'”…%]*|[-\u2013—→….,;:!?]""")
# Hosts make links of these without any markup: an address, a number of an issue, the id of a commit.
_REFERENCE = re.compile(r"www\.|GH-[0-9]|[0-9a-f]{7,}$", re.IGNORECASE)
_LIST = re.compile(r"[0-9]+[.)]|-")
"""What would make a list of a paragraph that begins with it."""


def _mark_word(found: re.Match[str]) -> str:
    word, end = found["word"], found["end"]
    is_plain = _HARMLESS.fullmatch(word) and not _REFERENCE.search(word)
    makes_list = found["start"] is not None and _LIST.fullmatch(f"{word}{end}")
    is_emoji = ":" in word and end.startswith(":")  # `a:100:`
    return found[0] if is_plain and not makes_list and not is_emoji else f"{format_code(word)}{end}"


def format_advice(condition: Condition | None, arm_id: ArmId | None, max_length: int) -> str:
    """Format what to do about a condition as Markdown, shortened; "" for none."""
    return format_prose(shorten(find_condition_advice(condition, arm_id), max_length))


def format_block(lines: list[str], language: str) -> str:
    """Format a fenced code block of Markdown, whose fence is longer than any inside."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}{language}", *map(escape_controls, lines), fence])


def shorten(text: str, max_length: int) -> str:
    """Shorten a text to at most `max_length` characters, with an ellipsis if it was longer."""
    return text if len(text) <= max_length else text[:max_length] + "…"
