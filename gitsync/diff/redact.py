"""Hide what Azure answers where git has a secret: some providers give back what others keep to themselves.

Apart from the comparison, which goes leaf by leaf: where a whole list or object is shown as one difference, or kept as
one leaf, the values inside would show with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitsync.model.secret import MASKED, Secret
from gitsync.model.verdict import Comparison, Difference

SecretShape = tuple[str, ...]
"""A path without case, in which every index is `*`: entries of a list may stand elsewhere in Azure's answer."""


def find_secret_shapes(*bodies: Mapping[str, Any] | None) -> frozenset[SecretShape]:
    """Where these bodies have a secret, or MASKED in its place."""
    return frozenset(shape for body in bodies for shape in _shapes(body, ()))


def redact_value(value: Any, shapes: frozenset[SecretShape], at: SecretShape = ()) -> Any:
    """Return a value as it may be shown: MASKED wherever a secret may stand. `at` is where the value itself stands."""
    if not shapes or value is None:
        return value
    if any(at[: len(shape)] == shape for shape in shapes):
        return MASKED
    if isinstance(value, Mapping):
        return {key: redact_value(child, shapes, (*at, _step(key))) for key, child in value.items()}
    return [redact_value(entry, shapes, (*at, "*")) for entry in value] if isinstance(value, list) else value


def redact_comparison(comparison: Comparison, shapes: frozenset[SecretShape]) -> Comparison:
    """Return a comparison whose differences show no secret, on either side."""
    return replace(comparison, differences=tuple(_veiled(found, shapes) for found in comparison.differences))


def _veiled(found: Difference, shapes: frozenset[SecretShape]) -> Difference:
    at = tuple(_step(step.replace("~1", "/").replace("~0", "~")) for step in found.path.split("/")[1:])
    return replace(found, desired=redact_value(found.desired, shapes, at), live=redact_value(found.live, shapes, at))


def _shapes(value: Any, at: SecretShape) -> Iterator[SecretShape]:
    if isinstance(value, Secret) or value == MASKED:
        yield at
    elif isinstance(value, dict):
        for key, child in value.items():
            yield from _shapes(child, (*at, _step(key)))
    elif isinstance(value, list):
        for entry in value:
            yield from _shapes(entry, (*at, "*"))


def _step(key: str) -> str:
    return "*" if key.isdecimal() else key.casefold()
