"""How the bodies of two requests differ, leaf by leaf, without showing a secret value.

Apart from the comparison with Azure: both sides are ours, so that every difference is one that would be sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.diff.leaf_changes import find_changes
from gitsync.diff.projection import select_asked
from gitsync.formats.json_pointer import format_pointer
from gitsync.model.secret import MASKED, Secret
from gitsync.model.verdict import Difference

CHANGED = "changed in git"
REMOVED = "removed from git"
CHANGED_SECRET = "the secret changed"  # noqa: S105 - says that there is one


class Bodies:
    """Compares bodies. Each secret value has a stand-in, the same wherever the value is the same, that lives no longer
    than this object; the output shows none of them.
    """

    def __init__(self) -> None:
        self._known: list[Secret] = []

    def differences(self, new: Mapping[str, Any], old: Mapping[str, Any]) -> tuple[Difference, ...]:
        """What the new body has otherwise than the old one, sorted by path; `live` is the old side."""
        found = find_changes(self._stood_in(select_asked(new)), self._stood_in(select_asked(old)))
        told = (self._difference(format_pointer(path), now, before) for path, now, before in found)
        return tuple(sorted(told, key=lambda difference: difference.path))

    def _difference(self, path: str, now: Any, before: Any) -> Difference:
        desired, live = self._masked(now), self._masked(before)
        if now is None:
            return Difference(path, desired, live, REMOVED)
        hidden = desired == live and desired != now  # what differs is masked
        return Difference(path, desired, live, CHANGED_SECRET if hidden else CHANGED)

    def _stood_in(self, value: Any) -> Any:
        if isinstance(value, Secret):
            if value not in self._known:
                self._known.append(value)
            return f"{MASKED}\0{self._known.index(value)}"
        return _each(value, self._stood_in)

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str) and value.startswith(f"{MASKED}\0"):
            return MASKED
        return _each(value, self._masked)


def _each(value: Any, change: Any) -> Any:
    """A document whose leaves went through `change`."""
    if isinstance(value, Mapping):
        return {key: change(member) for key, member in value.items()}
    return [change(member) for member in value] if isinstance(value, list) else value
