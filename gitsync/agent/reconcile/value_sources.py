"""What a resource has for the expressions of others, once the run is done with it (docs/values.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitsync.agent.reconcile.attempt import ApplyAttempt
from gitsync.agent.reconcile.run_views import Observing, read_live
from gitsync.desired.catalog.type_words import format_short_key
from gitsync.desired.cel.sources import make_source
from gitsync.desired.request.computed_fill import fill_computed
from gitsync.errors import MissingValueError, ProviderError
from gitsync.model.secret import Placeholder
from gitsync.model.template import ComputedValue, UnreadValue
from gitsync.model.verdict import Action
from gitsync.planning.foreseen_values import foresee_body
from gitsync.planning.status.aso_status import build_aso_status
from gitsync.providers.arm.session import Session
from gitsync.repository.secrets.reference_values import RunValues


async def share_values(attempt: ApplyAttempt, run: Observing) -> None:
    """Make known what a resource has."""
    if attempt.known_kind is None:  # a problem of its manifest
        return
    attempt = await _read_unread(attempt, run)
    # In a plan, what a sync would write is not known yet.
    is_new = not run.rules.writes and attempt.decision.action in {Action.CREATE, Action.REPLACE}
    name = format_short_key(attempt.key)
    later = Placeholder("", why=f"known after the sync of {name}", is_public=True, is_new=is_new)
    # Of a resource that failed, only id and name are known: what needs more of it waits (`owner_check`).
    has_failed = attempt.stop is not None and not attempt.stop.kind.is_fine
    unready = UnreadValue("", why=f"{name} is not ready")
    source = make_source(
        attempt.kind,
        str(attempt.arm_id),
        later,
        spec=unready if has_failed else _fill_spec(attempt, run.values),
        status=later if is_new else unready if has_failed else _describe_status(attempt, run),
    )
    run.values.add_source(attempt.key, source, is_written=attempt.write.done is not Action.NONE)
    run.cache.note_source(attempt.key, lambda session: _read_again(attempt, session, run))


async def _read_unread(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Return the attempt of a resource of another agent, which the run has not read, with what Azure shows."""
    is_left = attempt.stop is not None and attempt.stop.kind.is_fine and attempt.observed.exists
    return await _read(attempt, run) if is_left and attempt.observed.live is None else attempt


async def _read_again(attempt: ApplyAttempt, session: Session, run: Observing) -> None:
    """Read a resource once more, in the time of the one that waits for a value of it."""
    await share_values(await _read(replace(attempt, session=session), run), run)


async def _read(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    try:
        live = await read_live(await run.live_reader(attempt), attempt.arm_id, attempt.api_version)
    except ProviderError:
        return attempt
    return attempt.with_live(live)


def _fill_spec(attempt: ApplyAttempt, values: RunValues) -> Mapping[str, Any]:
    """Return the spec with the values of its own expressions."""

    def compute(value: ComputedValue) -> Any:
        try:
            return values.computed(value)
        except MissingValueError as missing:
            # The spec of a resource that is only read may lack some values.
            return UnreadValue("", why=missing.message.rstrip("."))

    spec: Mapping[str, Any] = fill_computed(attempt.prepared.resource.spec, compute)
    return spec


def _describe_status(attempt: ApplyAttempt, run: Observing) -> Mapping[str, Any] | Placeholder:
    """Describe what Azure shows; in a plan, what a sync would leave there."""
    live, name = attempt.observed.live, format_short_key(attempt.key)
    if live is None:  # not the same as one without values: an expression would leave its field out
        missing = "could not be read" if attempt.observed.exists else "does not exist in Azure"
        return UnreadValue("", why=f"{name} {missing}")
    # What is only read, or held, stays as it is.
    foresees = not run.rules.writes and attempt.request is not None and attempt.stop is None
    return build_aso_status(attempt.kind, _foresee(attempt, live.body) if foresees else live.body)


def _foresee(attempt: ApplyAttempt, body: Mapping[str, Any]) -> Mapping[str, Any]:
    decision, name = attempt.decision, format_short_key(attempt.key)
    is_written = decision.action is not Action.NONE and decision.comparison is not None
    changes = decision.comparison.differences if decision.comparison and is_written else ()
    beside = [reset.path for reset in decision.resets]
    beside += [restored.path for restored in decision.outside_action.restores]
    # A value that is to change is another one than Azure has now, so a fixed field that takes it needs a replacement.
    later = Placeholder("", why=f"known after the sync of {name}", is_public=True, is_new=True)
    return foresee_body(body, attempt.desired, changes, beside if is_written else (), later)
