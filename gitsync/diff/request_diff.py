"""The differences of the bodies of two requests, leaf by leaf, without secret values.

Separate from the comparison with Azure: both sides are requests, so every difference would be sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.diff.leaf_changes import find_changes
from gitsync.diff.projection import select_asked
from gitsync.formats.json_pointer import format_pointer
from gitsync.model.secret import MASKED, Secret, is_hidden
from gitsync.model.verdict import Difference

CHANGED = "changed in git"
REMOVED = "removed from git"
CHANGED_SECRET = "the secret changed"  # noqa: S105 - says that there is one


class Bodies:
    """Compares bodies. A placeholder replaces each secret value, the same for equal values. Placeholders belong to this
    object, and the output shows none of them.
    """

    def __init__(self) -> None:
        self._secrets: list[Secret] = []

    def differences(self, new: Mapping[str, Any], old: Mapping[str, Any]) -> tuple[Difference, ...]:
        """Return the differences of the new body from the old one, sorted by path; `live` is the old side."""
        changes = find_changes(self._replace_secrets(select_asked(new)), self._replace_secrets(select_asked(old)))
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
