"""Follows what a write began to its end: the waiting, around the rules of `poll`.

A poll that fails is a failure to read the status, not of the operation (contract): the loop goes on, with the resource
itself if need be, until the conversation's deadline. Nothing of it is kept between runs: the next one reads the
resource.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gitsync.arm.cloud import Cloud
from gitsync.arm.http.address import target
from gitsync.arm.http.answer import Answer
from gitsync.arm.http.call import UNKNOWN_CODE, Call
from gitsync.arm.http.conversation import Conversation
from gitsync.arm.http.exchange import Exchange, may_read_again
from gitsync.arm.http.failures import DeadlineError, failure_of
from gitsync.arm.http.pacing import Pace
from gitsync.arm.http.shown_resource import shown, shows
from gitsync.arm.lro.poll import (
    Place,
    Progress,
    Watch,
    first_place,
    first_progress,
    location_of,
    next_place,
    progress,
)
from gitsync.arm.lro.reply import Reply, live_of
from gitsync.errors import ArmError
from gitsync.model.clock import rfc3339
from gitsync.model.live import Live

_POLL_ACCEPTS = frozenset({200, 201, 202, 204, 404})


class Operations:
    """Polls for all nodes of a run; each waits by itself."""

    def __init__(self, exchange: Exchange, cloud: Cloud, pace: Pace) -> None:
        self._exchange = exchange
        self._cloud = cloud
        self._pace = pace

    async def follow(self, reply: Reply, conversation: Conversation) -> bool:
        """True when the operation is done, False when the deadline came first; ArmError when it failed.

        The error has the code and message of the operation's own error, and the status of the poll that told it.
        """
        try:
            sight = await self._to_the_end(self._first_sight(reply), reply, conversation)
        except DeadlineError:
            return False
        return sight.state is Progress.DONE

    async def result(self, reply: Reply, conversation: Conversation) -> Answer | None:
        """What an action answers at its end, None when the deadline came first; ArmError when it failed.

        That is the answer itself, or the one at its Location, or where it has none the last status of its operation:
        what the SDKs of Azure take.
        """
        try:
            sight = await self._to_the_end(self._first_sight(reply), reply, conversation)
            location = location_of(reply, self._cloud) if sight.place.watch is Watch.STATUS else None
            if sight.state is Progress.DONE and location is not None:
                sight = await self._look(replace(sight, place=location, state=Progress.RUNNING), reply, conversation)
                sight = await self._to_the_end(sight, reply, conversation)
        except DeadlineError:
            return None
        return sight.answer if sight.state is Progress.DONE else None

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
                answer = await self._exchange.read(call, conversation)
            except DeadlineError:
                return seen
            wait = answer.retry_after(self._pace.clock.now())
            seen = None if answer.status == 404 else shown(answer, arm_id)
        return seen

    def _first_sight(self, reply: Reply) -> _Sight:
        return _Sight(
            place=first_place(reply, self._cloud),
            state=first_progress(reply),
            answer=reply.answer,
            wait=reply.answer.retry_after(self._pace.clock.now()),
        )

    async def _to_the_end(self, sight: _Sight, reply: Reply, conversation: Conversation) -> _Sight:
        while sight.state is Progress.RUNNING and await self._pace.pause(sight.wait, sight.polls, conversation):
            sight = await self._look(sight, reply, conversation)
            if sight.state is Progress.UNREADABLE:
                sight = await self._look(replace(sight, place=Place(Watch.RESOURCE)), reply, conversation)
        if sight.state is Progress.FAILED:
            raise self._failed(sight, reply, conversation)
        return sight

    async def _look(self, sight: _Sight, reply: Reply, conversation: Conversation) -> _Sight:
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
                return replace(sight, state=Progress.RUNNING, wait=error.retry_after)
            if sight.place.watch is Watch.RESOURCE:
                raise
            return replace(sight, state=Progress.UNREADABLE)
        return self._judged(sight, answer, reply)

    def _judged(self, sight: _Sight, answer: Answer, reply: Reply) -> _Sight:
        state = progress(sight.place.watch, reply.call.method, answer)
        is_resource = sight.place.watch is Watch.RESOURCE
        if is_resource and answer.status != 404 and not shows(answer, reply.arm_id):
            return replace(sight, state=Progress.RUNNING)  # says nothing of the resource: it is looked at again
        if is_resource and sight.was_there and answer.status == 404 and state is Progress.RUNNING:
            state = Progress.FAILED  # it was created, and is gone again
        return replace(
            sight,
            state=state,
            answer=answer,
            place=next_place(sight.place, answer, self._cloud),
            wait=answer.retry_after(self._pace.clock.now()),
            was_there=sight.was_there or (is_resource and answer.status != 404),
        )

    def _lost(self, sight: _Sight, reply: Reply) -> ArmError:
        """An action has no resource of its own to look at instead: how it goes cannot be known."""
        return ArmError(
            f"Azure took {reply.arm_id} but does not say how it goes.",
            status=sight.answer.status,
            resource_id=reply.arm_id,
            method=reply.call.method,
            at=rfc3339(self._pace.clock.now()),
            outcome_unknown=True,
        )

    def _failed(self, sight: _Sight, reply: Reply, conversation: Conversation) -> ArmError:
        error = failure_of(sight.answer, reply.call, rfc3339(self._pace.clock.now()))
        state = live_of(sight.answer).provisioning_state
        if error.code == UNKNOWN_CODE and state:
            error.hint = f"Azure gave no reason; the provisioningState of the resource is {state}."
        self._exchange.remember(error, conversation)
        return error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sight:
    """How an operation looks from here: where to poll, what the last answer said, how long it asks to wait."""

    place: Place
    state: Progress
    answer: Answer
    wait: float | None
    polls: int = 0
    was_there: bool = False


def _poll(place: Place, reply: Reply) -> Call:
    if place.watch is Watch.RESOURCE:
        return _look_at(reply.arm_id, reply.api_version)
    return Call(
        method="GET",
        path=reply.arm_id,
        target=place.target,
        resource_id=reply.arm_id,
        accepts=_POLL_ACCEPTS,
        is_poll=True,
        is_private=reply.call.is_private,
    )


def _look_at(arm_id: str, api_version: str) -> Call:
    return Call(
        method="GET",
        path=arm_id,
        target=target(arm_id, api_version),
        resource_id=arm_id,
        accepts=_POLL_ACCEPTS,
        is_poll=True,
    )
