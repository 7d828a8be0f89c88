"""A question about an expression in one line of JSON, for `gitsync eval --jsonl`: the object, its secrets, and the
expression (docs/expressions.md#try-an-expression).

Separate from the answer, because this reads untrusted JSON: errors name the line and the member.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gitsync.catalog.catalog import Catalog
from gitsync.cel.answers import Answer, answer_as_aso
from gitsync.cel.objects import make_object
from gitsync.errors import SourceError
from gitsync.formats.strict_json import read_json
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpressionQuestion:
    """`document` is the object that the expression calls `self`, as an API server gives it."""

    kind: Kind
    document: Mapping[str, Any]
    secrets: Mapping[str, str] = field(repr=False)
    expression: str


def answer_question(question: ExpressionQuestion) -> Answer:
    """What the expression comes to in ASO."""
    subject = make_object(question.kind, question.document)
    return answer_as_aso(question.expression, question.kind, subject, question.secrets)


def read_expression_question(line: bytes, number: int, catalog: Catalog) -> ExpressionQuestion:
    """Read the question in one line: apiVersion, kind, self, secret and expression. Raises SourceError, with the
    line's number, if it is not valid or the catalog lacks the kind.
    """
    position = f"Line {number}"
    try:
        members = read_json(line)
    except ValueError as error:
        raise SourceError(f"{position} is not JSON: {error}.", hint="Write one JSON object per line.") from error
    if not isinstance(members, dict):
        raise SourceError(f"{position} is not a JSON object.", hint="Write one JSON object per line.")
    api_version, kind = _read_text(members, "apiVersion", position), _read_text(members, "kind", position)
    return ExpressionQuestion(
        kind=_find_kind(api_version, kind, catalog, position),
        document=_read_object(members, "self", position),
        secrets=_read_secrets(members, position),
        expression=_read_text(members, "expression", position),
    )


def _find_kind(api_version: str, name: str, catalog: Catalog, position: str) -> Kind:
    group, _, version = api_version.partition("/")
    kind = catalog.kind(GVK(group, version, name))
    if kind is None:
        hint = "Set apiVersion and kind as in a manifest. `gitsync explain` lists the kinds."
        raise SourceError(f"{position}: {name} of {api_version} is not known.", hint=hint)
    return kind


def _read_secrets(members: Mapping[str, Any], position: str) -> Mapping[str, str]:
    secrets = _read_object(members, "secret", position)
    if not all(isinstance(value, str) for value in secrets.values()):
        raise SourceError(f"{position}: secret has a value that is not text.", hint="Quote it, or remove it.")
    return secrets


def _read_object(members: Mapping[str, Any], name: str, position: str) -> Mapping[str, Any]:
    value = members.get(name)
    if value is None or isinstance(value, dict):
        return value or {}
    raise SourceError(f"{position}: {name} is not an object.", hint="Set it to a JSON object, or remove it.")


def _read_text(members: Mapping[str, Any], name: str, position: str) -> str:
    value = members.get(name)
    if isinstance(value, str):
        return value
    raise SourceError(f"{position}: {name} is not text.", hint=f"Set {name} to text.")
