"""What is below an object of Microsoft Graph: the federated credentials of an application, and the assignments of a
principal's app roles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from gitsync.emulator.graph.answers import refuse_graph, refuse_missing, refuse_value
from gitsync.emulator.graph.directory_collections import APPLICATIONS, SERVICE_PRINCIPALS, find_application
from gitsync.emulator.graph.directory_objects import find_object, put_new, require_write
from gitsync.emulator.graph.first_party import list_first_party_roles
from gitsync.emulator.graph.graph_bodies import Types, check_values, require_payload, require_values
from gitsync.emulator.graph.graph_delays import compute_age
from gitsync.emulator.graph.graph_filters import make_list, read_filter, refuse_other_methods
from gitsync.emulator.graph.graph_rights import OF_APPLICATIONS, OF_ASSIGNMENTS, require_permission
from gitsync.emulator.http.messages import ServerRequest, ServerResponse
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import StoredResource

CREDENTIALS: Final = "federatedIdentityCredentials"
ASSIGNED_TO: Final = "appRoleAssignedTo"
ASSIGNMENTS: Final = "appRoleAssignments"
# The limit of Entra ID for one application
_MOST_CREDENTIALS: Final = 20
_CREDENTIAL_TYPES: Types = {
    "name": str,
    "issuer": str,
    "subject": str,
    "audiences": list,
    "description": (str, type(None)),
}
_LONGEST: Final = {"name": 120, "issuer": 600, "subject": 600, "description": 600}
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,119}")
_ASSIGNMENT_TYPES: Types = {"principalId": str, "resourceId": str, "appRoleId": str}
_DEFAULT_ROLE: Final = "00000000-0000-0000-0000-000000000000"


def answer_credentials(cloud: EmulatedCloud, request: ServerRequest, words: tuple[str, ...]) -> ServerResponse:
    """Answer a request for federated credentials; `words` are those after `applications`."""
    object_id, _, *name = words
    application = find_object(cloud, APPLICATIONS, object_id, is_write=request.method != "GET")
    if request.method == "GET":
        require_permission(cloud.settings.graph, OF_APPLICATIONS.reads)
    else:
        require_write(cloud, request, APPLICATIONS, application)
    if name:
        return _answer_credential(cloud, request, application, name[0])
    refuse_other_methods(request, "GET", "POST")
    if request.method == "GET":
        wanted = read_filter(request, {"name", "issuer", "subject"})
        return make_list(cloud, request, _list_credentials(cloud, application), _show, wanted)
    body = _check_credential(request.body)
    require_values(body, "FederatedIdentityCredential", ("name", "issuer", "subject", "audiences"))
    _refuse_taken(cloud, application, body, "")
    path = f"{application.id}/{CREDENTIALS}"
    stored = put_new(cloud, request, path, f"graph:credential:{application.id}:{body['name']}", body)
    return ServerResponse(201, _show(stored), {"Location": f"{request.base}{stored.id}"})


def answer_assignments(cloud: EmulatedCloud, request: ServerRequest, words: tuple[str, ...]) -> ServerResponse:
    """Answer a request for assignments of app roles: those of the roles of a principal (`appRoleAssignedTo`), or those
    that a principal has (`appRoleAssignments`).
    """
    object_id, side, *assignment = words
    rights = OF_ASSIGNMENTS
    require_permission(cloud.settings.graph, rights.reads if request.method == "GET" else rights.writes)
    principal = find_object(cloud, SERVICE_PRINCIPALS, object_id, is_write=request.method != "GET")
    member = "resourceId" if side == ASSIGNED_TO else "principalId"
    own_id = principal.id.rpartition("/")[2]
    rows = [(key, stored) for key, stored in _list_assignments(cloud) if stored.body[member] == own_id]
    if assignment:
        refuse_other_methods(request, "GET", "DELETE")
        found = next((stored for _, stored in rows if stored.id.rpartition("/")[2] == assignment[0]), None)
        if found is None:
            raise refuse_missing(assignment[0])
        if request.method == "GET":
            return ServerResponse(200, _show_assignment(cloud, found))
        cloud.store.drop_resource(found.id.casefold())
        return ServerResponse(204)
    refuse_other_methods(request, "GET", "POST")
    if request.method == "GET":
        wanted = read_filter(request, {"resourceId", "principalId", "appRoleId"})
        return make_list(cloud, request, rows, lambda stored: _show_assignment(cloud, stored), wanted)
    return _assign(cloud, request)


def answer_roles(cloud: EmulatedCloud, request: ServerRequest, words: tuple[str, ...]) -> ServerResponse:
    """Answer a request for the app roles of a principal, which are those of its application."""
    refuse_other_methods(request, "GET")
    require_permission(cloud.settings.graph, OF_APPLICATIONS.reads)
    principal = find_object(cloud, SERVICE_PRINCIPALS, words[0], cloud.settings.graph.delays.read)
    return ServerResponse(200, {"value": list_roles(cloud, principal)})


def list_roles(cloud: EmulatedCloud, principal: StoredResource) -> list[Any]:
    """List the app roles of a principal: those of its application, or its own if that is of another tenant."""
    app_id = principal.body.get("appId")
    application = find_application(cloud, app_id)
    own = [*(application.body.get("appRoles", []) if application else []), *principal.body.get("appRoles", [])]
    return own or list_first_party_roles(app_id)


def _list_credentials(cloud: EmulatedCloud, application: StoredResource) -> list[tuple[str, StoredResource]]:
    return cloud.store.below(f"{application.id}/{CREDENTIALS}/".casefold())


def _answer_credential(
    cloud: EmulatedCloud, request: ServerRequest, application: StoredResource, name: str
) -> ServerResponse:
    refuse_other_methods(request, "GET", "PATCH", "DELETE")
    rows = (stored for _, stored in _list_credentials(cloud, application))
    # Graph accepts the name in place of the id.
    found = next((row for row in rows if name in {row.id.rpartition("/")[2], row.body["name"]}), None)
    delays = cloud.settings.graph.delays
    delay = {"GET": delays.read, "PATCH": delays.patch, "DELETE": delays.delete}[request.method]
    if found is None or compute_age(cloud, found.created) < delay:
        raise refuse_missing(name)
    if request.method == "GET":
        return ServerResponse(200, _show(found))
    if request.method == "PATCH":
        changes = _check_credential(request.body)
        require_payload(changes)
        if changes.get("name", found.body["name"]) != found.body["name"]:
            raise refuse_value("name", "Property 'name' is read-only and cannot be set.", "ReadOnlyProperty")
        body = {**found.body, **changes}
        _refuse_taken(cloud, application, body, found.id)
        cloud.change(found.id.casefold(), replace(found, body=body))
    else:
        cloud.store.drop_resource(found.id.casefold())
    return ServerResponse(204)


def _check_credential(body: Any) -> dict[str, Any]:
    credential = check_values(body, "FederatedIdentityCredential", _CREDENTIAL_TYPES, _LONGEST)
    if "name" in credential and not _NAME.fullmatch(credential["name"]):
        raise refuse_value("name", "Invalid value specified for property 'name'.")
    # A PATCH may omit them: the placeholder meets every condition.
    audiences = credential.get("audiences", ["-"])
    if len(audiences) != 1 or not isinstance(audiences[0], str) or not 0 < len(audiences[0]) <= 600:
        raise refuse_value("audiences", "The property 'audiences' must have exactly one value.")
    if "issuer" in credential and not credential["issuer"].startswith("https://"):
        raise refuse_value("issuer", "The property 'issuer' must be a URL of https.")
    return credential


def _refuse_taken(cloud: EmulatedCloud, application: StoredResource, body: Mapping[str, Any], path: str) -> None:
    others = [stored.body for _, stored in _list_credentials(cloud, application) if stored.id != path]
    if not path and len(others) >= _MOST_CREDENTIALS:
        text = f"The application has the most federated identity credentials that are allowed: {_MOST_CREDENTIALS}."
        raise refuse_graph(400, "Request_BadRequest", text)
    if any(other["name"] == body["name"] for other in others):
        text = f"FederatedIdentityCredential with name {body['name']} already exists."
        raise refuse_graph(409, "Request_MultipleObjectsWithSameKeyValue", text)
    if any((other["issuer"], other["subject"]) == (body["issuer"], body["subject"]) for other in others):
        text = "FederatedIdentityCredential with the same issuer and subject already exists."
        raise refuse_graph(409, "Request_MultipleObjectsWithSameKeyValue", text)


def _show(stored: StoredResource) -> dict[str, Any]:
    return {"id": stored.id.rpartition("/")[2], "description": None, **stored.body}


def _list_assignments(cloud: EmulatedCloud) -> Iterator[tuple[str, StoredResource]]:
    """List the assignments of all app roles. Each is stored below the principal that has the role."""
    for key, stored in cloud.store.below(f"{SERVICE_PRINCIPALS.path}/".casefold()):
        if f"/{ASSIGNED_TO}/".casefold() in key:
            yield key, stored


def _assign(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    body = check_values(request.body, "AppRoleAssignment", _ASSIGNMENT_TYPES, {})
    require_values(body, "AppRoleAssignment", ("principalId", "resourceId", "appRoleId"))
    resource = find_object(cloud, SERVICE_PRINCIPALS, body["resourceId"])
    roles = {role["id"] for role in list_roles(cloud, resource)}
    # The zero id is access without a role, which every API has.
    if body["appRoleId"] != _DEFAULT_ROLE and body["appRoleId"] not in roles:
        text = "Permission being assigned was not found on application"
        raise refuse_graph(400, "Request_BadRequest", text)
    if any(stored.body == body for _, stored in _list_assignments(cloud)):
        text = "Permission being assigned already exists on the object"
        raise refuse_value("appRoleId", text, "InvalidUpdate")
    id_name = f"graph:assignment:{body['resourceId']}:{body['principalId']}:{body['appRoleId']}"
    stored = put_new(cloud, request, f"{resource.id}/{ASSIGNED_TO}", id_name, body)
    return ServerResponse(201, _show_assignment(cloud, stored), {"Location": f"{request.base}{stored.id}"})


def _show_assignment(cloud: EmulatedCloud, stored: StoredResource) -> dict[str, Any]:
    principal = SERVICE_PRINCIPALS.look_up(cloud, stored.body["principalId"])
    resource = SERVICE_PRINCIPALS.look_up(cloud, stored.body["resourceId"])
    return {
        "id": stored.id.rpartition("/")[2],
        "createdDateTime": f"{stored.created[:19]}Z",
        "deletedDateTime": None,
        "principalType": "ServicePrincipal",
        "principalDisplayName": principal.body.get("displayName") if principal else None,
        "resourceDisplayName": resource.body.get("displayName") if resource else None,
        **stored.body,
    }
