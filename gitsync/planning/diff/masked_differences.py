"""Keeps secret values out of differences: Azure's, in places where git has a secret, since some providers return
secrets, and those in the bodies of two requests.

Separate from the comparison with Azure, which goes leaf by leaf: if a whole list or object is one difference, the
values inside would show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitsync.desired.formats.json_pointer import format_pointer
from gitsync.desired.formats.leaf_changes import compute_changes
from gitsync.model.secret import MASKED, Secret, is_hidden
from gitsync.model.verdict import Comparison, Difference
from gitsync.planning.diff.projection import select_desired

CHANGED = "changed in git"
REMOVED = "removed from git"
CHANGED_SECRET = "the secret changed"  # noqa: S105 - not a secret, but the note that one changed

SecretShape = tuple[str, ...]
"""A path without case, in which every index is `*`: Azure may return entries of a list in another order."""


def list_secret_shapes(*bodies: Mapping[str, Any] | None) -> frozenset[SecretShape]:
    """List the paths in these bodies with a secret, or MASKED instead."""
    return frozenset(shape for body in bodies for shape in _iterate_shapes(body, ()))


def redact_value(value: Any, shapes: frozenset[SecretShape], at: SecretShape = ()) -> Any:
    """Return a value as it may be shown: MASKED wherever a secret may be. `at` is the path of the value."""
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
    # A pointer escapes the slash in a key, and a shape has keys as they are.
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
    # A pointer does not show whether a number is an index or a key.
    return "*" if key.isdecimal() else key.casefold()


class Bodies:
    """Compares bodies. A placeholder replaces each secret value, the same for equal values. Placeholders belong to this
    object, and the output shows none of them.
    """

    def __init__(self) -> None:
        self._secrets: list[Secret] = []

    def differences(self, new: Mapping[str, Any], old: Mapping[str, Any]) -> tuple[Difference, ...]:
        """Return the differences of the new body from the old one, sorted by path; `live` is the old side."""
        changes = compute_changes(
            self._replace_secrets(select_desired(new)), self._replace_secrets(select_desired(old))
        )
        differences = (
            self._make_difference(format_pointer(path), new_value, old_value) for path, new_value, old_value in changes
        )
        return tuple(sorted(differences, key=lambda difference: difference.path))

    def _make_difference(self, path: str, new_value: Any, old_value: Any) -> Difference:
        desired, live = self._mask(new_value), self._mask(old_value)
        if new_value is None:
            return Difference(path, desired, live, REMOVED)
        hidden = desired == live and desired != new_value  # only secrets differ
        return Difference(path, desired, live, CHANGED_SECRET if hidden else CHANGED)

    def _replace_secrets(self, value: Any) -> Any:
        if isinstance(value, Secret) and not is_hidden(value):
            return str(value)
        if isinstance(value, Secret):
            if value not in self._secrets:
                self._secrets.append(value)
            # The index keeps different secrets different, so that a changed one is still a change.
            return f"{MASKED}\0{self._secrets.index(value)}"
        return _map_members(value, self._replace_secrets)

    def _mask(self, value: Any) -> Any:
        if isinstance(value, str) and value.startswith(f"{MASKED}\0"):
            return MASKED
        return _map_members(value, self._mask)


def _map_members(value: Any, change: Any) -> Any:
    """Return a mapping or list with `change` applied to its members."""
    if isinstance(value, Mapping):
        return {key: change(member) for key, member in value.items()}
    return [change(member) for member in value] if isinstance(value, list) else value
