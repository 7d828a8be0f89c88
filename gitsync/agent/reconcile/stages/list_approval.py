"""The stages around the read of a resource that save it: a list may show that nothing has changed.

A list approves a resource or decides nothing. All that is written, reported or recorded comes from a read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitsync.agent.reconcile.attempt import ApplyAttempt
from gitsync.agent.reconcile.lists import is_settled
from gitsync.agent.reconcile.run_views import Observing
from gitsync.agent.reconcile.stages.observe import compare
from gitsync.agent.reconcile.stages.outside_check import is_outside_recorded
from gitsync.desired.request.exports import collect_destinations
from gitsync.desired.request.secret_digest import mask_digests
from gitsync.model.export import ObjectKind
from gitsync.model.live import Live
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.diff.three_way import remove_secrets
from gitsync.planning.status.aso_status import collect_config_map_values


async def approve_by_list(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Take a resource as in sync if a list shows it so by every rule of a comparison; else it is read."""
    # What this run tried before, or wrote near, is read: the list may be older.
    # An entry of a list may lack what expressions of other resources need.
    is_older = attempt.is_restarted or run.cache.count_writes_near(attempt.arm_id) > 0
    if is_older or run.values.is_source(attempt.key):
        return attempt
    listed = await run.lists.find_approval(
        attempt.key, attempt.kind, attempt.arm_id, lambda entry: _evaluate_entry(attempt, entry, run)
    )
    if listed is None:
        return attempt
    # A sample is read anyway: it shows whether the lists of the type can be trusted.
    if run.lists.is_sampled(attempt.key):
        return attempt.with_observed(replace(attempt.observed, is_sampled=True))
    run.lists.note_approved(attempt.key, attempt.kind)
    return listed


async def _evaluate_entry(attempt: ApplyAttempt, entry: Mapping[str, Any], run: Observing) -> ApplyAttempt | None:
    """Return the attempt as compared with its entry in a list; None if that does not show the resource in sync."""
    live = Live(body=entry)
    if not is_settled(live, attempt.arm_id, attempt.rule_key, run.registry) or not _shows_exports(attempt, entry, run):
        return None
    listed = attempt.with_observed(replace(attempt.observed, live=live, exists=True, is_listed=True))
    # Its comparison would take a request of its own, which is what the list is to save.
    if _needs_read(listed, run):
        return None
    listed = await compare(listed, run)
    return listed if _is_in_sync(listed) else None


def _needs_read(attempt: ApplyAttempt, run: Observing) -> bool:
    """Return whether an extension needs what an entry of a list lacks."""
    if not run.registry.modifies(*attempt.rule_key):
        return False
    return any(not lookup.for_the_run for lookup in run.registry.lookups(attempt.as_subject()))


def _shows_exports(attempt: ApplyAttempt, entry: Mapping[str, Any], run: Observing) -> bool:
    """Return whether an entry has the values that the resource exported to config maps before: no list changes them."""
    destinations = collect_destinations(attempt.prepared.resource, ObjectKind.CONFIG_MAP)
    values = collect_config_map_values(attempt.kind, destinations, entry) if destinations else {}
    return all(
        name in values and values[name] == run.find_kept_value(to.address, to.key, attempt.key)
        for name, to in destinations.items()
    )


def _is_in_sync(attempt: ApplyAttempt) -> bool:
    """Return whether a comparison found nothing."""
    comparison, remembered = attempt.decision.comparison, attempt.remembered
    if attempt.stop or attempt.decision.action is not Action.NONE or comparison is None or remembered is None:
        return False
    if attempt.decision.is_untouched:
        return not attempt.decision.outside
    if attempt.decision.outside or not is_outside_recorded(attempt):
        return False
    # Git and Azure may have changed alike, as after a run that was killed: a read then makes the record again.
    is_recorded = mask_digests(remembered.applied) == remove_secrets(attempt.desired)
    # A value that an entry lacks is a difference, unless the record shows that Azure never returns it.
    return is_recorded and comparison.verdict is Verdict.IN_SYNC and not (comparison.differences or comparison.because)


async def note_read(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Pass to the lists what a resource of the sample shows, and which children a resource shows."""
    comparison = attempt.decision.comparison
    if attempt.observed.is_sampled and comparison is not None and comparison.verdict is not Verdict.IN_SYNC:
        run.lists.distrust(attempt.key, attempt.kind)
    if attempt.observed.live is not None:
        run.lists.offer_children(attempt.kind, attempt.api_version, attempt.observed.live.body)
    return attempt
