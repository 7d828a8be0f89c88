"""PUT, PATCH, GET, HEAD and DELETE of one resource or group (resource-provider contract, resource-api-reference).

A body is stored as it was sent; a read decides what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gitsync.emulator.governance.enforcement import admit_by_policies, admit_by_provider, admit_delete_by_policies
from gitsync.emulator.http.messages import ServerRequest, ServerResponse, refuse, refuse_method
from gitsync.emulator.http.target import PathShape, parse
from gitsync.emulator.identity.access import refuse_busy
from gitsync.emulator.lro.operations import PURGE, delete_with_children, make_operation_headers, poll_operation
from gitsync.emulator.lro.start import is_forced, start_action, start_delete, start_write
from gitsync.emulator.patch import keep_omitted, merge_patch
from gitsync.emulator.state.cloud import DELETING, EmulatedCloud, make_not_found
from gitsync.emulator.state.deleted_resources import SOFT_DELETES, normalize_region
from gitsync.emulator.state.store import EmulatedOperation, StoredResource
from gitsync.emulator.types.admission import admit_delete, admit_write
from gitsync.emulator.types.behaviour import AcceptedBody, Style, TypeBehaviour, choose_behaviour
from gitsync.emulator.types.bodies import (
    BodyOrigin,
    build_body,
    drop_read_only,
    find_misshapen_list,
    make_stored,
    store_children,
)
from gitsync.emulator.types.implicit_resources import find_implied, find_resource
from gitsync.emulator.types.put_effects import apply_put_effects

Verb = Callable[[EmulatedCloud, ServerRequest], ServerResponse]
_PURGED_BY_DELETE = {soft.deleted_type: soft.purge_style for soft in SOFT_DELETES.values() if soft.purge == "DELETE"}


def get(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer a GET or HEAD: 200 with the resource, or 404. A read advances an operation, like a poll."""
    if not choose_behaviour(request.target.type).gets and request.method == "GET":
        raise refuse_method("GET")
    cloud.require_scope(request)
    resource = _poll_and_read(cloud, request.target.key) or find_implied(cloud, request.target)
    if resource is None:
        raise make_not_found(request.target)
    if request.method == "HEAD":
        return ServerResponse(204)
    return ServerResponse(200, build_body(cloud, request.target, resource), _make_etag_header(resource))


def _poll_and_read(cloud: EmulatedCloud, key: str) -> StoredResource | None:
    resource = cloud.look_up(key)
    if resource is not None and resource.operation:
        operation = cloud.store.operation(resource.operation)
        if operation is not None:
            poll_operation(cloud.store, operation, cloud.clock.now().timestamp())
        resource = cloud.store.resource(key)
    if resource is None or not resource.visible:
        return None
    if resource.hidden > 0:
        # A new resource that reads do not show yet, as with Azure's caches.
        cloud.store.put_resource(key, replace(resource, hidden=resource.hidden - 1))
        return None
    return resource


