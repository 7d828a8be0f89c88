"""Long-running operations: their course, end, effect, and polls.

An operation advances only at a request for it or for its resource, so a killed process loses none, and a test needs no
clock. The effect of an action is here and not with the action, because an operation ends at a poll, long after the POST
that began it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from gitsync.emulator.clock import format_time
from gitsync.emulator.http.messages import ServerResponse, make_refusal
from gitsync.emulator.http.target import PathShape, parse
from gitsync.emulator.patch import find_value, set_value
from gitsync.emulator.state.deleted_resources import SHOWN, find_by_path, keep_deleted, remove_deleted
from gitsync.emulator.state.identity_lives import end_life
from gitsync.emulator.state.store import EmulatedOperation, Store
from gitsync.emulator.types.behaviour import Style, choose_behaviour

SUCCEEDED = "Succeeded"
FORCE, PURGE = "force", "purge"
"""Actions of operations: a DELETE that keeps nothing, and one that purges a deleted resource."""

_EPOCH_TICKS = 621_355_968_000_000_000  # .NET counts from year 1
_POLL = re.compile(r"/(operations|operationresults)/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$", re.IGNORECASE)


def parse_operation_path(path: str) -> tuple[bool, str] | None:
    """Parse the path of an operation: (whether it is an Azure-AsyncOperation, its id); None for another path."""
    match = _POLL.search(path)
    return (match[1].casefold() == "operations", match[2].casefold()) if match else None


def poll_operation(store: Store, operation: EmulatedOperation, now: float) -> EmulatedOperation:
    """Count one more poll of an operation, or of its resource, and end it if it is due."""
    if operation.over:
        return operation
    if operation.polls <= 0 and now >= operation.started + operation.seconds:
        return _end(store, operation, now)
    polled = replace(operation, polls=max(0, operation.polls - 1))
    store.put_operation(polled)
    return polled


def end_due_operation(store: Store, name: str, now: float) -> None:
    """End an operation that is due, without counting a poll."""
    operation = store.operation(name)
    if operation and not operation.over and operation.polls <= 0 and now >= operation.started + operation.seconds:
        _end(store, operation, now)


def _end(store: Store, operation: EmulatedOperation, now: float) -> EmulatedOperation:
    # Stored before its effects, which may read it.
    ended = replace(operation, over=True, ended=now)
    store.put_operation(ended)
    if operation.action and operation.result == SUCCEEDED:
        apply_action_result(store, ended)
    resource = store.resource(operation.key)
    # Another operation may have replaced this one; the state is then that of the other.
    if resource is None or resource.operation != operation.id:
        return ended
    if operation.verb == "DELETE" and operation.result == SUCCEEDED:
        delete_with_children(store, operation.key, now, is_forced=operation.action == FORCE)
        return ended
    # As in Azure, a failed create leaves its resource.
    settled = replace(resource, state=operation.result, visible=True, operation="", version=resource.version + 1)
    store.put_resource(operation.key, settled)
    return ended


def delete_with_children(store: Store, key: str, now: float, *, is_forced: bool = False) -> None:
    """Delete a resource with everything below it, and keep what can be recovered, unless the delete is forced."""
    resource = store.resource(key)
    deleted_resources = [*(nested for _, nested in store.below(key + "/")), *([resource] if resource else [])]
    for deleted in deleted_resources:
        end_life(store, deleted)
        if not is_forced:
            keep_deleted(store, deleted, now)
    drop_with_children(store, key)


def drop_with_children(store: Store, key: str) -> None:
    """Remove a resource, with its nested and extension resources, completely."""
    for nested_key, _ in store.below(key + "/"):
        store.drop_resource(nested_key)
    store.drop_resource(key)


def make_operation_headers(operation: EmulatedOperation, base: str) -> dict[str, str]:
    """Make the headers of the answer that starts the operation."""
    style = Style(operation.style)
    headers: dict[str, str] = {}
    if style.has_async:
        headers["Azure-AsyncOperation"] = make_operation_url(operation, base, "operations")
    if style in {Style.ACCEPTED, Style.ACCEPTED_ASYNC, Style.ASYNC_LOCATION}:
        headers["Location"] = make_operation_url(operation, base, "operationResults")
    if style is Style.LOCATION:  # the resource itself, not an operation
        headers["Location"] = f"{operation.host or base}{operation.path}?api-version={operation.api_version}"
    # Types that only show a state return the time of the next poll.
    if (headers or style is Style.STATE) and not operation.over:
        headers["Retry-After"] = str(operation.retry_after)
    return headers


def make_operation_url(operation: EmulatedOperation, base: str, collection: str) -> str:
    """Make the URL of an operation: absolute and signed, as ARM's are."""
    return f"{operation.host or base}{make_operation_path(operation, collection)}?{_make_signature(operation)}"


