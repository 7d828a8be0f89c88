"""Splits a body into what azapi keeps in the state, and its secrets, which it merges into the body when it is sent.

azapi merges objects by their members, lists of named entries by the names, and other lists of equal length by position.
A list that it cannot merge is a secret as a whole.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from gitsync.workflows.exports.terraform.hcl import SensitiveExpression, Value

_ABSENT: Final = object()
_NAME: Final = "name"


class BodyParts(NamedTuple):
    """The two parts of a body; empty for none."""

    plain: dict[str, Value]
    sensitive: dict[str, Value]


def split_body(body: dict[str, Value]) -> BodyParts:
    """Split a body by its secrets."""
    plain, sensitive = _split(body)
    return BodyParts({} if plain is _ABSENT else plain, {} if sensitive is _ABSENT else sensitive)


def _split(value: Any) -> tuple[Any, Any]:
    if isinstance(value, SensitiveExpression):
        return _ABSENT, value
    if isinstance(value, dict):
        return _split_object(value)
    return _split_list(value) if isinstance(value, list) else (value, _ABSENT)


def _split_object(value: dict[str, Any]) -> tuple[Any, Any]:
    parts = {key: _split(member) for key, member in value.items()}
    plain = {key: part for key, (part, _) in parts.items() if part is not _ABSENT}
    sensitive = {key: part for key, (_, part) in parts.items() if part is not _ABSENT}
    # An object that was empty stays one; of an object with secrets alone, nothing is left to keep.
    return (plain if plain or not sensitive else _ABSENT), (sensitive or _ABSENT)


def _split_list(value: list[Any]) -> tuple[Any, Any]:
    parts = [_split(entry) for entry in value]
    if all(sensitive is _ABSENT for _, sensitive in parts):
        return value, _ABSENT
    if not all(isinstance(entry, dict) for entry in value):
        return _ABSENT, value
    plain = [{} if part is _ABSENT else part for part, _ in parts]
    secrets = [{} if part is _ABSENT else part for _, part in parts]
    names = [entry.get(_NAME) for entry in plain]
    if not any(names):
        return plain, secrets
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        return _ABSENT, value
    named = ({_NAME: name, **part} for name, part in zip(names, secrets, strict=True) if part)
    return plain, list(named)
