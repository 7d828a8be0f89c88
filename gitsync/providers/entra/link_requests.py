"""The requests for relations of Microsoft Graph, such as the members of a group.

Graph takes at most 20 objects in a request that adds members; owners are added one by one, and all are removed one by
one (https://learn.microsoft.com/graph/api/group-post-members).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gitsync.desired.catalog.directory_relations import DirectoryRelation
from gitsync.providers.arm.http.messages import Response, encode_payload
from gitsync.providers.entra.graph_requests import DENIED, GraphRequest

MOST_ADDED: Final = 20
"""Members in one request."""

_PAGE: Final = 999
_JSON: Final = {"Content-Type": "application/json"}
_MAY_READ: Final = {
    "members": "GroupMember.Read.All",
    "owners": "Group.Read.All for those of a group, or Application.Read.All",
}
_MAY_WRITE: Final = {
    "members": "GroupMember.ReadWrite.All (with Application.ReadWrite.All if a member is a service principal or a "
    "managed identity, and RoleManagement.ReadWrite.Directory if the group has isAssignableToRole)",
    "owners": "Group.ReadWrite.All for those of a group, or Application.ReadWrite.All",
}
_GRANT: Final = (
    "{{identity}} is missing an application permission of Microsoft Graph: grant it {}, with the consent of an "
    "administrator."
)


def make_list(resource_id: str, path: str, relation: DirectoryRelation, next_page: str | None = None) -> GraphRequest:
    """Make the request for a page of the objects in a relation of the object with a path."""
    where = f"{path}/{relation.name}"
    return GraphRequest(
        method="GET",
        path=where,
        target=next_page or f"{where}?%24select=id&%24top={_PAGE}",
        resource_id=resource_id,
        accepts=frozenset({200, 404}),
        is_list=True,
        advice=_advise(_MAY_READ, relation),
    )


def make_addition(resource_id: str, path: str, relation: DirectoryRelation, urls: Sequence[str]) -> GraphRequest:
    """Make the request that adds objects, by their URLs: one, or up to 20 members."""
    is_one = len(urls) == 1
    where = f"{path}/{relation.name}/$ref" if is_one else path
    return GraphRequest(
        method="POST" if is_one else "PATCH",
        path=where,
        target=where,
        resource_id=resource_id,
        accepts=frozenset({200, 204, 400, 404}),
        headers=_JSON,
        payload=encode_payload({"@odata.id": urls[0]} if is_one else {f"{relation.name}@odata.bind": list(urls)}),
        advice=_advise(_MAY_WRITE, relation),
    )


def make_removal(resource_id: str, path: str, relation: DirectoryRelation, object_id: str) -> GraphRequest:
    """Make the request that removes one object from a relation. The object itself stays."""
    where = f"{path}/{relation.name}/{object_id}/$ref"
    return GraphRequest(
        method="DELETE",
        path=where,
        target=where,
        resource_id=resource_id,
        accepts=frozenset({204, 404}),
        advice=_advise(_MAY_WRITE, relation),
    )


def says_present(answer: Response) -> bool:
    """Return whether an addition was refused because an object is there already."""
    error = answer.mapping().get("error")
    message = error.get("message") if isinstance(error, dict) else None
    return answer.status == 400 and isinstance(message, str) and "already exist" in message


def _advise(permissions: dict[str, str], relation: DirectoryRelation) -> dict[str, str]:
    return {DENIED: _GRANT.format(permissions[relation.name])}
