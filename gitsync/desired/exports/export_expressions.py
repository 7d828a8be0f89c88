"""Compiles the expressions of a manifest with their destinations, and reports all their problems at once
(docs/reference/reconciliation.md#export-destinations, #export-expressions).

This is done offline, and does not import the evaluator. `expressions` compiles single expressions without destinations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.catalog.type_words import join_with_or
from gitsync.desired.cel.expressions import (
    EXPORTABLE,
    TEXTS,
    CompiledExpression,
    Environment,
    build_environment,
    compile_expression,
    list_extras,
    list_selected_secrets,
    quote_expression,
)
from gitsync.desired.cel.types.kinds import list_secret_names
from gitsync.desired.cel.types.types import DYN, STRING
from gitsync.desired.problems.field_path import FieldPath
from gitsync.desired.problems.finding import Finding, locate_finding
from gitsync.desired.problems.suggest import suggest
from gitsync.desired.request.exports import find_secret_action
from gitsync.errors import ExpressionError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.facts import Kind
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Resource

FIELDS: Final = {"secretExpressions": ObjectKind.SECRET, "configMapExpressions": ObjectKind.CONFIG_MAP}
"""The fields of operatorSpec that contain expressions, and the kinds of object that they write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportExpression:
    """One entry of secretExpressions or configMapExpressions."""

    address: Address  # the object that it writes to
    key: str | None  # None if the value is a map of keys
    value: CompiledExpression  # its result is the value of the key, or all keys with theirs
    annotations: Mapping[str, CompiledExpression]  # those of the object, by name
    labels: Mapping[str, CompiledExpression]  # those of the object, by name

    @property
    def programs(self) -> tuple[CompiledExpression, ...]:
        return (self.value, *self.annotations.values(), *self.labels.values())


def compile_exports(resource: Resource, kind: Kind) -> tuple[ExportExpression, ...]:
    """Compile the expressions of a manifest, in order. Raises ExpressionError for the first that does not compile;
    `check_expressions` reports all.
    """
    environment = build_environment(kind)
    return tuple(
        ExportExpression(
            address=Address(object_kind, resource.key.namespace, str(entry.get("name"))),
            key=str(entry["key"]) if entry.get("key") else None,
            value=compile_expression(str(entry.get("value")), environment),
            annotations=_compile_all(entry.get("annotations"), environment),
            labels=_compile_all(entry.get("labels"), environment),
        )
        for _, object_kind, entry in list_expressions(resource)
    )


def list_needed_fields(expressions: Iterable[ExportExpression]) -> frozenset[str]:
    """List the fields of operatorSpec.secrets whose values expressions need: `secret.name` and `secret["name"]`, in
    values, annotations and labels alike. Expressions for config maps get none.
    """
    into_secrets = (expression for expression in expressions if expression.address.object_kind is ObjectKind.SECRET)
    return frozenset(name for expression in into_secrets for program in expression.programs for name in program.secrets)


def uses_secret(expressions: Iterable[ExportExpression]) -> bool:
    """Return whether an expression for a Secret needs the answer of the action that an AzureResource names."""
    into_secrets = (expression for expression in expressions if expression.address.object_kind is ObjectKind.SECRET)
    programs = (program for expression in into_secrets for program in expression.programs)
    return any(program.secrets or program.uses_secret_object for program in programs)


def list_expressions(resource: Resource) -> Iterator[tuple[FieldPath, ObjectKind, Mapping[str, Any]]]:
    """Yield every entry of a manifest that has an expression, with its path."""
    said = resource.spec.get("operatorSpec")
    for field, object_kind in FIELDS.items():
        rows = said.get(field) if isinstance(said, Mapping) else None
        for index, entry in enumerate(rows if isinstance(rows, list) else ()):
            # The schema check reports other entries.
            if isinstance(entry, Mapping) and isinstance(entry.get("value"), str):
                yield ("spec", "operatorSpec", field, index), object_kind, entry


def _compile_all(said: Any, environment: Environment) -> dict[str, CompiledExpression]:
    rows = said.items() if isinstance(said, Mapping) else ()
    return {str(key): compile_expression(str(value), environment) for key, value in rows}


def check_expressions(resource: Resource, kind: Kind) -> tuple[Problem, ...]:
    """Report every problem of the expressions of one manifest, in file order. Malformed entries are skipped: the schema
    check reports them.
    """
    has_action = bool(find_secret_action(resource))
    rows = list_expressions(resource)
    found = (finding for row in rows for finding in _check_entry(*row, kind, has_action=has_action))
    return tuple(sorted((locate_finding(finding, resource) for finding in found), key=lambda problem: problem.order))


def _check_entry(
    path: FieldPath, object_kind: ObjectKind, entry: Mapping[str, Any], kind: Kind, *, has_action: bool
) -> Iterator[Finding]:
    for here, text in _iterate_texts(path, entry):
        try:
            program = compile_expression(text, build_environment(kind))
        except ExpressionError as error:
            yield Finding(code="InvalidExpression", path=here, message=f"{error.message}.", hint=error.hint)
            continue
        if kind.is_any_type:
            yield from _check_untyped(here, path, entry, program, has_action=has_action)
        else:
            yield from _check_type(here, path, entry, program)
            yield from _check_extras(here, program)
        if object_kind is not ObjectKind.SECRET:
            yield from _refuse_secrets(here, program)
            continue
        if here != (*path, "value"):
            yield from _refuse_in_metadata(here, program)
        if not kind.is_any_type:
            yield from _check_secrets(here, program, kind)
            yield from _check_overlooked(here, program) if here == (*path, "value") else ()


