"""Middle stages: the live state of the resource, whether gitsync may act on it, and what differs from git."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gitsync.agent.reconcile.attempt import ApplyAttempt, StopKind
from gitsync.agent.reconcile.rules import RunRules
from gitsync.agent.reconcile.run_views import Observing, Others
from gitsync.agent.reconcile.stages.body_extensions import extend_body
from gitsync.agent.reconcile.stages.on_success import remember_promises
from gitsync.agent.reconcile.stages.outside_check import (
    find_outside_changes,
    foresee_resets,
    is_outside_recorded,
)
from gitsync.agent.reconcile.stages.owner_check import block_attempt, is_owner_elsewhere, stop_without_owner
from gitsync.agent.reconcile.stages.parent_put import add_children, describe_children
from gitsync.agent.reconcile.stages.resolve_values import resolve_id
from gitsync.agent.reconcile.write import Unseen
from gitsync.desired.formats.ignored_paths import remove_paths
from gitsync.desired.request.secret_digest import Digests, is_sealed, mask_digests, seal_body
from gitsync.model.condition import Condition
from gitsync.model.live import Absence, Live
from gitsync.model.provider import Provider
from gitsync.model.result import Result
from gitsync.model.verdict import Action, Comparison, Verdict
from gitsync.planning.actions import (
    WriteRules,
    decide_absent,
    decide_present,
    decide_unreadable,
    find_remembered,
    recognize_failure,
)
from gitsync.planning.diff.handed_over_values import add_handed_over, take_live_values
from gitsync.planning.diff.hints import make_kind_hints
from gitsync.planning.diff.masked_differences import list_secret_shapes, redact_comparison
from gitsync.planning.diff.secret_changes import CHANGED, NEVER_SET, add_secret_changes, add_unset_secrets
from gitsync.planning.diff.three_way import remove_secrets
from gitsync.planning.diff.unknown_values import (
    UnknownValues,
    add_unknown_values,
    blank_all,
    blank_baseline,
    collect_unknown_values,
)
from gitsync.planning.followed_values import add_awaited_values, describe_followed
from gitsync.planning.status.conditions import RECONCILING, make_warning
from gitsync.planning.status.error_classes import GROUP_MISSING, PARENT_MISSING

_IN_SYNC = Comparison(verdict=Verdict.IN_SYNC)

MOST_UNSEEN = 6
"""Reads that may not find what Azure has accepted: with the pauses between two tries, they take a minute."""


async def observe(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Read the resource, unless it cannot exist yet."""
    # Another provider than ARM signs in with values of the body.
    is_ready = attempt.prepared.arm_id and attempt.provider is Provider.ARM
    attempt = attempt if is_ready else resolve_id(attempt, run.values)
    # Nothing exists below an owner that this run creates, and an id with an unknown part cannot be read.
    if _has_new_owner(attempt) or "<" in attempt.arm_id:
        return attempt.absent()
    # A type without a GET shows only whether it exists.
    if not attempt.kind.can_get:
        exists = await run.reader(attempt).exists(attempt.arm_id, attempt.api_version)
        return attempt.existing() if exists else attempt.absent()
    # Counted before the read: the read may miss a write that begins during it.
    near = run.cache.count_writes_near(attempt.arm_id)
    found = await (await run.live_reader(attempt)).find(attempt.arm_id, attempt.api_version)
    live = found if isinstance(found, Live) else None
    if live is not None:
        run.cache.keep(attempt.arm_id, live)
    is_accepted = attempt.write.sent is not None and attempt.write.done is not Action.NONE
    if live is None and is_accepted:
        attempt = note_unseen(attempt)
        if attempt.stop:
            return attempt
    elif isinstance(found, Absence) and _lacks_parent(attempt, found):
        # The missing owner is the cause, and nothing of this run brings it.
        missing = replace(make_warning(found.code, found.message), request_id=found.request_id)
        return stop_without_owner(attempt.absent(), missing)
    elif live is None and run.rules.writes and attempt.may_appear and not attempt.write.unseen.is_resent:
        # The create of an earlier run may not show yet: wait for it, or it would be sent twice.
        return attempt.absent().unfinished().stopped(RECONCILING, kind=StopKind.WAITS)
    observed = replace(attempt.observed, live=live, exists=live is not None, writes_before=near)
    attempt = attempt.with_observed(observed)
    remember_promises(attempt, run)
    return attempt


