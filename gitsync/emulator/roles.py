"""The roles that every Azure has: the part of them that people assign most.

They are no resources of the store, since nobody made them and nobody can take them away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.emulator.target import Target

_TYPE = "microsoft.authorization/roledefinitions"

BUILT_IN: Mapping[str, str] = {
    "AcrPull": "7f951dda-4ed3-4680-a7ca-43fe172d538d",
    "AcrPush": "8311e382-0749-4cb8-b61a-304f252e45ec",
    "Contributor": "b24988ac-6180-42a0-ab88-20f7382dd24c",
    "Key Vault Administrator": "00482a5a-887f-4fb3-b363-3b7fe8e74483",
    "Key Vault Secrets Officer": "b86a8fe4-44ce-4948-aee5-eccb2c155cd7",
    "Key Vault Secrets User": "4633458b-17de-408a-b874-0445c86b69e6",
    "Managed Identity Operator": "f1a07417-d97a-45cb-824c-7a7467783830",
    "Monitoring Reader": "43d0d8ad-25c7-4714-9337-8ba259a9fe05",
    "Network Contributor": "4d97b98b-1d4f-4787-a291-c67834d212e7",
    "Owner": "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
    "Reader": "acdd72a7-3385-48ef-bd42-f606fba81ae7",
    "Storage Blob Data Contributor": "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
    "Storage Blob Data Owner": "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
    "Storage Blob Data Reader": "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1",
    "User Access Administrator": "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9",
}


def is_definitions(target: Target) -> bool:
    """Whether a path is about role definitions."""
    return target.type.casefold() == _TYPE


def built_in(target: Target) -> list[dict[str, Any]]:
    """The built-in roles as a scope shows them, by name."""
    return [_role(target.subscription, name, guid) for name, guid in BUILT_IN.items()]


def one(target: Target) -> dict[str, Any] | None:
    """The built-in role that a path names."""
    found = [name for name, guid in BUILT_IN.items() if guid == target.name.casefold()]
    return _role(target.subscription, found[0], BUILT_IN[found[0]]) if found and is_definitions(target) else None


def _role(subscription: str, name: str, guid: str) -> dict[str, Any]:
    scope = f"/subscriptions/{subscription}" if subscription else ""
    return {
        "id": f"{scope}/providers/Microsoft.Authorization/roleDefinitions/{guid}",
        "name": guid,
        "type": "Microsoft.Authorization/roleDefinitions",
        "properties": {"roleName": name, "type": "BuiltInRole", "assignableScopes": ["/"], "permissions": []},
    }
