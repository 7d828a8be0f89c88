"""Follows the operation of a write to its end: the waits, around the rules in `poll`.

A failed poll is a failure to read the status, not of the operation (contract): the loop continues, with the resource
itself if necessary, until the session's deadline. Nothing is kept between runs: the next run reads the resource.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gitsync.errors import ArmError, DeadlineError
from gitsync.model.clock import format_rfc3339
from gitsync.model.live import Live
from gitsync.providers.arm.cloud import Cloud
from gitsync.providers.arm.http.failures import make_arm_error
from gitsync.providers.arm.http.messages import UNKNOWN_CODE, ArmRequest, Response, format_target
from gitsync.providers.arm.http.response_bodies import is_shown, read_live, read_shown_resource
from gitsync.providers.arm.http.retries import Retrier, may_read_again
from gitsync.providers.arm.lro.poll import (
    AcceptedWrite,
    OperationProgress,
    PollTarget,
    Watch,
    choose_first_target,
    choose_next_target,
    find_location,
    read_first_progress,
    read_progress,
)
from gitsync.providers.arm.session import Pace, Session

UNKNOWN_STATE_PATIENCE = 180.0
"""Seconds that a run waits for a resource in an unknown state."""

_POLL_ACCEPTS = frozenset({200, 201, 202, 204, 404})


class Operations:
    """Polls for all nodes of a run; each node waits for itself."""

    def __init__(self, retrier: Retrier, cloud: Cloud, pace: Pace) -> None:
        self._retrier = retrier
        self._cloud = cloud
        self._pace = pace

    async def follow(self, reply: AcceptedWrite, session: Session) -> bool:
        """Return True when the operation is done, False if the deadline passed first. Raises ArmError if it failed.

        The error has the code and message of the operation's own error, and the status of the poll that returned it.
        """
        try:
            poll = await self._poll_to_end(self._start_poll(reply), reply, session)
        except DeadlineError:
            return False
        return poll.state is OperationProgress.DONE

    async def result(self, reply: AcceptedWrite, session: Session) -> Response | None:
        """Return the response of an action at its end, None if the deadline passed first. Raises ArmError if it failed.

        That is the answer itself, or the one at its Location, or without one the last status of its operation, as in
        Azure's SDKs.
        """
        try:
            poll = await self._poll_to_end(self._start_poll(reply), reply, session)
            # The status of an operation is not its result, which is at the Location once the operation is done.
            location = find_location(reply, self._cloud) if poll.poll_target.watch is Watch.STATUS else None
            if poll.state is OperationProgress.DONE and location is not None:
                poll = await self._poll_once(
                    replace(poll, poll_target=location, state=OperationProgress.RUNNING), reply, session
                )
                poll = await self._poll_to_end(poll, reply, session)
        except DeadlineError:
            return None
        return poll.answer if poll.state is OperationProgress.DONE else None

    async def settle(self, arm_id: str, api_version: str, live: Live, session: Session) -> Live | None:
        """Poll a resource until its operation ends or the deadline passes; None if it disappeared.

        Returns the resource as last seen, which at the deadline is still changing. An unknown state may be a final one
        of its type, so the wait for it lasts a few minutes only.
        """
        request = _make_resource_poll(arm_id, api_version)
        latest: Live | None = live
        wait, polls, patience_ends = None, 0, self._pace.clock.monotonic() + UNKNOWN_STATE_PATIENCE
        while latest is not None and latest.is_moving:
            # An unknown state may be a final one of its type, and would never change.
            is_past_patience = latest.has_unknown_state and self._pace.clock.monotonic() >= patience_ends
            if is_past_patience or not await self._pace.pause(wait, polls, session):
                return latest
            polls += 1
            try:
                answer = await self._retrier.send(request, session)
            except DeadlineError:
                return latest  # still changing: the next run checks again
            wait = answer.read_retry_after(self._pace.clock.now())
            latest = None if answer.status == 404 else read_shown_resource(answer, arm_id)
        return latest

    def _start_poll(self, reply: AcceptedWrite) -> _PollState:
        return _PollState(
            poll_target=choose_first_target(reply, self._cloud),
            state=read_first_progress(reply),
            answer=reply.answer,
            wait=reply.answer.read_retry_after(self._pace.clock.now()),
        )

    async def _poll_to_end(self, poll: _PollState, reply: AcceptedWrite, session: Session) -> _PollState:
        while poll.state is OperationProgress.RUNNING and await self._pace.pause(poll.wait, poll.polls, session):
            poll = await self._poll_once(poll, reply, session)
            if poll.state is OperationProgress.UNREADABLE:
                # The URL does not show the operation, so the resource itself is polled instead.
                poll = await self._poll_once(replace(poll, poll_target=PollTarget(Watch.RESOURCE)), reply, session)
        if poll.state is OperationProgress.FAILED:
            raise self._make_failure(poll, reply, session)
        return poll

    async def _poll_once(self, poll: _PollState, reply: AcceptedWrite, session: Session) -> _PollState:
        """Poll once. A temporary failure of the poll changes nothing."""
        # An action has no resource to poll, and without a URL nothing shows its end.
        if poll.poll_target.watch is Watch.RESOURCE and reply.request.method == "POST":
            raise self._make_lost_error(poll, reply)
        poll = replace(poll, polls=poll.polls + 1)
        try:
            answer = await self._retrier.send_once(_make_poll(poll.poll_target, reply), session)
        except DeadlineError:  # the end of the session's time, not a failed poll
            raise
        except ArmError as error:
            # A failed poll shows nothing about the operation: it is repeated, or the resource is polled.
            if may_read_again(error):
                self._retrier.note_repeated(error, session)
                return replace(poll, state=OperationProgress.RUNNING, wait=error.retry_after)
            if poll.poll_target.watch is Watch.RESOURCE:  # there is nothing else to poll
                raise
            return replace(poll, state=OperationProgress.UNREADABLE)
        return self._evaluate(poll, answer, reply)

    def _evaluate(self, poll: _PollState, answer: Response, reply: AcceptedWrite) -> _PollState:
        state = read_progress(poll.poll_target.watch, reply.request.method, answer)
        is_resource = poll.poll_target.watch is Watch.RESOURCE
        if is_resource and answer.status != 404 and not is_shown(answer, reply.arm_id):
            return replace(poll, state=OperationProgress.RUNNING)  # not the resource: it is polled again
        if is_resource and poll.was_present and answer.status == 404 and state is OperationProgress.RUNNING:
            state = OperationProgress.FAILED  # it was created, and no longer exists
        return replace(
            poll,
            state=state,
            answer=answer,
            poll_target=choose_next_target(poll.poll_target, answer, self._cloud),
            wait=answer.read_retry_after(self._pace.clock.now()),
            was_present=poll.was_present or (is_resource and answer.status != 404),
        )

    def _make_lost_error(self, poll: _PollState, reply: AcceptedWrite) -> ArmError:
        """Make the error for an action without a poll URL: there is no resource to poll instead."""
        return ArmError(
            f"Azure accepted {reply.arm_id} but returned no URL to poll.",
            status=poll.answer.status,
            resource_id=reply.arm_id,
            method=reply.request.method,
            at=format_rfc3339(self._pace.clock.now()),
            outcome_unknown=True,
        )

    def _make_failure(self, poll: _PollState, reply: AcceptedWrite, session: Session) -> ArmError:
        error = make_arm_error(poll.answer, reply.request, format_rfc3339(self._pace.clock.now()))
        state = read_live(poll.answer).provisioning_state
        # Polls of a resource show a state and no reason.
        if error.code == UNKNOWN_CODE and state:
            error.hint = f"Check the activity log of the resource: Azure returned only the provisioningState {state}."
        self._retrier.remember(error, session)
        return error


@dataclass(frozen=True, slots=True, kw_only=True)
class _PollState:
    """The state of an operation."""

    poll_target: PollTarget  # where to poll
    state: OperationProgress
    answer: Response  # the last one
    wait: float | None  # the seconds that the last answer requests, None if it requests nothing
    polls: int = 0  # how many were sent
    was_present: bool = False  # a poll has shown the resource


def _make_poll(target: PollTarget, reply: AcceptedWrite) -> ArmRequest:
    if target.watch is Watch.RESOURCE:
        return _make_resource_poll(reply.arm_id, reply.api_version)
    return ArmRequest(
        method="GET",
        path=reply.arm_id,
        target=target.target,
        resource_id=reply.arm_id,
        accepts=_POLL_ACCEPTS,
        is_poll=True,
        is_private=reply.request.is_private,
    )


def _make_resource_poll(arm_id: str, api_version: str) -> ArmRequest:
    return ArmRequest(
        method="GET",
        path=arm_id,
        target=format_target(arm_id, api_version),
        resource_id=arm_id,
        accepts=_POLL_ACCEPTS,
        is_poll=True,
    )
