"""The placeholders of a body or of an id: the values that a manifest needs from elsewhere.

The root of an id below an alias is not one of them: the resource waits for its owner anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gitsync.model.export import Address, Holder
from gitsync.model.gvk import Key
from gitsync.model.template import (
    ConfigMapHole,
    Gap,
    Hole,
    ReferenceHole,
    ReferenceKeys,
    SecretHole,
    SecretMapHole,
    Text,
    find_gaps,
)


def fill_references(value: Any, arm_ids: Mapping[Key, str]) -> Any:
    """Return a body with the ARM id in place of each reference that is among `arm_ids`."""
    if isinstance(value, dict):
        return {key: fill_references(member, arm_ids) for key, member in value.items()}
    if isinstance(value, list):
        return [fill_references(member, arm_ids) for member in value]
    if isinstance(value, ReferenceKeys):
        return ReferenceKeys(tuple(fill_references(reference, arm_ids) for reference in value.references))
    return arm_ids.get(value.key, value) if isinstance(value, ReferenceHole) else value


def find_values(value: Any, namespace: str) -> Iterator[tuple[Address, str | None]]:
    """Every value of a Secret or a config map that a body or an ARM id needs, in order, as `find_value`."""
    return (found for hole in find_holes(value) if (found := find_value(hole, namespace)))


def find_value(hole: Hole, namespace: str) -> tuple[Address, str | None] | None:
    """The object and the key of the value that a placeholder stands for, None for all keys; None for a reference."""
    match hole:
        case SecretHole(name, key):
            return Address(Holder.SECRET, namespace, name), key
        case SecretMapHole(name):
            return Address(Holder.SECRET, namespace, name), None
        case ConfigMapHole(name, key):
            return Address(Holder.CONFIG_MAP, namespace, name), key
        case _:
            return None


def find_holes(value: Any) -> Iterator[Hole]:
    """Every placeholder of a body or of an ARM id, in order."""
    return list_holes(find_gaps(value))


def list_holes(gaps: Iterable[Gap]) -> Iterator[Hole]:
    """Every placeholder of the gaps of a body, in order."""
    for gap in gaps:
        if isinstance(gap, Text):
            yield from (part for part in gap.parts if isinstance(part, ConfigMapHole))
        elif isinstance(gap, ReferenceKeys):
            yield from (reference for reference in gap.references if not isinstance(reference, str))
        else:
            yield gap
