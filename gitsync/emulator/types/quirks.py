"""How single types change the values in a request, as recorded from Azure.

`gitsync.emulator.types.rewrite` has the changes for all types. This is one table with a row per type, and a comparison
of git with Azure must cope with all of it. Steps of a path are names of members; `*` is every entry of a list or every
member of an object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring, indent, tostring

from gitsync.emulator.patch import merge_over

ValueChange = Callable[[Any], Any]
_GONE = object()
_EMPTY: tuple[Any, ...] = (None, [], {}, "")
_MINUTES = re.compile(r"PT(\d+)([MS])")
_LARGER = {"S": "M", "M": "H"}


def whimsical(kind: str, body: dict[str, Any], subscription: str) -> dict[str, Any]:
    """A body as its type would give it back; `subscription` completes ids that name none."""
    for path, change in _WHIMS.get(kind.casefold(), ()):
        body = _changed(body, tuple(path.split("/")), change)
    for path in _COMPLETED.get(kind.casefold(), ()):
        body = _changed(body, tuple(path.split("/")), _text(partial(_absolute, subscription)))
    return body


def _changed(value: Any, path: tuple[str, ...], change: ValueChange) -> Any:
    """The value with the change applied at the path; a path without a value changes nothing."""
    if not path:
        return change(value)
    step, rest = path[0], path[1:]
    if step == "*" and isinstance(value, list):
        return [_changed(item, rest, change) for item in value]
    if not isinstance(value, Mapping):
        return value
    found = {name: _changed(value[name], rest, change) for name in (value if step == "*" else [step]) if name in value}
    return {name: item for name, item in {**value, **found}.items() if item is not _GONE}


def _text(change: Callable[[str], str]) -> ValueChange:
    """The change where there is a text; anything else was a mistake of its sender, and stays."""
    return lambda asked: change(asked) if isinstance(asked, str) else asked


def _decimal(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _dropped(_value: Any) -> Any:
    return _GONE


def _without_nothing(value: Any) -> Any:
    """An object without the members that hold nothing."""
    return {name: item for name, item in value.items() if item not in _EMPTY} if isinstance(value, Mapping) else value


def _always(value: Any) -> ValueChange:
    return lambda _asked: value


def _below(defaults: Mapping[str, Any]) -> ValueChange:
    """Members that Azure adds although no request had them."""
    return lambda asked: merge_over(defaults, asked) if isinstance(asked, Mapping) else asked


def _with_entry(entry: Any) -> ValueChange:
    return lambda asked: [*asked, entry] if isinstance(asked, list) and entry not in asked else asked


def _with_id(place: Any) -> Any:
    """A location of an account, with what it is called."""
    if not isinstance(place, Mapping):
        return place
    name = str(place.get("locationName", "")).casefold().replace(" ", "")
    return merge_over({"id": f"account-{name}", "isZoneRedundant": False, "provisioningState": "Succeeded"}, place)


def _absolute(subscription: str, arm_id: str) -> str:
    return f"/subscriptions/{subscription}{arm_id}" if arm_id.startswith("/providers/") else arm_id


def _in_capitals(arm_id: str) -> str:
    """The name of the group alone."""
    words = arm_id.split("/")
    return "/".join([*words[:4], words[4].upper(), *words[5:]]) if len(words) > 4 else arm_id


def _indented(text: str) -> str:
    try:
        root: Element = fromstring(text)  # noqa: S314 - a test's own policy, and expat stops at entities that grow
    except ParseError:
        return text
    indent(root, space="\t")
    return tostring(root, encoding="unicode").replace("\n", "\r\n")


def _in_larger_units(text: str) -> str:
    """60 of one unit are one of the next, as .NET writes a TimeSpan."""
    found = _MINUTES.fullmatch(text)
    if found is None or int(found[1]) % 60 or found[1] == "0":
        return text
    return f"PT{int(found[1]) // 60}{_LARGER[found[2]]}"


_POLICY: tuple[tuple[str, ValueChange], ...] = (
    ("properties/value", _text(_indented)),
    ("properties", _below({"format": "xml"})),
)
_POOL = {"osDiskSizeGB": 128, "osDiskType": "Managed", "osSKU": "Ubuntu", "type": "VirtualMachineScaleSets"}
_KUSTOMIZATION = {"dependsOn": None, "force": False, "syncIntervalInSeconds": 600, "wait": True}
_COMPLETED: Mapping[str, tuple[str, ...]] = {
    # /providers/Microsoft.Authorization/… → /subscriptions/…/providers/Microsoft.Authorization/…
    "microsoft.authorization/roleassignments": ("properties/roleDefinitionId",),
}
_WHIMS: Mapping[str, tuple[tuple[str, ValueChange], ...]] = {
    # location Global → global, whole ids in lower case, members that say nothing
    "microsoft.alertsmanagement/smartdetectoralertrules": (
        ("location", _text(str.lower)),
        ("properties/scope/*", _text(str.lower)),
        ("properties/actionGroups/groupIds/*", _text(str.lower)),
        ("properties/actionGroups", _below({"customEmailSubject": None, "customWebhookPayload": None})),
        ("properties/frequency", _text(_in_larger_units)),
    ),
    # apiRevision v1 → 1, path /account-api → account-api, type is not returned
    "microsoft.apimanagement/service/apis": (
        ("properties/apiRevision", _text(lambda text: text.removeprefix("v"))),
        ("properties/path", _text(lambda text: text.removeprefix("/"))),
        ("properties/type", _dropped),
        ("properties", _below({"backendId": None, "isCurrent": True, "serviceUrl": None})),
    ),
    # <policies><inbound>… → one element a line, with tabs and CRLF
    "microsoft.apimanagement/service/apis/policies": _POLICY,
    "microsoft.apimanagement/service/policies": _POLICY,
    "microsoft.apimanagement/service/products/policies": _POLICY,
    # sampling.percentage 100 → 100.0
    "microsoft.apimanagement/service/diagnostics": (("properties/sampling/percentage", _decimal),),
    # maxmemory-delta 10 → 642 whatever is asked, redisVersion 6 → 6.0
    "microsoft.cache/redis": (
        ("properties/redisConfiguration/maxmemory-delta", _always("642")),
        ("properties/redisConfiguration", _below({"maxclients": "7500", "maxmemory-reserved": "642"})),
        ("properties/redisVersion", _text(lambda text: f"{text}.0" if text.isdigit() else text)),
        ("properties", _below({"accessKeys": None, "publicNetworkAccess": "Enabled"})),
    ),
    # diskAccessId: the group in capitals
    "microsoft.compute/disks": (("properties/diskAccessId", _text(_in_capitals)),),
    # nodeLabels {}, nodeTaints [] and nulls are not returned; each pool is given defaults
    "microsoft.containerservice/managedclusters": (
        ("properties/agentPoolProfiles/*", _without_nothing),
        ("properties/agentPoolProfiles/*", _below(_POOL)),
        ("properties/networkProfile", _below({"loadBalancerSku": "standard", "outboundType": "loadBalancer"})),
        ("properties", _below({"enableRBAC": True})),
    ),
    "microsoft.containerservice/managedclusters/agentpools": (
        ("properties", _without_nothing),
        ("properties", _below(_POOL)),
    ),
    # defaults in objects that the request left out
    "microsoft.dbforpostgresql/flexibleservers": (
        ("properties", _below({"backup": {"backupRetentionDays": 7, "geoRedundantBackup": "Disabled"}})),
        ("properties", _below({"highAvailability": {"mode": "Disabled", "state": "NotEnabled"}})),
    ),
    # charset utf8 → UTF8
    "microsoft.dbforpostgresql/flexibleservers/databases": (
        ("properties/charset", _text(str.upper)),
        ("properties", _below({"collation": "en_US.utf8"})),
    ),
    # every location is given an id and a state
    "microsoft.documentdb/databaseaccounts": (
        ("properties/locations/*", _with_id),
        ("properties/consistencyPolicy", _below({"maxIntervalInSeconds": 5, "maxStalenessPrefix": 100})),
    ),
    # location and options are not returned; excludedPaths is given an entry of its own
    "microsoft.documentdb/databaseaccounts/sqldatabases": (
        ("location", _dropped),
        ("properties/options", _dropped),
        ("properties/resource", _below({"_colls": "colls/", "_ts": 1754358949})),
    ),
    "microsoft.documentdb/databaseaccounts/sqldatabases/containers": (
        ("location", _dropped),
        ("properties/options", _dropped),
        ("properties/resource/indexingPolicy", _below({"automatic": True, "fullTextIndexes": []})),
        ("properties/resource/indexingPolicy/excludedPaths", _with_entry({"path": '/"_etag"/?'})),
    ),
    # provider Generic → generic; a kustomization has its name and its times, and nulls
    "microsoft.kubernetesconfiguration/fluxconfigurations": (
        ("properties/gitRepository/provider", _text(str.lower)),
        ("properties/kustomizations/*", _below(_KUSTOMIZATION)),
        ("properties/gitRepository", _below({"httpsUser": None, "syncIntervalInSeconds": 600})),
    ),
    # sku Standalone → PerGB2018
    "microsoft.operationalinsights/workspaces": (
        ("properties/sku/name", lambda name: "PerGB2018" if name == "Standalone" else name),
    ),
    # not recorded: durations as the service's own library for .NET writes them
    "microsoft.servicebus/namespaces/queues": (
        ("properties/lockDuration", _text(_in_larger_units)),
        ("properties", _below({"maxSizeInMegabytes": 1024, "status": "Active"})),
    ),
    # daysAfter… 30 → 30.0
    "microsoft.storage/storageaccounts/managementpolicies": (
        ("properties/policy/rules/*/definition/actions/*/*/*", _decimal),
    ),
}
