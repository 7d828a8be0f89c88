"""The placeholders of a body or of an id: the values that a manifest needs from elsewhere.

The root of an id below an alias is not one of them: the resource waits for its owner anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitsync.model.template import (
    ConfigMapHole,
    Hole,
    ReferenceKeys,
    Text,
)


def find_holes(value: Any) -> Iterator[Hole]:
    """Every placeholder of a body or of an ARM id, in order."""
    if isinstance(value, dict):
        for member in value.values():
            yield from find_holes(member)
    elif isinstance(value, list):
        for member in value:
            yield from find_holes(member)
    elif isinstance(value, Hole):
        yield value
    elif isinstance(value, Text):
        yield from (part for part in value.parts if isinstance(part, ConfigMapHole))
    elif isinstance(value, ReferenceKeys):
        yield from (reference for reference in value.references if not isinstance(reference, str))
