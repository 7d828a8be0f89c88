"""POST actions: what a resource does when it is asked, rather than what it is.

One table, by type and action; keys are made from the resource's id, so that each call gives the same ones.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gitsync.emulator import providers
from gitsync.emulator.answers import Answer, refuse
from gitsync.emulator.call import Call
from gitsync.emulator.cloud import Cloud, not_found
from gitsync.emulator.stored import Stored


def _key(resource: Stored, name: str) -> str:
    digest = hashlib.sha256(f"{name}:{resource.id}".casefold().encode()).digest()
    return base64.b64encode(digest).decode()


def _storage_keys(resource: Stored) -> dict[str, Any]:
    keys = [
        {"creationTime": resource.created, "keyName": name, "permissions": "FULL", "value": _key(resource, name)}
        for name in ("key1", "key2")
    ]
    return {"keys": keys}


def _two_keys(resource: Stored) -> dict[str, Any]:
    return {"primaryKey": _key(resource, "primary"), "secondaryKey": _key(resource, "secondary")}


def _shared_keys(resource: Stored) -> dict[str, Any]:
    return {"primarySharedKey": _key(resource, "primary"), "secondarySharedKey": _key(resource, "secondary")}


ACTIONS: Mapping[tuple[str, str], Callable[[Stored], dict[str, Any]]] = {
    ("microsoft.cache/redis", "listkeys"): _two_keys,
    ("microsoft.cache/redisenterprise/databases", "listkeys"): _two_keys,
    ("microsoft.operationalinsights/workspaces", "sharedkeys"): _shared_keys,
    ("microsoft.storage/storageaccounts", "listkeys"): _storage_keys,
}


def run(cloud: Cloud, call: Call) -> Answer:
    """Answer a POST; an action that the table does not have is unknown to ARM."""
    target = call.target
    if not target.names and len(target.types) == 1:
        return providers.register(cloud, call)
    owner = target.owner
    cloud.demand_place(replace(call, target=owner))
    resource = cloud.find(owner)
    if resource is None:
        raise not_found(owner)
    action = ACTIONS.get((owner.type.casefold(), target.types[-1].casefold()))
    if action is None:
        words: dict[str, Any] = {"type": "/".join(target.types), "namespace": target.namespace, "versions": ""}
        raise refuse("InvalidResourceType", version=call.api_version, **words)
    return Answer(200, action(resource))
