"""Read the result of a write, and keep it as the baseline of later runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitsync.agent.reconcile.attempt import ApplyAttempt
from gitsync.agent.reconcile.run_views import Acting, read_live
from gitsync.agent.reconcile.stages.observe import note_unseen, wait_until_settled
from gitsync.agent.reconcile.stages.outside_check import record_outside
from gitsync.agent.reconcile.stages.outside_use import check_restored
from gitsync.agent.reconcile.stages.refusal import note_failed_write
from gitsync.agent.reconcile.stages.value_removal import check_removed
from gitsync.desired.formats.ignored_paths import remove_paths
from gitsync.desired.request.secret_digest import Digests, keep_digests, seal_body
from gitsync.errors import ProviderError
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.diff.three_way import Remembered, make_baseline
from gitsync.planning.status.conditions import make_unreadable, make_warning


async def read_back(attempt: ApplyAttempt, run: Acting) -> ApplyAttempt:
    """Read what was written."""
    if attempt.decision.action is Action.NONE:
        return attempt if attempt.decision.is_untouched else _keep_baseline(attempt, run)
    if not attempt.kind.can_get:
        return _keep_baseline(attempt.existing(), run)
    try:
        live = await read_live(await run.live_reader(attempt), attempt.arm_id, attempt.api_version)
    except ProviderError as failure:
        # Without a read, the operation counts as unfinished, and the next run continues it.
        return attempt.unfinished().stopped(make_unreadable(failure))
    if live is None:
        return note_unseen(attempt)
    attempt = await wait_until_settled(attempt.with_live(live), run)
    if attempt.stop:
        return attempt
    if attempt.observed.live is None:
        return note_unseen(attempt)
    # Some providers end an operation well and report the failure only in the resource.
    if attempt.observed.live.has_failed:
        text = f"The provisioningState of the resource in Azure is {attempt.observed.live.provisioning_state}."
        return note_failed_write(attempt).stopped(make_warning("Failed", text))
    attempt = check_removed(attempt)
    return attempt if attempt.stop else check_restored(_keep_baseline(attempt, run), run)


def _keep_baseline(attempt: ApplyAttempt, run: Acting) -> ApplyAttempt:
    """Keep the live values of the fields that git sets as baseline, and of those beside them, unless the resource is
    only watched.
    """
    if attempt.observed.live is None or attempt.request is None:
        is_ours = attempt.request and attempt.observed.exists and attempt.prepared.is_written
        applied = _seal_applied(attempt, run.digests) if is_ours else None
        return replace(attempt, remembered=Remembered(applied=applied, baseline=None)) if applied else attempt
    run.cache.keep(attempt.arm_id, attempt.observed.live)
    comparison = attempt.decision.comparison
    # It is not gitsync's: a baseline would turn the next change in Azure into drift.
    is_reported = comparison is not None and comparison.verdict is Verdict.ADOPT and not run.rules.adopts
    if is_reported or not attempt.prepared.is_written:
        return attempt
    baseline = make_baseline(attempt.desired, remove_paths(attempt.observed.live.body, attempt.ignored))
    outside = record_outside(attempt, run.digests, run.rules.outside_use)
    applied = _seal_applied(attempt, run.digests)
    return replace(attempt, remembered=Remembered(applied=applied, baseline=baseline, outside=outside))


def _seal_applied(attempt: ApplyAttempt, digests: Digests) -> Mapping[str, Any]:
    """Return the body to record."""
    sealed = seal_body(attempt.desired, attempt.key, digests)
    applied, former_key = attempt.remembered.applied if attempt.remembered else None, attempt.apply.moved_from
    # A digest is bound to its manifest: those of a record that moved are made again if they can be compared.
    if former_key and applied == seal_body(attempt.desired, former_key, digests):
        return sealed
    # Secrets that were not sent now keep the digests of the write that sent them.
    return keep_digests(sealed, applied)
