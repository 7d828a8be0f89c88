"""Where a type can be listed, and what the list of a scope holds in addition to the resources of that scope.

By ARM's contract a type is listed in its parent, or in a group and in a subscription if it has no parent, or at its
scope if it extends another resource. The tables hold the exceptions that Azure's public API descriptions show.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Flag, auto
from typing import Any

from gitsync.emulator.http.answers import refuse, refuse_method
from gitsync.emulator.http.call import ServerRequest
from gitsync.emulator.http.target import PathShape, Target, parse

_COSMOS = "microsoft.documentdb/databaseaccounts"

_UNLISTED = frozenset(
    {
        "microsoft.appconfiguration/configurationstores/keyvalues",
        "microsoft.appconfiguration/configurationstores/snapshots",
        f"{_COSMOS}/mongodbdatabases/collections/throughputsettings",
        f"{_COSMOS}/mongodbdatabases/throughputsettings",
        f"{_COSMOS}/sqldatabases/containers/throughputsettings",
        f"{_COSMOS}/sqldatabases/throughputsettings",
        "microsoft.insights/components/pricingplans",
        "microsoft.network/trafficmanagerprofiles/azureendpoints",
        "microsoft.network/trafficmanagerprofiles/externalendpoints",
        "microsoft.network/trafficmanagerprofiles/nestedendpoints",
        "microsoft.storage/storageaccounts/managementpolicies",
        "microsoft.web/sites/sourcecontrols",
    }
)
"""Types whose API can get one resource and list none."""

_IN_GROUPS_ONLY = frozenset({"microsoft.network/virtualnetworkgateways"})
"""Types without a list of the whole subscription."""

_RECORD_TYPES = frozenset({"a", "aaaa", "caa", "cname", "mx", "ns", "ptr", "soa", "srv", "txt"})
_RECORD_LISTS = frozenset(
    {"microsoft.network/dnszones/all", "microsoft.network/dnszones/recordsets", "microsoft.network/privatednszones/all"}
)
"""Lists of all records of a zone; the records of one type are a list as well."""


class Reach(Flag):
    """Which scopes a list covers, as seen from its own."""

    SCOPE = auto()
    GROUPS = auto()  # of a subscription
    ABOVE = auto()
    BELOW = auto()


_REACH: Mapping[str, Reach] = {
    "microsoft.authorization/locks": Reach.SCOPE | Reach.ABOVE | Reach.BELOW,
    "microsoft.authorization/roleassignments": Reach.SCOPE | Reach.ABOVE | Reach.BELOW,
    "microsoft.authorization/roledefinitions": Reach.SCOPE | Reach.ABOVE,
}


def find_reach(target: Target, query_filter: str) -> Reach:
    """What the list of a type covers; `atScope()` leaves out what is below."""
    is_subscription = parse(target.scope).shape is PathShape.SUBSCRIPTION
    reach = _REACH.get(target.type.casefold(), Reach.SCOPE | Reach.GROUPS if is_subscription else Reach.SCOPE)
    return reach & ~Reach.BELOW if "atscope()" in query_filter.casefold() else reach


def demand_list(call: ServerRequest) -> None:
    """Refuse a list that its type does not have."""
    target = call.target
    kind = target.type.casefold()
    if kind in _UNLISTED:
        raise refuse_method("GET")
    if kind in _IN_GROUPS_ONLY and not target.group:
        version = call.api_version
        words: dict[str, Any] = {"type": target.types[0], "namespace": target.namespace, "version": version}
        raise refuse("InvalidResourceType", versions=version, **words)


def is_record_list(target: Target) -> bool:
    """Tell whether a list is that of all records of a DNS zone."""
    return target.type.casefold() in _RECORD_LISTS


def is_record(words: str) -> bool:
    """Tell whether the rest of a key after its zone, such as `a/www`, is a record."""
    kind, _, name = words.partition("/")
    return kind in _RECORD_TYPES and bool(name) and "/" not in name
