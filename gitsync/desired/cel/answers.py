"""Returns the result of an expression by stage: refused, failed, or a value with its type
(docs/expressions.md#try-an-expression).

For `gitsync eval`; runs evaluate the expressions of a manifest with `outcomes`. An expression may come with its object
in one line of JSON (`gitsync eval --jsonl`). Such lines are untrusted, so errors name the line and the member.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.cel.evaluate import evaluate
from gitsync.desired.cel.expressions import (
    EXPORTABLE,
    CompiledExpression,
    build_environment,
    compile_expression,
    list_extras,
    list_selected_secrets,
    quote_expression,
)
from gitsync.desired.cel.functions.conversions import format_double
from gitsync.desired.cel.functions.times import write_duration, write_timestamp
from gitsync.desired.cel.objects import Object, make_object
from gitsync.desired.cel.values import find_type, name_type
from gitsync.desired.problems.checked_mapping import read_json_line
from gitsync.errors import EvaluationError, ExpressionError, SourceError
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK


class AnswerStage(StrEnum):
    """How far an expression got."""

    COMPILE = "compile"
    EVAL = "eval"
    VALUE = "value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of an expression."""

    stage: AnswerStage  # how far the expression came
    type: str = ""  # of the value, as CEL names it
    value: Any = None
    error: str = ""  # set unless the expression has a value
    secrets: tuple[str, ...] = ()  # the keys that ASO reads from Azure for it
    exportable: bool = False  # its type may be exported, which means a string or a map of strings

    def to_json(self) -> dict[str, Any]:
        """Convert the answer to JSON; a compile error has no type, and an Azure object no value."""
        members: dict[str, Any] = {"stage": self.stage}
        if self.stage is not AnswerStage.VALUE:
            members["error"] = self.error
        else:
            members["type"] = self.type
            is_hidden = name_type(self.value) == "object" and self.value.find_type_name().startswith(_WITHOUT_VALUE)
            if not is_hidden:
                members["value"] = to_json(self.value)
        if self.stage is AnswerStage.COMPILE:
            return members
        return {**members, "secrets": list(self.secrets), "exportable": self.exportable}


def answer_as_aso(text: str, kind: Kind, subject: Object, secrets: Mapping[str, str]) -> Answer:
    """Return the result of an expression in ASO, for an object of a kind and the plain values of its secrets. Functions
    that only gitsync has are refused. Raises nothing.
    """
    try:
        program = compile_expression(text, build_environment(kind))
    except ExpressionError as error:
        return Answer(stage=AnswerStage.COMPILE, error=error.message)
    # ASO reports the function as undeclared, so this uses the same words.
    if extras := list_extras(program.tree):
        said = f"failed to compile CEL expression: {quote_expression(text)}: undeclared reference to '{extras[0]}'"
        return Answer(stage=AnswerStage.COMPILE, error=said)
    return answer_program(program, subject, secrets)


def answer_program(program: CompiledExpression, subject: Object, secrets: Mapping[str, str]) -> Answer:
    """Return the result of a compiled expression. Raises nothing."""
    selected = tuple(sorted(list_selected_secrets(program.tree)))
    exportable = program.type in EXPORTABLE
    try:
        value = evaluate(program.tree, {"self": subject, "secret": secrets})
    except EvaluationError as error:
        return Answer(stage=AnswerStage.EVAL, error=error.message, secrets=selected, exportable=exportable)
    return Answer(
        stage=AnswerStage.VALUE, type=find_type(value).name, value=value, secrets=selected, exportable=exportable
    )


_WITHOUT_VALUE: Final = ("v", "cel.")
"""Prefixes of the types whose values are not shown: the kind and its parts, Kubernetes metadata, and ids."""


def to_json(value: Any) -> Any:
    """Convert a value to JSON: times and types as text, bytes as base64, objects with the fields that are set."""
    convert = _JSON.get(name_type(value))
    return convert(value) if convert else value


def _convert_map(value: Mapping[Any, Any]) -> Any:
    if all(isinstance(key, str) for key in value):
        return {key: to_json(value[key]) for key in sorted(value)}
    # JSON has no maps with keys other than text: they are shown as in Go.
    return f"map[{' '.join(f'{key}:{to_json(value[key])}' for key in sorted(value, key=str))}]"


_JSON: Final[Mapping[str, Callable[[Any], Any]]] = {
    "double": lambda value: value if math.isfinite(value) else format_double(value),
    "list": lambda value: [to_json(item) for item in value],
    "map": _convert_map,
    "bytes": lambda value: base64.b64encode(value).decode(),
    "timestamp": write_timestamp,
    "duration": write_duration,
    "optional": lambda value: to_json(value.value) if value.present else None,
    "type": lambda value: value.name,
    "object": lambda value: value.to_json() if isinstance(value, Object) else {},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpressionRequest:
    """An expression to evaluate."""

    kind: Kind
    document: Mapping[str, Any]  # the object that the expression calls `self`, as from an API server
    secrets: Mapping[str, str] = field(repr=False)  # the values that the expression calls `secret`
    expression: str


def evaluate_request(request: ExpressionRequest) -> Answer:
    """Return the result in ASO of an expression with its object."""
    subject = make_object(request.kind, request.document)
    return answer_as_aso(request.expression, request.kind, subject, request.secrets)


def read_expression_request(line: bytes, number: int, catalog: Catalog) -> ExpressionRequest:
    """Read one line: apiVersion, kind, self, secret and expression. Raises SourceError, with the line number, if it is
    not valid or the catalog lacks the kind.
    """
    request = read_json_line(line, number)
    api_version, kind = request.text("apiVersion"), request.text("kind")
    secrets = request.within("secret", {})
    return ExpressionRequest(
        kind=_find_kind(api_version, kind, catalog, f"Line {number}"),
        document=request.within("self", {}).values,
        secrets={name: secrets.text(name) for name in secrets.values},
        expression=request.text("expression"),
    )


def _find_kind(api_version: str, name: str, catalog: Catalog, position: str) -> Kind:
    group, _, version = api_version.partition("/")
    kind = catalog.kind(GVK(group, version, name))
    if kind is None:
        hint = "Set apiVersion and kind as in a manifest. `gitsync explain` lists the kinds."
        raise SourceError(f"{position}: {name} of {api_version} is not known.", hint=hint)
    return kind
