"""Numbers and booleans that one side writes as text."""

from __future__ import annotations

import json
from typing import Any, Final

from gitsync.core.rules.rule import Leaf, Outcome, Rule, judged


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number_as_text(leaf: Leaf) -> Outcome | None:
    """The text must be the number as JSON writes it: "1.10" is a version, and not 1.1."""
    text, value = _sides(leaf)
    if not isinstance(text, str) or not is_number(value):
        return None
    spelled = {json.dumps(value), json.dumps(int(value))} if _is_whole(value) else {json.dumps(value)}
    return judged(text in spelled)


def _is_whole(value: float) -> bool:
    return isinstance(value, int) or value.is_integer()


def _boolean_as_text(leaf: Leaf) -> Outcome | None:
    text, value = _sides(leaf)
    if not isinstance(text, str) or not isinstance(value, bool):
        return None
    return judged(text.casefold() == str(value).casefold())


def _sides(leaf: Leaf) -> tuple[Any, Any]:
    """(the text, the other), whichever side says which."""
    return (leaf.desired, leaf.live) if isinstance(leaf.desired, str) else (leaf.live, leaf.desired)


MIXED_RULES: Final = (
    Rule(
        name="a number as text",
        evidence="Resource providers take and answer numbers in JSON text: autoscale, ports, Redis settings.",
        decide=_number_as_text,
    ),
    Rule(
        name="a boolean as text",
        evidence="API Management and Redis keep switches as text and answer 'True' or 'false'.",
        decide=_boolean_as_text,
    ),
)
