"""What the expressions of a manifest come out as, once the resource is there
(docs/reference/reconciliation.md#export-values, #export-expressions).

Apart from compiling them, which is done offline, and needs nothing that evaluates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gitsync.cel.budget import EvaluationBudget
from gitsync.cel.evaluate import evaluate
from gitsync.cel.exported import Exported
from gitsync.cel.expressions import CompiledExpression, quote_expression
from gitsync.cel.objects import Object
from gitsync.cel.values import EvaluationError
from gitsync.model.export import Holder
from gitsync.model.secret import Secret
from gitsync.request.exports import Destination, ExportedValue, ExportError

_Work = Callable[[CompiledExpression], Any]


def evaluate_exports(
    expressions: Iterable[Exported],
    subject: Object,
    secrets: Mapping[str, Secret],
    budget: EvaluationBudget | None = None,
) -> tuple[ExportedValue, ...]:
    """The values of expressions with where they go, in their order, each key of a map as an entry of its own.

    `subject` is what expressions call `self`, `secrets` what they call `secret`. All of them share one budget: a
    manifest may contain thousands, and evaluation blocks the event loop. Raises ExportError, which only a change of
    the manifest can fix, for the first that has no value or an empty one, or that exceeds the budget.
    """
    revealed = {name: secret.reveal() for name, secret in secrets.items()}
    given = _Given(subject=subject, secrets=revealed, budget=budget or EvaluationBudget())
    return tuple(entry for one in expressions for entry in _entries(one, given))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """What expressions are worked out with. The secrets are plain here, and show in no text."""

    subject: Object
    secrets: Mapping[str, str] = field(repr=False)
    budget: EvaluationBudget

    def to(self, holder: Holder) -> Mapping[str, Any]:
        """The variables of an expression for this kind of object."""
        return {"self": self.subject, "secret": self.secrets if holder is Holder.SECRET else {}}


def _entries(one: Exported, given: _Given) -> Iterator[ExportedValue]:
    work = partial(_worked_out, variables=given.to(one.address.holder), budget=given.budget)
    texts = _keys(one, work)
    annotations, labels = _metadata(one, "annotation", work), _metadata(one, "label", work)
    for key, text in texts.items():
        to = Destination(address=one.address, key=key, annotations=annotations, labels=labels)
        yield ExportedValue(to=to, value=Secret(text))


def _metadata(one: Exported, word: str, work: _Work) -> dict[str, str]:
    """The values of its annotations or labels. ExportError names the object and the key, in ASO's words."""
    programs, address = {"annotation": one.annotations, "label": one.labels}[word], one.address
    values = {}
    for key, program in programs.items():
        try:
            values[key] = _text(program, work)
        except ExportError as error:
            place = f'evaluating {word} expressions for {address.holder.lower()} "{address.name}"'
            message = f'{place}: evaluating expression for key "{key}": {error.message}'
            raise ExportError(message, is_fatal=error.is_fatal, hint=error.hint) from error
    return values


def _keys(one: Exported, work: _Work) -> dict[str, str]:
    if one.key is not None:
        return {one.key: _text(one.value, work)}
    found = work(one.value)
    if not isinstance(found, Mapping) or not all(isinstance(part, str) for pair in found.items() for part in pair):
        raise _unexpected(one.value, "a value that is not a map of strings")
    if not found:
        raise _unexpected(one.value, "an empty map")
    return {str(key): str(found[key]) for key in sorted(found)}


def _text(program: CompiledExpression, work: _Work) -> str:
    found = work(program)
    if not isinstance(found, str) or not found:
        raise _unexpected(program, "an empty string" if found == "" else "a value that is not a string")
    return found


def _worked_out(program: CompiledExpression, variables: Mapping[str, Any], budget: EvaluationBudget) -> Any:
    try:
        return evaluate(program.tree, variables, budget)
    except EvaluationError as error:
        message = f"failed to eval CEL expression: {quote_expression(program.text)}: {error.message}"
        raise ExportError(message, is_fatal=True) from error


def _unexpected(program: CompiledExpression, given: str) -> ExportError:
    """Types are checked offline, but a response of Azure may not have the type of the schema."""
    hint = f"{quote_expression(program.text)} gives {given}. Fix the expression, or what it reads."
    return ExportError("unexpected expression output", is_fatal=True, hint=hint)  # quoted from ASO
