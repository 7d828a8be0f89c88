"""Often assigned built-in roles, and the permissions of the caller at a scope.

The roles are not in the store, since no one created them and no one can delete them. The permissions are those of the
caller's one role, which by default grants everything that the settings do not deny.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from gitsync.emulator.http.messages import ServerRequest, ServerResponse
from gitsync.emulator.http.target import Target
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import StoredResource

_TYPE = "microsoft.authorization/roledefinitions"

_CREATED = "2015-02-02T21:55:09.880642Z"

CUSTOM: Mapping[str, str] = {"Keeper of the lights": "5b0a1c5e-9f0b-4c52-9d2e-6f2f0d3a7c11"}
"""Custom roles of the tenant: they are listed with the others, and are not built in."""

BUILT_IN: Mapping[str, str] = {
    "AcrPull": "7f951dda-4ed3-4680-a7ca-43fe172d538d",
    "AcrPush": "8311e382-0749-4cb8-b61a-304f252e45ec",
    "Azure Event Hubs Data Owner": "f526a384-b230-433a-b45c-95f59c4a2dec",
    "Azure Event Hubs Data Receiver": "a638d3c7-ab3a-418d-83e6-5f17a39d4fde",
    "Azure Event Hubs Data Sender": "2b629674-e913-4c01-ae53-ef4638d8f975",
    "Azure Kubernetes Service Cluster Admin Role": "0ab0b1a8-8aac-4efd-b8c2-3ee1fb270be8",
    "Azure Kubernetes Service Cluster User Role": "4abbcc35-e782-43d8-92c5-2d3f1bd2253f",
    "Azure Kubernetes Service RBAC Cluster Admin": "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b",
    "Azure Service Bus Data Owner": "090c5cfd-751d-490a-894a-3ce6f1109419",
    "Azure Service Bus Data Receiver": "4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0",
    "Azure Service Bus Data Sender": "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39",
    "Contributor": "b24988ac-6180-42a0-ab88-20f7382dd24c",
    "DNS Zone Contributor": "befefa01-2a29-4197-83a8-272ff33ce314",
    "Key Vault Administrator": "00482a5a-887f-4fb3-b363-3b7fe8e74483",
    "Key Vault Certificates Officer": "a4417e6f-fecd-4de8-b567-7b0420556985",
    "Key Vault Crypto Officer": "14b46e9e-c2b7-41b4-b07b-48a6ebf60603",
    "Key Vault Crypto Service Encryption User": "e147488a-f6f5-4113-8e2d-b22465e65bf6",
    "Key Vault Reader": "21090545-7ca7-4776-b22c-e363652d74d2",
    "Key Vault Secrets Officer": "b86a8fe4-44ce-4948-aee5-eccb2c155cd7",
    "Key Vault Secrets User": "4633458b-17de-408a-b874-0445c86b69e6",
    "Managed Identity Contributor": "e40ec5ca-96e0-45a2-b4ff-59039f2c2b59",
    "Managed Identity Operator": "f1a07417-d97a-45cb-824c-7a7467783830",
    "Monitoring Contributor": "749f88d5-cbae-40b8-bcfc-e573ddc772fa",
    "Monitoring Metrics Publisher": "3913510d-42f4-4e42-8a64-420c390055eb",
    "Monitoring Reader": "43d0d8ad-25c7-4714-9337-8ba259a9fe05",
    "Network Contributor": "4d97b98b-1d4f-4787-a291-c67834d212e7",
    "Owner": "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
    "Private DNS Zone Contributor": "b12aa53e-6015-4669-85d0-8515ebb3ae7f",
    "Reader": "acdd72a7-3385-48ef-bd42-f606fba81ae7",
    "Storage Account Contributor": "17d1049b-9a84-46fb-8f53-869881c3d3ab",
    "Storage Blob Data Contributor": "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
    "Storage Blob Data Owner": "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
    "Storage Blob Data Reader": "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1",
    "Storage Queue Data Contributor": "974c5e8b-45b9-4653-ba55-5f855dd0fb88",
    "User Access Administrator": "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9",
    "Virtual Machine Contributor": "9980e02c-c2be-4d73-94e8-173b1dc7cf3c",
}


def list_roles(target: Target) -> list[StoredResource]:
    """List the roles that exist without a PUT, by name; none for a path other than of role definitions."""
    if target.type.casefold() != _TYPE:
        return []
    scope = f"/subscriptions/{target.subscription}" if target.subscription else ""
    built_in = [_make_role(scope, name, guid, "BuiltInRole") for name, guid in BUILT_IN.items()]
    return (
        built_in if scope else [*built_in, *(_make_role("", name, guid, "CustomRole") for name, guid in CUSTOM.items())]
    )


def _make_role(scope: str, name: str, guid: str, kind: str) -> StoredResource:
    return StoredResource(
        id=f"{scope}/providers/Microsoft.Authorization/roleDefinitions/{guid}",
        body={"properties": {"roleName": name, "type": kind, "assignableScopes": ["/"], "permissions": []}},
        api_version="2022-04-01",
        number=0,
        created=_CREATED,
        changed=_CREATED,
    )


def list_permissions(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """GET …/providers/Microsoft.Authorization/permissions of a subscription, a group or a resource."""
    cloud.require_scope(request)
    scope = request.target.scope.casefold()
    caller_ids = {request.caller.client.casefold(), request.caller.object.casefold()}
    # A denial counts if it is for this caller, and applies to all of the scope.
    denials = [
        denial
        for denial in cloud.settings.denied
        if any(fnmatchcase(caller_id, denial.principal.casefold()) for caller_id in caller_ids)
        and (fnmatchcase(scope, denial.scope.casefold()) or scope.startswith(f"{denial.scope.casefold()}/"))
    ]
    entry: dict[str, Any] = {
        "actions": list(request.caller.actions),
        "notActions": sorted({denial.action for denial in denials}),
        "dataActions": [],
        "notDataActions": [],
    }
    scopes = request.caller.scopes
    is_assigned = not scopes or any(f"{scope}/".startswith(f"{assigned.casefold()}/") for assigned in scopes)
    return ServerResponse(200, {"value": [entry] if is_assigned else []})
