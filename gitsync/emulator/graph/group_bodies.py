"""The body of a group: the checks of a new one, and the members that Graph shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gitsync.emulator.graph.answers import refuse_graph, refuse_value
from gitsync.emulator.graph.graph_bodies import (
    check_values,
    hide_links,
    refuse_read_only,
    require_payload,
    require_values,
)
from gitsync.emulator.state.store import StoredResource

UNIFIED, _DYNAMIC = "Unified", "DynamicMembership"
_NICKNAME = re.compile(r"[\x21-\x7e]{1,64}")
_NOT_IN_NICKNAMES = frozenset('@()\\[]";:<>,')
_TENANT = "contoso.onmicrosoft.com"

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "displayName": str,
    "mailNickname": str,
    "description": (str, type(None)),
    "groupTypes": list,
    "securityEnabled": bool,
    "mailEnabled": bool,
    "isAssignableToRole": (bool, type(None)),
    "membershipRule": (str, type(None)),
    "membershipRuleProcessingState": (str, type(None)),
    "visibility": (str, type(None)),
    "uniqueName": (str, type(None)),
}
_LONGEST = {"displayName": 256, "description": 1024}
_REQUIRED = ("displayName", "mailNickname", "mailEnabled", "securityEnabled")
_FIXED = ("groupTypes", "isAssignableToRole", "mailEnabled", "uniqueName")

_NULLS = [
    "deletedDateTime",
    "classification",
    "description",
    "expirationDateTime",
    "isAssignableToRole",
    "mail",
    "membershipRule",
    "membershipRuleProcessingState",
    "onPremisesDomainName",
    "onPremisesLastSyncDateTime",
    "onPremisesNetBiosName",
    "onPremisesSamAccountName",
    "onPremisesSecurityIdentifier",
    "onPremisesSyncEnabled",
    "preferredDataLocation",
    "preferredLanguage",
    "theme",
    "uniqueName",
    "visibility",
]
_LISTS = [
    "creationOptions",
    "groupTypes",
    "infoCatalogs",
    "onPremisesProvisioningErrors",
    "proxyAddresses",
    "resourceBehaviorOptions",
    "resourceProvisioningOptions",
    "serviceProvisioningErrors",
]


def check_new_group(body: Any) -> dict[str, Any]:
    """Check the body of a POST, and return it without empty values. Refused if Graph would refuse it."""
    group = _check_values(body)
    require_values(group, "Group", _REQUIRED)
    types = set(group.get("groupTypes", []))
    if _DYNAMIC in types and not group.get("membershipRule"):
        raise refuse_value("membershipRule", "A value is required for property 'membershipRule' of resource 'Group'.")
    if group.get("isAssignableToRole") and not group["securityEnabled"]:
        raise refuse_value("isAssignableToRole", "Only security groups can be assigned to roles.")
    if group["mailEnabled"] and UNIFIED not in types:
        message = "The service does not currently support writes of mail-enabled groups. Please ensure that the "
        raise refuse_graph(400, "Request_BadRequest", f"{message}mail-enablement property is unset and try again.")
    return group


def check_change(body: Any, before: Mapping[str, Any]) -> dict[str, Any]:
    """Check the body of a PATCH, as `check_new_group` does."""
    changes = _check_values(body)
    require_payload(changes)
    # A PATCH may repeat these with their values, which clients do that send all members.
    for name in _FIXED:
        if name in changes and changes[name] != before.get(name, [] if name == "groupTypes" else None):
            raise refuse_read_only(name)
    return changes


def show_group(stored: StoredResource) -> dict[str, Any]:
    """Show a group with all members that Graph shows by default."""
    body, group_id = hide_links(stored.body), stored.id.rpartition("/")[2]
    is_unified = UNIFIED in body.get("groupTypes", [])
    mail = f"{body.get('mailNickname')}@{_TENANT}" if is_unified else None
    own = {"mail": mail, "mailEnabled": True, "visibility": "Public", "proxyAddresses": [f"SMTP:{mail}"]}
    created = f"{stored.created[:19]}Z"
    return {
        "id": group_id,
        "createdDateTime": created,
        "renewedDateTime": created,
        "securityIdentifier": f"S-1-12-1-{int(group_id[:8], 16)}",
        "securityEnabled": True,
        "mailEnabled": False,
        **dict.fromkeys(_NULLS),
        **{name: [] for name in _LISTS},
        **body,
        # Last: a Microsoft 365 group has these values whatever was sent.
        **(own if is_unified else {}),
    }


def _check_values(body: Any) -> dict[str, Any]:
    group = check_values(body, "Group", _TYPES, _LONGEST)
    nickname = group.get("mailNickname")
    if nickname is not None and (not _NICKNAME.fullmatch(nickname) or _NOT_IN_NICKNAMES & set(nickname)):
        raise refuse_value("mailNickname", "Invalid value specified for property 'mailNickname' of resource 'Group'.")
    return group
