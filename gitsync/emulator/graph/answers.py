"""The envelope of Microsoft Graph: its errors and its headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gitsync.emulator.http.messages import Refused, ServerRequest, ServerResponse

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


def refuse_missing(object_id: str) -> Refused:
    """Return the same for an object that is not found."""
    text = f"Resource '{object_id}' does not exist or one of its queried reference-property objects are not present."
    return refuse_graph(404, "Request_ResourceNotFound", text)


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
