"""The kinds of gitsync's own group that are not ARM's: what Entra ID has and ASO has no kind for.

Their facts have the form of ASO's, and are few enough to be written here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitsync.desired.catalog.any_type import BASE, VERSION
from gitsync.desired.catalog.directory_relations import APPLICATION
from gitsync.model.facts import Field, Kind, Scope, TypeFacts
from gitsync.model.gvk import AZURE_GROUP, AZURE_RESOURCE, GVK
from gitsync.model.provider import Provider

CREDENTIAL: Final = (AZURE_GROUP, "ApplicationFederatedCredential")
ASSIGNMENT: Final = (AZURE_GROUP, "AppRoleAssignment")

AUDIENCE: Final = "api://AzureADTokenExchange"
"""The audience of a token that Entra ID exchanges, unless a cloud has another."""

_NO_NAME: Final[Mapping[str, int | str]] = {}
_CREDENTIAL_NAME: Final[Mapping[str, int | str]] = {
    "minLength": 3,
    "maxLength": 120,
    "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$",
}
"""https://learn.microsoft.com/graph/api/resources/federatedidentitycredential"""

_CONDITIONS: Final[Field] = {"meta": True, "type": {"list": "condition"}}


def _text(name: str, *, required: bool = False) -> Field:
    return {"arm": name, "type": "string", **({"required": True} if required else {})}


_TYPES: Final[Mapping[str, TypeFacts]] = {
    "ApplicationFederatedCredential_Spec": {
        "fields": {
            "audiences": {"arm": "audiences", "type": {"list": "string"}, "default": [AUDIENCE]},
            "azureName": {"meta": True, "type": "string"},
            "description": _text("description"),
            "issuer": _text("issuer", required=True),
            "owner": {"meta": True, "required": True, "type": "namedOwner"},
            "subject": _text("subject", required=True),
        }
    },
    "ApplicationFederatedCredential_STATUS": {
        "fields": {
            "applicationId": _text("applicationId"),
            "audiences": {"arm": "audiences", "type": {"list": "string"}},
            "conditions": _CONDITIONS,
            "description": _text("description"),
            "issuer": _text("issuer"),
            "subject": _text("subject"),
        }
    },
    "AppRoleAssignment_Spec": {
        "fields": {
            "principal": _text("principalId", required=True),
            "resource": _text("resourceId", required=True),
            "role": _text("role", required=True),
        }
    },
    "AppRoleAssignment_STATUS": {
        "fields": {
            "conditions": _CONDITIONS,
            "principalId": _text("principalId"),
            "resourceId": _text("resourceId"),
            "role": _text("role"),
        }
    },
}


def _make_kind(
    name: tuple[str, str],
    arm_type: str,
    scope: Scope,
    owner: tuple[str, str] | None = None,
    azure_name: Mapping[str, int | str] = _NO_NAME,
) -> Kind:
    return Kind(
        gvk=GVK(name[0], VERSION, name[1]),
        arm_type=arm_type,
        api_version=VERSION,
        scope=scope,
        operations=frozenset({"Delete", "Get", "Put"}),
        owner=owner,
        any_owner=False,
        fixed_azure_name=None,
        azure_name=azure_name,
        spec=f"{name[1]}_Spec",
        status=f"{name[1]}_STATUS",
        config_maps={},
        types=_TYPES,
        legacy=False,
        provider=Provider.ENTRA,
    )


OWN_KINDS: Final[Mapping[str, Kind]] = {
    AZURE_RESOURCE[1]: BASE,
    CREDENTIAL[1]: _make_kind(
        CREDENTIAL,
        "Microsoft.Graph/applications/federatedIdentityCredentials",
        Scope.RESOURCE_GROUP,
        APPLICATION,
        _CREDENTIAL_NAME,
    ),
    ASSIGNMENT[1]: _make_kind(ASSIGNMENT, "Microsoft.Graph/appRoleAssignments", Scope.TENANT),
}
"""By name. That of an `AzureResource` lacks its type."""
