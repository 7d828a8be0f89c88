"""The kinds below a kind, and where Azure shows resources of them: in their parent, or in a collection of their own.

Azure creates some resources together with others. No one requested them, so they need no manifest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from gitsync.desired.catalog.any_type import TypeAndVersion, list_fixed_names
from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.collections import EMBEDDED
from gitsync.desired.catalog.refused_types import SCRIPTS, find_refusal
from gitsync.desired.problems.field_path import find_member
from gitsync.model.arm_id import ArmId
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK

_CLUSTERS: Final = "microsoft.containerservice/managedclusters"
_ENDPOINTS: Final = "properties/endpoints"
_POOLS: Final = "properties/agentPoolProfiles"
_CHILD_FIELDS: Final[Mapping[str, str]] = {
    **{
        f"{parent}/{member.casefold()}": f"properties/{member}"
        for parent, members in EMBEDDED.items()
        for member in members
    },
    "microsoft.compute/virtualmachinescalesets/extensions": (
        "properties/virtualMachineProfile/extensionProfile/extensions"
    ),
    "microsoft.network/loadbalancers/inboundnatrules": "properties/inboundNatRules",
    "microsoft.network/trafficmanagerprofiles/azureendpoints": _ENDPOINTS,
    "microsoft.network/trafficmanagerprofiles/externalendpoints": _ENDPOINTS,
    "microsoft.network/trafficmanagerprofiles/nestedendpoints": _ENDPOINTS,
}
"""By type: the list in the parent that shows its children. A manifest of the parent does not name them."""


def list_embedding(arm_type: str) -> frozenset[str]:
    """Name the lists in the body of a type that hold resources of their own kinds."""
    parent = arm_type.casefold()
    return frozenset(path for child, path in _CHILD_FIELDS.items() if child.rpartition("/")[0] == parent)


def find_embedding(child_type: str) -> str:
    """Find the list in the body of its parent that holds resources of a type; "" if there is none."""
    return _CHILD_FIELDS.get(child_type.casefold(), "")


def is_separate(arm_type: str, path: str, entry: Any) -> bool:
    """Return whether an entry in the body of a type gets a manifest of its own, such as a node pool that its cluster
    does not need.
    """
    # A cluster cannot be created without a system pool, so those stay in its manifest.
    is_pool = arm_type.casefold() == _CLUSTERS and path == _POOLS
    return is_pool and isinstance(entry, Mapping) and not _is_system_pool(entry)


def is_in_parent(arm_type: str, body: Mapping[str, Any]) -> bool:
    """Return whether the manifest of its parent declares a resource: the other pools."""
    properties = body.get("properties")
    is_pool = arm_type.casefold() == f"{_CLUSTERS}/agentpools"
    return is_pool and isinstance(properties, Mapping) and _is_system_pool(properties)


def _is_system_pool(pool: Mapping[str, Any]) -> bool:
    return str(pool.get("mode", "")).casefold() == "system"


def find_embedded(child: Kind, parent: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Find the children that a parent shows; None if it shows none of that kind, so that their collection has to be
    read.
    """
    path = _CHILD_FIELDS.get(child.arm_type.casefold())
    entries = find_member(parent, *path.split("/")) if path else None
    if not isinstance(entries, list):
        return None
    for entry in entries:  # a reference to a child has no properties
        if not isinstance(entry, Mapping) or not isinstance(entry.get("id"), str):
            return None
        if not isinstance(entry.get("properties"), Mapping):
            return None
    wanted = child.arm_type.casefold()
    return [entry for entry in entries if ArmId(entry["id"]).arm_type.casefold() == wanted]


