"""The verb that answers a request, by the shape of its path and its method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitsync.emulator import lists, resources
from gitsync.emulator.http.answers import ServerResponse, refuse
from gitsync.emulator.http.call import ServerRequest
from gitsync.emulator.http.target import PathShape, parse
from gitsync.emulator.identity import access, permissions
from gitsync.emulator.lro import operations
from gitsync.emulator.state import providers, subscriptions
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.stored import EmulatedOperation
from gitsync.emulator.types import actions
from gitsync.emulator.types.answered_body import build_body

_Verb = Callable[[EmulatedCloud, ServerRequest], ServerResponse]

_TABLE: Mapping[tuple[PathShape, str], _Verb] = {
    (PathShape.SUBSCRIPTIONS, "GET"): subscriptions.list_subscriptions,
    (PathShape.SUBSCRIPTION, "GET"): subscriptions.show,
    (PathShape.GROUPS, "GET"): lists.list_groups,
    (PathShape.RESOURCES, "GET"): lists.list_resources,
    (PathShape.COLLECTION, "GET"): lists.list_collection,
    (PathShape.COLLECTION, "POST"): actions.run,
    (PathShape.PROVIDERS, "GET"): providers.list_providers,
    (PathShape.PROVIDER, "GET"): providers.show,
    **{
        (shape, method): verb
        for shape in (PathShape.GROUP, PathShape.RESOURCE)
        for method, verb in resources.VERBS.items()
    },
}


def answer(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """Handle the request; raises `Refused` if ARM refuses it."""
    poll = operations.parse_operation_path(call.target.path)
    if poll is not None and call.method == "GET":
        return _poll(cloud, call, *poll)
    access.check(cloud, call)
    verb = _TABLE.get((call.target.shape, call.method))
    if call.target.type.casefold() == permissions.TYPE and call.method == "GET":
        verb = permissions.list_permissions
    if verb is None:
        if call.target.shape is PathShape.UNKNOWN:
            raise refuse("NotFound", path=call.target.path)
        raise refuse("MethodNotAllowed", type=call.target.type or call.target.shape.value, method=call.method)
    return verb(cloud, call)


def _poll(cloud: EmulatedCloud, call: ServerRequest, as_operation: bool, name: str) -> ServerResponse:  # noqa: FBT001 - a pair that was read
    operation = cloud.store.operation(name)
    if operation is None:
        raise refuse("OperationNotFound", operation=name)
    operation = operations.poll_operation(cloud.store, operation, cloud.clock.now().timestamp())
    if as_operation:
        return operations.answer_async(operation, call.base)
    return operations.answer_location(operation, call.base, _make_result(cloud, operation))


def _make_result(cloud: EmulatedCloud, operation: EmulatedOperation) -> Any:
    """The answer of a finished operation's request."""
    if operation.verb == "POST":
        return operation.answer
    target = parse(operation.path)
    resource = cloud.find(target) if operation.over and operation.verb != "DELETE" else None
    return build_body(cloud, target, resource) if resource else None
