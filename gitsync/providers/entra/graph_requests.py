"""The requests for groups of Microsoft Graph, and what its answers mean.

Sent by the client of ARM: its turns, retries, deadlines and redaction are the same for both. What differs is a 404:
the codes of Graph vary from request to request, so the status decides, if the answer is Graph's at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from gitsync.errors import ArmError
from gitsync.providers.arm.http.messages import ArmRequest, Response, encode_payload

GROUPS: Final = "/v1.0/groups"
ABSENT: Final = "Request_ResourceNotFound"
MALFORMED: Final = "MalformedGroup"

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_JSON: Final = {"Content-Type": "application/json"}
DENIED: Final = "authorization_requestdenied"
_NOT_ACCEPTED: Final = (
    "{identity} is not accepted by Microsoft Graph: check AZURE_AUTHORITY_HOST, and that its "
    "tenant is the tenant of the groups."
)
_READ: Final = {
    DENIED: "{identity} is missing the application permission Group.Read.All of Microsoft Graph: "
    "grant it, with the consent of an administrator.",
    "401": _NOT_ACCEPTED,
}
_WRITE: Final = {
    DENIED: "{identity} is missing the application permission Group.ReadWrite.All of Microsoft Graph: grant it, "
    "with the consent of an administrator. Group.Create is not enough: it allows no changes to the created group.",
    "401": _NOT_ACCEPTED,
}
_WRITE_FOR_ROLES: Final = {
    DENIED: "{identity} is missing an application permission of Microsoft Graph: grant it Group.ReadWrite.All and "
    "RoleManagement.ReadWrite.Directory, which a group with isAssignableToRole needs, with the consent of an "
    "administrator. Group.Create is not enough.",
    "401": _NOT_ACCEPTED,
}


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class GraphRequest(ArmRequest):
    """A request to Microsoft Graph."""

    def says_absent(self, answer: Response, code: str, message: str) -> bool:  # noqa: ARG002 - the form decides
        """Return whether a 404 is an error of Graph, and no page of something in between."""
        error = answer.mapping().get("error")
        return isinstance(error, Mapping) and isinstance(error.get("code"), str)


def make_read(resource_id: str, group_id: str) -> GraphRequest:
    return GraphRequest(
        method="GET",
        path=_make_path(group_id),
        target=_make_path(group_id),
        resource_id=resource_id,
        accepts=frozenset({200, 404}),
        advice=_READ,
    )


def make_search(resource_id: str, name: str, next_page: str | None = None) -> GraphRequest:
    """Make the request for a page of the groups of a name: the first, or the one at a link of the page before."""
    # In a literal of OData a quote is doubled; quoted for the URL, no character ends the literal.
    literal = "'" + name.replace("'", "''") + "'"
    query = urlencode({"$filter": f"displayName eq {literal}"}, quote_via=quote, safe="")
    return GraphRequest(
        method="GET",
        path=GROUPS,
        target=next_page or f"{GROUPS}?{query}",
        resource_id=resource_id,
        accepts=frozenset({200}),
        is_list=True,
        advice=_READ,
    )


def make_create_request(resource_id: str, body: Mapping[str, Any], *, for_roles: bool) -> GraphRequest:
    return GraphRequest(
        method="POST",
        path=GROUPS,
        target=GROUPS,
        resource_id=resource_id,
        accepts=frozenset({201}),
        headers=_JSON,
        payload=encode_payload(body),
        advice=_WRITE_FOR_ROLES if for_roles else _WRITE,
    )


def make_update(resource_id: str, group_id: str, changes: Mapping[str, Any], *, for_roles: bool) -> GraphRequest:
    return GraphRequest(
        method="PATCH",
        path=_make_path(group_id),
        target=_make_path(group_id),
        resource_id=resource_id,
        accepts=frozenset({200, 204, 404}),
        headers=_JSON,
        payload=encode_payload(changes),
        advice=_WRITE_FOR_ROLES if for_roles else _WRITE,
    )


def make_delete(resource_id: str, group_id: str) -> GraphRequest:
    return GraphRequest(
        method="DELETE",
        path=_make_path(group_id),
        target=_make_path(group_id),
        resource_id=resource_id,
        accepts=frozenset({204, 404}),
        advice=_WRITE_FOR_ROLES,  # what is deleted may be either
    )


def read_group(answer: Response, request: GraphRequest, group_id: str = "") -> Mapping[str, Any]:
    """Read the group that an answer shows. Raises ArmError (code MalformedGroup) if it shows another one, or none; a
    write that was answered so may have been done.
    """
    return check_group(answer.mapping(), answer, request, group_id)


def check_group(
    group: Mapping[str, Any], answer: Response, request: GraphRequest, group_id: str = ""
) -> Mapping[str, Any]:
    """Return a group of an answer. Raises ArmError as `read_group` does."""
    if fault := _find_fault(group, group_id):
        raise ArmError(
            f"The response to {request.method} {request.path} has no valid group: {fault}.",
            status=answer.status,
            code=MALFORMED,
            request_id=answer.request_id,
            resource_id=request.resource_id,
            method=request.method,
            outcome_unknown=request.is_write,
            hint="Check the endpoint, and any proxy between gitsync and Microsoft Graph.",
        )
    return group


def _find_fault(group: Mapping[str, Any], group_id: str) -> str:
    """Find what is wrong with what should be a group, with an id if it is known; "" if nothing is."""
    shown_id = group.get("id")
    if not isinstance(shown_id, str) or not _GUID.fullmatch(shown_id):
        return "it has no id"
    if group_id and shown_id.casefold() != group_id.casefold():
        return "it has the id of another group"
    if not isinstance(group.get("displayName"), str):
        return "it has no displayName"
    if not all(isinstance(group.get(name), str | None) for name in ("description", "mailNickname")):
        return "its description or mailNickname is not a string"
    types = group.get("groupTypes")
    if not isinstance(types, list) or not all(isinstance(group_type, str) for group_type in types):
        return "its groupTypes are not a list of strings"
    return "" if isinstance(group.get("isAssignableToRole"), bool | None) else "its isAssignableToRole is not a boolean"


def _make_path(group_id: str) -> str:
    """Make the path of a group. Raises ArmError for any other text, so that an edited record leads to no other path."""
    if not _GUID.fullmatch(group_id):
        raise ArmError(f"{group_id!r} is not the id of a group.", code="InvalidResourceId")
    return f"{GROUPS}/{group_id}"
