"""Expressions as text, for tests of what they come to: evaluated without a check, and rows of a table."""

from __future__ import annotations

from typing import Any

import pytest

from gitsync.desired.cel.evaluate import evaluate
from gitsync.desired.cel.syntax.parser import parse
from gitsync.errors import EvaluationError


def value_of(text: str, **variables: Any) -> Any:
    return evaluate(parse(text), variables)


def failure_of(text: str, **variables: Any) -> str:
    """The message of an expression that has no value."""
    with pytest.raises(EvaluationError) as failed:
        value_of(text, **variables)
    return failed.value.message


def row(given: Any, expected: Any, why: str) -> Any:
    """One row of a table: an expression, what it comes to, and why."""
    return pytest.param(given, expected, id=f"{given} | {why}")
