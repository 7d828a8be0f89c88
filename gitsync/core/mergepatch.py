"""The least that a PATCH must say so that a document becomes another in the members that are asked for (RFC 7386)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merge_patch(desired: Mapping[str, Any], live: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of `desired` that `live` lacks or has otherwise; lists and tags are replaced as a whole.

    Tags go whole because ARM replaces them so (resource-provider contract, PATCH).
    """
    patch: dict[str, Any] = {}
    for key, value in desired.items():
        there = live.get(key)
        if isinstance(value, Mapping) and isinstance(there, Mapping) and key != "tags":
            inner = merge_patch(value, there)
            if inner:
                patch[key] = inner
        elif value != there and key != "name":
            patch[key] = value
    return patch