def _lacks_parent(attempt: ApplyAttempt, absence: Absence) -> bool:
    """Return whether a resource cannot be written since something above it is missing that this run does not create."""
    # A group that does not exist has the code of a missing group itself.
    if attempt.arm_id.is_group:
        return False
    is_named = absence.code in PARENT_MISSING and attempt.prepared.is_written
    if not is_named or not is_owner_elsewhere(attempt):
        return False
    # In a plan, a group that the run would create is missing only until then.
    new_groups = (
        r.arm_id for r in attempt.before.values() if r.arm_id and r.arm_id.is_group and r.action is Action.CREATE
    )
    is_new = any(map(attempt.arm_id.is_below, new_groups))
    return not (is_new and absence.code == GROUP_MISSING)


def note_unseen(attempt: ApplyAttempt) -> ApplyAttempt:
    """Count a read that did not find a resource whose write Azure had accepted, and whose operation has ended.

    It may not show yet. After some reads the write counts as not done: it is sent again, once.
    """
    unseen = replace(attempt.write.unseen, reads=attempt.write.unseen.reads + 1)
    attempt = attempt.with_live(None).with_write(replace(attempt.write, unseen=unseen))
    if unseen.reads <= MOST_UNSEEN:
        text = f"Azure accepted the write of {attempt.arm_id}, but the resource cannot be read yet."
        stopped = attempt.unfinished()
        return stopped.stopped(make_warning("AzureResourceNotFound", text), kind=StopKind.WAITS)
    before = find_remembered(attempt.record, attempt.api_version, attempt.ignored)
    write = replace(attempt.write, sent=None, done=Action.NONE, unseen=Unseen(is_resent=True))
    given_up = replace(attempt.with_write(write), remembered=before)
    if not unseen.is_resent:
        return given_up
    text = f"Azure accepted the write of {attempt.arm_id} twice, but the resource does not exist."
    return given_up.stopped(make_warning("AzureResourceNotFound", text))


def _has_new_owner(attempt: ApplyAttempt) -> bool:
    """Return whether this run created the owner, or a plan would: then its children do not exist, but those that
    another manifest of the run has created.
    """
    owner, written_by = attempt.prepared.relations.owner, attempt.prepared.relations.written_by
    writer = attempt.before.get(written_by) if written_by else None
    if writer is not None and writer.ending.exists:
        return False
    result = attempt.before.get(owner.key) if owner and owner.key else None
    # Once this run has sent the resource itself, it may exist below its new owner, and must be read.
    return result is not None and result.action is Action.CREATE and attempt.write.sent is None


