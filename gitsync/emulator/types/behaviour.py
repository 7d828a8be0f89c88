"""The behaviour of each type: the course of its writes and the form of its answers, from recorded Azure answers.

The row of a namespace has the differences from the default, the row of a type the differences from its namespace, and a
row with a star applies to everything nested below. A type without a row completes at once and shows `Succeeded`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any


class Style(StrEnum):
    """How a write shows that it takes time (resource-provider contract, async-api-reference)."""

    DONE = "done"  # 200 or 201, nothing else
    SETTLED = "settled"  # 200 or 201 with an Azure-AsyncOperation that has ended
    ASYNC = "async"  # 200 or 201, Azure-AsyncOperation
    ASYNC_LOCATION = "async-location"  # 200 or 201, Azure-AsyncOperation and Location
    STATE = "state"  # 200 or 201; only provisioningState shows the progress
    LOCATION = "location"  # 201, Location is the resource itself
    RELATIVE = "relative"  # 201, done, with a relative Location
    ACCEPTED = "accepted"  # 202, Location
    ACCEPTED_ASYNC = "accepted-async"  # 202, Azure-AsyncOperation and Location

    @property
    def is_accepted(self) -> bool:
        return self in {Style.ACCEPTED, Style.ACCEPTED_ASYNC}

    @property
    def is_over(self) -> bool:
        """Return whether the answer completes the write."""
        return self in {Style.DONE, Style.SETTLED, Style.RELATIVE}

    @property
    def has_async(self) -> bool:
        return self in {Style.SETTLED, Style.ASYNC, Style.ASYNC_LOCATION, Style.ACCEPTED_ASYNC}


class AcceptedBody(StrEnum):
    """The body of a 202."""

    NOTHING = "nothing"
    RESOURCE = "resource"
    OPERATION = "operation"  # the name of the operation and its start
    STATUS = "status"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeBehaviour:
    """How a type answers."""

    put: Style = Style.DONE
    update: Style | None = None  # None: as put
    delete: Style = Style.DONE
    reply: AcceptedBody = AcceptedBody.NOTHING  # the body of an answer 201 or 202
    retry_after: int = 0  # seconds, 0 for no header
    creating: str = "Creating"  # provisioningState while it is created
    updating: str = "Updating"  # provisioningState while it is updated
    ready: str = "Succeeded"  # provisioningState afterwards
    running: str = "InProgress"  # the status of an operation until it ends
    state: bool = True  # provisioningState is shown
    sends_state: bool = False  # a PUT sets provisioningState
    system_data: bool = False  # answers have `systemData`
    etag: str = ""  # the member of the body that has it
    group_word: str = "resourceGroups"  # the segment of ids before the name of the group
    long_name: bool = False  # "cluster/database" rather than "database"
    spelled: str = ""  # the type, or its first words, as in answers
    spelled_in_ids: str = ""  # the same, as in ids
    lowers_types: bool = False  # types in ids are in lower case
    lowers_ids: bool = False  # ids are in lower case
    bare: bool = False  # the answer for an operation has only its status
    accepts_polls: bool = False  # polls of a running operation return 202 instead of 200
    gets: bool = True  # False: HEAD alone
    deletes: bool = True  # False: a DELETE is refused
    unlisted: tuple[str, ...] = ()  # members of the body that entries of lists lack
    ends_empty: bool = False  # the last page of a list has no entries
    kept_by: str = ""  # the nested type that must be deleted before this one, in lower case


def _spell_both(spelled: str) -> dict[str, str]:
    """Give types and ids the same spelling."""
    return {"spelled": spelled, "spelled_in_ids": spelled}


_SLOW = {"put": Style.ASYNC, "delete": Style.ACCEPTED_ASYNC}
_BOTH = {"put": Style.ASYNC_LOCATION, "delete": Style.ACCEPTED_ASYNC}
_ACCEPTED = {"put": Style.ACCEPTED_ASYNC, "delete": Style.ACCEPTED_ASYNC}
_PLAIN = {"put": Style.DONE, "delete": Style.DONE, "state": False}
_WATCHED = {**_SLOW, "creating": "Accepted", "running": "Creating", "accepts_polls": True, "system_data": True}
_FINAL = {"deletes": False}
_SILENT = {"gets": False}
_RECORDED_RUN = {"state": False, "sends_state": True}
"""No template is deployed: what a PUT has is what a deployment has made."""

_DELETED = {"system_data": False, "state": False, "ends_empty": True}

_ROWS: Mapping[str, Mapping[str, Any]] = {
    "microsoft.alertsmanagement": {"state": False},
    "microsoft.alertsmanagement/smartdetectoralertrules": {
        "put": Style.RELATIVE,
        "group_word": "resourcegroups",
        "spelled": "Microsoft.AlertsManagement/smartDetectorAlertRules",
        "spelled_in_ids": "microsoft.alertsmanagement/smartdetectoralertrules",
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
    "microsoft.apimanagement/service/apis": {"delete": Style.ACCEPTED_ASYNC},
    "microsoft.apimanagement/service/gateways/apis": _SILENT,
    "microsoft.apimanagement/service/namedvalues": {"put": Style.ACCEPTED_ASYNC, "state": True},
    "microsoft.apimanagement/service/policyfragments": {
        "put": Style.ACCEPTED_ASYNC,
        "state": True,
        "spelled_in_ids": "Microsoft.ApiManagement/service/policyfragments",
    },
    "microsoft.apimanagement/service/products/apis": _SILENT,
    "microsoft.apimanagement/service/products/groups": _SILENT,
    "microsoft.apimanagement/service/users": {"delete": Style.ACCEPTED_ASYNC},
    "microsoft.app/containerapps/authconfigs": {
        "state": False,
        "spelled": "Microsoft.App/containerapps/authconfigs",
    },
    "microsoft.app/jobs": {"system_data": True},
    "microsoft.app/managedenvironments": {"system_data": True},
    "microsoft.appconfiguration": {**_SLOW, "retry_after": 10, "system_data": True},
    **{f"microsoft.appconfiguration/{path}deletedconfigurationstores": _DELETED for path in ("", "locations/")},
    "microsoft.appconfiguration/configurationstores/keyvalues": {**_PLAIN, "system_data": False},
    "microsoft.appconfiguration/configurationstores/snapshots": {**_FINAL, "system_data": False},
    "microsoft.authorization": {"state": False},
    "microsoft.batch": {"put": Style.ACCEPTED, "delete": Style.ACCEPTED, "retry_after": 15},
    "microsoft.cache": _BOTH,
    "microsoft.cache/redis": {"delete": Style.ACCEPTED, **_spell_both("Microsoft.Cache/Redis")},
    "microsoft.cache/redis/*": _spell_both("Microsoft.Cache/Redis"),
    "microsoft.cache/redis/firewallrules": {"put": Style.LOCATION, "state": False, "long_name": True},
    "microsoft.cache/redis/linkedservers": {"put": Style.ASYNC},
    "microsoft.cache/redis/patchschedules": {
        **_PLAIN,
        "long_name": True,
        "spelled": "Microsoft.Cache/Redis/PatchSchedules",
    },
    "microsoft.cdn/profiles/afdendpoints/routes": {"spelled": "Microsoft.Cdn/profiles/afdendpoints/routes"},
    "microsoft.cognitiveservices/accounts/deployments": {"system_data": True, "etag": "etag"},
    "microsoft.communication": _WATCHED | {"lowers_types": True},
    "microsoft.communication/emailservices/domains/senderusernames": {
        **_PLAIN,
        "system_data": False,
        "lowers_ids": True,
    },
    "microsoft.compute": _SLOW,
    "microsoft.compute/availabilitysets": _PLAIN,
    "microsoft.compute/diskaccesses": {**_ACCEPTED, "reply": AcceptedBody.RESOURCE},
    "microsoft.compute/diskencryptionsets": {**_ACCEPTED, "reply": AcceptedBody.RESOURCE, "creating": "Updating"},
    "microsoft.compute/disks": {**_ACCEPTED, "reply": AcceptedBody.RESOURCE, "creating": "Updating", "retry_after": 2},
    "microsoft.compute/snapshots": {
        **_ACCEPTED,
        "reply": AcceptedBody.RESOURCE,
        "creating": "Updating",
        "retry_after": 2,
    },
    "microsoft.compute/virtualmachines": {"retry_after": 10},
    "microsoft.compute/virtualmachinescalesets": {"retry_after": 10},
    "microsoft.compute/virtualmachinescalesets/extensions": {"retry_after": 10},
    "microsoft.containerservice": _SLOW,
    "microsoft.containerservice/fleets": {"system_data": True, "etag": "eTag"},
    "microsoft.containerservice/fleets/*": {"system_data": True, "etag": "eTag"},
    "microsoft.containerservice/fleets/members": {"creating": "Joining"},
    "microsoft.containerservice/fleets/updatestrategies": {"unlisted": ("eTag",)},
    "microsoft.containerservice/managedclusters": {
        "group_word": "resourcegroups",
        "spelled": "Microsoft.ContainerService/ManagedClusters",
    },
    "microsoft.containerservice/managedclusters/agentpools": {"group_word": "resourcegroups"},
    "microsoft.containerservice/managedclusters/maintenanceconfigurations": _PLAIN,
    "microsoft.databasewatcher": _WATCHED | {"lowers_types": True},
    "microsoft.databasewatcher/watchers/targets": {"put": Style.DONE, "delete": Style.DONE},
    "microsoft.datafactory": {"etag": "eTag"},
    "microsoft.dbformariadb": {**_ACCEPTED, "reply": AcceptedBody.OPERATION, "state": False, "retry_after": 15},
    "microsoft.dbformariadb/servers/configurations": _FINAL,
    "microsoft.dbformysql": {**_ACCEPTED, "reply": AcceptedBody.OPERATION, "state": False, "retry_after": 15},
    "microsoft.dbformysql/flexibleservers/configurations": _FINAL,
    "microsoft.dbforpostgresql": {**_ACCEPTED, "reply": AcceptedBody.OPERATION, "state": False, "retry_after": 60},
    "microsoft.dbforpostgresql/flexibleservers": {"system_data": True},
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
    "microsoft.documentdb": {
        **_ACCEPTED,
        "reply": AcceptedBody.STATUS,
        "running": "Dequeued",
        "state": False,
        "bare": True,
    },
    "microsoft.documentdb/databaseaccounts": {"put": Style.ASYNC_LOCATION, "state": True, "system_data": True},
    "microsoft.documentdb/mongoclusters": {
        "put": Style.ASYNC_LOCATION,
        "creating": "InProgress",
        "running": "InProgress",
        "state": True,
        "system_data": True,
    },
    "microsoft.documentdb/mongoclusters/firewallrules": {
        "reply": AcceptedBody.NOTHING,
        "running": "InProgress",
        "state": True,
        "system_data": True,
    },
    "microsoft.eventhub": {"state": False},
    "microsoft.eventhub/namespaces": {
        **_BOTH,
        "state": True,
        "running": "Running",
        "spelled": "Microsoft.EventHub/Namespaces",
    },
    "microsoft.eventhub/namespaces/authorizationrules": {
        "spelled": "Microsoft.EventHub/Namespaces/AuthorizationRules",
        "spelled_in_ids": "Microsoft.EventHub/namespaces/authorizationrules",
    },
    "microsoft.eventhub/namespaces/eventhubs/authorizationrules": _spell_both(
        "Microsoft.EventHub/namespaces/eventhubs/authorizationrules"
    ),
    "microsoft.insights": {"state": False},
    "microsoft.insights/activitylogalerts": {"spelled": "Microsoft.Insights/ActivityLogAlerts"},
    "microsoft.insights/components": {"state": True, "etag": "etag", "spelled": "microsoft.insights/components"},
    "microsoft.insights/datacollectionruleassociations": {"system_data": True, "etag": "etag"},
    "microsoft.insights/datacollectionrules": {"state": True, "system_data": True, "etag": "etag"},
    "microsoft.insights/diagnosticsettings": {"spelled": "Microsoft.Insights/diagnosticSettings"},
    "microsoft.insights/scheduledqueryrules": {
        "system_data": True,
        "spelled": "microsoft.insights/scheduledqueryrules",
    },
    "microsoft.keyvault": {"system_data": True},
    "microsoft.keyvault/deletedmanagedhsms": {**_DELETED, "ends_empty": False},
    "microsoft.keyvault/deletedvaults": _DELETED,
    "microsoft.keyvault/locations/deletedmanagedhsms": _DELETED,
    "microsoft.keyvault/locations/deletedvaults": {**_DELETED, "retry_after": 10},
    "microsoft.kubernetesconfiguration": {**_BOTH, "system_data": True},
    "microsoft.kusto": {**_SLOW, "updating": "Accepted", "running": "Running", "long_name": True},
    "microsoft.kusto/clusters": {**_spell_both("Microsoft.Kusto/Clusters"), "etag": "etag"},
    "microsoft.kusto/clusters/databases": _spell_both("Microsoft.Kusto/Clusters/Databases"),
    "microsoft.kusto/clusters/databases/dataconnections": _spell_both(
        "Microsoft.Kusto/Clusters/Databases/DataConnections"
    ),
    "microsoft.kusto/clusters/databases/principalassignments": _spell_both(
        "Microsoft.Kusto/Clusters/Databases/PrincipalAssignments"
    ),
    "microsoft.kusto/clusters/principalassignments": _spell_both("Microsoft.Kusto/Clusters/PrincipalAssignments"),
    "microsoft.managedidentity": {"put": Style.RELATIVE, "state": False, "group_word": "resourcegroups"},
    "microsoft.monitor": {
        "system_data": True,
        "etag": "etag",
        "delete": Style.ACCEPTED_ASYNC,
        "retry_after": 15,
        "group_word": "resourcegroups",
        "lowers_ids": True,
    },
    "microsoft.network": {**_SLOW, "creating": "Updating", "retry_after": 10, "etag": "etag", "bare": True},
    "microsoft.network/applicationsecuritygroups": {"update": Style.SETTLED, "retry_after": 1},
    "microsoft.network/dnsforwardingrulesets": {"put": Style.ACCEPTED_ASYNC, "system_data": True, "retry_after": 5},
    "microsoft.network/dnsforwardingrulesets/*": {"put": Style.ACCEPTED_ASYNC, "system_data": True, "retry_after": 5},
    "microsoft.network/dnsforwardingrulesets/forwardingrules": {"put": Style.DONE, "delete": Style.DONE},
    "microsoft.network/dnsresolvers": {"put": Style.ACCEPTED_ASYNC, "system_data": True, "retry_after": 5},
    "microsoft.network/dnsresolvers/*": {"put": Style.ACCEPTED_ASYNC, "system_data": True, "retry_after": 5},
    "microsoft.network/dnszones": {
        "put": Style.DONE,
        "state": False,
        "retry_after": 3,
        "accepts_polls": True,
        **_spell_both("Microsoft.Network/dnszones"),
    },
    "microsoft.network/dnszones/*": {
        "put": Style.DONE,
        "delete": Style.DONE,
        **_spell_both("Microsoft.Network/dnszones"),
    },
    "microsoft.network/firewallpolicies": {"spelled": "Microsoft.Network/FirewallPolicies"},
    "microsoft.network/firewallpolicies/rulecollectiongroups": {
        "spelled": "Microsoft.Network/FirewallPolicies/RuleCollectionGroups",
    },
    "microsoft.network/frontdoorwebapplicationfirewallpolicies": {
        "put": Style.DONE,
        "delete": Style.DONE,
        "etag": "",
        "group_word": "resourcegroups",
        **_spell_both("Microsoft.Network/frontdoorwebapplicationfirewallpolicies"),
    },
    "microsoft.network/loadbalancers": {"put": Style.SETTLED},
    "microsoft.network/loadbalancers/inboundnatrules": {"put": Style.SETTLED},
    "microsoft.network/natgateways": {"update": Style.SETTLED},
    "microsoft.network/networkinterfaces": {"put": Style.SETTLED},
    "microsoft.network/networksecuritygroups": {"update": Style.SETTLED, "retry_after": 1},
    "microsoft.network/networksecuritygroups/securityrules": {"retry_after": 1},
    "microsoft.network/networkwatchers": {"put": Style.SETTLED},
    "microsoft.network/privatednszones": {
        "put": Style.ACCEPTED_ASYNC,
        "retry_after": 30,
        "accepts_polls": True,
        "kept_by": "virtualnetworklinks",
    },
    "microsoft.network/privatednszones/*": {"put": Style.DONE, "delete": Style.DONE, "state": False},
    "microsoft.network/privatednszones/virtualnetworklinks": {
        **_ACCEPTED,
        "state": True,
        "retry_after": 30,
        "accepts_polls": True,
    },
    "microsoft.network/privateendpoints": {"update": Style.SETTLED},
    "microsoft.network/privatelinkservices": {"update": Style.SETTLED},
    "microsoft.network/publicipaddresses": {"retry_after": 1},
    "microsoft.network/publicipprefixes": {"update": Style.SETTLED, "retry_after": 3},
    "microsoft.network/routetables": {"update": Style.SETTLED, "retry_after": 2},
    "microsoft.network/routetables/routes": {"retry_after": 2},
    "microsoft.network/trafficmanagerprofiles": {
        **_PLAIN,
        "etag": "",
        **_spell_both("Microsoft.Network/trafficManagerProfiles"),
    },
    **{
        f"microsoft.network/trafficmanagerprofiles/{word.casefold()}": {
            **_PLAIN,
            "etag": "",
            **_spell_both(f"Microsoft.Network/trafficManagerProfiles/{word}"),
        }
        for word in ("azureEndpoints", "externalEndpoints", "nestedEndpoints")
    },
    "microsoft.network/virtualnetworks": {"update": Style.SETTLED, "retry_after": 3},
    "microsoft.network/virtualnetworks/subnets": {"update": Style.SETTLED, "retry_after": 3},
    "microsoft.operationalinsights": {"state": False},
    "microsoft.operationalinsights/workspaces": {
        "put": Style.ASYNC_LOCATION,
        "retry_after": 20,
        "state": True,
        "etag": "etag",
    },
    "microsoft.quota": {
        **_FINAL,
        "put": Style.ACCEPTED_ASYNC,
        "reply": AcceptedBody.STATUS,
        "state": False,
        "retry_after": 30,
        "spelled": "Microsoft.Quota/Quotas",
    },
    "microsoft.redhatopenshift": {**_SLOW, "system_data": True, "running": "Creating"},
    **{
        f"microsoft.resources/{path}": _RECORDED_RUN
        for path in ("deployments", "deployments/operations", "deploymentstacks")
    },
    "microsoft.resources/resourcegroups": {"delete": Style.ACCEPTED, "retry_after": 15},
    "microsoft.servicebus/namespaces": {"spelled": "Microsoft.ServiceBus/Namespaces"},
    "microsoft.servicebus/namespaces/authorizationrules": {
        "state": False,
        "spelled": "Microsoft.ServiceBus/Namespaces/AuthorizationRules",
    },
    "microsoft.servicebus/namespaces/queues": {"state": False},
    "microsoft.servicebus/namespaces/topics/subscriptions": {"state": False},
    "microsoft.signalrservice/signalr": {"system_data": True, "spelled": "Microsoft.SignalRService/SignalR"},
    "microsoft.sql/servers/*": {"state": False},
    "microsoft.sql/servers/outboundfirewallrules": {"state": True, "ready": "Ready"},
    "microsoft.storage": {"state": False},
    "microsoft.storage/storageaccounts": {
        "put": Style.ACCEPTED,
        "update": Style.DONE,
        "retry_after": 17,
        "state": True,
    },
    **{
        f"microsoft.storage/storageaccounts/{service}services": _FINAL for service in ("blob", "file", "queue", "table")
    },
    "microsoft.storage/storageaccounts/blobservices/containers": {"etag": "etag"},
    "microsoft.storage/storageaccounts/fileservices/shares": {"etag": "etag"},
}


# Needed for every entry of a list, and a page may have a thousand.
@lru_cache(maxsize=2048)
def choose_behaviour(kind: str) -> TypeBehaviour:
    """Choose the behaviour of an ARM type, in any case."""
    changes: dict[str, Any] = {}
    for name in _list_rows(kind):
        changes |= _ROWS.get(name, {})
    return replace(TypeBehaviour(), **changes)


def is_recorded(kind: str) -> bool:
    """Return whether Azure answers for an ARM type or its provider are recorded; others get the default behaviour."""
    return any(name in _ROWS for name in _list_rows(kind))


def _list_rows(kind: str) -> list[str]:
    """List the names of the rows that apply to a type, the most general first."""
    words = kind.casefold().split("/")
    # No star for the namespace itself: its own row already applies to everything in it.
    return [words[0], *("/".join((*words[:depth], "*")) for depth in range(2, len(words))), "/".join(words)]


@lru_cache(maxsize=2048)
def spell(kind: str) -> str:
    """Spell a type as its provider spells it in answers."""
    behaviour = choose_behaviour(kind)
    return kind.casefold() if behaviour.lowers_types else _apply_spelling(behaviour.spelled, kind)


@lru_cache(maxsize=2048)
def spell_in_ids(kind: str) -> str:
    """Spell a type as its provider spells it in ids."""
    return _apply_spelling(choose_behaviour(kind).spelled_in_ids, kind)


def _apply_spelling(spelled: str, kind: str) -> str:
    """Return the spelled words, then the rest as in the request."""
    spelled_words = spelled.split("/") if spelled else []
    return "/".join([*spelled_words, *kind.split("/")[len(spelled_words) :]])
