"""A scalar as its place in a manifest allows it: Azure answers some numbers as text, and words in a case of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from gitsync.errors import UnfitValueError
from gitsync.model.facts import FieldType


def fit_scalar(type_: FieldType, value: Any) -> Any:
    """Return a value as a type has it; of free JSON without nulls. Raises UnfitValueError if it has no such form."""
    if isinstance(type_, Mapping):
        return _fit_choice(type_["enum"], value)
    fit = _FITS.get(type_)
    if fit is None:
        raise UnfitValueError
    return fit(value)


def _fit_choice(choices: list[Any], value: Any) -> Any:
    """The choice that a value means. Recorded: a role definition of Cosmos DB answers with the number of the choice."""
    if value == "":
        return None
    if isinstance(value, int) and not isinstance(value, bool) and isinstance(choices[0], str):
        value = choices[value] if 0 <= value < len(choices) else value
    for choice in choices:
        if str(choice).casefold() == _format_text(value).casefold():
            return choice
    raise UnfitValueError


def _fit_text(value: Any) -> str:
    if isinstance(value, Mapping | list):
        raise UnfitValueError
    return _format_text(value).replace("\r\n", "\n")  # how a line ends says nothing


def _format_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _fit_boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.casefold() in {"true", "false"}:
        return value.casefold() == "true"
    raise UnfitValueError


def _fit_number(value: Any) -> int | float:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise UnfitValueError from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnfitValueError
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _fit_integer(value: Any) -> int:
    number = _fit_number(value)
    if isinstance(number, float):
        raise UnfitValueError
    return number


def _drop_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _drop_nulls(member) for key, member in value.items() if member is not None}
    return [_drop_nulls(member) for member in value] if isinstance(value, list) else value


_FITS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "string": _fit_text,
    "boolean": _fit_boolean,
    "integer": _fit_integer,
    "number": _fit_number,
    "any": _drop_nulls,
}
