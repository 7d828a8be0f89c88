"""The recorded expressions with their values, where they are at hand: compiled, checked and evaluated."""

import json

import pytest
from recordings import FOLDER as RECORDINGS
from recordings import needs_recordings

from gitsync.cel.evaluate import evaluate
from gitsync.cel.expressions import UNTYPED, compile_expression
from gitsync.cel.values import EvaluationError
from gitsync.errors import ExpressionError

RECORDED = RECORDINGS / "conformance" / "cel.json"
pytestmark = needs_recordings(RECORDED)
CORPUS = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {"cases": []}


def outcome(expression):
    """What an expression comes out as, in JSON; an error for one that is refused, before or while it is evaluated."""
    try:
        program = compile_expression(expression, UNTYPED)
        found = evaluate(program.tree, {"self": CORPUS["self"], "secret": CORPUS["secret"]})
    except (ExpressionError, EvaluationError):
        return {"error": True}
    return {"value": as_json(found)}


def as_json(value):
    if isinstance(value, bytes):
        return value.decode()
    if hasattr(value, "items"):
        return {key: as_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(inner) for inner in value]
    return value


@pytest.mark.parametrize("case", CORPUS["cases"], ids=lambda case: case["expression"][:60])
def test_an_expression_has_its_recorded_value(case):
    expected = {name: case[name] for name in ("value", "error") if name in case}
    assert outcome(case["expression"]) == expected
