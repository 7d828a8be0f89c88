"""The keys that a resource returns on request: access keys, connection strings, kubeconfigs.

One table for each kind, by type and action; the shapes are those of recorded answers or of Azure's specifications. A
key is derived from the resource's id, so each call returns the same one, and tests can search for leaks.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from gitsync.emulator.http.target import parse
from gitsync.emulator.patch import find_value
from gitsync.emulator.state.store import StoredResource

KeyListing = Callable[[StoredResource], dict[str, Any]]
"""Makes the answer of an action from its resource."""

_TWICE = ("primary", "secondary")
_STORE_KEYS = ("Primary", "Secondary", "Primary Read Only", "Secondary Read Only")
_HUB_RIGHTS: Mapping[str, str] = {
    "iothubowner": "RegistryWrite, ServiceConnect, DeviceConnect",
    "service": "ServiceConnect",
    "device": "DeviceConnect",
    "registryRead": "RegistryRead",
    "registryReadWrite": "RegistryWrite",
}


def make_key(arm_id: str, purpose: str) -> str:
    """Make a resource's key for a purpose: 44 characters of base64, the same each time and for an id in any case."""
    digest = hashlib.sha256(f"{purpose}:{arm_id}".casefold().encode()).digest()
    return base64.b64encode(digest).decode()


def list_named_keys(**purposes: str) -> KeyListing:
    """Make a flat answer: members by name, each with the key for its purpose."""
    return lambda resource: {name: make_key(resource.id, purpose) for name, purpose in purposes.items()}


def _make_connection_listing(text: str) -> KeyListing:
    """Make two keys and their connection strings; `text` is their template, with the resource's name and the key."""

    def listing(resource: StoredResource) -> dict[str, Any]:
        answer = {}
        for which in _TWICE:
            secret = make_key(resource.id, which)
            answer[f"{which}Key"] = secret
            answer[f"{which}ConnectionString"] = text.format(name=parse(resource.id).name, key=secret)
        return answer

    return listing


def _list_storage_keys(resource: StoredResource) -> dict[str, Any]:
    keys = [
        {"creationTime": resource.created, "keyName": name, "permissions": "FULL", "value": make_key(resource.id, name)}
        for name in ("key1", "key2")
    ]
    return {"keys": keys}


def _list_store_keys(resource: StoredResource) -> dict[str, Any]:
    endpoint = f"https://{parse(resource.id).name}.azconfig.io"
    return {"value": [_make_store_key(resource, name, endpoint) for name in _STORE_KEYS], "nextLink": None}


def _make_store_key(resource: StoredResource, name: str, endpoint: str) -> dict[str, Any]:
    secret, short_id = make_key(resource.id, name), make_key(resource.id, f"{name} id")[:4]
    return {
        "connectionString": f"Endpoint={endpoint};Id={short_id};Secret={secret}",
        "id": short_id,
        "lastModified": resource.created,
        "name": name,
        "readOnly": name.endswith("Read Only"),
        "value": secret,
    }


def _list_hub_keys(resource: StoredResource) -> dict[str, Any]:
    return {
        "value": [
            {
                "keyName": name,
                "primaryKey": make_key(resource.id, f"{name} primary"),
                "rights": rights,
                "secondaryKey": make_key(resource.id, f"{name} secondary"),
            }
            for name, rights in _HUB_RIGHTS.items()
        ]
    }


def _list_workspace_keys(resource: StoredResource) -> dict[str, Any]:
    registry = find_value(resource.body, ("properties", "containerRegistry"))
    registry = registry.rpartition("/")[2] if isinstance(registry, str) else parse(resource.id).name
    return {
        "userStorageKey": make_key(resource.id, "storage"),
        "userStorageResourceId": find_value(resource.body, ("properties", "storageAccount")),
        "appInsightsInstrumentationKey": make_key(resource.id, "insights"),
        "containerRegistryCredentials": {
            "location": resource.body.get("location"),
            "username": registry,
            "passwords": [{"name": name, "value": make_key(resource.id, name)} for name in ("password", "password2")],
        },
        "notebookAccessKeys": {
            "primaryAccessKey": make_key(resource.id, "notebook primary"),
            "secondaryAccessKey": make_key(resource.id, "notebook secondary"),
        },
    }


_PAIR = list_named_keys(primaryKey="primary", secondaryKey="secondary")
_NUMBERED = list_named_keys(key1="key1", key2="key2")

