"""A group in the words of a manifest, and in those of Microsoft Graph: the body to create one with, what a body
changes, and what a live group is.

Members that Graph decides (`mailEnabled`, `visibility`, `mail`) are in neither direction: Graph answers `mailEnabled:
true` for a Microsoft 365 group that was sent with false, so they would differ in each run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitsync.model.live import Live

_UNIFIED, _DYNAMIC = "Unified", "DynamicMembership"

ASSIGNED: Final = "assigned"
_GROUP_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    ASSIGNED: (),
    "assignedm365": (_UNIFIED,),
    "enabled": (_DYNAMIC,),
    "enabledm365": (_DYNAMIC, _UNIFIED),
}
"""What each `membershipType` is in Graph. ASO sends `enabled` as an assigned group; here it has its own meaning."""

_MEMBERSHIP_TYPES: Final = {types: name for name, types in _GROUP_TYPES.items()}
_FIXED: Final = ("membershipType", "isAssignableToRole")


def needs_rule(body: Mapping[str, Any]) -> bool:
    """Return whether a group with this body has dynamic members: its rule has no field in a manifest."""
    return _DYNAMIC in _GROUP_TYPES.get(body.get("membershipType", ASSIGNED), ())


def is_for_roles(body: Mapping[str, Any]) -> bool:
    return body.get("isAssignableToRole") is True


def show_group(group: Mapping[str, Any], wanted: Mapping[str, Any]) -> Live:
    """Show a Graph group in the words of a manifest, with its id. `wanted` is the value in git: of two ways to write
    that there is no description, git's is shown.
    """
    description = group.get("description") or wanted.get("description")
    has_description = bool(group.get("description")) or description == ""
    types = tuple(sorted(str(group_type) for group_type in group.get("groupTypes") or ()))
    return Live(
        body={
            "id": group["id"],
            "displayName": group.get("displayName"),
            "mailNickname": group.get("mailNickname"),
            **({"description": description} if has_description else {}),
            "membershipType": _MEMBERSHIP_TYPES.get(types, "+".join(types)),
            "isAssignableToRole": bool(group.get("isAssignableToRole")),
        }
    )


def make_create(body: Mapping[str, Any]) -> dict[str, Any]:
    """Make the body of the POST that creates a group."""
    optional = {
        "description": body.get("description") or None,  # Graph takes no empty one
        "isAssignableToRole": body.get("isAssignableToRole"),
    }
    return {
        "displayName": body.get("displayName"),
        "mailNickname": body.get("mailNickname"),
        **{name: value for name, value in optional.items() if value is not None},
        "groupTypes": list(_GROUP_TYPES.get(body.get("membershipType", ASSIGNED), ())),
        "securityEnabled": True,
        "mailEnabled": False,
    }


def compute_changes(
    body: Mapping[str, Any], group: Mapping[str, Any], applied: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Compute what a PATCH has to send, so that a group of Graph becomes what a body states; nothing if it is that.
    `applied` is what was sent before: a description that git no longer states is taken away.
    """
    changes = {
        name: body[name] for name in ("displayName", "mailNickname") if name in body and body[name] != group.get(name)
    }
    description = body.get("description") or None
    is_stated = "description" in body or (applied is not None and "description" in applied)
    if is_stated and description != (group.get("description") or None):
        changes["description"] = description
    return changes if group.get("securityEnabled") is True else {**changes, "securityEnabled": True}


def compute_fixed_changes(body: Mapping[str, Any], group: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Find what a body changes although Graph fixes it when it creates a group: by name, the value that the group has
    and the one that git wants.
    """
    live = show_group(group, body).body
    return {name: (live[name], body[name]) for name in _FIXED if name in body and body[name] != live[name]}
