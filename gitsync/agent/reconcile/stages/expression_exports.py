"""The exports of a resource that expressions compute (docs/expressions.md).

Separate from the other exports: this needs an engine that most repositories do not need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gitsync.agent.reconcile.attempt import ApplyAttempt
from gitsync.desired.cel.budget import EvaluationBudget
from gitsync.desired.cel.objects import Object, make_self
from gitsync.desired.exports.export_expressions import compile_exports, list_needed_fields, uses_secret
from gitsync.desired.exports.outcomes import evaluate_exports
from gitsync.desired.request.exports import ExportedValue
from gitsync.model.export import Address, ObjectKind
from gitsync.model.secret import Secret
from gitsync.planning.record_counts import decide_generation
from gitsync.planning.status.aso_status import build_aso_status
from gitsync.settings.redaction import Redactions


class ExpressionExports:
    """The expressions of one resource whose objects are wanted. Raises ExpressionError if one does not compile."""

    def __init__(self, attempt: ApplyAttempt, is_wanted: Callable[[Address], bool]) -> None:
        self._attempt = attempt
        compiled = compile_exports(attempt.prepared.resource, attempt.kind)
        self._expressions = [expression for expression in compiled if is_wanted(expression.address)]

    def list_needed_fields(self) -> frozenset[str]:
        """List the fields of operatorSpec.secrets whose values they need."""
        return list_needed_fields(self._expressions)

    def uses_secret(self) -> bool:
        """Return whether they need the answer of the action that an AzureResource names."""
        return uses_secret(self._expressions)

    def evaluate(
        self, object_kind: ObjectKind, secrets: Mapping[str, Any], redactions: Redactions
    ) -> Iterator[ExportedValue]:
        """Evaluate those for objects of one kind."""
        expressions = [expression for expression in self._expressions if expression.address.object_kind is object_kind]
        if not expressions:
            return
        # Expressions do not see empty secrets (docs/reference/kinds.md#secret-exporters).
        set_secrets = {
            name: value for name, value in secrets.items() if not isinstance(value, Secret) or value.reveal()
        }
        subject, budget = _build_self(self._attempt), EvaluationBudget()
        for expression in expressions:
            for entry in evaluate_exports([expression], subject, set_secrets, budget):
                # A value that an expression makes of a secret is a secret too, so it is redacted.
                if expression.value.secrets or expression.value.uses_secret_object:
                    redactions.add(entry.value)
                yield entry


def _build_self(attempt: ApplyAttempt) -> Object:
    """Build the `self` of expressions: the manifest, and its status as just read."""
    status = build_aso_status(attempt.kind, attempt.observed.live.body) if attempt.observed.live else {}
    azure_name = attempt.arm_id.rstrip("/").rpartition("/")[2]
    resource = attempt.prepared.resource
    generation = decide_generation(attempt.record, resource.spec).generation
    return make_self(resource, attempt.kind, status, azure_name=azure_name, generation=generation)
