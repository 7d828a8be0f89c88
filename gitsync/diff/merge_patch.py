"""The smallest PATCH body that gives a document the desired members (RFC 7386)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merge_patch(
    desired: Mapping[str, Any], live: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the members of `desired` that differ from `live`; lists and tags are replaced as a whole.

    A member of `before` (the last sent body) that is no longer desired becomes null, which removes it. Tags are
    complete because ARM replaces them as a whole (resource-provider contract, PATCH).
    """
    before = before or {}
    patch: dict[str, Any] = {key: None for key in before if key not in desired and live.get(key) is not None}
    for key, value in desired.items():
        live_value = live.get(key)
        if isinstance(value, Mapping) and isinstance(live_value, Mapping) and key != "tags":
            previous = before.get(key)
            inner = merge_patch(value, live_value, previous if isinstance(previous, Mapping) else {})
            if inner:
                patch[key] = inner
        elif value != live_value:
            patch[key] = value
    patch.pop("name", None)  # identity comes from the URL
    return patch
