"""Long-running operations: how they run, end, and answer those who ask for them.

An operation moves when somebody asks for it or for its resource, and never by itself; so a process that is killed loses
none, and a test needs no clock.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from gitsync.emulator.clock import format_time
from gitsync.emulator.http.answers import ServerResponse, make_refusal
from gitsync.emulator.http.target import PathShape, parse
from gitsync.emulator.lro import action_results as endings
from gitsync.emulator.state import deleted_vaults as graves
from gitsync.emulator.state.store import Store
from gitsync.emulator.state.stored import EmulatedOperation
from gitsync.emulator.types.behaviour import Style
from gitsync.emulator.types.recorded import ways_of

SUCCEEDED = "Succeeded"
_EPOCH_TICKS = 621_355_968_000_000_000  # .NET's clock starts in year 1
_POLL = re.compile(r"/(operations|operationresults)/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$", re.IGNORECASE)


def parse_operation_path(path: str) -> tuple[bool, str] | None:
    """Whether a path is that of an operation: (asked as Azure-AsyncOperation, its id), or None."""
    match = _POLL.search(path)
    return (match[1].casefold() == "operations", match[2].casefold()) if match else None


def poll_operation(store: Store, operation: EmulatedOperation, now: float) -> EmulatedOperation:
    """The operation after one more poll of it, or of its resource."""
    if operation.over:
        return operation
    if operation.polls <= 0 and now >= operation.started + operation.seconds:
        return _end(store, operation, now)
    asked = replace(operation, polls=max(0, operation.polls - 1))
    store.put_operation(asked)
    return asked


def end_due_operation(store: Store, name: str, now: float) -> None:
    """End an operation that is due, without counting a poll."""
    operation = store.operation(name)
    if operation and not operation.over and operation.polls <= 0 and now >= operation.started + operation.seconds:
        _end(store, operation, now)


def _end(store: Store, operation: EmulatedOperation, now: float) -> EmulatedOperation:
    ended = replace(operation, over=True)
    store.put_operation(ended)
    if operation.verb == "POST" and operation.result == SUCCEEDED:
        endings.apply_action_result(store, ended)
    resource = store.resource(operation.key)
    if resource is None or resource.operation != operation.id:
        return ended
    if operation.verb == "DELETE" and operation.result == SUCCEEDED:
        delete(store, operation.key, now)
        return ended
    settled = replace(resource, state=operation.result, visible=True, operation="", version=resource.version + 1)
    store.put_resource(operation.key, settled)
    return ended


def delete(store: Store, key: str, now: float) -> None:
    """Do what a DELETE does: take a resource away with all below it, and keep what can come back."""
    resource = store.resource(key)
    for gone in [*(below for _, below in store.below(key + "/")), *([resource] if resource else [])]:
        graves.keep_deleted(store, gone, now)
    drop(store, key)


def drop(store: Store, key: str) -> None:
    """Take a resource away, and all that is nested in it or hangs on it, as if it had never been."""
    for below, _ in store.below(key + "/"):
        store.drop_resource(below)
    store.drop_resource(key)


def make_headers(operation: EmulatedOperation, base: str) -> dict[str, str]:
    """The headers that the answer of the request which started the operation carries."""
    style = Style(operation.style)
    given: dict[str, str] = {}
    if style.has_async:
        given["Azure-AsyncOperation"] = make_url(operation, base, "operations")
    if style in {Style.ACCEPTED, Style.ACCEPTED_ASYNC, Style.ASYNC_LOCATION}:
        given["Location"] = make_url(operation, base, "operationResults")
    if style is Style.LOCATION:
        given["Location"] = f"{operation.host or base}{operation.path}?api-version={operation.api_version}"
    if (given or style is Style.STATE) and not operation.over:
        given["Retry-After"] = str(operation.retry_after)
    return given


def make_url(operation: EmulatedOperation, base: str, word: str) -> str:
    """Where an operation is asked for: absolute and signed, as ARM's are."""
    return f"{operation.host or base}{make_path(operation, word)}?{_signature(operation)}"


def make_path(operation: EmulatedOperation, word: str) -> str:
    target = parse(operation.path)
    subscription = f"/subscriptions/{target.subscription}" if target.subscription else ""
    if target.shape is PathShape.GROUP:
        return f"{subscription}/operationresults/{operation.id}"
    place = f"{subscription}/providers/{target.namespace}/locations/{quote(operation.location)}"
    return f"{place}/{word}/{operation.id}"


def _signature(operation: EmulatedOperation) -> str:
    ticks = int(operation.started * 10_000_000) + _EPOCH_TICKS
    digest = hashlib.sha256(operation.id.encode()).hexdigest()
    return f"api-version={operation.api_version}&t={ticks}&c={digest[:24]}&s={digest[24:48]}&h={digest[48:]}"


def answer_async(operation: EmulatedOperation, base: str) -> ServerResponse:
    """The answer of an Azure-AsyncOperation URL: always about the operation, whatever became of it."""
    ways = ways_of(parse(operation.path).type)
    status = operation.result if operation.over else operation.running
    started = format_time(datetime.fromtimestamp(operation.started, UTC))
    body: dict[str, Any] = {"status": status}
    if not ways.bare:
        body = {"id": make_path(operation, "operations"), "name": operation.id, "status": status, "startTime": started}
    if operation.over and operation.result != SUCCEEDED:
        body["error"] = dict(operation.error or _error(operation))
    code = 202 if ways.accepts_polls and not operation.over else 200
    return ServerResponse(
        code, body, _again(operation) if operation.over else _again(operation) | make_headers(operation, base)
    )


def answer_location(operation: EmulatedOperation, base: str, result: Any) -> ServerResponse:
    """The answer of a Location URL: 202 while it runs, then what the request itself would have answered."""
    if not operation.over:
        return ServerResponse(
            202, None, {"Location": make_url(operation, base, "operationResults")} | _again(operation)
        )
    if operation.result == SUCCEEDED:
        return ServerResponse(200, result)
    error = operation.error or _error(operation)
    return make_refusal(str(error["code"]), message=str(error["message"]), details=error.get("details") or ())


def _again(operation: EmulatedOperation) -> dict[str, str]:
    return {} if operation.over else {"Retry-After": str(operation.retry_after)}


def _error(operation: EmulatedOperation) -> dict[str, Any]:
    code = "OperationCanceled" if operation.result == "Canceled" else "OperationFailed"
    return {"code": code, "message": f"The operation {operation.id} ended as {operation.result}."}
