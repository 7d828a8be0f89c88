"""Hide Azure's values in places where git has a secret: some providers return secrets.

Separate from the comparison, which goes leaf by leaf: if a whole list or object is one difference, the values inside
would show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitsync.model.secret import MASKED, is_hidden
from gitsync.model.verdict import Comparison, Difference

SecretShape = tuple[str, ...]
"""A path without case, in which every index is `*`: Azure may return entries of a list in another order."""


def find_secret_shapes(*bodies: Mapping[str, Any] | None) -> frozenset[SecretShape]:
    """Find the places of these bodies with a secret, or MASKED instead."""
    return frozenset(shape for body in bodies for shape in _iterate_shapes(body, ()))


def redact_value(value: Any, shapes: frozenset[SecretShape], at: SecretShape = ()) -> Any:
    """Return a value as it may be shown: MASKED wherever a secret may be. `at` is the place of the value."""
    if not shapes or value is None:
        return value
    if any(at[: len(shape)] == shape for shape in shapes):
        return MASKED
    if isinstance(value, Mapping):
        return {key: redact_value(child, shapes, (*at, _normalize_step(key))) for key, child in value.items()}
    return [redact_value(entry, shapes, (*at, "*")) for entry in value] if isinstance(value, list) else value


def redact_comparison(comparison: Comparison, shapes: frozenset[SecretShape]) -> Comparison:
    """Return a comparison whose differences show no secret, on either side."""
    return replace(
        comparison, differences=tuple(_redact_difference(difference, shapes) for difference in comparison.differences)
    )


def _redact_difference(difference: Difference, shapes: frozenset[SecretShape]) -> Difference:
    at = tuple(_normalize_step(step.replace("~1", "/").replace("~0", "~")) for step in difference.path.split("/")[1:])
    return replace(
        difference, desired=redact_value(difference.desired, shapes, at), live=redact_value(difference.live, shapes, at)
    )


def _iterate_shapes(value: Any, at: SecretShape) -> Iterator[SecretShape]:
    if is_hidden(value) or value == MASKED:
        yield at
    elif isinstance(value, dict):
        for key, child in value.items():
            yield from _iterate_shapes(child, (*at, _normalize_step(key)))
    elif isinstance(value, list):
        for entry in value:
            yield from _iterate_shapes(entry, (*at, "*"))


def _normalize_step(key: str) -> str:
    return "*" if key.isdecimal() else key.casefold()
