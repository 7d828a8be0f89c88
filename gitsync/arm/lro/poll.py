"""Where to look how an operation goes, and what an answer says of it: the rules, without any waiting.

Sources: ARM's resource-provider contract (async-api-reference, Addendum) and
docs/reference/arm.md#long-running-operations. A poll URL is only taken if it leads to the endpoint itself, for the
token goes with it; any other is ignored and the resource is polled instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from gitsync.arm.cloud import Cloud
from gitsync.arm.http.answer import Response
from gitsync.arm.lro.reply import AcceptedWrite
from gitsync.formats.arm_path import is_same_id
from gitsync.model.live import Live

_FAILED = frozenset({"failed", "canceled"})
_CHANGES = frozenset({"PUT", "PATCH"})


class Watch(StrEnum):
    """What is polled."""

    STATUS = "status"  # an operation with a `status` (Azure-AsyncOperation, Operation-Location)
    LOCATION = "location"  # 202 until the final answer
    RESOURCE = "resource"  # its provisioningState


@dataclass(frozen=True, slots=True)
class PollTarget:
    """Where to poll: path and query on the endpoint, "" for the resource. Not shown: it may be signed."""

    watch: Watch
    target: str = field(default="", repr=False)


class OperationProgress(Enum):
    RUNNING = auto()
    DONE = auto()
    FAILED = auto()
    UNREADABLE = auto()  # says nothing of the operation: look at the resource


_HEADERS = (
    ("azure-asyncoperation", Watch.STATUS),
    ("operation-location", Watch.STATUS),
    ("location", Watch.LOCATION),
)
"""In the order of preference."""


def read_first_progress(reply: AcceptedWrite) -> OperationProgress:
    """What the answer to the write itself says.

    A terminal provisioningState in a 200 or 201 ends the matter, whatever the headers offer, as the contract has it.
    """
    method, answer = reply.call.method, reply.answer
    if answer.status in {204, 404} or (answer.status == 200 and method == "DELETE" and not _has_place(answer)):
        return OperationProgress.DONE
    if method in _CHANGES and answer.status in {200, 201}:
        return _of_change(reply)
    is_open = _has_place(answer) or (answer.status == 202 and method != "POST")
    return OperationProgress.RUNNING if is_open else OperationProgress.DONE


def _of_change(reply: AcceptedWrite) -> OperationProgress:
    state = reply.live.provisioning_state
    if state is not None:
        return _of_state(state)
    if _leads_home(reply) or not _has_place(reply.answer):
        return OperationProgress.DONE  # `201 Created` with a Location means "here it is" (RFC 9110 §15.3.2)
    return OperationProgress.RUNNING


def _leads_home(reply: AcceptedWrite) -> bool:
    """The only place offered is the resource itself."""
    offered = [reply.answer.headers[name] for name, _ in _HEADERS if reply.answer.headers.get(name)]
    return bool(offered) and all(_is_resource(url, reply) for url in offered)


def _has_place(answer: Response) -> bool:
    return any(answer.headers.get(name) for name, _ in _HEADERS)


def _is_resource(url: str, reply: AcceptedWrite) -> bool:
    """Whether a URL is that of the resource and of nothing more: API Management puts an operation's id in its query.

    The host does not matter, since nothing is sent there.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    parameters = {name.casefold() for name, _ in parse_qsl(parts.query)}
    return is_same_id(unquote(parts.path), reply.arm_id) and parameters <= {"api-version"}


def find_first_target(reply: AcceptedWrite, cloud: Cloud) -> PollTarget:
    """Where to poll, from the headers of the write's answer; the resource if they offer nothing to be followed."""
    offered = _offered(reply.answer, reply.call.target, cloud)
    if offered is None or _is_resource(offered.target, reply):
        return PollTarget(Watch.RESOURCE)
    return offered


def find_location(reply: AcceptedWrite, cloud: Cloud) -> PollTarget | None:
    """The URL of the result of an action, from its first response; None if it has none."""
    url = reply.answer.headers.get(Watch.LOCATION.value)
    place = cloud.target_of(url, reply.call.target) if url else None
    return None if place is None else PollTarget(Watch.LOCATION, place)


def find_next_target(place: PollTarget, answer: Response, cloud: Cloud) -> PollTarget:
    """Where to poll next: an operation may move, and says so in the header that named it first."""
    offered = _offered(answer, place.target, cloud)
    return offered if offered is not None and offered.watch is place.watch else place


def _offered(answer: Response, asked: str, cloud: Cloud) -> PollTarget | None:
    for name, watch in _HEADERS:
        url = answer.headers.get(name)
        place = cloud.target_of(url, asked) if url else None
        if place is not None:
            return PollTarget(watch, place)
    return None


def read_progress(watch: Watch, method: str, answer: Response) -> OperationProgress:
    """What the answer to a poll says of an operation that `method` began."""
    body = answer.mapping()
    if watch is Watch.STATUS:
        state = body.get("status")
        return _of_state(state) if isinstance(state, str) and state else OperationProgress.UNREADABLE
    if watch is Watch.LOCATION:
        return _at_location(answer, body)
    return _of_resource(method, answer, body)


def _at_location(answer: Response, body: Mapping[str, Any]) -> OperationProgress:
    state = body.get("status")
    if isinstance(state, str) and state.casefold() in _FAILED:
        return OperationProgress.FAILED
    if answer.status == 202:
        return OperationProgress.RUNNING
    if answer.status == 404:
        return OperationProgress.UNREADABLE
    told = _provisioning_state(body)
    return OperationProgress.UNREADABLE if body.get("error") and not told else _of_state(told or "Succeeded")


def _of_resource(method: str, answer: Response, body: Mapping[str, Any]) -> OperationProgress:
    if answer.status == 404:  # a create that is not visible yet, or a delete that is done
        return OperationProgress.DONE if method == "DELETE" else OperationProgress.RUNNING
    seen = _of_state(_provisioning_state(body) or "Succeeded")
    return OperationProgress.RUNNING if method == "DELETE" and seen is OperationProgress.DONE else seen


def _of_state(state: str) -> OperationProgress:
    """Every word but the terminal ones means "still running" (contract)."""
    if state.casefold() in _FAILED:
        return OperationProgress.FAILED
    return OperationProgress.DONE if state.casefold() == "succeeded" else OperationProgress.RUNNING


def _provisioning_state(body: Mapping[str, Any]) -> str | None:
    return Live(body=body).provisioning_state
