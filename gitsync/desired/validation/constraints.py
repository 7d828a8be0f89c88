"""The constraints on the value of a field: enum, pattern, bounds, lengths, counts, multiples.

The rules are those of the facts, as an API server reads them (docs/reference/reconciliation.md#validation-rules):
patterns are Go's RE2, lengths count characters, enums respect case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from gitsync.desired.catalog.spec_visitor import Visit
from gitsync.desired.catalog.type_words import format_count, join_with_or, quote_scalar
from gitsync.desired.formats.json_members import is_number
from gitsync.desired.problems.field_path import format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.problems.suggest import suggest

LONGEST_MATCHED: Final = 1024
"""A longer text is not matched: some of the patterns take quadratic time here, but linear time in RE2."""

ValueLimits = tuple[tuple[Callable[[Any, Any], bool], Any], ...]
"""Rules: the function that checks a value, and its limit."""


def check_constraints(visit: Visit) -> Iterator[Finding]:
    """Check one value that has the right shape: a finding for each rule that it breaks."""
    for rule, fault in list_violations(visit.value, visit.rules):
        hint = ""
        close = suggest(visit.value, visit.rules["enum"]) if rule == "enum" and isinstance(visit.value, str) else None
        if close is not None:
            hint = f"Did you mean {close}?{' Case counts.' if close.casefold() == visit.value.casefold() else ''}"
        yield Finding(code=RULE_CODES[rule], path=visit.path, message=f"{format_field(visit.path)} {fault}.", hint=hint)


def list_violations(value: Any, rules: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """List the rules that a value breaks, each with its message; rules that do not apply are skipped."""
    for rule, limit in rules.items():
        if rule not in _RULES:
            continue
        applies, holds, words = _RULES[rule]
        if applies(value) and not holds(value, limit):
            yield rule, words(value, limit)


def select_limits(rules: Mapping[str, Any], example: Any) -> ValueLimits:
    """Select the limits on all values of one type, that of the example."""
    return tuple(
        (holds, rules[rule]) for rule, (applies, holds, _) in _RULES.items() if rule in rules and applies(example)
    )


def keeps_limits(value: Any, limits: ValueLimits) -> bool:
    """Return whether a value of the right type keeps all limits: `list_violations` would find none."""
    for holds, limit in limits:  # noqa: SIM110 - a generator takes longer than most of the checks
        if not holds(value, limit):
            return False
    return True


def matches(text: str, pattern: str) -> bool:
    """Return whether an RE2 pattern matches a part of a text. A very long text is assumed to match."""
    return len(text) > LONGEST_MATCHED or _compile_pattern(pattern).search(text) is not None


@lru_cache(maxsize=512)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    # RE2's classes are ASCII, and its $ does not match before a last line break
    at_end = re.sub(r"(\\.|\[\^?\]?[^\]]*\])|\$", lambda match: match[1] or r"\Z", pattern)
    return re.compile(at_end, re.ASCII)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _to_fraction(number: Any) -> Fraction:
    """Turn a number into its exact decimal value, so that 0.3 is a multiple of 0.1. Limits may be texts."""
    # The fraction of a float is its binary value, by which 0.3 is not a multiple of 0.1.
    return Fraction(number if isinstance(number, int) else str(number))


_Rule = tuple[Callable[[Any], bool], Callable[[Any, Any], bool], Callable[[Any, Any], str]]

_RULES: Final[Mapping[str, _Rule]] = {
    "enum": (
        lambda value: isinstance(value, str | int | float),
        lambda value, choices: value in choices,
        lambda value, choices: f"must be {join_with_or(choices)}, but is {quote_scalar(value)}",
    ),
    "range": (
        is_number,
        lambda value, limits: limits[0] <= value <= limits[1],
        lambda value, _: f"must be a number that fits into 64 bits, but is {quote_scalar(value)}",
    ),
    "minimum": (
        is_number,
        lambda value, limit: _to_fraction(value) >= _to_fraction(limit),
        lambda value, limit: f"must be at least {limit}, but is {quote_scalar(value)}",
    ),
    "maximum": (
        is_number,
        lambda value, limit: _to_fraction(value) <= _to_fraction(limit),
        lambda value, limit: f"must be at most {limit}, but is {quote_scalar(value)}",
    ),
    "multipleOf": (
        is_number,
        lambda value, limit: _to_fraction(value) % _to_fraction(limit) == 0,
        lambda value, limit: f"must be a multiple of {limit}, but is {quote_scalar(value)}",
    ),
    "minLength": (
        _is_text,
        lambda value, limit: len(value) >= int(limit),
        lambda value, limit: (
            f"must have at least {format_count(limit, 'character')}, but {quote_scalar(value)} has {len(value)}"
        ),
    ),
    "maxLength": (
        _is_text,
        lambda value, limit: len(value) <= int(limit),
        lambda value, limit: (
            f"must have at most {format_count(limit, 'character')}, but {quote_scalar(value)} has {len(value)}"
        ),
    ),
    "pattern": (
        _is_text,
        matches,
        lambda value, pattern: f"must match {pattern}, but is {quote_scalar(value)}",
    ),
    "minItems": (
        _is_list,
        lambda value, limit: len(value) >= int(limit),
        lambda value, limit: f"must have at least {format_count(limit, 'item')}, but has {len(value)}",
    ),
    "maxItems": (
        _is_list,
        lambda value, limit: len(value) <= int(limit),
        lambda value, limit: f"must have at most {format_count(limit, 'item')}, but has {len(value)}",
    ),
}

RULE_CODES: Final[Mapping[str, str]] = {
    "enum": "UnknownValue",
    "range": "OutOfBounds",
    "minimum": "OutOfBounds",
    "maximum": "OutOfBounds",
    "multipleOf": "OutOfBounds",
    "minLength": "WrongLength",
    "maxLength": "WrongLength",
    "pattern": "PatternMismatch",
    "minItems": "WrongItemCount",
    "maxItems": "WrongItemCount",
}
