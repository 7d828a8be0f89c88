"""The roles that every Azure has: the part of them that people assign most.

They are no resources of the store, since nobody made them and nobody can take them away.
"""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.emulator.stored import Stored
from gitsync.emulator.target import Target

_TYPE = "microsoft.authorization/roledefinitions"

_MADE = "2015-02-02T21:55:09.880642Z"

CUSTOM: Mapping[str, str] = {"Keeper of the lights": "5b0a1c5e-9f0b-4c52-9d2e-6f2f0d3a7c11"}
"""Roles that somebody made for the whole tenant: they stand among the others, and are not built in."""

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


def of(target: Target) -> list[Stored]:
    """The roles that are there without anybody's PUT, by name; none for a path that is not about role definitions."""
    if target.type.casefold() != _TYPE:
        return []
    scope = f"/subscriptions/{target.subscription}" if target.subscription else ""
    built_in = [_role(scope, name, guid, "BuiltInRole") for name, guid in BUILT_IN.items()]
    return built_in if scope else [*built_in, *(_role("", name, guid, "CustomRole") for name, guid in CUSTOM.items())]


def _role(scope: str, name: str, guid: str, kind: str) -> Stored:
    return Stored(
        id=f"{scope}/providers/Microsoft.Authorization/roleDefinitions/{guid}",
        body={"properties": {"roleName": name, "type": kind, "assignableScopes": ["/"], "permissions": []}},
        api_version="2022-04-01",
        number=0,
        created=_MADE,
        changed=_MADE,
    )
