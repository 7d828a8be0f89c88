"""The fields of a resource that expressions compute from other resources, each with its value as far as it is known:
what `gitsync eval KIND/NAME` prints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.cel.source_types import make_source_type
from gitsync.desired.cel.sources import ValueSource
from gitsync.desired.request.computed_fill import compute_value
from gitsync.errors import MissingValueError
from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared
from gitsync.model.secret import MASKED, Placeholder, Secret
from gitsync.model.template import WAITING_FOR_VALUE, ComputedValue
from gitsync.planning.status.aso_status import build_aso_status

Bodies = Mapping[Key, Mapping[str, Any] | None]
"""What Azure shows, or showed in the last run, of the resources by key; None if it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedField:
    """A field with its value, or why there is none."""

    field: str  # as messages show it
    expression: str  # in CEL
    value: Any = None  # JSON; None if the expression leaves the field out
    unknown: str = ""  # a sentence; "" if the value is known

    def describe(self) -> str:
        if self.unknown:
            return f"unknown: {self.unknown}"
        return "left out" if self.value is None else json.dumps(self.value, ensure_ascii=False)

    def to_json(self) -> dict[str, Any]:
        known = {"unknown": self.unknown} if self.unknown else {"value": self.value}
        return {"field": self.field, "expression": self.expression, **known}


def list_sources(prepared: Prepared) -> tuple[Key, ...]:
    """List the resources from which expressions compute fields, sorted."""
    return tuple(sorted({key for value in prepared.relations.computed for key in value.sources.values()}))


def compute_fields(
    prepared: Prepared, everything: Sequence[Prepared], bodies: Bodies, catalog: Catalog
) -> tuple[ComputedField, ...]:
    """Compute the fields in their order. `everything` has the manifests of the sources."""
    by_key = {other.key: other for other in everything}

    def find_source(name: str, key: Key) -> ValueSource:
        kind = catalog.kind_of(by_key[key].resource)
        if kind is None:
            raise MissingValueError(WAITING_FOR_VALUE, f"{name} has an unsupported kind.")
        body, later = bodies.get(key), Placeholder("", why=f"no status of {name} is recorded", is_public=True)
        arm_id = by_key[key].arm_id or (body or {}).get("id")
        return ValueSource(
            type=make_source_type(kind),
            id=str(arm_id) if arm_id else later,
            name=str(arm_id).rpartition("/")[2] if arm_id else later,
            spec=by_key[key].resource.spec,
            status=later if body is None else build_aso_status(kind, body),
        )

    def compute(value: ComputedValue) -> ComputedField:
        try:
            found = compute_value(value, find_source)
        except MissingValueError as error:
            # The output names the field beside it.
            why = error.message.removeprefix(f"{value.field} has no value: ")
            return ComputedField(field=value.field, expression=value.expression, unknown=why)
        if isinstance(found, Placeholder):
            return ComputedField(field=value.field, expression=value.expression, unknown=f"{found.why}.")
        # The output of a command stays in scrollback and in logs.
        shown = MASKED if isinstance(found, Secret) else found
        return ComputedField(field=value.field, expression=value.expression, value=shown)

    return tuple(compute(value) for value in prepared.relations.computed)
