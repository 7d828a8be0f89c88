"""The keys that a resource gives out when it is asked: access keys, connection strings, read-only keys.

One table, by type and action; the shapes are those of recorded answers or of Azure's specifications. A key is derived
from the resource's id, so that each call returns the same one, and tests can search for leaks.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from gitsync.emulator.http.target import parse
from gitsync.emulator.patch import find_value
from gitsync.emulator.state.stored import StoredResource

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


def key(arm_id: str, purpose: str) -> str:
    """The key that a resource has for a purpose: 44 characters of base64, the same ones each time, in any case."""
    digest = hashlib.sha256(f"{purpose}:{arm_id}".casefold().encode()).digest()
    return base64.b64encode(digest).decode()


def named(**purposes: str) -> KeyListing:
    """A flat answer: members by name, each with the key for a purpose."""
    return lambda resource: {name: key(resource.id, purpose) for name, purpose in purposes.items()}


def _make_connection_listing(text: str) -> KeyListing:
    """Two keys and their connection strings; `text` says these with the resource's name and the key."""

    def listing(resource: StoredResource) -> dict[str, Any]:
        answer = {}
        for word in _TWICE:
            secret = key(resource.id, word)
            answer[f"{word}Key"] = secret
            answer[f"{word}ConnectionString"] = text.format(name=parse(resource.id).name, key=secret)
        return answer

    return listing


def _list_storage_keys(resource: StoredResource) -> dict[str, Any]:
    keys = [
        {"creationTime": resource.created, "keyName": name, "permissions": "FULL", "value": key(resource.id, name)}
        for name in ("key1", "key2")
    ]
    return {"keys": keys}


def _list_store_keys(resource: StoredResource) -> dict[str, Any]:
    endpoint = f"https://{parse(resource.id).name}.azconfig.io"
    return {"value": [_make_store_key(resource, name, endpoint) for name in _STORE_KEYS], "nextLink": None}


def _make_store_key(resource: StoredResource, name: str, endpoint: str) -> dict[str, Any]:
    secret, short_id = key(resource.id, name), key(resource.id, f"{name} id")[:4]
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
                "primaryKey": key(resource.id, f"{name} primary"),
                "rights": rights,
                "secondaryKey": key(resource.id, f"{name} secondary"),
            }
            for name, rights in _HUB_RIGHTS.items()
        ]
    }


def _list_query_keys(resource: StoredResource) -> dict[str, Any]:
    """The query key that every search service has: it has no name."""
    return {"value": [{"name": None, "key": key(resource.id, "query")}], "nextLink": None}


def _list_workspace_keys(resource: StoredResource) -> dict[str, Any]:
    registry = find_value(resource.body, ("properties", "containerRegistry"))
    registry = registry.rpartition("/")[2] if isinstance(registry, str) else parse(resource.id).name
    return {
        "userStorageKey": key(resource.id, "storage"),
        "userStorageResourceId": find_value(resource.body, ("properties", "storageAccount")),
        "appInsightsInstrumentationKey": key(resource.id, "insights"),
        "containerRegistryCredentials": {
            "location": resource.body.get("location"),
            "username": registry,
            "passwords": [{"name": name, "value": key(resource.id, name)} for name in ("password", "password2")],
        },
        "notebookAccessKeys": {
            "primaryAccessKey": key(resource.id, "notebook primary"),
            "secondaryAccessKey": key(resource.id, "notebook secondary"),
        },
    }


_PAIR = named(primaryKey="primary", secondaryKey="secondary")
_NUMBERED = named(key1="key1", key2="key2")

KEYS: Mapping[tuple[str, str], KeyListing] = {
    ("microsoft.apimanagement/service/gateways", "listkeys"): named(primary="primary", secondary="secondary"),
    ("microsoft.apimanagement/service/subscriptions", "listsecrets"): _PAIR,
    ("microsoft.appconfiguration/configurationstores", "listkeys"): _list_store_keys,
    ("microsoft.cache/redis", "listkeys"): _PAIR,
    ("microsoft.cache/redisenterprise/databases", "listkeys"): _PAIR,
    ("microsoft.cognitiveservices/accounts", "listkeys"): _NUMBERED,
    ("microsoft.communication/communicationservices", "listkeys"): _make_connection_listing(
        "endpoint=https://{name}.unitedstates.communication.azure.com/;accesskey={key}"
    ),
    ("microsoft.devices/iothubs", "listkeys"): _list_hub_keys,
    ("microsoft.documentdb/databaseaccounts", "listkeys"): named(
        primaryMasterKey="primary",
        secondaryMasterKey="secondary",
        primaryReadonlyMasterKey="primary read only",
        secondaryReadonlyMasterKey="secondary read only",
    ),
    ("microsoft.eventgrid/topics", "listkeys"): _NUMBERED,
    ("microsoft.machinelearningservices/workspaces", "listkeys"): _list_workspace_keys,
    ("microsoft.operationalinsights/workspaces", "sharedkeys"): named(
        primarySharedKey="primary", secondarySharedKey="secondary"
    ),
    ("microsoft.search/searchservices", "listadminkeys"): _PAIR,
    ("microsoft.search/searchservices", "listquerykeys"): _list_query_keys,
    ("microsoft.signalrservice/signalr", "listkeys"): _make_connection_listing(
        "Endpoint=https://{name}.service.signalr.net;AccessKey={key};Version=1.0;"
    ),
    ("microsoft.storage/storageaccounts", "listkeys"): _list_storage_keys,
}
