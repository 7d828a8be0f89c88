"""A value as JSON has it, without the secrets that a register knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def mask_value(value: Any, mask: Callable[[str], str]) -> Any:
    """The value with every text in it masked, and bytes likewise; the names of members stay."""
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
