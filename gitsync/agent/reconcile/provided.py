"""What another provider than ARM is given of a resource: from its manifest, or from its record."""

from __future__ import annotations

from gitsync.agent.reconcile.attempt import ApplyAttempt
from gitsync.desired.formats.user_names import parse_user
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.gvk import GVK
from gitsync.model.provider import NOTHING_KEPT, ProvidedResource
from gitsync.model.record import Claim, Record
from gitsync.model.secret import Secret
from gitsync.model.template import SecretKeyRef
from gitsync.model.verdict import Action
from gitsync.planning.diff.secret_changes import CHANGED, NEVER_SET
from gitsync.planning.kept import list_kept
from gitsync.repository.secrets.reference_values import RunValues


def describe_apply(attempt: ApplyAttempt, *, always_put: bool) -> ProvidedResource:
    """Return the desired state of a resource. Its password is set if the comparison finds that it changed."""
    record, body = attempt.record, attempt.filled_request.body
    comparison = attempt.decision.comparison
    is_new = (
        any(difference.rule in {CHANGED, NEVER_SET} for difference in comparison.differences) if comparison else False
    )
    return ProvidedResource(
        key=attempt.key,
        gvk=attempt.prepared.resource.gvk,
        arm_id=attempt.arm_id,
        name=parse_user(attempt.arm_id.name).name,
        owner_id=_find_owner_id(attempt.arm_id),
        spec=attempt.prepared.resource.spec,
        body=body,
        applied=attempt.remembered.applied if attempt.remembered else None,
        kept=list_kept(attempt.prepared, before=record.kept if record else NOTHING_KEPT),
        is_expected=record is not None and record.claim is Claim.EXPECTED,
        # A server shows whether a user has a password and not which, so the digest on record decides whether it is new.
        sets_password=is_new or always_put or attempt.decision.action is Action.CREATE,
    )


async def describe_record(record: Record, values: RunValues) -> ProvidedResource:
    """Return what a record has of a resource.

    Raises MissingValueError if it is missing, and SecretStoreError if it cannot be read.
    """
    return ProvidedResource(
        key=record.key,
        gvk=GVK.parse(record.manifest.api_version, record.key.kind),
        arm_id=record.arm_id,
        name=parse_user(record.arm_id.name).name,
        owner_id=_find_owner_id(record.arm_id),
        applied=record.spec.applied,
        kept=record.kept,
        # Of the Secrets, only that of the administrator is read.
        administrator_password=await _read_password(record, values),
        is_expected=record.claim is Claim.EXPECTED,
    )


async def _read_password(record: Record, values: RunValues) -> Secret | None:
    if record.kept.password_from is None:
        return None
    namespace, (name, key) = record.key.namespace, record.kept.password_from
    await values.gather(namespace, [SecretKeyRef(name, key)])
    return values.secret(namespace, name, key)


def _find_owner_id(arm_id: ArmId) -> ArmId:
    """The id of the server that a user is in; "" for what is in the tenant."""
    return arm_id.parent if arm_id.startswith("/subscriptions/") else NO_ID
