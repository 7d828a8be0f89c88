"""The values of the body of an `AzureResource`, as visits: a rehearsal checks them like those of a spec.

The body has no fields of its own in the kind's facts, so validation does not visit it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gitsync.desired.catalog.body_words import find_word
from gitsync.desired.catalog.positions import SpecPosition
from gitsync.desired.catalog.spec_visitor import Visit, visit_spec
from gitsync.desired.problems.field_path import FieldPath
from gitsync.desired.validation.references import is_arm_id
from gitsync.model.facts import Field, Kind
from gitsync.model.resource import Resource

_ANYTHING: Final = SpecPosition(types={}, shape="any", rules={})


def visit_values(kind: Kind, resource: Resource) -> list[Visit]:
    """Visit every value of a spec, and every value of the body that an `AzureResource` has in it."""
    visits = visit_spec(kind, resource.spec)
    if kind.is_any_type:
        visits.extend(_visit_body(("spec", "body"), resource.spec.get("body")))
    return visits


def _visit_body(path: FieldPath, value: Any) -> Iterator[Visit]:
    """Visit a value. The words that stand for a value are visited with the spec."""
    if find_word(value):
        return
    if isinstance(value, dict):
        fields = {name: _make_field(child) for name, child in value.items()}
        yield Visit(path, value, SpecPosition(types={}, shape="mapping", rules={}, fields=fields))
        for name, child in value.items():
            yield from _visit_body((*path, name), child)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _visit_body((*path, index), child)
    else:
        yield Visit(path, value, _ANYTHING)


def _make_field(value: Any) -> Field:
    """Make the facts about a member: in a body of ARM, an id is a reference wherever it is."""
    return (
        {"type": "string", "mode": "reference"} if isinstance(value, str) and is_arm_id(value) else {"type": "string"}
    )