def _check_type(
    here: FieldPath, path: FieldPath, entry: Mapping[str, Any], program: CompiledExpression
) -> Iterator[Finding]:
    """Check the type of the text at `here` in the entry at `path`."""
    if here == (*path, "value"):
        yield from _check_output(path, entry, program)
    elif program.type != STRING:
        yield _make_wrong_type(here, program, "[string]")


def _check_untyped(
    here: FieldPath, path: FieldPath, entry: Mapping[str, Any], program: CompiledExpression, *, has_action: bool
) -> Iterator[Finding]:
    """Check a text of an AzureResource, which ASO never reads: what has no type has one when it is evaluated."""
    if program.type != DYN:
        yield from _check_type(here, path, entry, program)
    if not has_action and (program.secrets or program.uses_secret_object):
        yield Finding(
            code="UnknownSecret",
            path=here,
            message=f"expression {quote_expression(program.text)} uses secret, and no action gives one.",
            hint="Set operatorSpec.secretAction to the action whose answer is secret, such as listKeys.",
        )


def _iterate_texts(path: FieldPath, entry: Mapping[str, Any]) -> Iterator[tuple[FieldPath, str]]:
    yield (*path, "value"), entry["value"]
    for field in ("annotations", "labels"):
        said = entry.get(field)
        for key, text in said.items() if isinstance(said, Mapping) else ():
            if isinstance(text, str):
                yield (*path, field, key), text


def _check_output(path: FieldPath, entry: Mapping[str, Any], program: CompiledExpression) -> Iterator[Finding]:
    # An expression gives one text for one key, or a map that has its own keys.
    if program.type not in EXPORTABLE:
        yield _make_wrong_type((*path, "value"), program, f"[{','.join(map(str, EXPORTABLE))}]")
    elif program.type == STRING and not entry.get("key"):
        text = quote_expression(program.text)
        message = f"CEL expression with output type string must specify destination 'key', {text} does not."
        yield Finding(code="ExpressionKey", path=path, message=message, hint="Set `key` to the key for the value.")
    elif program.type == TEXTS and entry.get("key"):
        message = (
            "CEL expression with output type map[string]string must not specify destination 'key', "
            f"{quote_expression(program.text)} does."
        )
        hint = "Remove `key`: the map has its own keys."
        yield Finding(code="ExpressionKey", path=(*path, "key"), message=message, hint=hint)


def _make_wrong_type(path: FieldPath, program: CompiledExpression, wanted: str) -> Finding:
    message = f"expression {quote_expression(program.text)} must return one of {wanted}, but was {program.type}."
    return Finding(code="ExpressionOutput", path=path, message=message, hint="Convert it with string(…).")


def _check_secrets(path: FieldPath, program: CompiledExpression, kind: Kind) -> Iterator[Finding]:
    known = list_secret_names(kind)
    # Without the name of a known secret, no action would be called, and the key would be missing only at run time.
    for name in sorted(program.secrets - set(known)):
        meant = suggest(name, known)
        hint = f"Did you mean secret.{meant}? " if meant else ""
        hint += f"It has {join_with_or(known)}." if known else "It has no secrets to export."
        message = (
            f"expression {quote_expression(program.text)} uses secret.{name}, which {kind.gvk.kind} does not have."
        )
        yield Finding(code="UnknownSecret", path=path, message=message, hint=hint)
    if program.uses_secret_object:
        yield Finding(
            code="SecretNotNamed",
            path=path,
            level=Level.WARNING,
            message=f"expression {quote_expression(program.text)} uses secret without the name of a secret.",
            hint="Name the secrets, as in secret.primaryKey: gitsync reads only named secrets from Azure.",
        )


def _check_extras(path: FieldPath, program: CompiledExpression) -> Iterator[Finding]:
    # Such a function prevents a return to ASO, and the use of the same manifests in a cluster with ASO.
    for name in list_extras(program.tree):
        yield Finding(
            code="RefusedByAso",
            path=path,
            level=Level.WARNING,
            message=f"expression {quote_expression(program.text)} uses {name}, which ASO does not have.",
            hint=f"If ASO also reads the manifest, write it without {name}, which ASO refuses.",
        )


def _check_overlooked(path: FieldPath, program: CompiledExpression) -> Iterator[Finding]:
    for name in sorted(program.secrets - list_selected_secrets(program.tree)):
        yield Finding(
            code="RefusedByAso",
            path=path,
            level=Level.WARNING,
            message=f"expression {quote_expression(program.text)} names the secret {name} in a way that ASO overlooks.",
            hint=f"If ASO also reads the manifest, write secret.{name}: ASO overlooks other forms.",
        )


def _refuse_secrets(path: FieldPath, program: CompiledExpression) -> Iterator[Finding]:
    if program.secrets or program.uses_secret_object:
        message = f"expression {quote_expression(program.text)} uses secret, which is empty in configMapExpressions."
        hint = "Move the expression to secretExpressions: ConfigMaps are not confidential."
        yield Finding(code="SecretInConfigMap", path=path, message=message, hint=hint)


def _refuse_in_metadata(path: FieldPath, program: CompiledExpression) -> Iterator[Finding]:
    if program.secrets or program.uses_secret_object:
        message = (
            f"expression {quote_expression(program.text)} uses secret, but annotations and labels are not encrypted."
        )
        hint = "Write it to its own key: the metadata of a Secret is never encrypted, not even by SOPS."
        yield Finding(code="SecretInMetadata", path=path, message=message, hint=hint)
