"""The reconcile policy of a resource (docs/reference/reconciliation.md#reconcile-policy)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

RECONCILE_POLICY = "serviceoperator.azure.com/reconcile-policy"


class Policy(StrEnum):
    MANAGE = "manage"
    SKIP = "skip"
    DETACH_ON_DELETE = "detach-on-delete"

    @property
    def allows_modify(self) -> bool:
        return self is not Policy.SKIP

    @property
    def allows_delete(self) -> bool:
        return self is Policy.MANAGE


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class PolicyDecision:
    """A policy, and a sentence with its origin; "" for an annotation or the default."""

    policy: Policy
    reason: str = ""
