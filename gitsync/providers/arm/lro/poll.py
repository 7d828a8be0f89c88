"""The operation of a write: Azure's first answer, where to poll, and the meaning of each poll; the rules, without any
waiting.

Sources: ARM's resource-provider contract (async-api-reference, Addendum) and
docs/reference/arm.md#long-running-operations. A poll URL is only used if it leads to the endpoint itself, since the
token is sent to it; any other is ignored and the resource is polled instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from gitsync.model.arm_id import ArmId
from gitsync.model.live import Live
from gitsync.model.provisioning_state import FAILED_STATES, TERMINAL_STATES, StateMeaning
from gitsync.providers.arm.cloud import Cloud
from gitsync.providers.arm.http.messages import ArmRequest, Response
from gitsync.providers.arm.http.response_bodies import read_live

_CHANGES = frozenset({"PUT", "PATCH"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedWrite:
    """An accepted write. Pass it to `Writer.wait` for the result."""

    arm_id: str
    api_version: str
    status: int  # 404 for a DELETE of a resource that did not exist
    body: Mapping[str, Any] = field(repr=False)  # may contain secrets, and is not shown
    etag: str | None = None  # None if the provider returned none
    request: ArmRequest = field(repr=False)  # not shown, as `answer`: the URL of a poll may be signed
    answer: Response = field(repr=False)  # the one that accepted it

    @property
    def live(self) -> Live:
        """The resource in the answer; without properties if the answer has none."""
        return Live(body=self.body, etag=self.etag)


def accept_write(request: ArmRequest, api_version: str, answer: Response) -> AcceptedWrite:
    """Return the accepted write, from an expected answer."""
    live = read_live(answer)
    return AcceptedWrite(
        arm_id=request.path,
        api_version=api_version,
        status=answer.status,
        body=live.body,
        etag=live.etag,
        request=request,
        answer=answer,
    )


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
    UNREADABLE = auto()  # shows nothing about the operation: poll the resource


_BY_MEANING: Mapping[StateMeaning, OperationProgress] = {
    StateMeaning.SUCCEEDED: OperationProgress.DONE,
    StateMeaning.FAILED: OperationProgress.FAILED,
    StateMeaning.MOVING: OperationProgress.RUNNING,
    StateMeaning.UNKNOWN: OperationProgress.DONE,
}
"""Progress by the state of a resource. An unknown state is left to the read after the write, which waits for it and
does not count it as success.
"""

_HEADERS = (
    ("azure-asyncoperation", Watch.STATUS),
    ("operation-location", Watch.STATUS),
    ("location", Watch.LOCATION),
)
"""In order of preference."""


def read_first_progress(reply: AcceptedWrite) -> OperationProgress:
    """Read the progress after the answer to the write itself.

    A terminal provisioningState in a 200 or 201 ends the operation, whatever the headers contain (contract). A final
    state of the type, and an unknown one, end it only if the headers have nothing to poll.
    """
    method, answer = reply.request.method, reply.answer
    # A DELETE with 200 has ended, unless a header names an operation.
    if answer.status in {204, 404} or (answer.status == 200 and method == "DELETE" and not _has_poll_url(answer)):
        return OperationProgress.DONE
    if method in _CHANGES and answer.status in {200, 201}:
        state = reply.live.provisioning_state
        meaning = reply.live.state_meaning
        # The contract: a terminal state in a 200 or 201 ends the operation, whatever the headers have.
        if state is not None and (meaning is StateMeaning.MOVING or state.casefold() in TERMINAL_STATES):
            return _BY_MEANING[meaning]
        # `201 Created` whose only URL is the resource means that it exists (RFC 9110 §15.3.2).
        urls = [answer.headers[name] for name, _ in _HEADERS if answer.headers.get(name)]
        return OperationProgress.DONE if all(_is_resource(url, reply) for url in urls) else OperationProgress.RUNNING
    # An action without a URL to poll has nothing that would show its end, so its 202 is the end.
    is_open = _has_poll_url(answer) or (answer.status == 202 and method != "POST")
    return OperationProgress.RUNNING if is_open else OperationProgress.DONE


def _has_poll_url(answer: Response) -> bool:
    return any(answer.headers.get(name) for name, _ in _HEADERS)


def _is_resource(url: str, reply: AcceptedWrite) -> bool:
    """Return whether a URL is that of the resource and has no operation: API Management puts an operation's id in its
    query.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    parameters = {name.casefold() for name, _ in parse_qsl(parts.query)}
    # The host does not matter, since nothing is sent there.
    return ArmId(unquote(parts.path)).is_same(ArmId(reply.arm_id)) and parameters <= {"api-version"}


