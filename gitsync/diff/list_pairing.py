"""How the entries of two lists are paired before they are compared.

Apart from the comparison, because Azure keeps some lists in an order of its own, and some hold entries that are
resources in their own right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gitsync.diff.rules.words import is_region, normalize_region
from gitsync.formats.json_pointer import JsonPath

KEY_FIELDS: Final = (
    "name",
    "id",
    "key",
    "path",
    "category",
    "categoryGroup",
    "flag",
    "objectId",
    "value",
    "locationName",
    "location",
    "addressPrefix",
    "ipAddressOrRange",
    "urlTemplate",
    "server",
    "subnet.id",
    "sourceVault.id",
    "port",
)
"""Fields that identify an entry: the first that all entries have, with distinct values. A dot leads inside."""

ORDERED: Final = frozenset(
    {
        "args",
        "arguments",
        "cipherSuites",
        "command",
        "compositeIndexes",
        "customDnsServers",
        "dnsServers",
        "entrypoint",
        "paths",  # of a partition key: the order of its levels
        "preferredRegions",
    }
)
"""Lists whose order counts; Azure keeps other lists of plain values in an order of its own."""

_ALONE: Final = re.compile(r"(?<=\.\d)/32$|(?<=\.\d\d)/32$|(?<=\.\d\d\d)/32$")

OPEN_LISTS: Final = frozenset(
    {
        "agentPoolProfiles",  # pools are also resources (ManagedClustersAgentPool)
        "inboundNatRules",
        "routes",
        "securityRules",
        "subnets",
        "virtualNetworkPeerings",
    }
)
"""Lists that also hold resources of their own kind: compared by the entries that git sets."""


def find_key_field(*lists: Sequence[Any]) -> str | None:
    """Name the field that identifies the entries of all these lists, or None where only their place does."""
    return next((field for field in KEY_FIELDS if all(_identifies(field, entries) for entries in lists)), None)


def find_key(entry: Any, field: str) -> str | None:
    """The key of an entry in one spelling: without case, as ARM compares names and ids; a region also without blanks,
    an address without the network that it is alone in. None where the entry has no key.
    """
    for step in field.split("."):
        entry = entry.get(step) if isinstance(entry, dict) else None
    is_number = isinstance(entry, int) and not isinstance(entry, bool)
    text = str(entry) if is_number else entry
    if not isinstance(text, str) or not text:
        return None
    return normalize_region(text) if is_region(field.casefold()) else _ALONE.sub("", text.casefold())


def keep_key(entry: Mapping[str, Any], field: str) -> dict[str, Any]:
    """An entry cut down to its key."""
    step, _, inside = field.partition(".")
    return {step: keep_key(entry[step], inside) if inside else entry[step]}


def index_by_key(entries: Sequence[Any], field: str) -> dict[str, tuple[int, Any]]:
    """Index entries and their places by their key. The field must identify them."""
    return {key: (index, entry) for index, entry in enumerate(entries) if (key := find_key(entry, field))}


def is_ordered(path: JsonPath) -> bool:
    """Whether the order of the list at a path counts, or of one that it stands in."""
    return next((step for step in reversed(path) if isinstance(step, str)), "") in ORDERED


def is_plain(*lists: Sequence[Any]) -> bool:
    """Whether these lists hold plain values alone."""
    return not any(isinstance(entry, dict | list) for entries in lists for entry in entries)


def find_member(body: Mapping[str, Any], key: str) -> Any:
    """Return a member by its name, or by an ARM id in another case; None where there is none (or null)."""
    if key in body or not key.startswith("/"):
        return body.get(key)
    return next((value for name, value in body.items() if name.casefold() == key.casefold()), None)


def _identifies(field: str, entries: Sequence[Any]) -> bool:
    keys = [find_key(entry, field) for entry in entries]
    return None not in keys and len(keys) == len(set(keys))
