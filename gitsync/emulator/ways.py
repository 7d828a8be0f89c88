"""How the providers behave, type by type, as Azure was recorded to answer.

One table, read from the outside in: a row says what differs from the row of what it is nested in, and the namespace's
row from the default. A type that is nowhere in the table is done at once and shows `Succeeded`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any


class Style(StrEnum):
    """How a write that takes time tells that it does (resource-provider contract, async-api-reference)."""

    DONE = "done"  # 200 or 201, and that is all
    SETTLED = "settled"  # 200 or 201 with an Azure-AsyncOperation that is over already
    ASYNC = "async"  # 200 or 201, Azure-AsyncOperation
    ASYNC_LOCATION = "async-location"  # 200 or 201, Azure-AsyncOperation and Location
    STATE = "state"  # 200 or 201, and only provisioningState tells
    LOCATION = "location"  # 201, Location is the resource itself
    RELATIVE = "relative"  # 201, done, with a relative Location
    ACCEPTED = "accepted"  # 202, Location
    ACCEPTED_ASYNC = "accepted-async"  # 202, Azure-AsyncOperation and Location

    @property
    def is_accepted(self) -> bool:
        return self in {Style.ACCEPTED, Style.ACCEPTED_ASYNC}

    @property
    def is_over(self) -> bool:
        """Nothing goes on after the answer."""
        return self in {Style.DONE, Style.SETTLED, Style.RELATIVE}

    @property
    def has_async(self) -> bool:
        return self in {Style.SETTLED, Style.ASYNC, Style.ASYNC_LOCATION, Style.ACCEPTED_ASYNC}


class Reply(StrEnum):
    """What the body of a 202 says."""

    NOTHING = "nothing"
    RESOURCE = "resource"
    OPERATION = "operation"  # the name of the operation and its start
    STATUS = "status"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """`retry_after` is in seconds, 0 for no header; `creating`, `updating` are values of provisioningState, `running`
    is the status of an operation. `spelled` is how answers spell the type, in ids too where `spells_ids`.
    """

    put: Style = Style.DONE
    update: Style | None = None  # None: as put
    delete: Style = Style.DONE
    reply: Reply = Reply.NOTHING
    retry_after: int = 0
    creating: str = "Creating"
    updating: str = "Updating"
    running: str = "InProgress"
    state: bool = True  # provisioningState is shown
    system_data: bool = False
    etag: str = ""  # the member of the body that holds it
    group_word: str = "resourceGroups"
    long_name: bool = False  # "cluster/database" rather than "database"
    spelled: str = ""
    spells_ids: bool = False
    bare: bool = False  # an operation says its status and nothing else
    accepts_polls: bool = False  # an operation that runs answers 202 rather than 200
    gets: bool = True  # False: HEAD alone
    deletes: bool = True


_SLOW = {"put": Style.ASYNC, "delete": Style.ACCEPTED_ASYNC}
_BOTH = {"put": Style.ASYNC_LOCATION, "delete": Style.ACCEPTED_ASYNC}
_ACCEPTED = {"put": Style.ACCEPTED_ASYNC, "delete": Style.ACCEPTED_ASYNC}
_PLAIN = {"put": Style.DONE, "delete": Style.DONE, "state": False}
_BARE = {"put": Style.DONE, "update": None, "delete": Style.DONE, "etag": "", "retry_after": 0}
_FINAL = {"deletes": False}

_ROWS: Mapping[str, Mapping[str, Any]] = {
    "microsoft.alertsmanagement": {"state": False},
    "microsoft.alertsmanagement/smartdetectoralertrules": {
        "put": Style.RELATIVE,
        "group_word": "resourcegroups",
        "spelled": "microsoft.alertsmanagement/smartdetectoralertrules",
        "spells_ids": True,
    },
    "microsoft.apimanagement": {"state": False},
    "microsoft.apimanagement/service": {
        **_BOTH,
        "state": True,
        "system_data": True,
        "etag": "etag",
        "retry_after": 20,
        "creating": "Activating",
    },
    "microsoft.apimanagement/service/apis": {**_PLAIN, **_BARE, "system_data": False, "delete": Style.ACCEPTED_ASYNC},
    "microsoft.apimanagement/service/namedvalues": {**_BARE, "put": Style.ACCEPTED, "system_data": False},
    "microsoft.apimanagement/service/policyfragments": {**_BARE, "put": Style.ACCEPTED, "system_data": False},
    "microsoft.apimanagement/service/products": {**_PLAIN, **_BARE, "system_data": False},
    "microsoft.apimanagement/service/products/apis": {"gets": False},
    "microsoft.apimanagement/service/products/groups": {"gets": False},
    "microsoft.apimanagement/service/gateways": {**_PLAIN, **_BARE, "system_data": False},
    "microsoft.apimanagement/service/gateways/apis": {"gets": False},
    "microsoft.appconfiguration": {**_SLOW, "retry_after": 10, "system_data": True},
    "microsoft.appconfiguration/configurationstores/keyvalues": {**_PLAIN, "retry_after": 0, "system_data": False},
    "microsoft.appconfiguration/configurationstores/snapshots": {**_FINAL, "system_data": False},
    "microsoft.authorization": {"state": False},
    "microsoft.batch": {"put": Style.ACCEPTED, "delete": Style.ACCEPTED, "retry_after": 15},
    "microsoft.cache": _BOTH,
    "microsoft.cache/redis": {"spelled": "Microsoft.Cache/Redis", "spells_ids": True},
    "microsoft.cache/redis/firewallrules": {"put": Style.LOCATION, "state": False, "long_name": True},
    "microsoft.cache/redis/linkedservers": {"put": Style.ASYNC},
    "microsoft.cache/redis/patchschedules": {**_PLAIN, "long_name": True},
    "microsoft.communication": {
        **_SLOW,
        "creating": "Accepted",
        "running": "Creating",
        "accepts_polls": True,
        "system_data": True,
        "spelled": "microsoft.communication",
    },
    "microsoft.compute": {"put": Style.ASYNC, "delete": Style.ACCEPTED_ASYNC},
    "microsoft.compute/availabilitysets": _PLAIN,
    "microsoft.compute/diskaccesses": {**_ACCEPTED, "reply": Reply.RESOURCE},
    "microsoft.compute/diskencryptionsets": {**_ACCEPTED, "reply": Reply.RESOURCE, "creating": "Updating"},
    "microsoft.compute/disks": {**_ACCEPTED, "reply": Reply.RESOURCE, "creating": "Updating", "retry_after": 2},
    "microsoft.compute/snapshots": {**_ACCEPTED, "reply": Reply.RESOURCE, "creating": "Updating", "retry_after": 2},
    "microsoft.compute/virtualmachines": {"retry_after": 10},
    "microsoft.compute/virtualmachinescalesets": {"retry_after": 10},
    "microsoft.containerservice": _SLOW,
    "microsoft.containerservice/fleets": {"system_data": True, "etag": "eTag"},
    "microsoft.containerservice/fleets/members": {"creating": "Joining"},
    "microsoft.containerservice/managedclusters": {
        "group_word": "resourcegroups",
        "spelled": "Microsoft.ContainerService/ManagedClusters",
    },
    "microsoft.containerservice/managedclusters/maintenanceconfigurations": _PLAIN,
    "microsoft.databasewatcher": {
        **_SLOW,
        "creating": "Accepted",
        "running": "Creating",
        "accepts_polls": True,
        "system_data": True,
        "spelled": "microsoft.databasewatcher",
    },
    "microsoft.dbformariadb": {**_ACCEPTED, "reply": Reply.OPERATION, "state": False, "retry_after": 15},
    "microsoft.dbformariadb/servers/configurations": _FINAL,
    "microsoft.dbformysql/flexibleservers": {**_ACCEPTED, "reply": Reply.OPERATION, "state": False, "retry_after": 15},
    "microsoft.dbformysql/flexibleservers/configurations": _FINAL,
    "microsoft.dbforpostgresql": {**_ACCEPTED, "reply": Reply.OPERATION, "state": False, "retry_after": 60},
    "microsoft.dbforpostgresql/flexibleservers/advancedthreatprotectionsettings": _FINAL,
    "microsoft.dbforpostgresql/flexibleservers/configurations": {**_FINAL, "retry_after": 10},
    "microsoft.dbforpostgresql/flexibleservers/databases": {"retry_after": 10},
    "microsoft.devices": {
        **_SLOW,
        "creating": "Accepted",
        "running": "Running",
        "system_data": True,
        "etag": "etag",
        "bare": True,
    },
    "microsoft.documentdb": {**_ACCEPTED, "reply": Reply.STATUS, "running": "Dequeued", "state": False, "bare": True},
    "microsoft.documentdb/databaseaccounts": {
        "put": Style.ASYNC_LOCATION,
        "state": True,
        "system_data": True,
    },
    "microsoft.documentdb/mongoclusters": {
        "put": Style.ASYNC_LOCATION,
        "creating": "InProgress",
        "running": "InProgress",
        "state": True,
        "system_data": True,
    },
    "microsoft.documentdb/mongoclusters/firewallrules": {"put": Style.ACCEPTED_ASYNC, "reply": Reply.NOTHING},
    "microsoft.eventhub": {"state": False},
    "microsoft.eventhub/namespaces": {
        **_BOTH,
        "state": True,
        "running": "Running",
        "spelled": "Microsoft.EventHub/Namespaces",
    },
    "microsoft.eventhub/namespaces/authorizationrules": _PLAIN,
    "microsoft.eventhub/namespaces/eventhubs": {**_PLAIN, "spelled": "Microsoft.EventHub/namespaces/eventhubs"},
    "microsoft.insights": {"state": False},
    "microsoft.keyvault": {"system_data": True},
    "microsoft.kubernetesconfiguration": {
        "put": Style.ASYNC_LOCATION,
        "delete": Style.ACCEPTED_ASYNC,
        "system_data": True,
    },
    "microsoft.kusto": {
        **_SLOW,
        "updating": "Accepted",
        "running": "Running",
        "long_name": True,
        "spelled": "Microsoft.Kusto",
        "spells_ids": True,
    },
    "microsoft.kusto/clusters": {"spelled": "Microsoft.Kusto/Clusters", "etag": "etag"},
    "microsoft.kusto/clusters/databases": {"spelled": "Microsoft.Kusto/Clusters/Databases", "etag": ""},
    "microsoft.kusto/clusters/databases/dataconnections": {
        "spelled": "Microsoft.Kusto/Clusters/Databases/DataConnections"
    },
    "microsoft.kusto/clusters/databases/principalassignments": {
        "spelled": "Microsoft.Kusto/Clusters/Databases/PrincipalAssignments"
    },
    "microsoft.kusto/clusters/principalassignments": {
        "spelled": "Microsoft.Kusto/Clusters/PrincipalAssignments",
        "etag": "",
    },
    "microsoft.managedidentity": {"put": Style.RELATIVE, "state": False, "group_word": "resourcegroups"},
    "microsoft.monitor": {"system_data": True, "etag": "etag", "delete": Style.ACCEPTED_ASYNC, "retry_after": 15},
    "microsoft.network": {**_SLOW, "creating": "Updating", "retry_after": 10, "etag": "etag", "bare": True},
    "microsoft.network/applicationsecuritygroups": {"update": Style.SETTLED, "retry_after": 1},
    "microsoft.network/dnsforwardingrulesets": {"put": Style.ACCEPTED_ASYNC, "system_data": True, "retry_after": 5},
    "microsoft.network/dnsforwardingrulesets/forwardingrules": {"put": Style.DONE, "delete": Style.DONE},
    "microsoft.network/dnsresolvers": {"put": Style.ACCEPTED_ASYNC, "system_data": True, "retry_after": 5},
    "microsoft.network/dnszones": {
        "put": Style.DONE,
        "state": False,
        "retry_after": 3,
        "spelled": "Microsoft.Network/dnszones",
        "spells_ids": True,
    },
    **{
        f"microsoft.network/dnszones/{record}": {"delete": Style.DONE, "state": True}
        for record in ("a", "aaaa", "caa", "cname", "mx", "ns", "ptr", "srv", "txt")
    },
    "microsoft.network/loadbalancers": {"put": Style.SETTLED},
    "microsoft.network/natgateways": {"update": Style.SETTLED},
    "microsoft.network/networkinterfaces": {"put": Style.SETTLED},
    "microsoft.network/networksecuritygroups": {"update": Style.SETTLED, "retry_after": 1},
    "microsoft.network/networksecuritygroups/securityrules": {"update": None},
    "microsoft.network/networkwatchers": {"put": Style.SETTLED},
    "microsoft.network/networkwatchers/flowlogs": {"put": Style.ASYNC},
    "microsoft.network/privatednszones": {"put": Style.ACCEPTED_ASYNC, "retry_after": 30, "accepts_polls": True},
    **{
        f"microsoft.network/privatednszones/{record}": {"put": Style.DONE, "delete": Style.DONE, "state": False}
        for record in ("a", "aaaa", "cname", "mx", "ptr", "srv", "txt")
    },
    "microsoft.network/privateendpoints": {"update": Style.SETTLED},
    "microsoft.network/privateendpoints/privatednszonegroups": {"update": None},
    "microsoft.network/privatelinkservices": {"update": Style.SETTLED},
    "microsoft.network/publicipaddresses": {"retry_after": 1},
    "microsoft.network/publicipprefixes": {"update": Style.SETTLED, "retry_after": 3},
    "microsoft.network/routetables": {"update": Style.SETTLED, "retry_after": 2},
    "microsoft.network/routetables/routes": {"update": None},
    "microsoft.network/trafficmanagerprofiles": {**_PLAIN, **_BARE},
    "microsoft.network/virtualnetworks": {"update": Style.SETTLED, "retry_after": 3},
    "microsoft.network/virtualnetworks/virtualnetworkpeerings": {"update": None, "retry_after": 10},
    "microsoft.operationalinsights": {"state": False},
    "microsoft.operationalinsights/workspaces": {"put": Style.LOCATION, "state": True, "etag": "etag"},
    "microsoft.quota": {"put": Style.ACCEPTED_ASYNC, "reply": Reply.STATUS, "state": False, "retry_after": 30} | _FINAL,
    "microsoft.redhatopenshift": {**_SLOW, "system_data": True, "running": "Creating"},
    "microsoft.resources/resourcegroups": {"delete": Style.ACCEPTED, "retry_after": 15},
    "microsoft.storage/storageaccounts": {"put": Style.ACCEPTED, "update": Style.DONE, "retry_after": 17},
    **{
        f"microsoft.storage/storageaccounts/{service}services": {**_PLAIN, **_FINAL, "update": None, "retry_after": 0}
        for service in ("blob", "file", "queue", "table")
    },
    "microsoft.storage/storageaccounts/blobservices/containers": {"etag": "etag", "deletes": True},
    "microsoft.storage/storageaccounts/fileservices/shares": {"etag": "etag", "deletes": True},
    "microsoft.storage/storageaccounts/queueservices/queues": {"deletes": True},
    "microsoft.storage/storageaccounts/tableservices/tables": {"deletes": True},
    "microsoft.storage/storageaccounts/managementpolicies": {**_PLAIN, "update": None, "retry_after": 0},
}


@lru_cache(maxsize=2048)
def ways_of(kind: str) -> Ways:
    """What holds for an ARM type, in any case."""
    words = kind.casefold().split("/")
    changes: dict[str, Any] = {}
    for depth in range(1, len(words) + 1):
        changes |= _ROWS.get("/".join(words[:depth]), {})
    return replace(Ways(), **changes)


def spell(kind: str) -> str:
    """A type as its provider spells it in answers."""
    spelled = ways_of(kind).spelled
    known = spelled.count("/") + 1 if spelled else 0
    return "/".join([*spelled.split("/")[:known], *kind.split("/")[known:]]) if spelled else kind
