"""Fields that a provider adds to a resource: endpoints, principal ids, states.

The same id always gives the same values, so two runs against one Azure see the same, except for an identity that was
deleted and created again. Only values that people export, or that a client waits for, are here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from gitsync.emulator.patch import find_value, merge_over, set_value

_SPACE = UUID("6f0c7a52-5d0a-4c55-9f6e-2f0f9d9f7f10")

_COMPUTED: Mapping[str, Mapping[str, Any]] = {
    "microsoft.apimanagement/service": {"/properties/gatewayUrl": "https://{name}.azure-api.net"},
    "microsoft.app/containerapps": {
        "/properties/latestRevisionFqdn": "{name}--1.{location}.azurecontainerapps.io",
        "/properties/eventStreamEndpoint": "https://{location}.azurecontainerapps.dev{id}/eventstream",
    },
    "microsoft.app/managedenvironments": {"/properties/defaultDomain": "env-{label}.{location}.azurecontainerapps.io"},
    "microsoft.appconfiguration/configurationstores": {"/properties/endpoint": "https://{name}.azconfig.io"},
    "microsoft.batch/batchaccounts": {"/properties/accountEndpoint": "{name}.{location}.batch.azure.com"},
    "microsoft.cache/redis": {
        "/properties/hostName": "{name}.redis.cache.windows.net",
        "/properties/port": 6379,
        "/properties/sslPort": 6380,
    },
    "microsoft.cache/redisenterprise": {"/properties/hostName": "{name}.{location}.redisenterprise.cache.azure.net"},
    "microsoft.cdn/profiles/endpoints": {"/properties/hostName": "{name}.azureedge.net"},
    "microsoft.cognitiveservices/accounts": {"/properties/endpoint": "https://{name}.cognitiveservices.azure.com/"},
    "microsoft.communication/communicationservices": {
        "/properties/hostName": "{name}.unitedstates.communication.azure.com"
    },
    "microsoft.containerregistry/registries": {"/properties/loginServer": "{name}.azurecr.io"},
    "microsoft.containerservice/managedclusters": {
        "/properties/fqdn": "{name}.hcp.{location}.azmk8s.io",
        "/properties/nodeResourceGroup": "MC_{group}_{name}_{location}",
        "/properties/identityProfile/kubeletidentity/clientId": "{uuid:kubelet-client}",
        "/properties/identityProfile/kubeletidentity/objectId": "{uuid:kubelet}",
        "/properties/oidcIssuerProfile/issuerURL": "https://{location}.oic.prod-aks.azure.com/{tenant}/{uuid:issuer}/",
    },
    "microsoft.dbformariadb/servers": {
        "/properties/fullyQualifiedDomainName": "{name}.mariadb.database.azure.com",
        "/properties/userVisibleState": "Ready",
    },
    "microsoft.dbformysql/flexibleservers": {
        "/properties/fullyQualifiedDomainName": "{name}.mysql.database.azure.com",
        "/properties/state": "Ready",
    },
    "microsoft.dbforpostgresql/flexibleservers": {
        "/properties/fullyQualifiedDomainName": "{name}.postgres.database.azure.com",
        "/properties/state": "Ready",
    },
    "microsoft.devices/iothubs": {"/properties/hostName": "{name}.azure-devices.net"},
    "microsoft.documentdb/databaseaccounts": {
        "/properties/documentEndpoint": "https://{name}.documents.azure.com:443/"
    },
    "microsoft.eventgrid/topics": {
        "/properties/endpoint": "https://{name}.{location}-1.eventgrid.azure.net/api/events"
    },
    "microsoft.eventhub/namespaces": {
        "/properties/serviceBusEndpoint": "https://{name}.servicebus.windows.net:443/",
        "/properties/status": "Active",
    },
    "microsoft.insights/components": {
        "/properties/InstrumentationKey": "{uuid:instrumentation}",
        "/properties/ConnectionString": "InstrumentationKey={uuid:instrumentation};ApplicationId={uuid:application}",
        "/properties/AppId": "{uuid:application}",
    },
    "microsoft.keyvault/vaults": {"/properties/vaultUri": "https://{name}.vault.azure.net/"},
    "microsoft.kubernetesconfiguration/extensions": {
        "/properties/aksAssignedIdentity/principalId": "{uuid:principal}",
        "/properties/aksAssignedIdentity/tenantId": "{tenant}",
    },
    "microsoft.kusto/clusters": {
        "/properties/state": "Running",
        "/properties/uri": "https://{name}.{location}.kusto.windows.net",
        "/properties/dataIngestionUri": "https://ingest-{name}.{location}.kusto.windows.net",
    },
    "microsoft.machinelearningservices/registries": {
        "/properties/discoveryUrl": "https://{location}.api.azureml.ms/registrymanagement/v1.0/registries/{name}",
        "/properties/mlFlowRegistryUri": "azureml://{location}.api.azureml.ms/mlflow/v1.0/registries/{name}",
    },
    "microsoft.managedidentity/userassignedidentities": {
        "/properties/tenantId": "{tenant}",
        "/properties/principalId": "{uuid:principal}",
        "/properties/clientId": "{uuid:client}",
    },
    "microsoft.network/bastionhosts": {"/properties/dnsName": "bst-{uuid:bastion}.bastion.azure.com"},
    "microsoft.network/privatelinkservices": {
        "/properties/alias": "{name}.{uuid:alias}.{location}.azure.privatelinkservice"
    },
    "microsoft.network/trafficmanagerprofiles": {"/properties/dnsConfig/fqdn": "{name}.trafficmanager.net"},
    "microsoft.notificationhubs/namespaces": {
        "/properties/serviceBusEndpoint": "https://{name}.servicebus.windows.net:443/"
    },
    "microsoft.operationalinsights/workspaces": {"/properties/customerId": "{uuid:customer}"},
    "microsoft.search/searchservices": {"/properties/status": "running"},
    "microsoft.servicebus/namespaces": {
        "/properties/serviceBusEndpoint": "https://{name}.servicebus.windows.net:443/",
        "/properties/status": "Active",
    },
    "microsoft.signalrservice/signalr": {"/properties/hostName": "{name}.service.signalr.net"},
    "microsoft.signalrservice/webpubsub": {"/properties/hostName": "{name}.webpubsub.azure.com"},
    "microsoft.sql/servers": {
        "/properties/fullyQualifiedDomainName": "{name}.database.windows.net",
        "/properties/state": "Ready",
    },
    "microsoft.storage/storageaccounts": {
        **{
            f"/properties/primaryEndpoints/{service}": f"https://{{name}}.{service}.core.windows.net/"
            for service in ("blob", "dfs", "file", "queue", "table")
        },
        "/properties/primaryEndpoints/web": "https://{name}.z6.web.core.windows.net/",
        "/properties/primaryLocation": "{location}",
        "/properties/statusOfPrimary": "available",
    },
    "microsoft.web/sites": {"/properties/defaultHostName": "{name}.azurewebsites.net"},
    "microsoft.web/sites/slots": {"/properties/defaultHostName": "{parent}-{name}.azurewebsites.net"},
    **{
        f"microsoft.network/{zones}/{record}": {"/properties/fqdn": "{name}.{parent}."}
        for zones in ("dnszones", "privatednszones")
        for record in ("a", "aaaa", "caa", "cname", "mx", "ns", "ptr", "srv", "txt")
    },
}


class _Following(NamedTuple):
    """A value that a provider adds because of one in the body."""

    cause: str  # JSON pointer of the value in the body
    value: str  # what it must be; "" for anything
    pointer: str
    template: str  # {cause} is that value


_FOLLOWING: Mapping[str, tuple[_Following, ...]] = {
    "microsoft.containerinstance/containergroups": (
        _Following("/properties/ipAddress/type", "Public", "/properties/ipAddress/ip", "{address}"),
        _Following(
            "/properties/ipAddress/dnsNameLabel",
            "",
            "/properties/ipAddress/fqdn",
            "{cause}.{location}.azurecontainer.io",
        ),
    ),
    "microsoft.network/publicipaddresses": (
        _Following("/properties/publicIPAllocationMethod", "Static", "/properties/ipAddress", "{address}"),
        _Following(
            "/properties/dnsSettings/domainNameLabel",
            "",
            "/properties/dnsSettings/fqdn",
            "{cause}.{location}.cloudapp.azure.com",
        ),
    ),
}
"""A dynamic address has no value before something uses it. They are initial values too: one that was changed outside
replaces them.
"""

_INITIAL: Mapping[str, Mapping[str, Any]] = {
    "microsoft.dataprotection/backupvaults/backupinstances": {
        "/properties/protectionStatus/status": "ProtectionConfigured",
    },
    "microsoft.dbforpostgresql/flexibleservers/advancedthreatprotectionsettings": {"/properties/state": "Disabled"},
    "microsoft.storage/storageaccounts/blobservices": {
        "/properties/cors/corsRules": [],
        "/properties/deleteRetentionPolicy/allowPermanentDelete": False,
        "/properties/deleteRetentionPolicy/enabled": False,
    },
    "microsoft.storage/storageaccounts/fileservices": {
        "/properties/cors/corsRules": [],
        "/properties/protocolSettings/smb": {},
        "/properties/shareDeleteRetentionPolicy/days": 7,
        "/properties/shareDeleteRetentionPolicy/enabled": True,
    },
    "microsoft.storage/storageaccounts/queueservices": {"/properties/cors/corsRules": []},
    "microsoft.storage/storageaccounts/tableservices": {"/properties/cors/corsRules": []},
    "microsoft.subscription/aliases": {"/properties/subscriptionId": "{uuid:subscription}"},
}
"""A provider's initial values: values that were sent, or changed outside, replace them."""


