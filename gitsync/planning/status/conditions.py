"""Makes the Ready condition, and decides when a new one replaces the old
(docs/reference/reconciliation.md#ready-condition).
"""

from __future__ import annotations

from dataclasses import replace

from gitsync.desired.formats.people import hide_people
from gitsync.errors import GitsyncError, ProviderError
from gitsync.model.arm_id import ArmId
from gitsync.model.condition import Condition, ConditionStatus, Severity, WaitReason
from gitsync.model.export import ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.hold import HeldUntil
from gitsync.model.provider import Provider
from gitsync.model.template import UNREADABLE
from gitsync.planning.status.error_classes import Classification

OVERLAP = "Overlap"
"""Reason of a resource that another agent manages: neither the resource nor its record is touched."""

READY = Condition(status=ConditionStatus.TRUE, reason="Succeeded")

RECONCILING = Condition(
    status=ConditionStatus.FALSE,
    severity=Severity.INFO,
    reason="Reconciling",
    message="The resource is in the process of being reconciled by the operator",
)
DELETING = Condition(
    status=ConditionStatus.FALSE, severity=Severity.INFO, reason="Deleting", message="The resource is being deleted"
)
DELETION_NOT_SUPPORTED = Condition(
    status=ConditionStatus.FALSE,
    severity=Severity.WARNING,
    reason="DeletionNotSupportedInAzure",
    message="Resource does not support deletion in Azure; set annotation "
    "'serviceoperator.azure.com/reconcile-policy: detach-on-delete' to permit deletion in Kubernetes",
)

_LONGEST_STATE = 100


def make_undeletable(key: Key, refusal: ProviderError | None = None) -> Condition:
    """Return the condition of a resource that was removed from git, and that Azure deletes with its parent only. Its
    manifest is gone, so there is nothing to put ASO's annotation on. `refusal` is Azure's, of a type whose facts do not
    show that it has no DELETE.
    """
    advice = (
        "Azure deletes it with its parent: gitsync keeps its record until then. To leave it in Azure and forget it "
        f"now, run `gitsync sync --prune --release {key}`."
    )
    known = replace(DELETION_NOT_SUPPORTED, advice=advice)
    return replace(known, message=refusal.message, request_id=refusal.request_id) if refusal else known


def has_refused_delete(condition: Condition | None) -> bool:
    """Return whether Azure has answered that it has no DELETE for a resource, from its last condition."""
    return condition is not None and condition.reason == DELETION_NOT_SUPPORTED.reason


# The numbers are those of ASO; only their order matters.
_PRIORITY = {
    (ConditionStatus.TRUE, Severity.NONE): 5,
    (ConditionStatus.FALSE, Severity.ERROR): 5,
    (ConditionStatus.FALSE, Severity.WARNING): 5,
    (ConditionStatus.FALSE, Severity.INFO): 4,
    (ConditionStatus.FALSE, Severity.NONE): 5,
}
_UNKNOWN_PRIORITY = 3

FAILED = "Failed"

SECRETS_STAGE = "extension failed to produce resources for export"
CONFIG_MAPS_STAGE = "failed to produce resources for export"
"""ASO's words before an error of an export's read."""

UNWRITABLE = "FailedWritingAdditionalKubernetesObjects"
"""ASO's reason of an export that failed. gitsync uses it for every sink."""

POST_CHECK = "PostReconciliationFailure"
"""ASO's reason of a resource that a check after the write does not accept."""

EXPRESSIONS_STAGES = {
    ObjectKind.CONFIG_MAP: "failed to parse configmap expressions for export",  # quoted from ASO
    ObjectKind.SECRET: "failed to parse secret expressions for export",  # quoted from ASO
}
MERGING_STAGES = {ObjectKind.SECRET: "failed merging secrets", ObjectKind.CONFIG_MAP: "failed merging config maps"}
"""ASO's words for the stages of an export that can fail, beside the two reads."""

