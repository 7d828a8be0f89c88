"""PUT, PATCH, GET, HEAD and DELETE of one resource or group (resource-provider contract, resource-api-reference).

A body is stored as it was sent; how it is shown is decided when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gitsync.emulator.http.answers import ServerResponse, refuse, refuse_method
from gitsync.emulator.http.call import ServerRequest
from gitsync.emulator.http.target import PathShape, parse
from gitsync.emulator.identity.access import refuse_busy
from gitsync.emulator.lro import operations
from gitsync.emulator.lro import start as begin
from gitsync.emulator.patch import merge
from gitsync.emulator.state.cloud import DELETING, EmulatedCloud, make_not_found
from gitsync.emulator.state.stored import EmulatedOperation, StoredResource
from gitsync.emulator.types import admission
from gitsync.emulator.types import embedded_children as children
from gitsync.emulator.types import implicit_resources as implied
from gitsync.emulator.types import stored_body as bodies
from gitsync.emulator.types.answered_body import build_body
from gitsync.emulator.types.behaviour import AcceptedBody, Style, Ways
from gitsync.emulator.types.recorded import ways_of

Verb = Callable[[EmulatedCloud, ServerRequest], ServerResponse]


def get(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """200 with the resource, or 404. A read advances an operation, as a poll does."""
    if not ways_of(call.target.type).gets and call.method == "GET":
        raise refuse_method("GET")
    cloud.demand_place(call)
    resource = _poll_and_read(cloud, call.target.key) or implied.one(cloud, call.target)
    if resource is None:
        raise make_not_found(call.target)
    if call.method == "HEAD":
        return ServerResponse(204)
    return ServerResponse(200, build_body(cloud, call.target, resource), _make_etag_header(resource))


def _poll_and_read(cloud: EmulatedCloud, key: str) -> StoredResource | None:
    resource = cloud.look(key)
    if resource is not None and resource.operation:
        operation = cloud.store.operation(resource.operation)
        if operation is not None:
            operations.poll_operation(cloud.store, operation, cloud.clock.now().timestamp())
        resource = cloud.store.resource(key)
    if resource is None or not resource.visible:
        return None
    if resource.hidden > 0:
        cloud.store.put_resource(key, replace(resource, hidden=resource.hidden - 1))
        return None
    return resource


def put(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """Create or replace the whole resource: members that the body leaves out are removed."""
    cloud.demand_place(call)
    body = _read_body(call)
    before = cloud.look(call.target.key) or implied.one(cloud, call.target)
    _check_write(cloud, call, before)
    if call.target.shape is PathShape.GROUP and not body.get("location"):
        raise refuse("LocationRequired")
    _check_location(call, before, body)
    return _write(cloud, call, before, admission.admit(cloud, call, before, body))


def patch(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """Merge into the existing resource (RFC 7386); tags are replaced as a whole."""
    cloud.demand_place(call)
    body = _read_body(call)
    before = implied.find(cloud, call.target)
    if before is None:
        raise make_not_found(call.target)
    _check_write(cloud, call, before)
    merged = merge(before.body, {name: value for name, value in body.items() if name != "tags"})
    if "tags" in body:
        merged["tags"] = body["tags"] or {}
    return _write(cloud, call, before, admission.admit(cloud, call, before, merged))


def delete(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """Delete a resource with all its nested resources; 204 if it does not exist."""
    target = call.target
    cloud.demand_place(call)
    ways = ways_of(target.type)
    if not ways.deletes:
        raise refuse("MethodNotAllowed", type=target.type, method="DELETE")
    before = cloud.look(target.key)
    if before is None:
        if target.shape is PathShape.GROUP:
            raise make_not_found(target)
        return ServerResponse(204)
    running_operation = cloud.store.operation(before.operation) if before.operation else None
    if running_operation is not None and running_operation.verb == "DELETE":
        return ServerResponse(202, None, operations.make_headers(running_operation, call.base))
    _check_write(cloud, call, before)
    _check_nested(cloud, call, ways)
    admission.admit_delete(cloud, call)
    operation = begin.start_delete(cloud, call, ways)
    if operation is None:
        operations.delete(cloud.store, target.key, cloud.clock.now().timestamp())
        return ServerResponse(200)
    cloud.change(target.key, replace(before, state=DELETING, operation=operation.id))
    return ServerResponse(
        202, _make_reply(cloud, call, ways, operation, None), operations.make_headers(operation, call.base)
    )


def _write(
    cloud: EmulatedCloud, call: ServerRequest, before: StoredResource | None, body: dict[str, Any]
) -> ServerResponse:
    ways = ways_of(call.target.type)
    created = before is None or not before.visible
    operation, style = begin.start_write(cloud, call, ways, created=created)
    origin = bodies.BodyOrigin(api_version=call.api_version, by=call.caller.actor, hide=call.course.hide)
    body = bodies.without_children(cloud, call.target, body, origin, whole=call.method == "PUT")
    resource = bodies.resource(cloud, call.target, body, origin)
    if operation is not None and not operation.over:
        state = ways.creating if created else ways.updating
        hidden = created and style.is_accepted
        resource = replace(resource, state=state, operation=operation.id, visible=not hidden)
    cloud.store.put_resource(call.target.key, resource)
    headers = operations.make_headers(operation, call.base) if operation is not None else {}
    if style.is_accepted:
        return ServerResponse(202, _make_reply(cloud, call, ways, operation, resource), headers)
    body = build_body(cloud, call.target, resource)
    if style is Style.RELATIVE and created:
        headers["Location"] = body["id"]
    return ServerResponse(201 if created else 200, body, headers | _make_etag_header(resource))


def _make_reply(
    cloud: EmulatedCloud,
    call: ServerRequest,
    ways: Ways,
    operation: EmulatedOperation | None,
    resource: StoredResource | None,
) -> Any:
    """The body of a 202."""
    if operation is None:
        return None
    if ways.reply is AcceptedBody.RESOURCE and resource is not None:
        return build_body(cloud, call.target, resource)
    if ways.reply is AcceptedBody.OPERATION:
        verb = "Upsert" if call.method == "PUT" else "Drop"
        return {"operation": f"{verb}{call.target.types[-1]}ManagementOperation", "startTime": cloud.time()}
    return {"status": "Enqueued"} if ways.reply is AcceptedBody.STATUS else None


def _read_body(call: ServerRequest) -> dict[str, Any]:
    if not isinstance(call.body, Mapping):
        raise refuse("InvalidRequestContent", reason="The request content is not a JSON object.")
    properties = call.body.get("properties")
    misshapen_member = (
        "properties"
        if not isinstance(properties, Mapping | None)
        else children.find_misshapen(call.target.type, call.body)
    )
    if misshapen_member:
        raise refuse("InvalidRequestContent", reason=f"The value of '{misshapen_member}' is of the wrong type.")
    return bodies.own(call.body)


def _check_write(cloud: EmulatedCloud, call: ServerRequest, before: StoredResource | None) -> None:
    refuse_busy(cloud, call, before)
    if_match, if_none_match = call.headers.get("If-Match"), call.headers.get("If-None-Match")
    exists = before is not None and before.visible
    etag = before.etag if before is not None and exists else ""
    if if_match and (not exists or if_match not in {"*", etag}):
        raise refuse("PreconditionFailed", condition=f"If-Match: {if_match}", id=call.target.path)
    if if_none_match and exists and if_none_match in {"*", etag}:
        raise refuse("PreconditionFailed", condition=f"If-None-Match: {if_none_match}", id=call.target.path)


def _check_location(call: ServerRequest, before: StoredResource | None, body: Mapping[str, Any]) -> None:
    """A region never changes; case and blanks do not count."""
    old, new = before.body.get("location") if before else None, body.get("location")
    if not old or not new or _normalize_region(old) == _normalize_region(new):
        return
    words = {"location": new, "existing": old, "group": call.target.group, "name": call.target.name}
    code = "InvalidResourceGroupLocation" if call.target.shape is PathShape.GROUP else "InvalidResourceLocation"
    raise refuse(code, **words)


def _check_nested(cloud: EmulatedCloud, call: ServerRequest, ways: Ways) -> None:
    """Some parents cannot be deleted before their children."""
    start = f"{call.target.key}/{ways.kept_by}/"
    nested = [resource for _, resource in cloud.store.below(start)] if ways.kept_by else []
    if nested:
        raise refuse("CannotDeleteResource", nested=parse(nested[0].id).path.partition("/providers/")[2])


def _normalize_region(name: Any) -> str:
    return str(name).replace(" ", "").casefold()


def _make_etag_header(resource: StoredResource) -> dict[str, str]:
    return {"ETag": resource.etag} if ways_of(parse(resource.id).type).etag else {}


VERBS: Mapping[str, Verb] = {"GET": get, "HEAD": get, "PUT": put, "PATCH": patch, "DELETE": delete}
