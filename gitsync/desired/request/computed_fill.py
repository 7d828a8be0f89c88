"""Computes a value when a request is filled, from what is known of the resources that its expression names
(docs/values.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Final

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.type_words import join_with_or, quote_scalar
from gitsync.desired.cel.sources import UnknownValueError, ValueSource, evaluate_value, make_known_source, make_source
from gitsync.desired.cel.value_expressions import parse_value
from gitsync.errors import EvaluationError, MissingValueError
from gitsync.model.gvk import Key
from gitsync.model.resource import Resource
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.template import WAITING_FOR_VALUE, AwaitedValue, ComputedValue, UnreadValue

_SHAPES: Final[Mapping[type, tuple[str, ...]]] = {
    str: ("string",),
    Secret: ("string",),
    bool: ("bool",),
    int: ("int", "double"),
    float: ("double",),
    list: ("list",),
    dict: ("map",),
}
"""The types of the fields that can have a value of JSON, the usual one first."""

_FIELDS: Final = frozenset(chain.from_iterable(_SHAPES.values()))

FindSource = Callable[[str, Key], ValueSource]
"""Finds what is known of a resource, by its name in an expression and its key. Raises MissingValueError."""


def compute_value(value: ComputedValue, find_source: FindSource) -> Any:
    """Return the value as JSON; None leaves the field out. A placeholder if it is not known yet.

    Raises MissingValueError if there is none.
    """
    sources = {
        name: make_known_source(value.known_ids[key]) if key in value.known_ids else find_source(name, key)
        for name, key in value.sources.items()
    }
    try:
        return _check_fit(value, evaluate_value(parse_value(value.expression), sources))
    except UnknownValueError as unknown:
        found = unknown.placeholder
        # The source exists and could not be read, so its value is unknown. As a placeholder, the field would be left
        # out of a PUT.
        if isinstance(found, UnreadValue):
            message = f"{value.field} has no value: {found.why}."
            hint = "Fix the other resource, or its access, and run again."
            raise MissingValueError(WAITING_FOR_VALUE, message, hint=hint) from unknown
        return AwaitedValue(f"<{value.expression}>", why=found.why, is_public=True, is_new=found.is_new)
    except EvaluationError as error:
        message = f"{value.field} has no value: {error.message}."
        hint = "Wait until the other resource has it, or fix the expression: .?member leaves the field out."
        raise MissingValueError(WAITING_FOR_VALUE, message, hint=hint) from error


def _check_fit(value: ComputedValue, found: Any) -> Any:
    """Return what an expression gives. Raises EvaluationError if the field cannot have it.

    Only a run has the type of a member that no schema describes.
    """
    if found is None and value.is_required:
        raise EvaluationError("the field is required, and the expression gives null")
    shapes = _SHAPES.get(type(found), ())
    if shapes and value.shape in _FIELDS and value.shape not in shapes:
        raise EvaluationError(f"the expression gives {shapes[0]}, and the field must be {value.shape}")
    if value.choices and isinstance(found, str) and found not in value.choices:
        raise EvaluationError(f"the expression gives {quote_scalar(found)}, which is not {join_with_or(value.choices)}")
    return found


def describe_offline(name: str, resource: Resource, arm_id: str) -> ValueSource:
    """Describe what git has of a resource. A part of its id that is not known is in angle brackets."""
    kind = open_catalog().kind_of(resource)
    if kind is None:  # a problem of its own manifest
        raise MissingValueError(WAITING_FOR_VALUE, f"{name} has an unknown kind.")
    id_doubt = Placeholder("", why=f"the ARM id of {name} is not known yet")
    status = Placeholder("", why=f"a run reads {name}")
    return make_source(kind, arm_id, id_doubt, spec=resource.spec, status=status)


def fill_computed(value: Any, compute: Callable[[ComputedValue], Any]) -> Any:
    """Return a spec with its values in place of the expressions."""
    if isinstance(value, ComputedValue):
        return compute(value)
    if isinstance(value, Mapping):
        return {key: fill_computed(member, compute) for key, member in value.items()}
    return [fill_computed(entry, compute) for entry in value] if isinstance(value, list) else value