KEYS: Mapping[tuple[str, str], KeyListing] = {
    ("microsoft.apimanagement/service/gateways", "listkeys"): list_named_keys(primary="primary", secondary="secondary"),
    ("microsoft.apimanagement/service/subscriptions", "listsecrets"): _PAIR,
    ("microsoft.appconfiguration/configurationstores", "listkeys"): _list_store_keys,
    ("microsoft.cache/redis", "listkeys"): _PAIR,
    ("microsoft.cache/redisenterprise/databases", "listkeys"): _PAIR,
    ("microsoft.cognitiveservices/accounts", "listkeys"): _NUMBERED,
    ("microsoft.communication/communicationservices", "listkeys"): _make_connection_listing(
        "endpoint=https://{name}.unitedstates.communication.azure.com/;accesskey={key}"
    ),
    ("microsoft.devices/iothubs", "listkeys"): _list_hub_keys,
    ("microsoft.documentdb/databaseaccounts", "listkeys"): list_named_keys(
        primaryMasterKey="primary",
        secondaryMasterKey="secondary",
        primaryReadonlyMasterKey="primary read only",
        secondaryReadonlyMasterKey="secondary read only",
    ),
    ("microsoft.eventgrid/topics", "listkeys"): _NUMBERED,
    ("microsoft.machinelearningservices/workspaces", "listkeys"): _list_workspace_keys,
    ("microsoft.operationalinsights/workspaces", "sharedkeys"): list_named_keys(
        primarySharedKey="primary", secondarySharedKey="secondary"
    ),
    ("microsoft.search/searchservices", "listadminkeys"): _PAIR,
    ("microsoft.search/searchservices", "listquerykeys"): lambda resource: {
        "value": [{"name": None, "key": make_key(resource.id, "query")}],  # every service has this key, without a name
        "nextLink": None,
    },
    ("microsoft.signalrservice/signalr", "listkeys"): _make_connection_listing(
        "Endpoint=https://{name}.service.signalr.net;AccessKey={key};Version=1.0;"
    ),
    ("microsoft.storage/storageaccounts", "listkeys"): _list_storage_keys,
}


# The credentials of clusters: kubeconfigs, and the password of their first user.


_TEXT = """\
apiVersion: v1
kind: Config
clusters:
- name: {name}
  cluster:
    server: https://{name}.api.emulated.example:443
contexts:
- name: {name}
  context:
    cluster: {name}
    user: {user}
current-context: {name}
users:
- name: {user}
  user:
    token: {token}
"""
_EXPIRES = "2099-12-31T23:59:59Z"
"""Far in the future, so that the credential is valid with any clock."""


def _make_kubeconfig(resource: StoredResource, user: str) -> str:
    return _TEXT.format(name=parse(resource.id).name, user=user, token=make_key(resource.id, user))


def _encode_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _make_user_listing(user: str) -> KeyListing:
    """Make the answer of AKS and of fleets: one kubeconfig, base64."""
    return lambda resource: {"kubeconfigs": [{"name": user, "value": _encode_base64(_make_kubeconfig(resource, user))}]}


def answer_requested_kubeconfig(resource: StoredResource) -> dict[str, Any]:
    """Answer the request for a credential of a hosted control plane: a kubeconfig as text, and its expiry."""
    return {"expirationTimestamp": _EXPIRES, "kubeconfig": _make_kubeconfig(resource, "admin")}


CLUSTER_KEYS: Mapping[tuple[str, str], KeyListing] = {
    ("microsoft.containerservice/fleets", "listcredentials"): _make_user_listing("fleetUser"),
    ("microsoft.containerservice/managedclusters", "listclusteradmincredential"): _make_user_listing("clusterAdmin"),
    ("microsoft.containerservice/managedclusters", "listclusterusercredential"): _make_user_listing("clusterUser"),
    ("microsoft.redhatopenshift/openshiftclusters", "listadmincredentials"): lambda resource: {
        "kubeconfig": _encode_base64(_make_kubeconfig(resource, "admin"))
    },
    ("microsoft.redhatopenshift/openshiftclusters", "listcredentials"): lambda resource: {
        "kubeadminPassword": make_key(resource.id, "kubeadmin"),
        "kubeadminUsername": "kubeadmin",
    },
}


# Authorization rules of messaging namespaces: those that exist without a PUT, and the keys of each.
#
# Event Hubs, Service Bus, Notification Hubs and Relay share one form: a rule is a resource, and the connection string
# contains its name. The rule to manage the namespace is created with the namespace.


_ALL = ("Listen", "Manage", "Send")
_ROOT: Mapping[str, tuple[str, ...]] = {"RootManageSharedAccessKey": _ALL}

IMPLIED_RULES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "microsoft.eventhub/namespaces/authorizationrules": _ROOT,
    "microsoft.notificationhubs/namespaces/authorizationrules": _ROOT,
    "microsoft.notificationhubs/namespaces/notificationhubs/authorizationrules": {
        "DefaultFullSharedAccessSignature": _ALL,
        "DefaultListenSharedAccessSignature": ("Listen",),
    },
    "microsoft.relay/namespaces/authorizationrules": _ROOT,
    "microsoft.servicebus/namespaces/authorizationrules": _ROOT,
}
"""By type: the rules that are created with their parent, and their rights."""


def _list_rule_keys(resource: StoredResource) -> dict[str, Any]:
    target = parse(resource.id)
    namespace, *entities = target.names[:-1]
    answer: dict[str, Any] = {"keyName": target.name}
    for which in ("primary", "secondary"):
        secret = make_key(resource.id, which)
        text = f"Endpoint=sb://{namespace}.servicebus.windows.net/;SharedAccessKeyName={target.name}"
        # A rule of an entity is valid for that entity alone, so its connection string names it.
        parts = [text, f"SharedAccessKey={secret}", *(f"EntityPath={entity}" for entity in entities)]
        answer |= {f"{which}Key": secret, f"{which}ConnectionString": ";".join(parts)}
    return answer


RULE_KEYS: Mapping[tuple[str, str], KeyListing] = {
    (kind, "listkeys"): _list_rule_keys
    for kind in (
        *IMPLIED_RULES,
        "microsoft.eventhub/namespaces/eventhubs/authorizationrules",
        "microsoft.servicebus/namespaces/queues/authorizationrules",
        "microsoft.servicebus/namespaces/topics/authorizationrules",
    )
}
