"""Planned changes as checks see them: without secrets, and without what is not known yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.model.check import HiddenValue, PlannedChange
from gitsync.model.record import Record
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.template import (
    ConfigMapKeyRef,
    ReferenceKeys,
    ResourceRef,
    SecretKeyRef,
    SecretMapRef,
    Text,
)
from gitsync.model.verdict import Action

_LATER = (Placeholder, ResourceRef, ConfigMapKeyRef, ReferenceKeys, Text)
_SECRETS = (Secret, SecretKeyRef, SecretMapRef)


def plan_delete(record: Record) -> PlannedChange:
    """Return the delete of a recorded resource."""
    return PlannedChange(
        key=record.key,
        action=Action.DELETE,
        arm_id=record.arm_id,
        arm_type=record.arm_id.arm_type,
        api_version=record.arm_api_version,
    )


def hide_values(value: Any) -> Any:
    """Return a body with a `HiddenValue` in place of every secret, of every value that is not known yet, and of every
    gap of a template that is not filled.
    """
    if isinstance(value, str):  # as most
        return value
    if isinstance(value, Mapping):
        return {key: hide_values(member) for key, member in value.items()}
    if isinstance(value, list):
        return [hide_values(member) for member in value]
    if isinstance(value, _LATER):  # before secrets: a placeholder is one
        return HiddenValue.LATER
    return HiddenValue.SECRET if isinstance(value, _SECRETS) else value


def list_unknown(value: Any, path: JsonPath = ()) -> Iterator[tuple[JsonPath, HiddenValue]]:
    """List where a body has a `HiddenValue`, and which; or a key that is not known yet."""
    if isinstance(value, HiddenValue):
        yield path, value
    elif isinstance(value, Mapping):
        for key, member in value.items():
            if "<" in key:  # the id of a resource that does not exist yet
                yield path, HiddenValue.LATER
            else:
                yield from list_unknown(member, (*path, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from list_unknown(member, (*path, index))


UNKNOWN_EXPRESSION: Final = "[length('foo')]"
"""What Azure's template engine takes for a value that only the deployment will know."""


def write_expressions(value: Any) -> Any:
    """Return a body as Azure's template engine is to read it: every `HiddenValue`, and every map with an unknown key,
    is an expression, and a text that looks like an expression is escaped.
    """
    if isinstance(value, HiddenValue):
        return UNKNOWN_EXPRESSION
    if isinstance(value, Mapping):
        if any("<" in key for key in value):
            return UNKNOWN_EXPRESSION
        return {key: write_expressions(member) for key, member in value.items()}
    if isinstance(value, list):
        return [write_expressions(member) for member in value]
    is_expression = isinstance(value, str) and value.startswith("[") and value.endswith("]")
    return f"[{value}" if is_expression else value


def drop_unknown(value: Any) -> Any:
    """Return a body without the fields whose value or whose key is not known."""
    if isinstance(value, Mapping):
        return {
            key: drop_unknown(member)
            for key, member in value.items()
            if "<" not in key and not isinstance(member, HiddenValue)
        }
    if isinstance(value, list):
        return [drop_unknown(member) for member in value if not isinstance(member, HiddenValue)]
    return value
