"""Reports all problems of the expressions of a manifest at once, and offline
(docs/reference/reconciliation.md#export-expressions).

Separate from compiling: this module adds the field and the line of a problem, and checks the rules of exports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitsync.catalog.type_words import join_with_or
from gitsync.cel.exported import find_expressions
from gitsync.cel.expressions import (
    EXPORTABLE,
    TEXTS,
    CompiledExpression,
    build_environment,
    compile_expression,
    quote_expression,
)
from gitsync.cel.syntax.extras import list_extras
from gitsync.cel.syntax.secret_names import list_selected_secrets
from gitsync.cel.types.kinds import list_secret_names
from gitsync.cel.types.types import STRING
from gitsync.errors import ExpressionError
from gitsync.model.export import Holder
from gitsync.model.facts import Kind
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Resource
from gitsync.problems.field_path import FieldPath
from gitsync.problems.finding import Finding, locate_finding
from gitsync.problems.suggest import suggest


def check_expressions(resource: Resource, kind: Kind) -> tuple[Problem, ...]:
    """Every problem of the expressions of one manifest, in the order of its file. Entries of the wrong shape are
    skipped: the schema check reports them.
    """
    found = (finding for row in find_expressions(resource) for finding in _of_entry(*row, kind))
    return tuple(sorted((locate_finding(finding, resource) for finding in found), key=lambda problem: problem.order))


def _of_entry(path: FieldPath, holder: Holder, entry: Mapping[str, Any], kind: Kind) -> Iterator[Finding]:
    for here, text in _expressions(path, entry):
        try:
            program = compile_expression(text, build_environment(kind))
        except ExpressionError as error:
            yield Finding(code="InvalidExpression", path=here, message=f"{error.message}.", hint=error.hint)
            continue
        yield from _output(path, entry, program) if here == (*path, "value") else _text(here, program)
        yield from _secrets(here, program, kind) if holder is Holder.SECRET else _no_secrets(here, program)
        yield from _more_than_aso(here, program)
        yield from _unread_by_aso(here, program) if holder is Holder.SECRET and here == (*path, "value") else ()
        yield from _shown(here, program) if holder is Holder.SECRET and here != (*path, "value") else ()


def _expressions(path: FieldPath, entry: Mapping[str, Any]) -> Iterator[tuple[FieldPath, str]]:
    yield (*path, "value"), entry["value"]
    for field in ("annotations", "labels"):
        said = entry.get(field)
        for key, text in said.items() if isinstance(said, Mapping) else ():
            if isinstance(text, str):
                yield (*path, field, key), text


def _output(path: FieldPath, entry: Mapping[str, Any], program: CompiledExpression) -> Iterator[Finding]:
    """An expression gives one text for one key, or a map that has keys of its own."""
    if program.type not in EXPORTABLE:
        yield _wrong_type((*path, "value"), program, f"[{','.join(map(str, EXPORTABLE))}]")
    elif program.type == STRING and not entry.get("key"):
        text = quote_expression(program.text)
        message = f"CEL expression with output type string must specify destination 'key', {text} does not."
        yield Finding(code="ExpressionKey", path=path, message=message, hint="Set key to the key for the value.")
    elif program.type == TEXTS and entry.get("key"):
        message = (
            "CEL expression with output type map[string]string must not specify destination 'key', "
            f"{quote_expression(program.text)} does."
        )
        hint = "Remove key: the map has its own keys."
        yield Finding(code="ExpressionKey", path=(*path, "key"), message=message, hint=hint)


def _text(path: FieldPath, program: CompiledExpression) -> Iterator[Finding]:
    if program.type != STRING:
        yield _wrong_type(path, program, "[string]")


def _wrong_type(path: FieldPath, program: CompiledExpression, wanted: str) -> Finding:
    message = f"expression {quote_expression(program.text)} must return one of {wanted}, but was {program.type}."
    return Finding(code="ExpressionOutput", path=path, message=message, hint="Convert it with string(…).")


def _secrets(path: FieldPath, program: CompiledExpression, kind: Kind) -> Iterator[Finding]:
    known = list_secret_names(kind)
    for name in sorted(program.secrets - set(known)):
        meant = suggest(name, known)
        hint = f"Did you mean secret.{meant}? " if meant else ""
        hint += f"It has {join_with_or(known)}." if known else "It has no secrets to export."
        message = (
            f"expression {quote_expression(program.text)} uses secret.{name}, which {kind.gvk.kind} does not have."
        )
        yield Finding(code="UnknownSecret", path=path, message=message, hint=hint)
    if program.uses_secret_whole:
        yield Finding(
            code="SecretNotNamed",
            path=path,
            level=Level.WARNING,
            message=f"expression {quote_expression(program.text)} uses secret without the name of a secret.",
            hint="Name the secrets, as in secret.primaryKey: gitsync reads only named secrets from Azure.",
        )


def _more_than_aso(path: FieldPath, program: CompiledExpression) -> Iterator[Finding]:
    """A function that is in the way of going back to ASO, or of a cluster that runs ASO on the same manifests."""
    for name in list_extras(program.tree):
        yield Finding(
            code="RefusedByAso",
            path=path,
            level=Level.WARNING,
            message=f"expression {quote_expression(program.text)} uses {name}, which ASO does not have.",
            hint=f"Write it without {name} if ASO reads the manifest, too: ASO refuses it.",
        )


def _unread_by_aso(path: FieldPath, program: CompiledExpression) -> Iterator[Finding]:
    for name in sorted(program.secrets - list_selected_secrets(program.tree)):
        yield Finding(
            code="RefusedByAso",
            path=path,
            level=Level.WARNING,
            message=f"expression {quote_expression(program.text)} names the secret {name} in a way that ASO overlooks.",
            hint=f"Write secret.{name} if ASO reads the manifest, too: ASO reads only secrets that are named so.",
        )


def _no_secrets(path: FieldPath, program: CompiledExpression) -> Iterator[Finding]:
    if program.secrets or program.uses_secret_whole:
        message = f"expression {quote_expression(program.text)} uses secret, which is empty in configMapExpressions."
        hint = "Move the expression to secretExpressions: config maps are not confidential."
        yield Finding(code="SecretInConfigMap", path=path, message=message, hint=hint)


def _shown(path: FieldPath, program: CompiledExpression) -> Iterator[Finding]:
    if program.secrets or program.uses_secret_whole:
        message = (
            f"expression {quote_expression(program.text)} uses secret, but annotations and labels are not encrypted."
        )
        hint = "Write it to its own key: nothing encrypts the metadata of a Secret, not even SOPS."
        yield Finding(code="SecretInMetadata", path=path, message=message, hint=hint)