def choose_first_target(reply: AcceptedWrite, cloud: Cloud) -> PollTarget:
    """Choose where to poll, from the headers of the write's answer; the resource if they have nothing to follow."""
    target = _find_offered_target(reply.answer, reply.request.target, cloud)
    if target is None or _is_resource(target.target, reply):
        return PollTarget(Watch.RESOURCE)
    return target


def find_location(reply: AcceptedWrite, cloud: Cloud) -> PollTarget | None:
    """Find the URL of the result of an action, from its first response; None if it has none."""
    url = reply.answer.headers.get(Watch.LOCATION.value)
    target = cloud.find_target(url, reply.request.target) if url else None
    return None if target is None else PollTarget(Watch.LOCATION, target)


def choose_next_target(current: PollTarget, answer: Response, cloud: Cloud) -> PollTarget:
    """Choose where to poll next: the URL of an operation may change, in the header that named it first."""
    # Only the same header is followed: another one may be about something else, such as the resource.
    target = _find_offered_target(answer, current.target, cloud)
    return target if target is not None and target.watch is current.watch else current


def _find_offered_target(answer: Response, base: str, cloud: Cloud) -> PollTarget | None:
    # The order matters: a status includes an error, a Location only shows that the work is over.
    for name, watch in _HEADERS:
        url = answer.headers.get(name)
        target = cloud.find_target(url, base) if url else None
        if target is not None:
            return PollTarget(watch, target)
    return None


def read_progress(watch: Watch, method: str, answer: Response) -> OperationProgress:
    """Read the progress of an operation that `method` began, from the answer to a poll."""
    body = answer.mapping()
    if watch is Watch.STATUS:
        state = body.get("status")
        return _read_state(state) if isinstance(state, str) and state else OperationProgress.UNREADABLE
    if watch is Watch.LOCATION:
        return _read_location(answer, body)
    return _read_resource(method, answer, body)


def _read_location(answer: Response, body: Mapping[str, Any]) -> OperationProgress:
    state = body.get("status")
    if isinstance(state, str) and state.casefold() in FAILED_STATES:
        return OperationProgress.FAILED
    if answer.status == 202:
        return OperationProgress.RUNNING
    if answer.status == 404:  # the URL of a result expires
        return OperationProgress.UNREADABLE
    live = Live(body=body)
    if body.get("error") and not live.provisioning_state:
        return OperationProgress.UNREADABLE
    return _BY_MEANING[live.state_meaning]


def _read_resource(method: str, answer: Response, body: Mapping[str, Any]) -> OperationProgress:
    if answer.status == 404:  # a create is not visible yet, or a delete is done
        return OperationProgress.DONE if method == "DELETE" else OperationProgress.RUNNING
    # Without a provisioningState, a resource exists as soon as it is shown; during a delete it is shown until the end,
    # often as "Succeeded".
    progress = _BY_MEANING[Live(body=body).state_meaning]
    return OperationProgress.RUNNING if method == "DELETE" and progress is OperationProgress.DONE else progress


def _read_state(state: str) -> OperationProgress:
    """Read the progress from the status of an operation: every word except the terminal ones means "still running"
    (contract).
    """
    # Every other word but "succeeded" means that it still runs (contract): providers have words of their own.
    if state.casefold() in FAILED_STATES:
        return OperationProgress.FAILED
    return OperationProgress.DONE if state.casefold() == "succeeded" else OperationProgress.RUNNING
