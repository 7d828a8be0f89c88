"""Registers a resource provider with a subscription: one POST a run, however many nodes need it, then polling.

Separate from writes, because many nodes wait for one answer.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field, replace

from gitsync.errors import ArmError, DeadlineError
from gitsync.model.clock import format_rfc3339
from gitsync.model.result import Wait
from gitsync.providers.arm.http.messages import ArmRequest, Response, format_target
from gitsync.providers.arm.http.retries import Retrier, may_read_again
from gitsync.providers.arm.session import Pace, Session

API_VERSION = "2021-04-01"
_ACCEPTS = frozenset({200, 202})


@dataclass(slots=True)
class _Registration:
    """One namespace in one subscription."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # its holder registers for all; the others use its result
    was_requested: bool = False  # a registration was requested
    is_done: bool = False  # nothing more is needed
    refusal: ArmError | None = None  # why it cannot be registered, None if it can


class Registrations:
    """All registrations of a run."""

    def __init__(self, retrier: Retrier, pace: Pace) -> None:
        self._retrier = retrier
        self._pace = pace
        self._known: defaultdict[tuple[str, str], _Registration] = defaultdict(_Registration)

    async def register(self, namespace: str, subscription: str, session: Session) -> bool:
        """Return True once the provider is registered, False at the deadline.

        Raises ArmError, for every caller, if Azure refuses; its hint names the missing permission.
        """
        path = f"/subscriptions/{subscription}/providers/{namespace}"
        known = self._known[namespace.casefold(), subscription.casefold()]
        with session.waiting(Wait(f"waits for the registration of {namespace}")):
            # The first node registers. The others wait for its answer, and send nothing.
            async with known.lock:
                if known.refusal:
                    raise known.refusal
                try:
                    known.is_done = known.is_done or await self._carry_out(path, known, session)
                except DeadlineError:
                    return False
                except ArmError as error:
                    # The other nodes get a final refusal at once; after a temporary one each of them tries again.
                    known.refusal = None if may_read_again(error) else error
                    raise
                return known.is_done

    async def _carry_out(self, path: str, known: _Registration, session: Session) -> bool:
        polls = 0
        state, wait = await self._request(path, known, session)
        while state != "registered":
            if state == "registrationfailed":
                raise self._make_refusal(path)
            if not await self._pace.pause(wait, polls, session):
                return False
            polls += 1
            state, wait = self._read_state(await self._retrier.send(_look_at(path), session))
        return True

    async def _request(self, path: str, known: _Registration, session: Session) -> tuple[str, float | None]:
        """Send the POST, or nothing if it was sent before. Polls show whether an unanswered one arrived."""
        if known.was_requested:
            return "", None
        request = replace(
            _look_at(path),
            method="POST",
            path=f"{path}/register",
            target=format_target(f"{path}/register", API_VERSION),
            is_poll=False,
        )
        try:
            answer = await self._retrier.send(request, session)
        except ArmError as error:
            # A POST that may have arrived is not sent again: polls show whether it arrived.
            known.was_requested = error.outcome_unknown
            if not error.outcome_unknown:
                raise
            return "", error.retry_after
        known.was_requested = True
        return self._read_state(answer)

    def _read_state(self, answer: Response) -> tuple[str, float | None]:
        state = answer.mapping().get("registrationState")
        return str(state or "").casefold(), answer.read_retry_after(self._pace.clock.now())

    def _make_refusal(self, path: str) -> ArmError:
        _, _, subscription, _, namespace = path.split("/")
        return ArmError(
            f"Azure could not register the resource provider {namespace} with subscription {subscription}.",
            status=200,
            code="RegistrationFailed",
            resource_id=f"/subscriptions/{subscription}",
            method="POST",
            at=format_rfc3339(self._pace.clock.now()),
            hint=f"Run `az provider register --namespace {namespace} --subscription {subscription} --wait`.",
        )


def _look_at(path: str) -> ArmRequest:
    """Make the GET of the provider."""
    return ArmRequest(
        method="GET",
        path=path,
        target=format_target(path, API_VERSION),
        # A refusal is about the subscription.
        resource_id=path.partition("/providers/")[0],
        accepts=_ACCEPTS,
        is_poll=True,
    )
