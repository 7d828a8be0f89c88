"""Follows what a write began to its end: the waiting, around the rules of `poll`.

A poll that fails is a failure to read the status, not of the operation (contract): the loop goes on, with the resource
itself if need be, until the conversation's deadline. Nothing of it is kept between runs: the next one reads the
resource.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gitsync.arm.cloud import Cloud
from gitsync.arm.http.address import format_target
from gitsync.arm.http.answer import Response
from gitsync.arm.http.call import UNKNOWN_CODE, ArmRequest
from gitsync.arm.http.conversation import Conversation
from gitsync.arm.http.exchange import Exchange, may_read_again
from gitsync.arm.http.failures import DeadlineError, make_arm_error
from gitsync.arm.http.pacing import Pace
from gitsync.arm.http.shown_resource import is_shown, read_shown_resource
from gitsync.arm.lro.poll import (
    OperationProgress,
    PollTarget,
    Watch,
    find_first_target,
    find_location,
    find_next_target,
    read_first_progress,
    read_progress,
)
from gitsync.arm.lro.reply import AcceptedWrite, read_live
from gitsync.errors import ArmError
from gitsync.model.clock import format_rfc3339
from gitsync.model.live import Live

_POLL_ACCEPTS = frozenset({200, 201, 202, 204, 404})


class Operations:
    """Polls for all nodes of a run; each waits by itself."""

    def __init__(self, exchange: Exchange, cloud: Cloud, pace: Pace) -> None:
        self._exchange = exchange
        self._cloud = cloud
        self._pace = pace

    async def follow(self, reply: AcceptedWrite, conversation: Conversation) -> bool:
        """True when the operation is done, False when the deadline came first; ArmError when it failed.

        The error has the code and message of the operation's own error, and the status of the poll that returned it.
        """
        try:
            sight = await self._to_the_end(self._first_sight(reply), reply, conversation)
        except DeadlineError:
            return False
        return sight.state is OperationProgress.DONE

    async def result(self, reply: AcceptedWrite, conversation: Conversation) -> Response | None:
        """What an action answers at its end, None when the deadline came first; ArmError when it failed.

        That is the answer itself, or the one at its Location, or where it has none the last status of its operation:
        what the SDKs of Azure take.
        """
        try:
            sight = await self._to_the_end(self._first_sight(reply), reply, conversation)
            location = find_location(reply, self._cloud) if sight.place.watch is Watch.STATUS else None
            if sight.state is OperationProgress.DONE and location is not None:
                sight = await self._look(
                    replace(sight, place=location, state=OperationProgress.RUNNING), reply, conversation
                )
                sight = await self._to_the_end(sight, reply, conversation)
        except DeadlineError:
            return None
        return sight.answer if sight.state is OperationProgress.DONE else None

    async def settle(self, arm_id: str, api_version: str, live: Live, conversation: Conversation) -> Live | None:
        """Poll a resource that is moving until it stands still or the deadline comes; None when it vanished.

        Gives the resource as last seen: at the deadline it is still moving.
        """
        call = _look_at(arm_id, api_version)
        seen: Live | None = live
        wait, polls = None, 0
        while seen is not None and seen.is_moving and await self._pace.pause(wait, polls, conversation):
            polls += 1
            try:
                answer = await self._exchange.send(call, conversation)
            except DeadlineError:
                return seen
            wait = answer.retry_after(self._pace.clock.now())
            seen = None if answer.status == 404 else read_shown_resource(answer, arm_id)
        return seen

    def _first_sight(self, reply: AcceptedWrite) -> _Sight:
        return _Sight(
            place=find_first_target(reply, self._cloud),
            state=read_first_progress(reply),
            answer=reply.answer,
            wait=reply.answer.retry_after(self._pace.clock.now()),
        )

    async def _to_the_end(self, sight: _Sight, reply: AcceptedWrite, conversation: Conversation) -> _Sight:
        while sight.state is OperationProgress.RUNNING and await self._pace.pause(
            sight.wait, sight.polls, conversation
        ):
            sight = await self._look(sight, reply, conversation)
            if sight.state is OperationProgress.UNREADABLE:
                sight = await self._look(replace(sight, place=PollTarget(Watch.RESOURCE)), reply, conversation)
        if sight.state is OperationProgress.FAILED:
            raise self._failed(sight, reply, conversation)
        return sight

    async def _look(self, sight: _Sight, reply: AcceptedWrite, conversation: Conversation) -> _Sight:
        """One poll, and what it shows. One that could not be read but may be later leaves things as they are."""
        if sight.place.watch is Watch.RESOURCE and reply.call.method == "POST":
            raise self._lost(sight, reply)
        sight = replace(sight, polls=sight.polls + 1)
        try:
            answer = await self._exchange.once(_poll(sight.place, reply), conversation)
        except DeadlineError:
            raise
        except ArmError as error:
            if may_read_again(error):
                return replace(sight, state=OperationProgress.RUNNING, wait=error.retry_after)
            if sight.place.watch is Watch.RESOURCE:
                raise
            return replace(sight, state=OperationProgress.UNREADABLE)
        return self._judged(sight, answer, reply)

    def _judged(self, sight: _Sight, answer: Response, reply: AcceptedWrite) -> _Sight:
        state = read_progress(sight.place.watch, reply.call.method, answer)
        is_resource = sight.place.watch is Watch.RESOURCE
        if is_resource and answer.status != 404 and not is_shown(answer, reply.arm_id):
            return replace(
                sight, state=OperationProgress.RUNNING
            )  # says nothing of the resource: it is looked at again
        if is_resource and sight.was_there and answer.status == 404 and state is OperationProgress.RUNNING:
            state = OperationProgress.FAILED  # it was created, and is gone again
        return replace(
            sight,
            state=state,
            answer=answer,
            place=find_next_target(sight.place, answer, self._cloud),
            wait=answer.retry_after(self._pace.clock.now()),
            was_there=sight.was_there or (is_resource and answer.status != 404),
        )

    def _lost(self, sight: _Sight, reply: AcceptedWrite) -> ArmError:
        """An action has no resource of its own to look at instead: how it goes cannot be known."""
        return ArmError(
            f"Azure accepted {reply.arm_id} but returned no URL to poll.",
            status=sight.answer.status,
            resource_id=reply.arm_id,
            method=reply.call.method,
            at=format_rfc3339(self._pace.clock.now()),
            outcome_unknown=True,
        )

    def _failed(self, sight: _Sight, reply: AcceptedWrite, conversation: Conversation) -> ArmError:
        error = make_arm_error(sight.answer, reply.call, format_rfc3339(self._pace.clock.now()))
        state = read_live(sight.answer).provisioning_state
        if error.code == UNKNOWN_CODE and state:
            error.hint = f"Azure gave no reason; the provisioningState of the resource is {state}."
        self._exchange.remember(error, conversation)
        return error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sight:
    """How an operation looks from here: where to poll, what the last answer said, how long it asks to wait."""

    place: PollTarget
    state: OperationProgress
    answer: Response
    wait: float | None
    polls: int = 0
    was_there: bool = False


def _poll(place: PollTarget, reply: AcceptedWrite) -> ArmRequest:
    if place.watch is Watch.RESOURCE:
        return _look_at(reply.arm_id, reply.api_version)
    return ArmRequest(
        method="GET",
        path=reply.arm_id,
        target=place.target,
        resource_id=reply.arm_id,
        accepts=_POLL_ACCEPTS,
        is_poll=True,
        is_private=reply.call.is_private,
    )


def _look_at(arm_id: str, api_version: str) -> ArmRequest:
    return ArmRequest(
        method="GET",
        path=arm_id,
        target=format_target(arm_id, api_version),
        resource_id=arm_id,
        accepts=_POLL_ACCEPTS,
        is_poll=True,
    )
