"""Which verb answers a request: by the shape of its path and its method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitsync.emulator import lists, resources
from gitsync.emulator.http.answers import Answer, refuse
from gitsync.emulator.http.call import Call
from gitsync.emulator.http.target import Shape, parse
from gitsync.emulator.identity import access
from gitsync.emulator.lro import operations
from gitsync.emulator.state import providers, subscriptions
from gitsync.emulator.state.cloud import Cloud
from gitsync.emulator.state.stored import Operation
from gitsync.emulator.types import actions
from gitsync.emulator.types.answered_body import shown

_Verb = Callable[[Cloud, Call], Answer]

_TABLE: Mapping[tuple[Shape, str], _Verb] = {
    (Shape.SUBSCRIPTIONS, "GET"): subscriptions.index,
    (Shape.SUBSCRIPTION, "GET"): subscriptions.show,
    (Shape.GROUPS, "GET"): lists.groups,
    (Shape.RESOURCES, "GET"): lists.resources,
    (Shape.COLLECTION, "GET"): lists.collection,
    (Shape.COLLECTION, "POST"): actions.run,
    (Shape.PROVIDERS, "GET"): providers.index,
    (Shape.PROVIDER, "GET"): providers.show,
    **{(shape, method): verb for shape in (Shape.GROUP, Shape.RESOURCE) for method, verb in resources.VERBS.items()},
}


def answer(cloud: Cloud, call: Call) -> Answer:
    """Do what the request asks for; `Refused` where ARM says no."""
    poll = operations.asked_for(call.target.path)
    if poll is not None and call.method == "GET":
        return _poll(cloud, call, *poll)
    access.check(cloud, call)
    verb = _TABLE.get((call.target.shape, call.method))
    if verb is None:
        if call.target.shape is Shape.UNKNOWN:
            raise refuse("NotFound", path=call.target.path)
        raise refuse("MethodNotAllowed", type=call.target.type or call.target.shape.value, method=call.method)
    return verb(cloud, call)


def _poll(cloud: Cloud, call: Call, as_operation: bool, name: str) -> Answer:  # noqa: FBT001 - a pair that was read
    operation = cloud.store.operation(name)
    if operation is None:
        raise refuse("OperationNotFound", operation=name)
    operation = operations.ask(cloud.store, operation, cloud.clock.now().timestamp())
    if as_operation:
        return operations.async_answer(operation, call.base)
    return operations.location_answer(operation, call.base, _result(cloud, operation))


def _result(cloud: Cloud, operation: Operation) -> Any:
    """What a request that is over would have answered."""
    if operation.verb == "POST":
        return operation.answer
    target = parse(operation.path)
    resource = cloud.find(target) if operation.over and operation.verb != "DELETE" else None
    return shown(cloud, target, resource) if resource else None
