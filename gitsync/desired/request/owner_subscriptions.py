"""Owners in another subscription than the credential of what they own, as far as that is known without Azure.

A run blocks such a resource before it reads anything (docs/reference/reconciliation.md#subscription-check).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitsync.desired.problems.finding import Finding, locate_finding
from gitsync.desired.request.credential_choice import GLOBAL, Credential, CredentialOf
from gitsync.desired.validation.annotations import CREDENTIAL_FROM
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Prepared


def warn_owners_elsewhere(prepared: Iterable[Prepared], credential_of: CredentialOf) -> Iterator[Problem]:
    """Warn of each `spec.owner.armId` that is in another subscription than its resource. A Secret that is not among the
    manifests may name any, so a resource that names one is not checked.
    """
    for entry in prepared:
        # With a key too, the id is from a record elsewhere, and no field of the manifest has it.
        owner_id = entry.relations.owner.arm_id if entry.relations.owner and entry.relations.owner.key is None else None
        theirs = owner_id.subscription if owner_id else None
        credential = credential_of(entry.resource)
        if theirs is None or not isinstance(credential, Credential) or not credential.subscription:
            continue
        is_unread = credential.name == GLOBAL and entry.resource.annotations.get(CREDENTIAL_FROM)
        if not is_unread and theirs.casefold() != credential.subscription.casefold():
            yield locate_finding(_make_warning(theirs, credential.subscription), entry.resource)


def _make_warning(theirs: str, ours: str) -> Finding:
    return Finding(
        code="SubscriptionMismatch",
        path=("spec", "owner", "armId"),
        message=f"spec.owner.armId is in subscription {theirs}, and the credential of the resource is for {ours}.",
        hint=advise_on_owner(theirs),
        level=Level.WARNING,
    )


def advise_on_owner(subscription: str) -> str:
    """Explain how to reach a resource whose owner is in another subscription."""
    return (
        f"Set --subscription to {subscription}, name a Secret of that subscription in {CREDENTIAL_FROM}, or correct "
        "the id."
    )
