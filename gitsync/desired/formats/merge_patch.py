"""Merges JSON by RFC 7396."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merge_patch(value: Any, patch: Any) -> Any:
    """Return a value with a patch merged over it: null removes a member, and a list replaces the other one."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(value) if isinstance(value, Mapping) else {}
    for name, member in patch.items():
        if member is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), member)
    return merged