_EXPORT_STAGES = (SECRETS_STAGE, CONFIG_MAPS_STAGE, *EXPRESSIONS_STAGES.values(), *MERGING_STAGES.values())

_WAITING_REASONS = frozenset(
    {
        "ReferenceNotFound",
        "SecretNotFound",
        "ConfigMapNotFound",
        "AzureResourceNotFound",
        "WaitingForDependency",
        "WaitingForOwner",
        *UNREADABLE,
    }
)


_BLOCKED_REASONS = frozenset({"PruneHeld", "ReconciliationBlocked", DELETION_NOT_SUPPORTED.reason})


def make_held(hold: HeldUntil) -> Condition:
    """Return the condition of a resource that differs from git, and that a hold leaves as it is."""
    return make_warning(WaitReason.HELD.value, hold.sentence)


def make_kept(kept_because: str) -> Condition:
    """Return the condition of a resource that was removed from git, and that a guard keeps."""
    return make_warning("PruneHeld", kept_because)


def make_warning(reason: str, message: str, advice: str = "") -> Condition:
    """Make a condition that is not ready, for a reason that may go away without a change of the manifest."""
    return Condition(
        status=ConditionStatus.FALSE, severity=Severity.WARNING, reason=reason, message=message, advice=advice
    )


def make_error(reason: str, message: str, advice: str = "") -> Condition:
    """Make a condition that is not ready until the manifest changes."""
    return Condition(
        status=ConditionStatus.FALSE, severity=Severity.ERROR, reason=reason, message=message, advice=advice
    )


def make_failed(failure: GitsyncError) -> Condition:
    """Make the condition for a failure outside Azure: its message, and its hint as the advice."""
    return make_warning(FAILED, failure.message, failure.hint)


def make_other_agent(ours: str, theirs: str) -> Condition:
    """Make the condition of a resource that another agent manages; both are given by name
    (docs/reference/reconciliation.md#agent-ownership).
    """
    text = f'Operators in "{ours}" and "{theirs}" are both configured to manage this resource'
    return make_warning(OVERLAP, text)


def check_subscription(arm_id: ArmId, ours: str) -> Condition | None:
    """Check that an id is in the subscription of the credential (docs/reference/reconciliation.md#subscription-check).
    The advice is that for an id on record.
    """
    subscription = arm_id.subscription
    if subscription is None or subscription.casefold() == ours.casefold():
        return None
    text = f'SubscriptionID "{subscription}" for "{arm_id}" resource does not match with Client Credential: "{ours}"'
    advice = (
        f"The resource was written in subscription {subscription}. Set --subscription (or AZURE_SUBSCRIPTION_ID of its "
        "credential) to that one."
    )
    return make_error("SubscriptionMismatch", text, advice)


_NO_PROVIDER = {
    Provider.SQL: "Azure SQL users are not supported: nothing was read or changed.",
}


def check_provider(provider: Provider) -> Condition | None:
    """Return the condition of a resource whose provider gitsync does not have; None if it has it."""
    text = _NO_PROVIDER.get(provider)
    advice = "Create the user with another tool, and set serviceoperator.azure.com/reconcile-policy: skip."
    return make_error("NotSupported", text, advice) if text else None


def make_unknown_state(state: str) -> Condition:
    """Make the condition of a resource that is in a state that may or may not mean that an operation is under way."""
    # A service may answer any text here, and a condition goes into a record.
    shown = state if len(state) <= _LONGEST_STATE else "(too long to show)"
    text = f"state {shown} unknown: gitsync cannot determine whether the operation in Azure has ended."
    return make_warning(WaitReason.UNKNOWN_STATE.value, text)


def make_waiting_for_owner(owner: Key) -> Condition:
    """Make the condition of a resource whose owner does not exist, or is not ready; ASO uses the same message for both
    (docs/reference/reconciliation.md#owner-readiness).
    """
    owner_text = f"{owner.name}, Group/Kind: {owner.group}/{owner.kind}"
    message = f'Owner "{owner_text}" cannot be found. Progress is blocked until the owner is created.'
    return make_warning("WaitingForOwner", message)


