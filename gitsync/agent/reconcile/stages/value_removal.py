"""Values that were removed from git and that Azure keeps: found after a write, removed by one more write, and reported
until git or Azure changes.

A first write leaves a value out, as Azure documents it. Only if a read still shows it, the next write demands its
removal: Azure may refuse a null where none is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitsync.agent.reconcile.attempt import ApplyAttempt, StopKind
from gitsync.agent.reconcile.run_views import Acting, Observing
from gitsync.agent.reconcile.stages.body_extensions import build_body
from gitsync.desired.catalog.arm_fields import find_misfit
from gitsync.desired.formats.ignored_paths import remove_paths
from gitsync.desired.formats.json_pointer import JsonPath, format_pointer
from gitsync.desired.formats.list_pairing import TAGS
from gitsync.desired.formats.name_list import name_first
from gitsync.desired.request.secret_digest import mask_digests
from gitsync.errors import ProviderError
from gitsync.model.condition import Condition
from gitsync.model.provider import Provider
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.actions import find_remembered
from gitsync.planning.changed_fields import name_entry, name_path
from gitsync.planning.diff.hints import make_kind_hints
from gitsync.planning.diff.three_way import REMOVED, make_baseline
from gitsync.planning.record_counts import decide_generation
from gitsync.planning.removed_values import IDENTITY, KEPT, KeptValue, demand_removal, list_kept
from gitsync.planning.status.conditions import make_error
from gitsync.providers.arm.lro.poll import AcceptedWrite

_ADVICE = "Remove it in Azure by hand, restore it in the manifest, or ignore it with the annotation gitsync/ignore."
_MOST_NAMES = 5
_REFUSALS = frozenset({400, 404, 405, 415, 422})
_NO_FIELD = "\0"
"""A name that no type has as a field."""


def check_removed(attempt: ApplyAttempt) -> ApplyAttempt:
    """Stop an update after which Azure still shows what was removed from git: to demand the removal, or if that was in
    vain.
    """
    kept = _list_kept(attempt)
    if not kept or attempt.remembered is None or attempt.observed.live is None:
        return attempt
    # The record keeps that the value was removed from git, or a later run would forget it.
    sent, body = mask_digests(attempt.remembered.applied), remove_paths(attempt.observed.live.body, attempt.ignored)
    attempt = replace(attempt, remembered=replace(attempt.remembered, baseline=make_baseline(sent, body)))
    # A PATCH has demanded the removal already: it sends a null for what git gave up.
    demands = () if attempt.is_patched else _choose_demands(kept, attempt)
    condition, removal = _make_kept(kept, attempt), attempt.write.removal
    if not demands:
        return attempt.with_removal(replace(removal, demands=(), keeps=True)).stopped(condition, kind=StopKind.FINAL)
    demanded = removal.demanded.union(value.path for value in demands)
    attempt = attempt.with_removal(replace(removal, demands=demands, demanded=demanded))
    return attempt.stopped(condition, kind=StopKind.WAITS)


def _list_kept(attempt: ApplyAttempt) -> tuple[KeptValue, ...]:
    record, live = attempt.record, attempt.observed.live
    before = find_remembered(record, attempt.api_version, attempt.ignored)
    if before is None or live is None or attempt.provider is not Provider.ARM:
        return ()
    body = remove_paths(live.body, attempt.ignored)
    kept = list_kept(attempt.desired, before.applied, body, make_kind_hints(attempt.kind))
    # A field that shows the same value after its removal was demanded is Azure's own by now: usually its default.
    demanded = attempt.write.removal.demanded
    return tuple(value for value in kept if not (_is_field(value, attempt) and value.path in demanded))


def _is_field(value: KeptValue, attempt: ApplyAttempt) -> bool:
    """Return whether a value belongs to a field of the type, which may have a default: no entry of a list or a map has
    one, and no identity.
    """
    if isinstance(value.live, Mapping | list) or value.path[0] == IDENTITY:
        return False
    return not _is_map(value.path[:-1], attempt)


def _is_map(path: JsonPath, attempt: ApplyAttempt) -> bool:
    steps = [*map(str, path), _NO_FIELD]
    return find_misfit(attempt.kind, steps, any_step=_NO_FIELD * 2, chooses=str.isdigit) is None


def _choose_demands(kept: tuple[KeptValue, ...], attempt: ApplyAttempt) -> tuple[KeptValue, ...]:
    """Choose the removals that one write can demand and that none has: tags take a PATCH, all else a PUT."""
    demanded = attempt.write.removal.demanded
    new = [value for value in kept if value.can_be_demanded and value.path not in demanded]
    # Fields have a write of their own, since a type may refuse a null for one that always has a value.
    entries = [value for value in new if not _is_field(value, attempt)]
    return tuple(value for value in entries if not value.is_tag) or tuple(entries) or tuple(new)


def _make_kept(kept: tuple[KeptValue, ...], attempt: ApplyAttempt, refusal: str = "") -> Condition:
    names = sorted({name for value in kept for name in _list_names(value, attempt)})
    why = f" Azure refused to remove it: {refusal}" if refusal else ""
    return make_error(KEPT, f"Azure kept {name_first(names, _MOST_NAMES)}, which git no longer has.{why}", _ADVICE)


def _list_names(kept: KeptValue, attempt: ApplyAttempt) -> list[str]:
    resource = attempt.prepared.resource
    if not isinstance(kept.live, list):
        return [name_path(attempt.kind, kept.path, kept.live, resource)]
    path = name_path(attempt.kind, kept.path, None, resource)
    entries = (name_entry(attempt.kind, (*kept.path, 0), entry, resource) or f"{path}[{entry}]" for entry in kept.live)
    return list(entries)


async def send_demands(attempt: ApplyAttempt, run: Acting) -> AcceptedWrite | None:
    """Send the body once more, with the removals."""
    request, if_match = attempt.filled_request, attempt.write.precondition.if_match
    body, demands = build_body(attempt, run.registry), attempt.write.removal.demands
    if all(value.is_tag for value in demands):
        # A PATCH replaces all tags (resource-provider contract, PATCH).
        tags = {TAGS: body.get(TAGS) or {}}
        return await run.writer(attempt).patch(request.arm_id, request.api_version, tags, if_match=if_match)
    demanding = demand_removal(body, demands, attempt.desired)
    return await run.writer(attempt).put(request.arm_id, request.api_version, demanding, if_match=if_match)


def may_note_refusal(attempt: ApplyAttempt, failure: ProviderError) -> bool:
    """Return whether Azure refused to remove what it has: the write before it was accepted."""
    return bool(attempt.write.removal.demands) and failure.status in _REFUSALS


def note_refusal(attempt: ApplyAttempt, failure: ProviderError, run: Acting) -> ApplyAttempt:
    """Stop an update whose demand Azure refused; not for fields alone, which then always have a value."""
    run.cache.note_write(attempt.arm_id)
    kept, removal = _list_kept(attempt), attempt.write.removal
    # Only fields were refused, which then always have a value: the write before this one is the result.
    if not kept:
        return attempt.with_removal(replace(removal, demands=()))
    condition = _make_kept(kept, attempt, f"{failure.code}: {failure.message}")
    attempt = attempt.with_removal(replace(removal, demands=(), keeps=True))
    return attempt.stopped(replace(condition, request_id=failure.request_id), kind=StopKind.FINAL)


async def report_kept(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:  # noqa: ARG001 - as every stage
    """Stop a resource that differs only in what Azure kept after an earlier run's write: another write would be in
    vain. A change in git or in Azure is written as always.
    """
    record, comparison = attempt.record, attempt.decision.comparison
    failure = record.writes.failure if record else None
    if failure is None or not failure.keeps or attempt.decision.action is Action.NONE or attempt.write.tried:
        return attempt
    kept = _list_kept(attempt) if attempt.request else ()
    if not kept or decide_generation(record, attempt.prepared.resource.spec).generation != failure.generation:
        return attempt
    known = {format_pointer(value.path).casefold() for value in kept}
    # Any other removed value is gone, or has Azure's default by now.
    differences = comparison.differences if comparison else ()
    if any(difference.rule != REMOVED and difference.path.casefold() not in known for difference in differences):
        return attempt
    last = record.condition if record else None
    condition = last if last and last.reason == KEPT else _make_kept(kept, attempt)
    attempt = attempt.with_decision(replace(attempt.decision, action=Action.NONE))
    return attempt.stopped(condition, Verdict.PENDING, StopKind.FINAL)
