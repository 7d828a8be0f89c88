"""Evaluates the expressions of a manifest, once the resource exists (docs/reference/reconciliation.md#export-values,
#export-expressions).

Separate from compiling them (`export_expressions`), which is done offline and does not import the evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gitsync.desired.cel.budget import EvaluationBudget
from gitsync.desired.cel.evaluate import evaluate
from gitsync.desired.cel.expressions import CompiledExpression, quote_expression
from gitsync.desired.cel.objects import Object
from gitsync.desired.exports.export_expressions import ExportExpression
from gitsync.desired.request.exports import Destination, ExportedValue
from gitsync.errors import EvaluationError, ExportError
from gitsync.model.export import ObjectKind
from gitsync.model.secret import Secret

_Evaluate = Callable[[CompiledExpression], Any]


def evaluate_exports(
    expressions: Iterable[ExportExpression],
    subject: Object,
    secrets: Mapping[str, Any],
    budget: EvaluationBudget | None = None,
) -> tuple[ExportedValue, ...]:
    """Evaluate expressions, and return their values with their destinations, in order, each key of a map as an entry.

    `subject` is what expressions call `self`, `secrets` what they call `secret`, with a `Secret` for each text. All of
    them share one budget: a manifest may contain thousands, and evaluation blocks the event loop. Raises ExportError,
    which only a change of the manifest can fix, for the first with no value or an empty one, or one that exceeds the
    budget.
    """
    inputs = _Inputs(subject=subject, secrets=_reveal(secrets), budget=budget or EvaluationBudget())
    return tuple(value for exported in expressions for value in _evaluate_entry(exported, inputs))


def _reveal(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _reveal(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_reveal(entry) for entry in value]
    return value.reveal() if isinstance(value, Secret) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """The input of expressions. The secrets are plain text here, and never shown."""

    subject: Object
    secrets: Mapping[str, Any] = field(repr=False)
    budget: EvaluationBudget

    def list_variables(self, object_kind: ObjectKind) -> Mapping[str, Any]:
        """List the variables of an expression for this kind of object."""
        return {"self": self.subject, "secret": self.secrets if object_kind is ObjectKind.SECRET else {}}


def _evaluate_entry(exported: ExportExpression, inputs: _Inputs) -> Iterator[ExportedValue]:
    variables = inputs.list_variables(exported.address.object_kind)
    evaluate_one = partial(_evaluate_program, variables=variables, budget=inputs.budget)
    texts = _evaluate_keys(exported, evaluate_one)
    annotations = _evaluate_metadata(exported, "annotation", evaluate_one)
    labels = _evaluate_metadata(exported, "label", evaluate_one)
    for key, text in texts.items():
        to = Destination(address=exported.address, key=key, annotations=annotations, labels=labels)
        # Even a value for a ConfigMap is masked until it is written, since an expression may combine several.
        yield ExportedValue(to=to, value=Secret(text))


def _evaluate_metadata(exported: ExportExpression, word: str, evaluate_one: _Evaluate) -> dict[str, str]:
    """Evaluate its annotations or labels. ExportError names the object and the key, as in ASO."""
    programs, address = {"annotation": exported.annotations, "label": exported.labels}[word], exported.address
    values = {}
    for key, program in programs.items():
        try:
            values[key] = _evaluate_text(program, evaluate_one)
        except ExportError as error:
            subject = f'evaluating {word} expressions for {address.object_kind.lower()} "{address.name}"'
            message = f'{subject}: evaluating expression for key "{key}": {error.message}'
            raise ExportError(message, is_fatal=error.is_fatal, hint=error.hint) from error
    return values


def _evaluate_keys(exported: ExportExpression, evaluate_one: _Evaluate) -> dict[str, str]:
    if exported.key is not None:
        return {exported.key: _evaluate_text(exported.value, evaluate_one)}
    found = evaluate_one(exported.value)
    if not isinstance(found, Mapping) or not all(isinstance(part, str) for pair in found.items() for part in pair):
        raise _make_unexpected(exported.value, "a value that is not a map of strings")
    # A Secret without keys would break everything that reads it.
    if not found:
        raise _make_unexpected(exported.value, "an empty map")
    # The order of keys is fixed, so that equal values give equal bytes.
    return {str(key): str(found[key]) for key in sorted(found)}


def _evaluate_text(program: CompiledExpression, evaluate_one: _Evaluate) -> str:
    found = evaluate_one(program)
    if not isinstance(found, str) or not found:
        raise _make_unexpected(program, "an empty string" if found == "" else "a value that is not a string")
    return found


def _evaluate_program(program: CompiledExpression, variables: Mapping[str, Any], budget: EvaluationBudget) -> Any:
    try:
        return evaluate(program.tree, variables, budget)
    except EvaluationError as error:
        message = f"failed to eval CEL expression: {quote_expression(program.text)}: {error.message}"
        raise ExportError(message, is_fatal=True) from error


def _make_unexpected(program: CompiledExpression, given: str) -> ExportError:
    # Types are checked offline, but an Azure response may differ from the schema.
    hint = f"{quote_expression(program.text)} gives {given}. Fix the expression, or the value that it reads."
    return ExportError("unexpected expression output", is_fatal=True, hint=hint)  # quoted from ASO
