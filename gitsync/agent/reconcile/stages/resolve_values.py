"""Fetch the secrets and config-map values that a manifest refers to, before its request is made."""

from __future__ import annotations

import re
from dataclasses import replace

from gitsync.agent.reconcile.attempt import ApplyAttempt, StopKind
from gitsync.agent.reconcile.run_views import Observing
from gitsync.agent.reconcile.stages.await_values import await_values
from gitsync.desired.request.fill import collect_value_refs, fill, list_value_refs
from gitsync.errors import DeadlineError
from gitsync.model.arm_id import ArmId
from gitsync.model.provider import Provider
from gitsync.model.record import Claim, Record
from gitsync.model.secret import Placeholder
from gitsync.model.template import ComputedValue, ConfigMapKeyRef, ResourceRef
from gitsync.model.verdict import Verdict
from gitsync.planning.status.conditions import FAILED, make_warning
from gitsync.repository.secrets.lookup import TIMED_OUT
from gitsync.repository.secrets.reference_values import RunValues


async def resolve_values(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Fetch the values that the request needs; if the resource is only read, those that its id needs.

    Stop if a source has not responded when the node times out or the run is stopped: unknown is not absent. Raises
    DeadlineError if the time was up before: then nothing was requested from a source.
    """
    template = attempt.template
    if template.is_plain:
        return attempt
    # Another provider than ARM signs in with values of the body, also to read.
    needs_body = attempt.prepared.is_written or attempt.provider is not Provider.ARM
    refs = [*collect_value_refs(template.arm_id), *(list_value_refs(template.gaps) if needs_body else ())]
    if needs_body and attempt.computed:
        attempt = await await_values(attempt, run)
    # Neither ids nor what expressions compute are values of a source of Secrets.
    if attempt.stop or all(isinstance(ref, ResourceRef | ComputedValue) for ref in refs):
        return attempt
    session = attempt.session
    # Nothing was requested from a source yet, so a source is not the cause.
    if run.clock.monotonic() >= session.deadline:
        text = f"{session.end_reason} before the values of {attempt.key} were read. {session.last_error()}"
        raise DeadlineError(text.rstrip(), code=session.end_code)
    try:
        async with session.in_time(run.clock):
            await run.values.gather(attempt.key.namespace, refs)
    except TimeoutError:
        hint = (
            "Check that the secret sources are reachable, such as a vault or the key service of an encrypted manifest."
        )
        return attempt.stopped(make_warning(FAILED, TIMED_OUT, hint), Verdict.BLOCKED, StopKind.LATE)
    return attempt


# The request with its values, and the ARM id that is known during a run only: one that a config map names.
#
# A plan may not have that value. It then takes the id on record, if the manifest can stand for that id.


_UNKNOWN_PART = re.compile(r"<[^<>]*>")


def resolve_id(attempt: ApplyAttempt, values: RunValues) -> ApplyAttempt:
    """Fill in the request. In a plan its id may still have an unknown part, in angle brackets; `id_doubt` explains why.

    Raises MissingValueError if a value does not exist.
    """
    request = fill(attempt.template, attempt.key.namespace, values)
    is_known = isinstance(attempt.template.arm_id, str)
    doubt = ("" if is_known else _explain_unknown_name(attempt, values)) or attempt.prepared.id_doubt
    if doubt:
        request = replace(request, arm_id=_recall_id(request.arm_id, attempt.record))
    if attempt.prepared.arm_id is None:
        values.add_arm_id(attempt.key, request.arm_id, is_sure=not attempt.prepared.id_doubt)
    return attempt.with_request(request, doubt)


def _explain_unknown_name(attempt: ApplyAttempt, values: RunValues) -> str:
    """Return why a plan does not have a name in the id; "" if it has all."""
    refs = (ref for ref in collect_value_refs(attempt.template.arm_id) if isinstance(ref, ConfigMapKeyRef))
    names = (values.config_map(attempt.key.namespace, ref.name, ref.key) for ref in refs)
    return next((name.why for name in names if isinstance(name, Placeholder)), "")


def _recall_id(arm_id: ArmId, record: Record | None) -> ArmId:
    """Return the recorded id, if it has the same known parts; else the id as it is."""
    if record is None or record.claim is Claim.NONE or not record.arm_id:
        return arm_id
    pattern = "[^/]+".join(map(re.escape, _UNKNOWN_PART.split(arm_id)))
    return record.arm_id if re.fullmatch(pattern, record.arm_id, re.IGNORECASE) else arm_id
