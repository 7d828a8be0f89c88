"""The bodies of applications and service principals: the checks of new ones, and the members that Graph shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.emulator.graph.answers import refuse_value
from gitsync.emulator.graph.graph_bodies import (
    Types,
    check_values,
    hide_links,
    refuse_read_only,
    require_payload,
    require_values,
)
from gitsync.emulator.state.store import StoredResource
from gitsync.emulator.types.provider_fields import make_uuid

_AUDIENCES = ("AzureADMyOrg", "AzureADMultipleOrgs", "AzureADandPersonalMicrosoftAccount", "PersonalMicrosoftAccount")
_NULLABLE_TEXT = (str, type(None))
_APPLICATION_TYPES: Types = {
    "displayName": str,
    "description": _NULLABLE_TEXT,
    "signInAudience": str,
    "identifierUris": list,
    "tags": list,
    "web": dict,
    "spa": dict,
    "publicClient": dict,
    "isFallbackPublicClient": (bool, type(None)),
    "groupMembershipClaims": _NULLABLE_TEXT,
    "appRoles": list,
    "notes": _NULLABLE_TEXT,
    "uniqueName": _NULLABLE_TEXT,
}
_PRINCIPAL_TYPES: Types = {
    "appId": str,
    "displayName": str,
    "accountEnabled": bool,
    "appRoleAssignmentRequired": bool,
    "tags": list,
    "description": _NULLABLE_TEXT,
    "notes": _NULLABLE_TEXT,
}
_LONGEST = {"displayName": 256, "description": 1024, "notes": 1024}
_LONGEST_URI, _LONGEST_TAG = 255, 256
_PLATFORMS: Mapping[str, Mapping[str, Any]] = {
    "web": {
        "homePageUrl": None,
        "logoutUrl": None,
        "redirectUris": [],
        "implicitGrantSettings": {"enableAccessTokenIssuance": False, "enableIdTokenIssuance": False},
        "redirectUriSettings": [],
    },
    "spa": {"redirectUris": []},
    "publicClient": {"redirectUris": []},
}
_NULLS = [
    "deletedDateTime",
    "applicationTemplateId",
    "disabledByMicrosoftStatus",
    "createdByAppId",
    "description",
    "groupMembershipClaims",
    "isFallbackPublicClient",
    "notes",
    "publisherDomain",
    "serviceManagementReference",
    "uniqueName",
]
_LISTS = [
    "addIns",
    "appRoles",
    "identifierUris",
    "keyCredentials",
    "passwordCredentials",
    "requiredResourceAccess",
    "tags",
]


def check_new_application(body: Any) -> dict[str, Any]:
    """Check the body of a POST. Refused if Graph would refuse it."""
    application = _check_application(body)
    require_values(application, "Application", ("displayName",))
    return _merge({}, application)


def check_application_change(body: Any, before: Mapping[str, Any]) -> dict[str, Any]:
    """Check the body of a PATCH, and return the values of its members after it: Graph merges the objects in it."""
    changes = _check_application(body)
    require_payload(changes)
    return _merge(before, changes)


def check_new_principal(body: Any) -> dict[str, Any]:
    principal = check_values(body, "ServicePrincipal", _PRINCIPAL_TYPES, _LONGEST)
    require_values(principal, "ServicePrincipal", ("appId",))
    return principal


def check_principal_change(body: Any, before: Mapping[str, Any]) -> dict[str, Any]:
    changes = check_values(body, "ServicePrincipal", _PRINCIPAL_TYPES, _LONGEST)
    require_payload(changes)
    if changes.get("appId", before.get("appId")) != before.get("appId"):
        raise refuse_read_only("appId")
    return changes


def show_application(stored: StoredResource) -> dict[str, Any]:
    """Show an application with the members that Graph shows by default."""
    body = hide_links(stored.body)
    return {
        "id": stored.id.rpartition("/")[2],
        "appId": read_app_id(stored),
        "createdDateTime": f"{stored.created[:19]}Z",
        **dict.fromkeys(_NULLS),
        **{name: [] for name in _LISTS},
        "signInAudience": "AzureADMyOrg",
        **body,
        **{name: _fill(empty, body.get(name)) for name, empty in _PLATFORMS.items()},
    }


def show_principal(stored: StoredResource) -> dict[str, Any]:
    """Show a service principal with some of the members that Graph shows by default."""
    body = hide_links(stored.body)
    return {
        "id": stored.id.rpartition("/")[2],
        "createdDateTime": f"{stored.created[:19]}Z",
        "deletedDateTime": None,
        "accountEnabled": True,
        "appDisplayName": body.get("displayName"),
        "appRoleAssignmentRequired": False,
        "appRoles": [],
        "description": None,
        "notes": None,
        "servicePrincipalType": "Application",
        "tags": [],
        **body,
        "servicePrincipalNames": [body.get("appId")],
    }


def read_app_id(application: StoredResource) -> str:
    """Read the client id of an application. It follows from the object id, so a restored one has it again."""
    return str(application.body.get("appId") or make_uuid(application.id.rpartition("/")[2], "appId"))


def _check_application(body: Any) -> dict[str, Any]:
    application = check_values(body, "Application", _APPLICATION_TYPES, _LONGEST)
    if application.get("signInAudience", _AUDIENCES[0]) not in _AUDIENCES:
        raise _refuse("signInAudience")
    for name in _PLATFORMS:
        platform = application.get(name, {})
        if set(platform) - set(_PLATFORMS[name]):
            raise _refuse(name)
        _check_texts(platform.get("redirectUris", []), f"{name}/redirectUris", 256)
    _check_texts(application.get("identifierUris", []), "identifierUris", _LONGEST_URI)
    _check_texts(application.get("tags", []), "tags", _LONGEST_TAG)
    return application


def _check_texts(entries: Any, name: str, longest: int) -> None:
    is_list = isinstance(entries, list) and all(isinstance(entry, str) for entry in entries)
    if not is_list or len(set(entries)) < len(entries) or not all(0 < len(entry) <= longest for entry in entries):
        raise _refuse(name)


def _refuse(name: str) -> Exception:
    return refuse_value(name, f"Invalid value specified for property '{name}' of resource 'Application'.")


def _merge(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _fill(before.get(name) or {}, value) for name, value in changes.items()}


def _fill(under: Any, over: Any) -> Any:
    """Return an object with the members of another over its own; any other value as it is."""
    if not isinstance(under, Mapping) or not isinstance(over, Mapping | None):
        return over
    return {**under, **{name: _fill(under.get(name), value) for name, value in (over or {}).items()}}
