"""Let extensions change a body, at two points: before it is compared, and when it is sent.

Extensions decide and stay pure. This module reads what they request, with reads only so that a plan does it too, and
makes the calls that they want before a write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitsync.arm.actor import Actor
from gitsync.errors import ArmError
from gitsync.extensions.api import LookupRequest, LookupResult, UnmendableError
from gitsync.model.template import Request
from gitsync.model.verdict import Verdict
from gitsync.planning.actions import may_recover
from gitsync.reconcile.attempt import ReconcileAttempt
from gitsync.status.conditions import make_error, make_unreadable


async def extend_body(turn: ReconcileAttempt, request: Request) -> ReconcileAttempt:
    """Accept a request, as it is compared and recorded; stop if only a change of the manifest can fix it.

    Raises ArmError where what must be looked up cannot be: unknown is not absent.
    """
    turn, registry = replace(turn, request=request, answers={}), turn.run.registry
    if questions := registry.questions(turn.subject()):
        turn = replace(turn, answers={question: await _answer(turn, question) for question in questions})
    try:
        body = registry.compared(request.body, turn.subject())
    except UnmendableError as refusal:
        return turn.stopped(make_error("Failed", str(refusal)), Verdict.BLOCKED, may_mend=False)
    return turn if body is request.body else replace(turn, request=replace(request, body=body))


async def _answer(turn: ReconcileAttempt, question: LookupRequest) -> LookupResult:
    async def read() -> LookupResult:
        if question.lists:
            return tuple(await turn.reader.list(question.path, question.api_version))
        return await turn.reader.get(question.path, question.api_version)

    return await turn.run.memory.told(question, read) if question.for_the_run else await read()


def make_sent_body(turn: ReconcileAttempt, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The body as a PUT sends it."""
    return turn.run.registry.modified(body, turn.subject())


async def run_required_actions(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Make the calls that must end before the body is sent; stop if one fails. The caller holds the lane.

    An error of such a call is no refusal of the resource, so it is not classified
    (docs/reference/kinds.md#extension-calls).
    """
    try:
        for call in turn.run.registry.first_calls(turn.subject()):
            await Actor(turn.writer).call(call.path, call.api_version, call.body)
    except ArmError as failure:
        waits = may_recover(failure, missed_is_ours=False, granted=turn.run.memory.granted)
        return turn.stopped(make_unreadable(failure), waits=waits)
    return turn
