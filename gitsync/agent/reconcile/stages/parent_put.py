"""Find the children that go along with the PUT of their parent, and do without them if Azure refuses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitsync.agent.reconcile.attempt import ApplyAttempt, StopKind
from gitsync.agent.reconcile.etag import is_outrun
from gitsync.agent.reconcile.run_views import Acting, Observing
from gitsync.agent.reconcile.stages.refusal import note_failed_write
from gitsync.desired.catalog.type_words import format_short_key
from gitsync.desired.request.fill import fill
from gitsync.errors import MissingValueError, ProviderError
from gitsync.model.arm_id import NO_ID, IdKey
from gitsync.model.plan import Apply, Prune
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.embedded_children import GoingAlong, find_going_along, may_go_along
from gitsync.planning.replacement import REFUSED
from gitsync.planning.status.conditions import RECONCILING, make_refused
from gitsync.planning.status.error_classes import classify
from gitsync.planning.status.passing_refusals import may_recover
from gitsync.providers.arm.session import OUT_OF_TIME


def add_children(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Add the children that go along with an update, and what leaves: a delete of this run comes after the update."""
    nodes = run.children.get(attempt.key, ())
    # A create has no children in Azure yet.
    if not nodes or attempt.decision.action is not Action.UPDATE or attempt.observed.live is None:
        return attempt
    going = {} if attempt.write.refused_body else dict(_list_going(attempt, run))
    bodies = {arm_id: child.body for arm_id, child in going.items()}
    brought = {arm_id: child.comparison for arm_id, child in going.items()}
    leaving = frozenset(
        node.record.arm_id.key
        for node in nodes
        if isinstance(node, Prune) and run.rules.prune and not (node.kept_because or node.detaches)
    )
    return attempt.with_observed(replace(attempt.observed, children=bodies, brought=brought, leaving=leaving))


def _list_going(attempt: ApplyAttempt, run: Observing) -> Iterator[tuple[IdKey, GoingAlong]]:
    """List the children that go along, by the keys of their ARM ids."""
    live, review = attempt.observed.live, run.rules.approval.review
    for child in run.children[attempt.key]:
        if (
            live is None
            or not isinstance(child, Apply)
            or not may_go_along(child, attempt.prepared, run.rules.agent, review)
        ):
            continue
        kind, template = run.catalog.kind_of(child.prepared.resource), child.prepared.template
        # The stages of the child report what is wrong with it; here it only does not go along.
        if kind is None or template is None:
            continue
        try:
            request = fill(template, child.key.namespace, run.values)
        except MissingValueError:  # the child's own stages report it
            continue
        going = find_going_along(child, kind, request.body, live.body, is_reviewed=review is not None)
        if going is not None:
            yield request.arm_id.key, going


def describe_children(attempt: ApplyAttempt, run: Observing) -> str:
    """Return the note of a plan on the children that go along; "" for none."""
    going = attempt.observed.children
    names = sorted(
        format_short_key(child.key) for child in run.children.get(attempt.key, ()) if _is_among(child, going)
    )
    return f"Its PUT also writes {', '.join(names)} as in git." if names else ""


def _is_among(child: Apply | Prune, going: Mapping[str, Any]) -> bool:
    return isinstance(child, Apply) and (child.prepared.arm_id or NO_ID).key in going


async def tell_brought(attempt: ApplyAttempt, run: Acting) -> ApplyAttempt:
    """Count a child as changed if its parent's PUT has brought it to its desired state: Azure accepted it, and the
    report and `--fail-on` are about its state before.
    """
    brought = run.cache.find_brought(attempt.arm_id)
    comparison = attempt.decision.comparison
    is_done = attempt.write.done is not Action.NONE or comparison is None or comparison.verdict is not Verdict.IN_SYNC
    if brought is None or is_done:
        return attempt
    changed = attempt.with_decision(replace(attempt.decision, first_comparison=brought))
    return changed.with_write(replace(changed.write, done=Action.UPDATE))


def leave_children(attempt: ApplyAttempt, failure: ProviderError, run: Acting) -> ApplyAttempt | None:
    """Stop an update that Azure refused with children in it, to send it again without them: the refusal may be for one
    of them, and must not hold up the parent. Returns None for an update without children.
    """
    may_pass = (
        failure.code in OUT_OF_TIME or failure.is_outage or may_recover(failure, missed_is_ours=False, granted=False)
    )
    if not attempt.observed.children or may_pass or is_outrun(attempt, failure):
        return None
    run.cache.note_write(attempt.arm_id)
    refusal = make_refused(failure, classify(failure))
    attempt = note_failed_write(attempt.with_write(replace(attempt.write, refused_body=refusal, sent=None)))
    return attempt.stopped(refusal, kind=StopKind.WAITS)


def show_first_refusal(attempt: ApplyAttempt) -> ApplyAttempt:
    """Show the refusal of the update with its children, if Azure refuses it without them too: the second refusal is
    about a body that is not in git. One that leads to a replacement stays.
    """
    first, stop = attempt.write.refused_body, attempt.stop
    if first is None or stop is None or not attempt.write.has_failed or stop.kind is StopKind.LATE:
        return attempt
    second = stop.condition
    # The operation goes on, or the second refusal leads to a replacement: neither may be covered by the first one.
    if second.reason in {RECONCILING.reason, REFUSED}:
        return attempt
    is_same = (first.reason, first.message) == (second.reason, second.message)
    # The second refusal is added, since the parent may be its cause.
    more = "" if is_same else f"Azure refuses it without its children too: {second.reason}: {second.message}"
    advice = " ".join(filter(None, (first.advice, more)))
    return replace(attempt, stop=replace(stop, condition=replace(first, severity=second.severity, advice=advice)))
