"""Compare what gitsync makes of expressions with what ASO's own evaluator made of them.

usage: python tools/check_expressions.py [FOLDER]

FOLDER has the recordings cel-aso.json and cel.json [default ../shared/conformance]. Of cel-aso.json the stage, the
type, the value, the secrets asked for and whether the type may be exported are compared; of cel.json, with the
corrections that cel-aso.json gives, the value or that there is none. Each difference is printed. The exit code is 1 if
there is any, and 2 if the recordings cannot be read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.cel.answers import answer_as_aso, to_json
from gitsync.desired.cel.evaluate import evaluate
from gitsync.desired.cel.expressions import UNTYPED, compile_expression
from gitsync.desired.cel.objects import make_object
from gitsync.errors import EvaluationError, ExpressionError
from gitsync.model.gvk import GVK

FOLDER = Path(__file__).resolve().parent.parent.parent / "shared" / "conformance"
COMPARED = ("stage", "type", "value", "secrets", "exportable")


class Outcome(NamedTuple):
    """What is expected of an expression, and what gitsync gives."""

    expression: str
    expected: Mapping[str, Any]
    given: Mapping[str, Any]

    @property
    def is_same(self) -> bool:
        return all(self.given.get(name) == value for name, value in self.expected.items())


def check_typed(recorded: Mapping[str, Any]) -> Iterator[Outcome]:
    """Every case of cel-aso.json, with the types of its kind."""
    group, _, version = str(recorded["apiVersion"]).partition("/")
    kind = open_catalog().kind(GVK(group, version, recorded["kind"]))
    if kind is None:
        raise ValueError(f"{recorded['kind']} of {recorded['apiVersion']} is not in the catalog")
    subject = make_object(kind, recorded["self"])
    for case in recorded["cases"]:
        given = answer_as_aso(case["expression"], kind, subject, recorded["secret"]).to_json()
        yield Outcome(case["expression"], {name: case[name] for name in COMPARED if name in case}, given)


def check_untyped(recorded: Mapping[str, Any], corrections: Mapping[str, Any]) -> Iterator[Outcome]:
    """Every case of cel.json, without types; a correction replaces the case of the same expression."""
    corrected = {case["expression"]: case for case in corrections["cases"]}
    for case in recorded["cases"]:
        said = corrected.get(case["expression"], case)
        expected = {"value": said["value"]} if "value" in said else {"error": True}
        yield Outcome(case["expression"], expected, _answer_untyped(case["expression"], recorded))


def _answer_untyped(expression: str, recorded: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        tree = compile_expression(expression, UNTYPED).tree
        found = evaluate(tree, {"self": recorded["self"], "secret": recorded["secret"]})
    except (ExpressionError, EvaluationError):
        return {"error": True}
    return {"value": found.decode() if isinstance(found, bytes) else to_json(found)}


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else FOLDER
    try:
        typed, untyped = (json.loads((folder / name).read_bytes()) for name in ("cel-aso.json", "cel.json"))
    except (OSError, ValueError) as error:
        print(f"The recordings cannot be read: {error}", file=sys.stderr)
        return 2
    outcomes = [*check_typed(typed), *check_untyped(untyped, typed["correctsCelJson"])]
    different = [outcome for outcome in outcomes if not outcome.is_same]
    for expression, expected, given in different:
        print(f"{expression}\n  expected {json.dumps(expected, ensure_ascii=False)}")
        print(f"  given    {json.dumps(given, ensure_ascii=False)}")
    print(f"{len(outcomes) - len(different)} of {len(outcomes)} expressions agree.")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