def make_uuid(key: str, purpose: str) -> str:
    """Make a resource's identifier for a purpose: the same one each time."""
    return str(uuid5(_SPACE, f"{purpose}:{key}"))


def add_provider_fields(
    kind: str, path: str, body: Mapping[str, Any], tenant: str, choose_seed: Callable[[str], str] = str.casefold
) -> Mapping[str, Any]:
    """Return a body with its provider's fields; `path` is the resource's id, `tenant` the directory's. `choose_seed`
    finds the seed of an id's identifiers.
    """
    rows, initial_rows = _COMPUTED.get(kind.casefold(), {}), _INITIAL.get(kind.casefold(), {})
    following = _FOLLOWING.get(kind.casefold(), ())
    if not rows and not initial_rows and not following and "identity" not in body:
        return body  # most types: no copy
    key = choose_seed(path)
    words = {
        "id": path,
        "name": path.rpartition("/")[2],
        "parent": path.split("/")[-3],
        "label": make_uuid(key, "label")[:8],
        "address": _make_address(key, find_value(body, ("properties", "publicIPAddressVersion"))),
        "group": path.split("/")[4] if path.count("/") > 3 else "",
        "location": str(body.get("location") or "global").casefold().replace(" ", ""),
        "tenant": tenant,
        "uuid": _Purpose(key),
    }
    computed, initial = _fill_templates(rows, words), _fill_templates(initial_rows, words)
    initial = _add_following(initial, following, body, words)
    if isinstance(body.get("identity"), Mapping):
        computed = set_value(computed, "/identity", _make_identity(body["identity"], key, tenant, choose_seed))
    # Sent values win over initial values, and the provider's own values win over sent ones.
    return merge_over(merge_over(initial, body), computed)


