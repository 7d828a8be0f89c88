"""What an expression comes to, stage by stage: refused, failed, or a value with its type
(docs/expressions.md#try-an-expression).

For `gitsync eval`; runs evaluate the expressions of a manifest with `outcomes`.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from gitsync.cel.evaluate import evaluate
from gitsync.cel.expressions import (
    EXPORTABLE,
    CompiledExpression,
    build_environment,
    compile_expression,
    quote_expression,
)
from gitsync.cel.functions.conversions import format_double
from gitsync.cel.functions.times import write_duration, write_timestamp
from gitsync.cel.objects import Object
from gitsync.cel.syntax.extras import list_extras
from gitsync.cel.syntax.secret_names import list_selected_secrets
from gitsync.cel.values import EvaluationError, find_type, name_type
from gitsync.errors import ExpressionError
from gitsync.model.facts import Kind


class AnswerStage(StrEnum):
    """How far an expression got."""

    COMPILE = "compile"
    EVAL = "eval"
    VALUE = "value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of an expression. `error` is there unless it has a value. `secrets` are the keys that ASO reads from
    Azure for it, and `exportable` tells if its type may be exported: a string, or a map of strings.
    """

    stage: AnswerStage
    type: str = ""
    value: Any = None
    error: str = ""
    secrets: tuple[str, ...] = ()
    exportable: bool = False

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON has it; a compile error has no type, and an object of Azure no value."""
        if self.stage is AnswerStage.COMPILE:
            return {"stage": self.stage, "error": self.error}
        said = {"error": self.error} if self.stage is AnswerStage.EVAL else {"type": self.type, **_value_of(self.value)}
        return {"stage": self.stage, **said, "secrets": list(self.secrets), "exportable": self.exportable}


def answer_as_aso(text: str, kind: Kind, subject: Object, secrets: Mapping[str, str]) -> Answer:
    """What an expression comes to in ASO for an object of a kind and the plain values of its secrets. What only
    gitsync has is refused. Raises nothing.
    """
    try:
        program = compile_expression(text, build_environment(kind))
    except ExpressionError as error:
        return Answer(stage=AnswerStage.COMPILE, error=error.message)
    if extras := list_extras(program.tree):
        said = f"failed to compile CEL expression: {quote_expression(text)}: undeclared reference to '{extras[0]}'"
        return Answer(stage=AnswerStage.COMPILE, error=said)
    return answer_program(program, subject, secrets)


def answer_program(program: CompiledExpression, subject: Object, secrets: Mapping[str, str]) -> Answer:
    """What a compiled expression comes to. Raises nothing."""
    asked = tuple(sorted(list_selected_secrets(program.tree)))
    exportable = program.type in EXPORTABLE
    try:
        value = evaluate(program.tree, {"self": subject, "secret": secrets})
    except EvaluationError as error:
        return Answer(stage=AnswerStage.EVAL, error=error.message, secrets=asked, exportable=exportable)
    return Answer(
        stage=AnswerStage.VALUE, type=find_type(value).name, value=value, secrets=asked, exportable=exportable
    )


_WITHOUT_VALUE: Final = ("v", "cel.")
"""How the types begin whose values are not shown: the kind and its parts, Kubernetes' metadata, and ids."""


def _value_of(value: Any) -> dict[str, Any]:
    is_shown = name_type(value) != "object" or not value.type_name().startswith(_WITHOUT_VALUE)
    return {"value": to_json(value)} if is_shown else {}


def to_json(value: Any) -> Any:
    """A value as JSON has it: times and types as text, bytes as base64, objects with the fields that are set."""
    convert = _JSON.get(name_type(value))
    return convert(value) if convert else value


def _map(value: Mapping[Any, Any]) -> Any:
    """A map whose keys are no text is none in JSON: it is shown as Go writes it."""
    if all(isinstance(key, str) for key in value):
        return {key: to_json(value[key]) for key in sorted(value)}
    return f"map[{' '.join(f'{key}:{to_json(value[key])}' for key in sorted(value, key=str))}]"


def _double(value: float) -> Any:
    return value if math.isfinite(value) else format_double(value)


def _object(value: Any) -> Any:
    return value.to_json() if isinstance(value, Object) else {}


_JSON: Final[Mapping[str, Callable[[Any], Any]]] = {
    "double": _double,
    "list": lambda value: [to_json(item) for item in value],
    "map": _map,
    "bytes": lambda value: base64.b64encode(value).decode(),
    "timestamp": write_timestamp,
    "duration": write_duration,
    "optional": lambda value: to_json(value.value) if value.present else None,
    "type": lambda value: value.name,
    "object": _object,
}
