"""Numbers and booleans that one side writes as text, and quantities with a unit."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any, Final

from gitsync.diff.rules.rule import EquivalenceRule, Leaf, RuleOutcome, make_outcome


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compare_number_with_text(leaf: Leaf) -> RuleOutcome | None:
    """The text must be the number as JSON writes it: "1.10" is a version, and not 1.1."""
    text, value = _put_text_first(leaf)
    if not isinstance(text, str) or not is_number(value):
        return None
    spelled = {json.dumps(value), json.dumps(int(value))} if _is_whole(value) else {json.dumps(value)}
    return make_outcome(text in spelled)


def _is_whole(value: float) -> bool:
    return isinstance(value, int) or value.is_integer()


def _compare_boolean_with_text(leaf: Leaf) -> RuleOutcome | None:
    text, value = _put_text_first(leaf)
    if not isinstance(text, str) or not isinstance(value, bool):
        return None
    return make_outcome(text.casefold() == str(value).casefold())


def _put_text_first(leaf: Leaf) -> tuple[Any, Any]:
    """(the text, the other), whichever side says which."""
    return (leaf.desired, leaf.live) if isinstance(leaf.desired, str) else (leaf.live, leaf.desired)


_QUANTITY: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[KMGTPE])i")


def _compare_quantities(leaf: Leaf) -> RuleOutcome | None:
    asked, found = _QUANTITY.fullmatch(leaf.desired), _QUANTITY.fullmatch(leaf.live)
    return make_outcome(_count_bytes(asked) == _count_bytes(found)) if asked and found else None


def _count_bytes(quantity: re.Match[str]) -> Fraction:
    return Fraction(quantity["number"]) * (1 << 10 * ("KMGTPE".index(quantity["unit"]) + 1))


QUANTITY_RULES: Final = (
    EquivalenceRule(
        name="a quantity",
        evidence="Kubernetes' resource quantities, which Container Apps take: '1.0Gi' is '1Gi' is '1024Mi'.",
        decide=_compare_quantities,
    ),
)

MIXED_RULES: Final = (
    EquivalenceRule(
        name="a number as text",
        evidence="API specifications say text for many numbers, such as autoscale's capacities; the value is the same.",
        decide=_compare_number_with_text,
    ),
    EquivalenceRule(
        name="a boolean as text",
        evidence="API specifications say text for many switches; the value is the same.",
        decide=_compare_boolean_with_text,
    ),
)