def _fill_templates(rows: Mapping[str, Any], words: Mapping[str, Any]) -> Any:
    result: Any = {}
    for pointer, value in rows.items():
        result = set_value(result, pointer, value.format_map(words) if isinstance(value, str) else value)
    return result


def _add_following(initial: Any, rows: Iterable[_Following], body: Mapping[str, Any], words: Mapping[str, Any]) -> Any:
    for row in rows:
        cause = find_value(body, tuple(row.cause.split("/")[1:]))
        if cause is not None and (not row.value or str(cause).casefold() == row.value.casefold()):
            initial = set_value(initial, row.pointer, row.template.format_map({**words, "cause": cause}))
    return initial


def _make_address(key: str, version: Any) -> str:
    """Make an address of the ranges that are for tests of devices (RFC 2544), or for examples (RFC 3849)."""
    number = uuid5(_SPACE, f"address:{key}").int
    if version == "IPv6":
        return f"2001:db8::{number % 0xFFFF:x}"
    return f"198.{18 + number % 2}.{number // 2 % 256}.{1 + number // 512 % 254}"


def _make_identity(
    identity: Mapping[str, Any], key: str, tenant: str, choose_seed: Callable[[str], str]
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if "systemassigned" in str(identity.get("type")).casefold():
        fields |= {"principalId": make_uuid(key, "principal"), "tenantId": tenant}
    identities = identity.get("userAssignedIdentities")
    if isinstance(identities, Mapping):
        fields["userAssignedIdentities"] = {
            path: {
                # The seed is the identity's own, so every resource that uses it shows the same ids.
                "clientId": make_uuid(choose_seed(path), "client"),
                "principalId": make_uuid(choose_seed(path), "principal"),
            }
            for path in identities
        }
    return fields


class _Purpose:
    """Lets a template write `{uuid:principal}`."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __format__(self, purpose: str) -> str:
        return make_uuid(self._key, purpose)
