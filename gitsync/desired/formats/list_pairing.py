"""The pairs of entries of two lists that are compared.

Separate from the comparison, because Azure keeps some lists in another order, and the entries of some are resources.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.formats.region_names import is_region, normalize_region
from gitsync.desired.formats.regions import REGIONS

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

TAGS: Final = "tags"
"""The mapping whose names have no case: some providers answer them in small letters."""

ATOMIC_MAPPINGS: Final = frozenset({"databasePrivileges", "memberIds", "addedMemberIds", "ownerIds", "addedOwnerIds"})
"""Mappings that are complete in git, unlike bodies of ARM: a member that only the live state has is a difference, and
an empty one asks for no members.
"""


def find_key_field(*lists: Sequence[Any]) -> str | None:
    """Return the field that identifies the entries of all these lists, or None if only their index does."""
    for field in KEY_FIELDS:
        keys_of_lists = ([find_key(entry, field) for entry in entries] for entries in lists)
        # A repeated key would pair two entries with one, and hide the other.
        if all(None not in keys and len(keys) == len(set(keys)) for keys in keys_of_lists):
            return field
    return None


def find_key(entry: Any, field: str) -> str | None:
    """The key of an entry in one spelling: without case, as ARM compares names and ids; a region also without blanks,
    in a name too; an address without /32. None if the entry has no key.
    """
    for step in field.split("."):
        entry = entry.get(step) if isinstance(entry, dict) else None
    is_number = isinstance(entry, int) and not isinstance(entry, bool)
    text = str(entry) if is_number else entry
    # An empty name identifies nothing, and several entries may have one.
    if not isinstance(text, str) or not text:
        return None
    region = normalize_region(text) if is_region(field.casefold()) or field == "name" else ""
    # An entry may be named by a region: the 'westus' of targetRegions comes back 'West US'.
    return region if region and (field != "name" or region in REGIONS) else _ALONE.sub("", text.casefold())


def keep_key(entry: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Return an entry with its key only."""
    step, _, inside = field.partition(".")
    return {step: keep_key(entry[step], inside) if inside else entry[step]}


def index_by_key(entries: Sequence[Any], field: str) -> dict[str, tuple[int, Any]]:
    """Index entries and their positions by their key. The field must identify them."""
    return {key: (index, entry) for index, entry in enumerate(entries) if (key := find_key(entry, field))}


def is_ordered(path: JsonPath) -> bool:
    """Return whether the order of the list at a path counts, or of a list that contains it."""
    return next((step for step in reversed(path) if isinstance(step, str)), "") in ORDERED


def is_plain(*lists: Sequence[Any]) -> bool:
    """Return whether these lists hold plain values only."""
    return not any(isinstance(entry, dict | list) for entries in lists for entry in entries)


def is_same_key(left: str, right: str, inside: Any = "") -> bool:
    """Return whether two keys of the mapping `inside` name the same member: ARM ids and tag names do in any case."""
    return left == right or (_has_no_case(left, inside) and left.casefold() == right.casefold())


def find_member(body: Mapping[str, Any], key: str, inside: Any = "") -> Any:
    """Return a member of the mapping `inside` by its name; None if it is absent or null. An ARM id and the name of a
    tag are found in another case, too.
    """
    if key in body or not _has_no_case(key, inside):
        return body.get(key)
    return next((value for name, value in body.items() if name.casefold() == key.casefold()), None)


def _has_no_case(key: str, inside: Any) -> bool:
    """ARM ids and names of tags have no case (resource-provider contract). Values of tags have."""
    return inside == TAGS or key.startswith("/")
