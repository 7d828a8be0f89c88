"""Which fields of ASO's objects are pointers in Go, and so when `has` finds a field (docs/expressions.md#presence).

A pointer is set if it is there at all, also to false, 0 or "". A field that is no pointer is set if it is not the zero
value of its type. The facts do not tell the two apart: these are the rules of ASO's code generator, and the few
fields of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

IsPointer = Callable[[str], bool]
"""Whether a field of a struct, by its name in the manifest, is a pointer."""

_VALUES_OF_AZURE: Final = frozenset({"azureName"})
_POINTERS_OF_KUBERNETES: Final = frozenset({
    "deletionTimestamp", "deletionGracePeriodSeconds", "controller", "blockOwnerDeletion", "time", "fieldsV1",
})  # fmt: skip


def is_azure_pointer(name: str) -> bool:
    """In the spec and status of a kind: all but the name in Azure, required fields included."""
    return name not in _VALUES_OF_AZURE


def is_kubernetes_pointer(name: str) -> bool:
    """In metadata, conditions, owners, references and destinations: those few that may be left out."""
    return name in _POINTERS_OF_KUBERNETES
