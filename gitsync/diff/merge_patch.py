"""The least that a PATCH must say so that a document becomes another in the members that are asked for (RFC 7386)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merge_patch(
    desired: Mapping[str, Any], live: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the members of `desired` that `live` lacks or has otherwise; lists and tags are replaced as a whole.

    A member of `before` (what was sent last) that is no longer asked for becomes null, which removes it. Tags go whole
    because ARM replaces them so (resource-provider contract, PATCH).
    """
    before = before or {}
    patch: dict[str, Any] = {key: None for key in before if key not in desired and live.get(key) is not None}
    for key, value in desired.items():
        there = live.get(key)
        if isinstance(value, Mapping) and isinstance(there, Mapping) and key != "tags":
            was = before.get(key)
            inner = merge_patch(value, there, was if isinstance(was, Mapping) else {})
            if inner:
                patch[key] = inner
        elif value != there:
            patch[key] = value
    patch.pop("name", None)  # identity comes from the URL
    return patch
