"""The requests for what is below an Entra ID object: federated credentials of an application, and the app roles of a
service principal with their assignments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from gitsync.errors import ArmError
from gitsync.providers.arm.http.messages import encode_payload
from gitsync.providers.entra.directory_kind import GUID
from gitsync.providers.entra.graph_requests import DENIED, GraphRequest

APPLICATIONS: Final = "/v1.0/applications"
PRINCIPALS: Final = "/v1.0/servicePrincipals"
CREDENTIALS: Final = "federatedIdentityCredentials"
ASSIGNED: Final = "appRoleAssignedTo"
ASSIGNMENTS: Final = "appRoleAssignments"
ROLES: Final = "appRoles"

_JSON: Final = {"Content-Type": "application/json"}
_PART: Final = re.compile(r"[A-Za-z0-9_-]{1,120}")
_GRANT: Final = (
    "{{identity}} is missing the application permission {} of Microsoft Graph: grant it, with the consent of an "
    "administrator.{}"
)
_ADVICE: Final[Mapping[tuple[str, bool], str]] = {
    (CREDENTIALS, False): _GRANT.format("Application.Read.All", ""),
    (CREDENTIALS, True): _GRANT.format(
        "Application.ReadWrite.OwnedBy, or does not own the application",
        " To change an application that gitsync did not create, make it an owner, or grant Application.ReadWrite.All.",
    ),
    (ROLES, False): _GRANT.format("Application.Read.All", ""),
    (ASSIGNED, False): _GRANT.format("Application.Read.All", ""),
    (ASSIGNMENTS, False): _GRANT.format("Application.Read.All", ""),
    (ASSIGNED, True): _GRANT.format(
        "AppRoleAssignment.ReadWrite.All", " With it, an identity can give itself any permission."
    ),
}
"""What a refused request lacks, by what it is for, and whether it is a write."""


def make_path(collection: str, object_id: str, *parts: str) -> str:
    """Make the path of what is below an object. Raises ArmError for any other text, so that an edited record leads to
    no other path.
    """
    if not GUID.fullmatch(object_id) or not all(map(_PART.fullmatch, parts)):
        raise ArmError(f"{'/'.join((object_id, *parts))!r} is not an id.", code="InvalidResourceId")
    return "/".join((collection, object_id, *parts))


def make_part_read(resource_id: str, path: str) -> GraphRequest:
    return GraphRequest(
        method="GET",
        path=path,
        target=path,
        resource_id=resource_id,
        accepts=frozenset({200, 404}),
        advice=_advise(path, is_write=False),
    )


def make_part_list(resource_id: str, path: str, next_page: str | None = None) -> GraphRequest:
    """Make the request for a page of a list."""
    return replace(make_part_read(resource_id, path), target=next_page or path, is_list=True)


def make_part_write(
    method: Literal["POST", "PATCH"], resource_id: str, path: str, body: Mapping[str, Any]
) -> GraphRequest:
    return GraphRequest(
        method=method,
        path=path,
        target=path,
        resource_id=resource_id,
        accepts=frozenset({200, 201, 204, 404}),
        headers=_JSON,
        payload=encode_payload(body),
        advice=_advise(path, is_write=True),
    )


def make_part_delete(resource_id: str, path: str) -> GraphRequest:
    return GraphRequest(
        method="DELETE",
        path=path,
        target=path,
        resource_id=resource_id,
        accepts=frozenset({204, 404}),
        advice=_advise(path, is_write=True),
    )


def _advise(path: str, *, is_write: bool) -> Mapping[str, str]:
    name = path.split("/")[4]
    return {DENIED: _ADVICE[name, is_write]}
