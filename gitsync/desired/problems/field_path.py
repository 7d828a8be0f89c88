"""Fields of a manifest as people read and write them: `spec.sku.capacity`, `spec.tags["a.b"]`, `spec.rules[name=web]`.

One grammar for what plans and problems print, and for what people give gitsync: `format_field` writes it and
`parse_field` reads it back.

| step | written |
|---|---|
| a member | its name behind a dot; in quotes and brackets if it has a dot, a blank, a bracket or the like: `["a.b"]` |
| an entry of a list | `[0]` by its index, or `[name=web]` by a field; the value in quotes where it has brackets |
| each member or entry | `*` |

A name with `*` among other characters, such as `hidden-*`, is read without quotes too.

Separate, so that checks build paths of steps and only this module formats them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

FieldPath = tuple[str | int, ...]
"""Steps from the top of the manifest: names of fields, keys of maps, positions in lists."""


class Entry(NamedTuple):
    """The entry of a list that has a value in one of its members."""

    field: str  # the member; a dot leads inside
    value: str


class Every(Enum):
    """The sign for each member of a mapping, or each entry of a list."""

    EVERY = "*"


EVERY: Final = Every.EVERY

FieldStep = str | int | Entry | Every
FieldPattern = tuple[FieldStep, ...]
"""A path whose steps may also choose entries of lists by what they have, or all of them."""

LONGEST = 1000
"""Characters of a path that is shown: each problem has one, and the keys of a file may be as long as the file."""

_PLAIN: Final = r"[^\s.\[\]\"\\*=\x00-\x1f\x7f]+"
_STARRED: Final = r"(?!\*(?:[.\[]|\Z))[^\s.\[\]\"\\=\x00-\x1f\x7f]+"
_QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
_FREE_VALUE: Final = r"[^\s\"\[\]\\][^\"\[\]\\\n\r\t]*"
_NAME: Final = re.compile(_PLAIN)
_VALUE: Final = re.compile(_FREE_VALUE)
_STEP: Final = re.compile(
    rf"""(?P<name>{_STARRED}) | (?P<every>\*|\[\*\]) | \[(?P<index>[0-9]{{1,9}})\] | \[(?P<quoted>{_QUOTED})\]
    | \[(?P<field>[^\s=\"\[\]\\]+)=(?:(?P<text>{_QUOTED})|(?P<value>{_FREE_VALUE}))\]""",
    re.VERBOSE | re.DOTALL,
)


class FieldSyntaxError(ValueError):
    """A text that is not a field. Its message is a sentence."""


def format_field(path: Sequence[FieldStep]) -> str:
    """Write `("spec", "a", 0)` as `spec.a[0]`; a long path is truncated."""
    text = ""
    for step in path:
        text += _format_step(step, is_first=not text)
        if len(text) > LONGEST:
            return f"{text[:LONGEST]}…"
    return text


def _format_step(step: FieldStep, *, is_first: bool) -> str:
    dot = "" if is_first else "."
    if isinstance(step, Entry):
        return f"[{step.field}={step.value if _VALUE.fullmatch(step.value) else _quote(step.value)}]"
    if isinstance(step, int):
        return f"[{step}]"
    if step is EVERY:
        return f"{dot}*"
    # A field that begins with a slash would be read as a JSON pointer.
    is_plain = _NAME.fullmatch(step) and not (is_first and step.startswith("/"))
    return f"{dot}{step}" if is_plain else f"[{_quote(step)}]"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def parse_field(text: str) -> FieldPattern:
    """Read a field as `format_field` writes it. Raises FieldSyntaxError."""
    steps: list[FieldStep] = []
    at = 0
    while at < len(text) or not steps:
        has_dot = bool(steps) and text.startswith(".", at)
        match = _STEP.match(text, at + has_dot)
        needs_dot = bool(steps) and match is not None and bool(match["name"] or match[0] == EVERY.value)
        if match is None or has_dot != needs_dot:
            raise FieldSyntaxError(f"It is not a valid field from character {at + 1} on.")
        steps.append(_read_step(match))
        at = match.end()
    if isinstance(steps[0], str) and steps[0].startswith("/") and not text.startswith("["):
        raise FieldSyntaxError("It begins with a slash, like a JSON pointer.")
    return tuple(steps)


def _read_step(match: re.Match[str]) -> FieldStep:
    if match["name"]:
        return match["name"]
    if match["every"]:
        return EVERY
    if match["index"]:
        return int(match["index"])
    try:
        if match["quoted"]:
            return str(json.loads(match["quoted"]))
        return Entry(match["field"], json.loads(match["text"]) if match["text"] else match["value"])
    except ValueError:
        raise FieldSyntaxError(f"The text in quotes at character {match.start() + 1} is not a JSON string.") from None


def find_member(value: Any, *path: str | int) -> Any:
    """Find the value of a field; None if it is not there."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        else:
            is_there = isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)
            value = value[step] if is_there else None
    return value
