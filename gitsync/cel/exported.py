"""What the expressions of a manifest export, and where to, before any of it is worked out
(docs/reference/reconciliation.md#export-destinations, #export-expressions).

Apart from single expressions, which know nothing of destinations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.cel.expressions import CompiledExpression, Environment, build_environment, compile_expression
from gitsync.model.export import Address, Holder
from gitsync.model.facts import Kind
from gitsync.model.resource import Resource
from gitsync.problems.field_path import FieldPath

FIELDS: Final = {"secretExpressions": Holder.SECRET, "configMapExpressions": Holder.CONFIG_MAP}
"""The fields of operatorSpec that contain expressions, and what they write to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """One entry of secretExpressions or configMapExpressions: without `key`, its value is a map of keys."""

    address: Address
    key: str | None
    value: CompiledExpression
    annotations: Mapping[str, CompiledExpression]
    labels: Mapping[str, CompiledExpression]

    @property
    def programs(self) -> tuple[CompiledExpression, ...]:
        return (self.value, *self.annotations.values(), *self.labels.values())


def compile_exports(resource: Resource, kind: Kind) -> tuple[Exported, ...]:
    """The expressions of a manifest, compiled, in their order. ExpressionError for the first that does not compile;
    `findings.check_expressions` tells all.
    """
    environment = build_environment(kind)
    return tuple(
        Exported(
            address=Address(holder, resource.key.namespace, str(entry.get("name"))),
            key=str(entry["key"]) if entry.get("key") else None,
            value=compile_expression(str(entry.get("value")), environment),
            annotations=_programs(entry.get("annotations"), environment),
            labels=_programs(entry.get("labels"), environment),
        )
        for _, holder, entry in find_expressions(resource)
    )


def find_needed_fields(expressions: Iterable[Exported]) -> frozenset[str]:
    """The fields of operatorSpec.secrets whose values expressions need: `secret.name` and `secret["name"]`, in values,
    annotations and labels alike. Expressions for config maps get none.
    """
    into_secrets = (one for one in expressions if one.address.holder is Holder.SECRET)
    return frozenset(name for one in into_secrets for program in one.programs for name in program.secrets)


def find_expressions(resource: Resource) -> Iterator[tuple[FieldPath, Holder, Mapping[str, Any]]]:
    """Every entry of a manifest that has an expression, with its path."""
    said = resource.spec.get("operatorSpec")
    for field, holder in FIELDS.items():
        rows = said.get(field) if isinstance(said, Mapping) else None
        for place, entry in enumerate(rows if isinstance(rows, list) else ()):
            if isinstance(entry, Mapping) and isinstance(entry.get("value"), str):
                yield ("spec", "operatorSpec", field, place), holder, entry


def _programs(said: Any, environment: Environment) -> dict[str, CompiledExpression]:
    rows = said.items() if isinstance(said, Mapping) else ()
    return {str(key): compile_expression(str(value), environment) for key, value in rows}