def make_refused(failure: ProviderError, classification: Classification) -> Condition:
    """Make the condition of a write that Azure refused: its own code and message, as severe as the class is."""
    severity = Severity.ERROR if classification is Classification.FATAL else Severity.WARNING
    return Condition(
        status=ConditionStatus.FALSE,
        severity=severity,
        reason=failure.code,
        message=failure.message,
        request_id=failure.request_id,
        advice=_make_advice(failure),
    )


def _make_advice(failure: ProviderError) -> str:
    """Join the hint of a failure with where to look up a person that Azure named: reports may leave the name out."""
    # The advice may change without a new condition, so the id of one request does not cause a commit in each run.
    is_named = failure.correlation_id and hide_people(failure.message) != failure.message
    if not is_named:
        return failure.hint
    advice = f"Look up the person in the activity log by the correlation id {failure.correlation_id}."
    return f"{failure.hint} {advice}".strip()


def make_not_deleted(failure: ProviderError) -> Condition:
    """Make the condition of a delete that Azure refused: always a warning, so that the next run tries again
    (docs/reference/reconciliation.md#delete).
    """
    return Condition(
        status=ConditionStatus.FALSE,
        severity=Severity.WARNING,
        reason=failure.code,
        message=failure.message,
        request_id=failure.request_id,
        advice=_make_advice(failure),
    )


def make_unreadable(failure: ProviderError) -> Condition:
    """Make the condition of a resource that could not be read; reads are not classified
    (docs/reference/reconciliation.md#error-classes).
    """
    message = f"{failure.code}: {failure.message}"
    return Condition(
        status=ConditionStatus.FALSE,
        severity=Severity.WARNING,
        reason=FAILED,
        message=message,
        request_id=failure.request_id,
        advice=_make_advice(failure),
    )


def is_waiting(condition: Condition) -> bool:
    """Return whether a resource waits: for another one or for a value, for Azure, for a person, or for the next run.
    Waiting is not a failure.
    """
    waits = condition.reason in _WAITING_REASONS | _BLOCKED_REASONS or condition.reason in set(WaitReason)
    return not condition.is_ready and (waits or condition.severity not in {Severity.ERROR, Severity.WARNING})


def find_code(condition: Condition) -> str:
    """Find the error code of a condition: its reason, or the start of its message if `make_unreadable` made it."""
    if condition.reason != FAILED:
        return condition.reason
    words, _, rest = condition.message.partition(": ")
    message = rest if words in {SECRETS_STAGE, CONFIG_MAPS_STAGE} else condition.message
    return message.partition(":")[0]


def is_after_write(condition: Condition) -> bool:
    """Return whether a condition is of a stage after the write: a check, or an export."""
    return condition.reason in {UNWRITABLE, POST_CHECK} or condition.message.startswith(_EXPORT_STAGES)


def make_fault(fault: Exception) -> Condition:
    """Make the condition for a bug in gitsync that ended the attempt. The exception's message may quote a value from
    Azure or from a manifest, its type cannot.
    """
    return make_warning("Failed", f"gitsync internal error: {type(fault).__name__}. Other resources are not affected.")


def is_replacement(new: Condition, old: Condition | None) -> bool:
    """Return whether a new condition replaces the old one (docs/reference/reconciliation.md#ready-condition)."""
    # A new generation is new information, whatever the severity.
    if old is None or new.generation > old.generation:
        return True
    # The old time of the transition stays, and a silent run has nothing to commit.
    if new.says_the_same(old):
        return False
    # A resource that makes progress again no longer waits.
    starts_over = new.reason == RECONCILING.reason and old.reason in _WAITING_REASONS
    return _rate(new) >= _rate(old) or starts_over


def _rate(condition: Condition) -> int:
    return _PRIORITY.get((condition.status, condition.severity), _UNKNOWN_PRIORITY)