async def pre_check(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Run the checks of the extensions, and wait for an operation that is under way."""
    # Whether an unknown state is a final one matters to a write only: nothing else waits for it.
    if _has_unknown_state(attempt) and not _may_wait(attempt, run):
        return attempt.stopped(attempt.describe_unsettled())
    if not attempt.prepared.is_written:
        writer = (
            attempt.before.get(attempt.prepared.relations.written_by) if attempt.prepared.relations.written_by else None
        )
        # In a plan, the manifest that creates the resource has not done so yet.
        is_planned = writer is not None and writer.action is Action.CREATE and not writer.ending.exists
        if attempt.prepared.is_watched and run.others is not None and not _is_there(attempt):
            return await _wait_for_worker(attempt, run.others)
        return attempt if attempt.observed.exists or is_planned else _stop_not_found(attempt, writer)
    if attempt.apply.hold:  # it is only read
        return attempt
    # The run that began the operation has passed the checks: its states on the way must not fail them now.
    resumes = attempt.is_resumed and attempt.observed.live is not None and attempt.observed.live.is_moving
    if not resumes:
        answer = await run.registry.pre_check(attempt.as_subject(), run.reader(attempt))
        if not answer.agrees:
            return block_attempt(attempt, answer.reason)
    return await wait_until_settled(attempt, run) if run.rules.writes else attempt


def _has_unknown_state(attempt: ApplyAttempt) -> bool:
    return attempt.observed.live is not None and attempt.observed.live.has_unknown_state


def _may_wait(attempt: ApplyAttempt, run: Observing) -> bool:
    """Return whether a sync waits for the end of an operation, since it may write the resource then."""
    return run.rules.writes and attempt.prepared.is_written and not attempt.apply.hold


def _is_there(attempt: ApplyAttempt) -> bool:
    """Return whether the resource exists, and Azure reports no operation on it."""
    return bool(attempt.observed.exists) and not (attempt.observed.live is not None and attempt.observed.live.is_moving)


async def _wait_for_worker(attempt: ApplyAttempt, others: Others) -> ApplyAttempt:
    """Wait for a resource that another worker of the run is to create, unless that has failed there."""
    if failure := await others.find_failure(attempt.key):
        text = f"Another worker of this run could not create it. {failure}"
        return attempt.stopped(make_warning("AzureResourceNotFound", text), Verdict.BLOCKED)
    text = f"Another worker of this run has not created {attempt.arm_id} yet."
    return attempt.stopped(make_warning("AzureResourceNotFound", text), Verdict.BLOCKED, StopKind.WAITS)


def _stop_not_found(attempt: ApplyAttempt, writer: Result | None) -> ApplyAttempt:
    """Stop a resource that does not exist and is only read."""
    if attempt.prepared.is_left_to_capz:
        waits_for_capz = make_warning("AzureResourceNotFound", "It does not exist yet; CAPZ creates it.")
        return attempt.stopped(waits_for_capz, Verdict.BLOCKED, StopKind.TOLERATED_NOW)
    verdict = Verdict.BLOCKED if attempt.policy.allows_modify else Verdict.SKIP
    # `writer` is another manifest that has just written the resource: it may not show yet.
    kind = StopKind.WAITS if writer is not None and writer.ending.exists else StopKind.NEXT_RUN
    return attempt.stopped(_make_not_found(attempt), verdict, kind)


def _make_not_found(attempt: ApplyAttempt) -> Condition:
    if attempt.provider is Provider.ENTRA:
        spec = attempt.prepared.resource.spec
        names = [f"{name} {spec[name]}" for name in ("appId", "displayName") if isinstance(spec.get(name), str)]
        text = f"Microsoft Entra ID has no {attempt.key.kind} with {' or '.join(names) or 'its recorded id'}."
        return make_warning("AzureResourceNotFound", text)
    code = "ResourceGroupNotFound" if attempt.arm_id.is_group else "ResourceNotFound"
    arm_id = attempt.arm_id
    text = f'error getting status for resource ID "{arm_id}": getting resource with ID: "{arm_id}": {code}'
    return make_warning("AzureResourceNotFound", text)


async def wait_until_settled(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Wait for the end of the resource's operation: nothing is sent during one. It may be left to the next run."""
    if attempt.observed.live is None or not attempt.observed.live.is_moving:
        return attempt
    live = await (await run.live_reader(attempt)).settle(attempt.arm_id, attempt.api_version, attempt.observed.live)
    attempt = attempt.with_live(live)
    if live is not None and live.is_moving:
        # Only an operation of gitsync goes on record: the next run does not continue that of another.
        is_own = attempt.write.done is not Action.NONE or attempt.is_resumed
        return attempt.with_write(replace(attempt.write, unfinished=is_own)).stopped(attempt.describe_unsettled())
    return attempt


async def compare(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Decide what differs and what to do about it; nothing for a resource that is only read."""
    if not attempt.policy.allows_modify:
        return attempt.with_decision(replace(attempt.decision, comparison=Comparison(verdict=Verdict.SKIP)))
    if attempt.prepared.relations.written_by:
        note = f"{attempt.prepared.relations.written_by} writes it."
        return attempt.with_decision(
            replace(attempt.decision, comparison=Comparison(verdict=Verdict.IN_SYNC), note=note)
        )
    attempt = resolve_id(attempt, run.values)
    attempt = await extend_body(attempt, run)
    if attempt.stop:
        return attempt
    attempt, handed_over = _take_live_values(attempt)
    attempt = find_outside_changes(attempt, run.digests)
    if _is_untouched(attempt, run.rules) and is_outside_recorded(attempt):
        return attempt.with_decision(
            replace(attempt.decision, comparison=_IN_SYNC, action=Action.NONE, note="", is_untouched=True)
        )
    is_plain = attempt.filled_request.body is attempt.template.body  # nothing was filled in
    unknown = {} if is_plain else collect_unknown_values(attempt.desired)
    known = _leave_out(attempt, unknown)
    has_digests = known.remembered is not None and is_sealed(known.remembered.applied)
    comparison, action = _decide(known, run.rules.write_rules, has_digests=has_digests)
    comparison = recognize_failure(comparison, attempt.record, attempt.observed.live, attempt.prepared.resource.spec)
    if attempt.observed.exists:
        adopts = run.rules.adopts
        comparison, action = _add_secrets(
            known, comparison, action, run.digests, has_digests=has_digests, adopts=adopts
        )
        comparison = add_handed_over(add_unknown_values(comparison, unknown, attempt.id_doubt), handed_over)
        comparison, action = _add_awaited(attempt, comparison, action) if unknown else (comparison, action)
    first = attempt.decision.first_comparison or (comparison if action is not Action.NONE else None)
    attempt = attempt.with_decision(replace(attempt.decision, action=action))
    attempt = attempt if action is Action.NONE else foresee_resets(add_children(attempt, run), run.digests)
    note = "" if action is Action.NONE else _foretell(attempt, comparison, run)
    if comparison.verdict is Verdict.DRIFTED and not comparison.differences:
        note = f"Its last operation failed in Azure; gitsync did not start that operation. {note}".rstrip()
    return attempt.with_decision(
        replace(attempt.decision, comparison=comparison, action=action, first_comparison=first, note=note)
    )


def _foretell(attempt: ApplyAttempt, comparison: Comparison, run: Observing) -> str:
    """Return why a write is due that no commit explains, and what it does in addition, for a plan."""
    sentences = (
        _describe_followed(attempt, comparison),
        run.registry.describe_calls(attempt.as_subject()),
        describe_children(attempt, run),
    )
    return " ".join(filter(None, sentences))


def _describe_followed(attempt: ApplyAttempt, comparison: Comparison) -> str:
    if not attempt.computed:
        return ""
    return describe_followed(attempt.template.body, attempt.filled_request.body, comparison.differences)


def _add_awaited(attempt: ApplyAttempt, comparison: Comparison, action: Action) -> tuple[Comparison, Action]:
    """Add to what a plan compared the values that other resources will have after a sync."""
    live = attempt.observed.live
    if live is None or comparison.verdict is Verdict.ADOPT:
        return comparison, action
    added = add_awaited_values(comparison, attempt.kind.arm_type, attempt.desired, live.body)
    return added, action if added is comparison else Action.UPDATE


def _is_untouched(attempt: ApplyAttempt, rules: RunRules) -> bool:
    """Return whether nothing has changed since the record was made: then there is nothing to decide."""
    live, remembered = attempt.observed.live, attempt.remembered
    # After a write the record is new in any case, and with a doubtful id the body may be that of another resource.
    if live is None or remembered is None or attempt.write.tried or attempt.id_doubt or rules.always_put:
        return False
    desired, body, taken = attempt.desired, remove_paths(live.body, attempt.ignored), attempt.handed_over
    if taken:  # what Azure does with these fields needs no new record
        applied, baseline = remove_paths(remembered.applied, taken), remove_paths(remembered.baseline, taken)
        remembered = replace(remembered, applied=applied, baseline=baseline)
        desired, body = remove_paths(desired, taken), remove_paths(body, taken)
    return live.has_succeeded and remembered.has_all(desired, body)


def _take_live_values(attempt: ApplyAttempt) -> tuple[ApplyAttempt, Mapping[str, str]]:
    """Return the attempt with Azure's values in the fields that are handed over, and why they are not compared."""
    live, request = attempt.observed.live, attempt.filled_request
    if live is None:
        return replace(attempt, handed_over=()) if attempt.handed_over else attempt, {}
    taken = take_live_values(request.body, live.body, attempt.kind.arm_type, attempt.prepared.relations.told)
    if taken.body is not request.body:
        attempt = replace(attempt, request=replace(request, body=taken.body))
    return replace(attempt, handed_over=taken.paths) if taken.paths != attempt.handed_over else attempt, taken.because


def _leave_out(attempt: ApplyAttempt, unknown: UnknownValues) -> ApplyAttempt:
    """Return the attempt with the same text on every side instead of each value that a plan does not have."""
    if not unknown:
        return attempt
    request, live, before = attempt.filled_request, attempt.observed.live, attempt.remembered
    leave_out = partial(blank_all, unknown=unknown, reference=request.body)
    if before:
        baseline = blank_baseline(before.baseline, unknown, request.body)
        before = replace(before, applied=leave_out(before.applied), baseline=baseline)
    return replace(
        attempt,
        request=replace(request, body=leave_out(request.body)),
        observed=replace(attempt.observed, live=replace(live, body=leave_out(live.body)) if live else None),
        remembered=before,
    )


def _decide(attempt: ApplyAttempt, write_rules: WriteRules, *, has_digests: bool) -> tuple[Comparison, Action]:
    live = attempt.observed.live
    if not attempt.observed.exists:
        return decide_absent(attempt.record)
    remembered = attempt.remembered
    if remembered is not None and has_digests:  # values are compared with values, secrets are masked on both sides
        remembered = replace(remembered, applied=mask_digests(remembered.applied))
    if live is None:
        return decide_unreadable(remove_secrets(attempt.desired), remembered)
    if attempt.write.sent and not attempt.write.existed and not live.has_failed:
        # The response was lost, but the create succeeded.
        return Comparison(verdict=Verdict.CREATE), Action.NONE
    is_sent = remembered is not None and remembered.applied == remove_secrets(attempt.desired)
    if attempt.is_resumed and is_sent and not live.has_failed:  # the operation of an earlier run is done
        return Comparison(verdict=Verdict.IN_SYNC), Action.NONE
    if write_rules.always_put and attempt.write.done is not Action.NONE:
        # --always-put requires one write; after it, the resource is compared as usual.
        write_rules = replace(write_rules, always_put=False)
    return decide_present(
        attempt.desired, live, remembered, write_rules, make_kind_hints(attempt.kind), attempt.ignored
    )


def _add_secrets(
    attempt: ApplyAttempt,
    comparison: Comparison,
    action: Action,
    digests: Digests,
    *,
    has_digests: bool,
    adopts: bool,
) -> tuple[Comparison, Action]:
    """Add the secrets that changed by their digests to the decision, and redact secret values."""
    before = attempt.remembered.applied if attempt.remembered else {}
    if has_digests:
        # A digest is bound to the key of its manifest, so those of a moved record compare under its former key.
        sealed = seal_body(attempt.desired, attempt.apply.moved_from or attempt.key, digests)
        comparison = add_secret_changes(comparison, sealed, before)
    if attempt.provider is not Provider.ARM:  # it shows whether there is a password, and not which
        comparison = add_unset_secrets(comparison, seal_body(attempt.desired, attempt.key, digests), before)
    if comparison.differences:
        comparison = redact_comparison(comparison, list_secret_shapes(attempt.desired, mask_digests(before)))
    changed = any(difference.rule in {CHANGED, NEVER_SET} for difference in comparison.differences)
    is_only_reported = comparison.verdict is Verdict.ADOPT and not adopts
    return comparison, Action.UPDATE if changed and not is_only_reported else action
