"""The envelope of Microsoft Graph: its errors, its headers, and the permissions that it requires."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from gitsync.emulator.graph.graph_settings import GraphSettings
from gitsync.emulator.http.messages import Refused, ServerRequest, ServerResponse

_READ = frozenset({"Group.Read.All", "Directory.Read.All"})
_WRITE = frozenset({"Group.ReadWrite.All", "Directory.ReadWrite.All"})
READS = _READ | _WRITE
CREATES = _WRITE | {"Group.Create"}
WRITES = _WRITE
WRITES_ROLES = frozenset({"RoleManagement.ReadWrite.Directory"})
"""The permissions for each action; one of them is enough."""

LINK_READS = READS | {"GroupMember.Read.All", "GroupMember.ReadWrite.All"}
LINK_WRITES = WRITES | {"GroupMember.ReadWrite.All"}
"""Those for members and owners."""

ALL = READS | CREATES | WRITES_ROLES
"""Those of a caller without a setting."""

_HEADERS = {
    "Content-Type": "application/json;odata.metadata=minimal;odata.streaming=true;charset=utf-8",
    "OData-Version": "4.0",
}


def refuse_graph(status: int, code: str, message: str, details: Sequence[Mapping[str, str]] = ()) -> Refused:
    """Return the exception for an answer with a Graph error."""
    error: dict[str, Any] = {"code": code, "message": message}
    return Refused(ServerResponse(status, {"error": error | ({"details": list(details)} if details else {})}))


def refuse_value(name: str, message: str, code: str = "InvalidValue") -> Refused:
    """Return the same for a property with an invalid value."""
    return refuse_graph(400, "Request_BadRequest", message, [{"target": name, "message": message, "code": code}])


def refuse_missing(group_id: str) -> Refused:
    """Return the same for a group that is not found."""
    text = f"Resource '{group_id}' does not exist or one of its queried reference-property objects are not present."
    return refuse_graph(404, "Request_ResourceNotFound", text)


def require_permission(settings: GraphSettings, allowing: Collection[str]) -> None:
    """Refuse a request if all permissions for it are missing."""
    if settings.permissions is not None and not set(allowing) & set(settings.permissions):
        raise refuse_graph(403, "Authorization_RequestDenied", "Insufficient privileges to complete the operation.")


def identify_answer(answer: ServerResponse, request: ServerRequest, request_id: str, now: datetime) -> ServerResponse:
    """Add the ids of its request to an answer, as Graph does; all rejected tokens have the same code."""
    client_id = request.headers.get("client-request-id", request_id)
    headers = _HEADERS | {"request-id": request_id, "client-request-id": client_id} | dict(answer.headers)
    error = answer.body.get("error") if isinstance(answer.body, Mapping) else None
    if not isinstance(error, Mapping):
        return ServerResponse(answer.status, answer.body, headers)
    code = "InvalidAuthenticationToken" if answer.status == 401 else error["code"]
    date = now.strftime("%Y-%m-%dT%H:%M:%S")
    inner = {"date": date, "request-id": request_id, "client-request-id": client_id}
    return ServerResponse(answer.status, {"error": {**error, "code": code, "innerError": inner}}, headers)
