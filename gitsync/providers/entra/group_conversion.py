"""A group in the words of a manifest, and in those of Microsoft Graph: the body to create one with, what a body
changes, and what a live group is.

Members that Graph decides (`mailEnabled`, `visibility`, `mail`) are in neither direction: Graph answers `mailEnabled:
true` for a Microsoft 365 group that was sent with false, so they would differ in each run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitsync.model.live import Live
from gitsync.providers.entra.directory_kind import (
    Body,
    DirectoryKind,
    GraphObject,
    GraphRefusal,
    Names,
    list_name_searches,
)

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


def refuse_create(body: Body) -> GraphRefusal | None:
    """Refuse to create a group with dynamic members: its rule has no field in a manifest."""
    if _DYNAMIC not in _GROUP_TYPES.get(body.get("membershipType", ASSIGNED), ()):
        return None
    return GraphRefusal(
        f"membershipType {body['membershipType']} needs a membership rule, which a manifest cannot contain.",
        "Set it to assigned or assignedm365, or create the group with its rule and let gitsync adopt it.",
    )


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


def _find_fault(group: GraphObject) -> str:
    if not all(isinstance(group.get(name), str | None) for name in ("description", "mailNickname")):
        return "its description or mailNickname is not a string"
    types = group.get("groupTypes")
    if not isinstance(types, list) or not all(isinstance(group_type, str) for group_type in types):
        return "its groupTypes are not a list of strings"
    return "" if isinstance(group.get("isAssignableToRole"), bool | None) else "its isAssignableToRole is not a boolean"


def _explain_denied_write(group: GraphObject | None) -> str:
    # What is deleted may be either.
    if group is None or is_for_roles(group):
        return (
            "{identity} is missing an application permission of Microsoft Graph: grant it Group.ReadWrite.All and "
            "RoleManagement.ReadWrite.Directory, which a group with isAssignableToRole needs, with the consent of an "
            "administrator. Group.Create is not enough."
        )
    return (
        "{identity} is missing the application permission Group.ReadWrite.All of Microsoft Graph: grant it, with the "
        "consent of an administrator. Group.Create is not enough: it allows no changes to the created group."
    )


SECURITY_GROUP: Final = DirectoryKind(
    names=Names(
        one="group",
        several="security groups",
        if_several="Rename or delete all but one of them, or give the manifest a unique displayName. "
        "Set operatorSpec.creationMode to AlwaysCreate to create another group of that name.",
        ambiguous="AmbiguousGroup",
        malformed="MalformedGroup",
        in_use="GroupInUse",
    ),
    collection="/v1.0/groups",
    list_searches=list_name_searches,
    # A manifest never means a group that is not a security group, such as a distribution list.
    is_meant=lambda group: group.get("securityEnabled") is True,
    find_fault=_find_fault,
    show=show_group,
    make_create=make_create,
    refuse_create=refuse_create,
    refuse_match=lambda _body, _group: None,
    may_be_late=lambda _error: False,
    compute_changes=compute_changes,
    compute_fixed_changes=compute_fixed_changes,
    read_permission="Group.Read.All",
    explain_denied_write=_explain_denied_write,
)
