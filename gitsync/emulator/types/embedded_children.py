"""Children that Azure embeds in their parent: a subnet is a resource, and an entry of its virtual network as well.

A child is stored only as a resource of its own. The answers for the parent are assembled from them; a PUT of the parent
that omits a child deletes it, as in Azure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitsync.emulator.patch import GONE, find_value, set_value
from gitsync.emulator.state.store import Store
from gitsync.emulator.state.stored import StoredResource


@dataclass(frozen=True, slots=True)
class Embedded:
    """`path` leads to the list in the parent's body, `type` is the last word of the child's type."""

    path: tuple[str, ...]
    type: str
    always: bool = True  # an empty list is shown
    removes: bool = True  # a PUT without the list deletes them all


EMBEDDED: Mapping[str, tuple[Embedded, ...]] = {
    "microsoft.compute/virtualmachinescalesets": (
        Embedded(("properties", "virtualMachineProfile", "extensionProfile", "extensions"), "extensions", always=False),
    ),
    "microsoft.network/loadbalancers": (Embedded(("properties", "inboundNatRules"), "inboundNatRules"),),
    "microsoft.network/networksecuritygroups": (Embedded(("properties", "securityRules"), "securityRules"),),
    "microsoft.network/routetables": (Embedded(("properties", "routes"), "routes"),),
    "microsoft.network/virtualnetworks": (
        Embedded(("properties", "subnets"), "subnets"),
        Embedded(("properties", "virtualNetworkPeerings"), "virtualNetworkPeerings", removes=False),
    ),
}


def find_embedded(kind: str) -> tuple[Embedded, ...]:
    """The lists that a type embeds."""
    return EMBEDDED.get(kind.casefold(), ())


def find_misshapen(kind: str, body: Mapping[str, Any]) -> str:
    """The path of the first member that has the wrong type for an embedded list; "" if all are valid."""
    for embedded in find_embedded(kind):
        value: Any = body
        for depth, name in enumerate(embedded.path, 1):
            value = value.get(name)
            if value is None:
                break
            if not _fits(value, last=depth == len(embedded.path)):
                return ".".join(embedded.path[:depth])
    return ""


def _fits(value: Any, *, last: bool) -> bool:
    if not last:
        return isinstance(value, Mapping)
    return isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value)


def take_children(body: Mapping[str, Any], embedded: Embedded) -> tuple[dict[str, Any], list[Mapping[str, Any]] | None]:
    """A parent's body without the list, and the list; None if the body has none."""
    value = find_value(body, embedded.path)
    if not isinstance(value, list):
        return dict(body), None
    pointer = "/" + "/".join(embedded.path)
    return set_value(body, pointer, GONE), [
        child for child in value if isinstance(child, Mapping) and child.get("name")
    ]


def store_child(store: Store, key: str, embedded: Embedded) -> list[tuple[str, StoredResource]]:
    """The children of one kind, the oldest first."""
    prefix = f"{key}/{embedded.type.casefold()}/"
    rows = [(child_key, child) for child_key, child in store.below(prefix) if "/" not in child_key[len(prefix) :]]
    return sorted(rows, key=lambda pair: pair[1].number)
