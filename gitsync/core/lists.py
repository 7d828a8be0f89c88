"""How the entries of two lists are paired before they are compared.

Apart from the comparison, because Azure keeps some lists in an order of its own, and some hold entries that are
resources in their own right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

KEY_FIELDS = ("name", "id")
"""Fields that identify an entry: the first that all entries have, with distinct values."""

OPEN_LISTS = frozenset(
    {
        "agentPoolProfiles",  # pools are also resources (ManagedClustersAgentPool)
        "inboundNatRules",
        "routes",
        "securityRules",
        "subnets",
        "virtualNetworkPeerings",
    }
)
"""Lists that also hold resources of their own kind: compared by the entries that git asks for."""


def key_field(*lists: Sequence[Any]) -> str | None:
    """Name the field that identifies the entries of all these lists, or None where only their place does."""
    return next((field for field in KEY_FIELDS if all(_identifies(field, entries) for entries in lists)), None)


def by_key(entries: Sequence[Any], field: str) -> dict[str, tuple[int, Any]]:
    """Index entries and their places by their key, without case, as ARM compares names and ids."""
    return {entry[field].casefold(): (index, entry) for index, entry in enumerate(entries)}


def member(body: Mapping[str, Any], key: str) -> Any:
    """Return a member by its name, or by an ARM id in another case; None where there is none (or null)."""
    if key in body or not key.startswith("/"):
        return body.get(key)
    return next((value for name, value in body.items() if name.casefold() == key.casefold()), None)


def _identifies(field: str, entries: Sequence[Any]) -> bool:
    keys = [entry.get(field) if isinstance(entry, Mapping) else None for entry in entries]
    texts = [key.casefold() for key in keys if isinstance(key, str) and key]
    return len(texts) == len(keys) == len(set(texts))
