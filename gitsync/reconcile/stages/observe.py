"""Middle stages: the live state of the resource, whether gitsync may act on it, and what differs from git."""

from __future__ import annotations

from dataclasses import replace

from gitsync.diff.hints import find_kind_hints
from gitsync.diff.redact import find_secret_shapes, redact_comparison
from gitsync.diff.three_way import Remembered, remove_secrets
from gitsync.model.condition import Condition
from gitsync.model.template import Request
from gitsync.model.verdict import Action, Comparison, Verdict
from gitsync.planning.actions import Wishes, decide_absent, decide_present, decide_unreadable
from gitsync.planning.group_deletes import is_group
from gitsync.planning.secret_digest import CHANGED, add_secret_changes, mask_digests
from gitsync.reconcile.attempt import ReconcileAttempt
from gitsync.reconcile.stages.body_extensions import extend_body
from gitsync.reconcile.stages.on_success import remember_promises
from gitsync.reconcile.stages.owner_check import block_attempt
from gitsync.request.fill import fill
from gitsync.status.conditions import RECONCILING, make_warning


async def observe(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Read the resource, unless it cannot be there yet."""
    turn = turn if turn.prepared.arm_id else _named(turn)
    if _is_below_something_new(turn) or "<" in turn.arm_id:
        return replace(turn, exists=False)
    if not turn.kind.can_get:
        return replace(turn, exists=await turn.reader.exists(turn.arm_id, turn.api_version))
    near = turn.run.memory.writes_near(turn.arm_id)
    live = await turn.reader.get(turn.arm_id, turn.api_version)
    if live is not None:
        turn.run.memory.saw(turn.arm_id, live)
    if live is None and _may_not_show_yet(turn):
        return replace(turn, near=near, exists=False, unfinished=True).stopped(RECONCILING, waits=True)
    turn = replace(turn, near=near, live=live, exists=live is not None)
    remember_promises(turn)
    return turn


def _may_not_show_yet(turn: ReconcileAttempt) -> bool:
    """An accepted write, by this run or the one before, is visible when its operation ends at the latest."""
    accepted = turn.sent is not None and turn.done is not Action.NONE
    return accepted or (turn.is_resumed and turn.run.rules.writes)


def _named(turn: ReconcileAttempt) -> ReconcileAttempt:
    """An id that a config map names is known only now; in a plan it may still be a placeholder, with its brackets."""
    request = _request(turn)
    turn.run.values.names(turn.node.key, request.arm_id)
    return replace(turn, request=request)


def _is_below_something_new(turn: ReconcileAttempt) -> bool:
    """Tell whether this run created the owner, or a plan would: what it owns is not there."""
    owner = turn.prepared.owner
    result = turn.before.get(owner.key) if owner and owner.key else None
    return result is not None and result.action is Action.CREATE and turn.sent is None


async def pre_check(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Ask the extensions, and wait for an operation that is under way."""
    if not turn.policy.allows_modify:
        return turn if turn.exists else turn.stopped(_not_found(turn), Verdict.SKIP)
    resumes = turn.is_resumed and turn.live is not None and turn.live.is_moving
    if not resumes:
        answer = await turn.run.registry.pre_check(turn.subject(), turn.reader)
        if not answer.agrees:
            return block_attempt(turn, answer.reason)
    return await wait_until_settled(turn) if turn.run.rules.writes else turn


def _not_found(turn: ReconcileAttempt) -> Condition:
    code = "ResourceGroupNotFound" if is_group(turn.node.key) else "ResourceNotFound"
    text = f'error getting status for resource ID "{turn.arm_id}": getting resource with ID: "{turn.arm_id}": {code}'
    return make_warning("AzureResourceNotFound", text)


async def wait_until_settled(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Nothing is sent to a resource that is moving: wait for it, or leave it to the next run."""
    if turn.live is None or not turn.live.is_moving:
        return turn
    live = await turn.reader.settle(turn.arm_id, turn.api_version, turn.live)
    turn = replace(turn, live=live, exists=live is not None)
    if live is not None and live.is_moving:
        ours = turn.done is not Action.NONE or turn.is_resumed
        return replace(turn, unfinished=ours).stopped(turn.still_moving())
    return turn


async def compare(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Decide what differs and what to do about it; nothing for a skipped resource."""
    if not turn.policy.allows_modify:
        return replace(turn, comparison=Comparison(verdict=Verdict.SKIP))
    turn = await extend_body(turn, _request(turn))
    if turn.stop:
        return turn
    comparison, action = _with_secrets(turn, *_judged(turn))
    told = turn.told or (comparison if action is not Action.NONE else None)
    note = "" if action is Action.NONE else turn.run.registry.foretold(turn.subject())
    return replace(turn, comparison=comparison, action=action, told=told, note=note)


def _request(turn: ReconcileAttempt) -> Request:
    template = turn.prepared.template
    if template is None:
        raise AssertionError("a valid manifest has a template")
    return fill(template, turn.node.key.namespace, turn.run.values)


def _judged(turn: ReconcileAttempt) -> tuple[Comparison, Action]:
    record, request, live = turn.node.record, turn.request, turn.live
    if request is None:
        raise AssertionError("the request is made before it is judged")
    if not turn.exists:
        return decide_absent(record)
    remembered = _without_digests(turn.remembered)
    if live is None:
        return decide_unreadable(remove_secrets(turn.asked), remembered)
    if turn.sent and not turn.existed and not live.has_failed:  # the answer was lost, and the create was not
        return Comparison(verdict=Verdict.CREATE), Action.NONE
    if turn.is_resumed and remembered and remembered.applied == remove_secrets(turn.asked) and not live.has_failed:
        return Comparison(verdict=Verdict.IN_SYNC), Action.NONE  # what an earlier run began is done
    rules = turn.run.rules
    wishes = Wishes(adopts=rules.adopts, always_put=rules.always_put and turn.done is Action.NONE)
    return decide_present(turn.asked, live, remembered, wishes, find_kind_hints(turn.kind), turn.ignored)


def _without_digests(remembered: Remembered | None) -> Remembered | None:
    """Values are compared with values: secrets are masked on both sides."""
    return replace(remembered, applied=mask_digests(remembered.applied)) if remembered else None


def _with_secrets(turn: ReconcileAttempt, comparison: Comparison, action: Action) -> tuple[Comparison, Action]:
    """The judgement, with what the digests say of secrets; none of them shows."""
    if not turn.exists:
        return comparison, action
    before = turn.remembered.applied if turn.remembered else {}
    comparison = add_secret_changes(comparison, turn.sealed, before)
    if comparison.differences:
        comparison = redact_comparison(comparison, find_secret_shapes(turn.asked, mask_digests(before)))
    changed = any(difference.rule == CHANGED for difference in comparison.differences)
    return comparison, Action.UPDATE if changed else action