def put(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Create or replace the resource: members that the body omits are removed, except as recorded for its type."""
    cloud.require_scope(request)
    body = _read_body(request)
    before = cloud.look_up(request.target.key) or find_implied(cloud, request.target)
    if before is not None:
        # Before the checks: policies and providers see the resource as it will be.
        body = apply_put_effects(request.target.type, before.body, keep_omitted(before.body, body, request.keep))
    _check_write(cloud, request, before)
    if request.target.shape is PathShape.GROUP and not body.get("location"):
        raise refuse("LocationRequired")
    _check_location(request, before, body)
    return _write(cloud, request, before, _admit(cloud, request, before, body))


def patch(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Merge into the existing resource (RFC 7386); tags are replaced completely."""
    cloud.require_scope(request)
    body = _read_body(request)
    before = find_resource(cloud, request.target)
    if before is None:
        raise make_not_found(request.target)
    _check_write(cloud, request, before)
    # Tags are the only member that ARM replaces completely.
    merged = merge_patch(before.body, {name: value for name, value in body.items() if name != "tags"})
    if "tags" in body:
        merged["tags"] = body["tags"] or {}
    return _write(cloud, request, before, _admit(cloud, request, before, merged))


def delete(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Delete a resource with all its nested resources; 204 if it does not exist."""
    target = request.target
    cloud.require_scope(request)
    behaviour = choose_behaviour(target.type)
    if not behaviour.deletes:
        raise refuse("MethodNotAllowed", type=target.type, method="DELETE")
    before = cloud.look_up(target.key)
    if before is None:
        # ARM answers for groups, with 404; providers answer for resources, with 204.
        if target.shape is PathShape.GROUP:
            raise make_not_found(target)
        purge_style = _PURGED_BY_DELETE.get(target.type.casefold())
        if purge_style is not None and find_implied(cloud, target) is not None:
            purge = start_action(cloud, request, purge_style, PURGE, None)
            return ServerResponse(202, None, make_operation_headers(purge, request.base))
        return ServerResponse(204)
    running_operation = cloud.store.operation(before.operation) if before.operation else None
    if running_operation is not None and running_operation.verb == "DELETE":
        # A second DELETE joins the first one, with the same poll URLs.
        return ServerResponse(202, None, make_operation_headers(running_operation, request.base))
    _check_write(cloud, request, before)
    _check_nested(cloud, request, behaviour)
    admit_delete_by_policies(cloud, request, before.body)
    admit_delete(cloud, request)
    operation = start_delete(cloud, request, behaviour)
    if operation is None:
        now = cloud.clock.now().timestamp()
        delete_with_children(cloud.store, target.key, now, is_forced=is_forced(request))
        return ServerResponse(200)
    cloud.change(target.key, replace(before, state=DELETING, operation=operation.id))
    return ServerResponse(
        202, _make_reply(cloud, request, behaviour, operation, None), make_operation_headers(operation, request.base)
    )


def _admit(
    cloud: EmulatedCloud, request: ServerRequest, before: StoredResource | None, body: dict[str, Any]
) -> dict[str, Any]:
    """Return the body to store, with the changes of policies, then of its type; Refused if one of them refuses."""
    body = admit_by_policies(cloud, request, body)
    admit_by_provider(cloud, request.target, body)
    return admit_write(cloud, request, before, body)


def _write(
    cloud: EmulatedCloud, request: ServerRequest, before: StoredResource | None, body: dict[str, Any]
) -> ServerResponse:
    behaviour = choose_behaviour(request.target.type)
    created = before is None or not before.visible
    operation, style = start_write(cloud, request, behaviour, created=created)
    origin = BodyOrigin(api_version=request.api_version, by=request.caller.actor, hide=request.course.hide)
    body = store_children(cloud, request.target, body, origin, replaces=request.method == "PUT")
    resource = make_stored(cloud, request.target, body, origin)
    if operation is not None and not operation.over:
        state = behaviour.creating if created else behaviour.updating
        # After a 202 a new resource does not exist until its operation has ended.
        hidden = created and style.is_accepted
        resource = replace(resource, state=state, operation=operation.id, visible=not hidden)
    cloud.store.put_resource(request.target.key, resource)
    headers = make_operation_headers(operation, request.base) if operation is not None else {}
    if style.is_accepted:
        return ServerResponse(202, _make_reply(cloud, request, behaviour, operation, resource), headers)
    body = build_body(cloud, request.target, resource)
    if style is Style.RELATIVE and created:
        headers["Location"] = body["id"]
    return ServerResponse(201 if created else 200, body, headers | _make_etag_header(resource))


def _make_reply(
    cloud: EmulatedCloud,
    request: ServerRequest,
    behaviour: TypeBehaviour,
    operation: EmulatedOperation | None,
    resource: StoredResource | None,
) -> Any:
    """Make the body of a 202."""
    if operation is None:
        return None
    if behaviour.reply is AcceptedBody.RESOURCE and resource is not None:
        return build_body(cloud, request.target, resource)
    if behaviour.reply is AcceptedBody.OPERATION:
        verb = "Upsert" if request.method == "PUT" else "Drop"
        return {"operation": f"{verb}{request.target.types[-1]}ManagementOperation", "startTime": cloud.format_now()}
    return {"status": "Enqueued"} if behaviour.reply is AcceptedBody.STATUS else None


def _read_body(request: ServerRequest) -> dict[str, Any]:
    if not isinstance(request.body, Mapping):
        raise refuse("InvalidRequestContent", reason="The request content is not a JSON object.")
    properties = request.body.get("properties")
    misshapen_member = (
        "properties"
        if not isinstance(properties, Mapping | None)
        else find_misshapen_list(request.target.type, request.body)
    )
    if misshapen_member:
        raise refuse("InvalidRequestContent", reason=f"The value of '{misshapen_member}' is of the wrong type.")
    return drop_read_only(request.body, sends_state=choose_behaviour(request.target.type).sends_state)


def _check_write(cloud: EmulatedCloud, request: ServerRequest, before: StoredResource | None) -> None:
    refuse_busy(cloud, request, before)
    if_match, if_none_match = request.headers.get("If-Match"), request.headers.get("If-None-Match")
    exists = before is not None and before.visible
    etag = before.etag if before is not None and exists else ""
    if if_match and (not exists or if_match not in {"*", etag}):
        raise refuse("PreconditionFailed", condition=f"If-Match: {if_match}", id=request.target.path)
    if if_none_match and exists and if_none_match in {"*", etag}:
        raise refuse("PreconditionFailed", condition=f"If-None-Match: {if_none_match}", id=request.target.path)


def _check_location(request: ServerRequest, before: StoredResource | None, body: Mapping[str, Any]) -> None:
    """Refuse a change of the region; case and blanks do not count."""
    old, new = before.body.get("location") if before else None, body.get("location")
    if not old or not new or normalize_region(old) == normalize_region(new):
        return
    words = {"location": new, "existing": old, "group": request.target.group, "name": request.target.name}
    code = "InvalidResourceGroupLocation" if request.target.shape is PathShape.GROUP else "InvalidResourceLocation"
    raise refuse(code, **words)


def _check_nested(cloud: EmulatedCloud, request: ServerRequest, behaviour: TypeBehaviour) -> None:
    """Refuse to delete some parents before their children."""
    start = f"{request.target.key}/{behaviour.kept_by}/"
    nested = [resource for _, resource in cloud.store.below(start)] if behaviour.kept_by else []
    if nested:
        raise refuse("CannotDeleteResource", nested=parse(nested[0].id).path.partition("/providers/")[2])


def _make_etag_header(resource: StoredResource) -> dict[str, str]:
    return {"ETag": resource.etag} if choose_behaviour(parse(resource.id).type).etag else {}


RESOURCE_VERBS: Mapping[str, Verb] = {"GET": get, "HEAD": get, "PUT": put, "PATCH": patch, "DELETE": delete}