def make_operation_path(operation: EmulatedOperation, collection: str) -> str:
    target = parse(operation.path)
    subscription = f"/subscriptions/{target.subscription}" if target.subscription else ""
    if target.shape is PathShape.GROUP:  # the URL of a group has no provider and no region
        return f"{subscription}/operationresults/{operation.id}"
    region = f"{subscription}/providers/{target.namespace}/locations/{quote(operation.location)}"
    return f"{region}/{collection}/{operation.id}"


def _make_signature(operation: EmulatedOperation) -> str:
    ticks = int(operation.started * 10_000_000) + _EPOCH_TICKS
    digest = hashlib.sha256(operation.id.encode()).hexdigest()
    return f"api-version={operation.api_version}&t={ticks}&c={digest[:24]}&s={digest[24:48]}&h={digest[48:]}"


def answer_status_poll(operation: EmulatedOperation, base: str) -> ServerResponse:
    """Answer a poll of an Azure-AsyncOperation URL: always about the operation, with any result."""
    behaviour = choose_behaviour(parse(operation.path).type)
    status = operation.result if operation.over else operation.running
    started = format_time(datetime.fromtimestamp(operation.started, UTC))
    body: dict[str, Any] = {"status": status}
    if not behaviour.bare:
        body = {
            "id": make_operation_path(operation, "operations"),
            "name": operation.id,
            "status": status,
            "startTime": started,
        }
    # A failed operation is a 200 with an error in its body: the poll itself succeeded.
    if operation.over and operation.result != SUCCEEDED:
        body["error"] = dict(operation.error or _make_error(operation))
    code = 202 if behaviour.accepts_polls and not operation.over else 200
    return ServerResponse(
        code,
        body,
        _make_retry_header(operation)
        if operation.over
        else _make_retry_header(operation) | make_operation_headers(operation, base),
    )


def answer_location_poll(operation: EmulatedOperation, base: str, result: Any) -> ServerResponse:
    """Answer a poll of a Location URL: 202 during the operation, then the answer of the request itself."""
    if not operation.over:
        return ServerResponse(
            202,
            None,
            {"Location": make_operation_url(operation, base, "operationResults")} | _make_retry_header(operation),
        )
    if operation.result == SUCCEEDED:
        return ServerResponse(200, result)
    error = operation.error or _make_error(operation)
    return make_refusal(str(error["code"]), message=str(error["message"]), details=error.get("details") or ())


def _make_retry_header(operation: EmulatedOperation) -> dict[str, str]:
    return {} if operation.over else {"Retry-After": str(operation.retry_after)}


def _make_error(operation: EmulatedOperation) -> dict[str, Any]:
    code = "OperationCanceled" if operation.result == "Canceled" else "OperationFailed"
    return {"code": code, "message": f"The operation {operation.id} ended as {operation.result}."}


_STATUS = "/properties/protectionStatus"


def apply_action_result(store: Store, operation: EmulatedOperation) -> None:
    """Apply the effect of a successful POST to its resource."""
    effect = _EFFECTS.get((parse(operation.path).type.casefold(), operation.action.casefold()))
    if effect is not None:
        effect(store, operation)


def _sync(store: Store, operation: EmulatedOperation) -> None:
    """Repair a protection after a user error; any other error stays."""
    instance = store.resource(operation.key)
    if instance is None:
        return
    code = find_value(instance.body, ("properties", "protectionStatus", "errorDetails", "code"))
    if "usererror" in str(code).casefold():
        body = set_value(instance.body, _STATUS, {"status": "ProtectionConfigured"})
        store.put_resource(operation.key, replace(instance, body=body, version=instance.version + 1))


def _purge(store: Store, operation: EmulatedOperation) -> None:
    for row in find_by_path(store, parse(operation.path), operation.started):
        remove_deleted(store, row["id"])


_EFFECTS: Mapping[tuple[str, str], Callable[[Store, EmulatedOperation], None]] = {
    ("microsoft.dataprotection/backupvaults/backupinstances", "sync"): _sync,
    **{(path, PURGE): _purge for path in SHOWN},
}