def is_named_in(arm_type: str, name: str, parent: Mapping[str, Any]) -> bool:
    """Return whether the body of a manifest names a child of this type, such as a rule of a load balancer."""
    path, properties = _CHILD_FIELDS.get(arm_type.casefold()), parent.get("properties")
    entries = find_member(parent, *path.split("/")) if path else None
    if not path and isinstance(properties, Mapping):
        # Lists of a type without a kind, such as the backend pools of a load balancer, are named as the type.
        member = arm_type.rpartition("/")[2].casefold()
        entries = next((value for name, value in properties.items() if name.casefold() == member), None)
    names = [entry.get("name") for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    return name.casefold() in {str(own).casefold() for own in names}


class KindTree:
    """The newest stable version of each kind, or the requested one, and the kinds below each. A type without a kind in
    ASO has `AzureResource`, at its newest stable version or its newest preview.
    """

    def __init__(self, catalog: Catalog, versions: Iterable[str] = ()) -> None:
        """`versions` are api-versions of ARM that are taken where a kind has them; `used` has those that some had."""
        self._catalog = catalog
        self._versions = frozenset(versions)
        self.used: set[str] = set()

    def find(self, arm_type: str) -> Kind | None:
        """Find the kind of an ARM type, in any case; None if gitsync cannot manage it: see `explain_missing`."""
        group_kind = self._catalog.group_kind_of(arm_type)
        return self._choose(*group_kind) if group_kind else self._choose_any(arm_type)

    def explain_missing(self, arm_type: str) -> str:
        """Explain why a type has no kind."""
        if refusal := find_refusal(arm_type):
            return f"type that gitsync does not write: {refusal.reason}"
        if arm_type.casefold() == SCRIPTS:
            return "type whose writes run a script"
        return READ_ONLY_TYPE if open_arm_types().find_type(arm_type) else UNKNOWN_TYPE

    def list_below(self, arm_type: str) -> tuple[Kind, ...]:
        """List ASO's kinds below a type: those whose lists are known."""
        return tuple(filter(None, map(self.find, _list_types(self._catalog).get(arm_type.casefold(), ()))))

    def list_all_below(self, arm_type: str) -> tuple[Kind, ...]:
        """List the kinds below a type, ASO's first. Azure may have no list of the others."""
        # Azure makes these for private endpoints, and the endpoint is what a manifest declares.
        others = (name for name in self._list_others(arm_type) if not _is_connection(name))
        return (*self.list_below(arm_type), *filter(None, map(self.find, others)))

    def list_refused_below(self, arm_type: str) -> tuple[str, ...]:
        """List the types below a type that gitsync does not write."""
        return tuple(name for name in self._list_others(arm_type) if find_refusal(name))

    def _list_others(self, arm_type: str) -> Iterator[str]:
        names = _list_arm_types().get(arm_type.casefold(), ())
        return (name for name in names if self._catalog.group_kind_of(name) is None)

    def _choose(self, group: str, kind: str) -> Kind | None:
        kinds = [self._catalog.kind(GVK(group, version, kind)) for version in self._catalog.versions(group, kind)]
        known = [kind for kind in kinds if kind]
        requested = [kind for kind in known if kind.api_version in self._versions]
        self.used.update(kind.api_version for kind in requested)
        stable = [kind for kind in known if not kind.api_version.endswith("preview")]
        # Versions are sorted by age, so the last one is the newest.
        return (requested or stable or known)[-1] if known else None

    def _choose_any(self, name: str) -> Kind | None:
        arm_type = open_arm_types().find_type(name)
        if arm_type is None or find_refusal(name) or name.casefold() == SCRIPTS:
            return None
        requested = [version for version in arm_type.versions if version in self._versions]
        writable = [version for version in requested if arm_type.versions[version].writable]
        self.used.update(writable)
        chosen = writable[-1] if writable else arm_type.newest_stable or arm_type.newest_preview
        return self._catalog.any_type(TypeAndVersion(arm_type.name, chosen)) if chosen else None


READ_ONLY_TYPE: Final = "type that can only be read"
UNKNOWN_TYPE: Final = "type that gitsync does not recognize"


def find_only_name(kind: Kind) -> str:
    """Find the only name that a resource of a kind can have below its parent, such as `default`; "" for none."""
    if not kind.is_any_type:
        return kind.fixed_azure_name or ""
    names = list_fixed_names(kind.arm_type, kind.api_version)
    return names[0] if len(names) == 1 else ""


def _is_connection(arm_type: str) -> bool:
    """Return whether resources of a type are what Azure keeps of private endpoints, where those lead to."""
    return arm_type.casefold().endswith("/privateendpointconnections")


@cache
def _list_types(catalog: Catalog) -> Mapping[str, tuple[str, ...]]:
    """List the types of ASO's kinds below each type, in lower case."""
    arm_types = (
        (catalog.arm_type(group, kind) or "").casefold() for group in catalog.groups() for kind in catalog.kinds(group)
    )
    return _group_by_parent(arm_types)


@cache
def _list_arm_types() -> Mapping[str, tuple[str, ...]]:
    """List all types of ARM below each type, which is in lower case."""
    return _group_by_parent(open_arm_types().list_names())


def _group_by_parent(arm_types: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    children: dict[str, list[str]] = {}
    for arm_type in arm_types:
        # A type of one segment has no parent: it is in a group or another scope.
        if arm_type.count("/") > 1:
            children.setdefault(arm_type.rpartition("/")[0].casefold(), []).append(arm_type)
    return {parent: tuple(sorted(types)) for parent, types in children.items()}


# What Azure makes by itself. The rows are from Azure's documentation; `docs/import.md` names them. Kinds whose
# importers decide, as ASO's do, are not among them (docs/reference/kinds.md#imports).


_NAMES: Final[Mapping[str, str]] = {
    "microsoft.alertsmanagement/smartdetectoralertrules": "Failure Anomalies - .*",
    "microsoft.apimanagement/service/groups": "administrators|developers|guests",
    "microsoft.authorization/policyassignments": "SecurityCenterBuiltIn",
    "microsoft.dbformysql/flexibleservers/databases": "information_schema|mysql|performance_schema|sys",
    "microsoft.eventhub/namespaces/authorizationrules": "RootManageSharedAccessKey",
    "microsoft.eventhub/namespaces/eventhubs/consumergroups": r"\$Default",
    "microsoft.network/dnszones/ns": "@",
    "microsoft.network/networkwatchers": "NetworkWatcher_[a-z0-9]+",
    "microsoft.notificationhubs/namespaces/authorizationrules": "RootManageSharedAccessKey",
    "microsoft.notificationhubs/namespaces/notificationhubs/authorizationrules": (
        "DefaultFullSharedAccessSignature|DefaultListenSharedAccessSignature"
    ),
    "microsoft.servicebus/namespaces/authorizationrules": "RootManageSharedAccessKey",
    "microsoft.servicebus/namespaces/topics/subscriptions/rules": r"\$Default",
    "microsoft.sql/servers/databases": "master",
    "microsoft.storage/storageaccounts/blobservices/containers": r"\$(?:logs|blobchangefeed)",
}
"""By type: the names, as a pattern."""

_MARKS: Final[Mapping[str, tuple[str, ...]]] = {
    "microsoft.network/networkinterfaces": ("properties", "privateEndpoint"),
}
"""By type: the member of the body that only a resource made by Azure has."""

_UNSET: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "advancedthreatprotectionsettings": {"state": frozenset({"disabled"})},
    "auditingsettings": {"state": frozenset({"disabled"}), "retentionDays": frozenset({"0"})},
    "azureadonlyauthentications": {"azureADOnlyAuthentication": frozenset({"false"})},
    "backuplongtermretentionpolicies": {
        "monthlyRetention": frozenset({"pt0s"}),
        "weeklyRetention": frozenset({"pt0s"}),
        "weekOfYear": frozenset({"0", "1"}),
        "yearlyRetention": frozenset({"pt0s"}),
    },
    "backupshorttermretentionpolicies": {
        "diffBackupIntervalInHours": frozenset({"12", "24"}),
        "retentionDays": frozenset({"7"}),
    },
    "blobservices": {"deleteRetentionPolicy": frozenset({"{'enabled': false}"})},
    "connectionpolicies": {"connectionType": frozenset({"default"})},
    "encryptionprotector": {
        "serverKeyName": frozenset({"servicemanaged"}),
        "serverKeyType": frozenset({"servicemanaged"}),
    },
    "securityalertpolicies": {"state": frozenset({"disabled"}), "retentionDays": frozenset({"0"})},
    "transparentdataencryption": {"state": frozenset({"enabled"})},
}
"""By the last word of the type of a singleton: the values, in lower case, of fields that no one has set."""

# Cosmos DB answers the type of a role by its word, or by its index among the words.
_BUILT_IN: Final = {"BuiltInRole", 0}


def is_unset(arm_type: str, fields: Mapping[str, Any]) -> bool:
    """Return whether the spec of a singleton has only values that no one has set."""
    unset = _UNSET.get(arm_type.rpartition("/")[2].casefold(), {})
    return all(str(value).casefold() in unset.get(name, ()) for name, value in fields.items())


def is_made_by_azure(arm_type: str, name: str, body: Mapping[str, Any]) -> bool:
    """Return whether Azure made a resource by itself."""
    wanted = arm_type.casefold()
    names = _NAMES.get(wanted, "")
    if names and re.fullmatch(names, name, re.IGNORECASE):
        return True
    mark = _MARKS.get(wanted, ())
    if mark and find_member(body, *mark):
        return True
    is_role = wanted.startswith("microsoft.documentdb/") and wanted.endswith("roledefinitions")
    return is_role and find_member(body, "properties", "type") in _BUILT_IN
