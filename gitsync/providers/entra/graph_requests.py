"""The requests for objects of Microsoft Graph, and what its answers mean.

Sent by the client of ARM: its turns, retries, deadlines and redaction are the same for both. What differs is a 404:
the codes of Graph vary from request to request, so the status decides, if the answer is Graph's at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from gitsync.errors import ArmError
from gitsync.providers.arm.http.messages import ArmRequest, Response, encode_payload
from gitsync.providers.entra.directory_kind import GUID, DirectoryKind, GraphObject, ObjectSearch

ABSENT: Final = "Request_ResourceNotFound"

_JSON: Final = {"Content-Type": "application/json"}
DENIED: Final = "authorization_requestdenied"
_NOT_ACCEPTED: Final = (
    "{identity} is not accepted by Microsoft Graph: check AZURE_AUTHORITY_HOST, and that its "
    "tenant is that of the objects."
)


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class GraphRequest(ArmRequest):
    """A request to Microsoft Graph."""

    def says_absent(self, answer: Response, code: str, message: str) -> bool:  # noqa: ARG002 - the form decides
        """Return whether a 404 is an error of Graph, and no page of something in between."""
        error = answer.mapping().get("error")
        return isinstance(error, Mapping) and isinstance(error.get("code"), str)


def make_read(kind: DirectoryKind, resource_id: str, object_id: str) -> GraphRequest:
    path = _make_path(kind, object_id)
    return GraphRequest(
        method="GET",
        path=path,
        target=path,
        resource_id=resource_id,
        accepts=frozenset({200, 404}),
        advice=advise_read(kind),
    )


def make_search(
    kind: DirectoryKind, resource_id: str, search: ObjectSearch, next_page: str | None = None
) -> GraphRequest:
    """Make the request for a page of the objects with a value: the first, or the one at a link of the page before."""
    # In a literal of OData a quote is doubled; quoted for the URL, no character ends the literal.
    literal = "'" + search.value.replace("'", "''") + "'"
    query = urlencode({"$filter": f"{search.member} eq {literal}"}, quote_via=quote, safe="")
    return GraphRequest(
        method="GET",
        path=kind.collection,
        target=next_page or f"{kind.collection}?{query}",
        resource_id=resource_id,
        accepts=frozenset({200}),
        is_list=True,
        advice=advise_read(kind),
    )


def make_create_request(kind: DirectoryKind, resource_id: str, body: Mapping[str, Any]) -> GraphRequest:
    """Make the POST of a body, which is Graph's."""
    return GraphRequest(
        method="POST",
        path=kind.collection,
        target=kind.collection,
        resource_id=resource_id,
        accepts=frozenset({201}),
        headers=_JSON,
        payload=encode_payload(body),
        advice=_advise_write(kind, body),
    )


def make_update(
    kind: DirectoryKind, resource_id: str, graph_object: GraphObject, changes: Mapping[str, Any]
) -> GraphRequest:
    """Make the PATCH of an object as it was read."""
    path = _make_path(kind, str(graph_object["id"]))
    return GraphRequest(
        method="PATCH",
        path=path,
        target=path,
        resource_id=resource_id,
        accepts=frozenset({200, 204, 404}),
        headers=_JSON,
        payload=encode_payload(changes),
        advice=_advise_write(kind, graph_object),
    )


def make_delete(kind: DirectoryKind, resource_id: str, object_id: str) -> GraphRequest:
    path = _make_path(kind, object_id)
    return GraphRequest(
        method="DELETE",
        path=path,
        target=path,
        resource_id=resource_id,
        accepts=frozenset({204, 404}),
        advice=_advise_write(kind, None),
    )


def read_object(kind: DirectoryKind, answer: Response, request: GraphRequest, object_id: str = "") -> Mapping[str, Any]:
    """Read the object that an answer shows. Raises ArmError (code Malformed…) if it shows another one, or none; a write
    that was answered so may have been done.
    """
    return check_object(kind, answer.mapping(), answer, request, object_id)


def check_object(
    kind: DirectoryKind, graph_object: GraphObject, answer: Response, request: GraphRequest, object_id: str = ""
) -> GraphObject:
    """Return an object of an answer. Raises ArmError as `read_object` does."""
    if fault := _find_fault(kind, graph_object, object_id):
        raise ArmError(
            f"The response to {request.method} {request.path} has no valid {kind.names.one}: {fault}.",
            status=answer.status,
            code=kind.names.malformed,
            request_id=answer.request_id,
            resource_id=request.resource_id,
            method=request.method,
            outcome_unknown=request.is_write,
            hint="Check the endpoint, and any proxy between gitsync and Microsoft Graph.",
        )
    return graph_object


def _find_fault(kind: DirectoryKind, graph_object: GraphObject, object_id: str) -> str:
    """Find what is wrong with what should be an object, with an id if it is known; "" if nothing is."""
    shown_id = graph_object.get("id")
    if not isinstance(shown_id, str) or not GUID.fullmatch(shown_id):
        return "it has no id"
    if object_id and shown_id.casefold() != object_id.casefold():
        return f"it has the id of another {kind.names.one}"
    if not isinstance(graph_object.get("displayName"), str):
        return "it has no displayName"
    return kind.find_fault(graph_object)


def advise_read(kind: DirectoryKind) -> Mapping[str, str]:
    permission = f"the application permission {kind.read_permission} of Microsoft Graph"
    return {
        DENIED: f"{{identity}} is missing {permission}: grant it, with the consent of an administrator.",
        "401": _NOT_ACCEPTED,
    }


def _advise_write(kind: DirectoryKind, graph_object: GraphObject | None) -> Mapping[str, str]:
    return {DENIED: kind.explain_denied_write(graph_object), "401": _NOT_ACCEPTED}


def _make_path(kind: DirectoryKind, object_id: str) -> str:
    """Make the path of an object. Raises ArmError for any other text, so that an edited record leads to no other
    path.
    """
    if not GUID.fullmatch(object_id):
        raise ArmError(f"{object_id!r} is not the id of a {kind.names.one}.", code="InvalidResourceId")
    return f"{kind.collection}/{object_id}"
