"""Masks the known secrets in a JSON value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def mask_value(value: Any, mask: Callable[[str], str]) -> Any:
    """Mask every text in the value, and bytes too; names of members stay."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, bytes):
        return mask(value.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    if isinstance(value, Mapping):
        return {name: mask_value(member, mask) for name, member in value.items()}
    if isinstance(value, list | tuple):
        members = [mask_value(member, mask) for member in value]
        return members if isinstance(value, list) else tuple(members)
    return value
