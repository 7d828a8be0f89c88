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
    removes: bool = True  # a PUT without the list takes them all away


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
    """What a type embeds."""
    return EMBEDDED.get(kind.casefold(), ())


def find_misshapen(kind: str, body: Mapping[str, Any]) -> str:
    """The path of the first member that has the wrong type for an embedded list; "" if all are valid."""
    for embedded in find_embedded(kind):
        found: Any = body
        for depth, name in enumerate(embedded.path, 1):
            found = found.get(name)
            if found is None:
                break
            if not _fits(found, last=depth == len(embedded.path)):
                return ".".join(embedded.path[:depth])
    return ""


def _fits(found: Any, *, last: bool) -> bool:
    if not last:
        return isinstance(found, Mapping)
    return isinstance(found, list) and all(isinstance(entry, Mapping) for entry in found)


def take_children(body: Mapping[str, Any], embedded: Embedded) -> tuple[dict[str, Any], list[Mapping[str, Any]] | None]:
    """A parent's body without the list, and the list; None where the body has none."""
    found = find_value(body, embedded.path)
    if not isinstance(found, list):
        return dict(body), None
    pointer = "/" + "/".join(embedded.path)
    return set_value(body, pointer, GONE), [
        child for child in found if isinstance(child, Mapping) and child.get("name")
    ]


def store_child(store: Store, key: str, embedded: Embedded) -> list[tuple[str, StoredResource]]:
    """The children of one kind, the oldest first."""
    start = f"{key}/{embedded.type.casefold()}/"
    found = [(below, child) for below, child in store.below(start) if "/" not in below[len(start) :]]
    return sorted(found, key=lambda pair: pair[1].number)
