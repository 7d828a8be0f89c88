"""Finds the resources that another identity than before would write.

A plan often signs in as another identity than its sync, so the ids of the global credential are compared with those of
a Secret only. Ids that an older record lacks, or those of a Secret that a plan does not read, do not count as changed.
"""

from __future__ import annotations

from gitsync.model.identity import IdentityChange, WritingIdentity
from gitsync.model.plan import Apply, Node
from gitsync.model.record import Record


def find_identity_change(before: WritingIdentity, now: WritingIdentity) -> IdentityChange | None:
    """Find the change between two identities of one resource; None if there is none, or if it is not known."""
    return IdentityChange(before=before, now=now) if _has_changed(before, now) else None


def _has_changed(before: WritingIdentity, now: WritingIdentity) -> bool:
    # A plan signs in as a reader and its sync as another identity, so each plan would report all resources.
    if before.is_global and now.is_global:
        return False
    if before.is_unread or now.is_unread:
        has_moved = (before.source is None) != (now.source is None) and before.is_unread != now.is_unread
        return before.credential != now.credential or has_moved or before.hidden != now.hidden
    if before.ids.is_known and now.ids.is_known:
        return not before.ids.is_same(now.ids)
    # Only one of the identities has known ids. A Secret in place of the global credential is a change anyway.
    return before.is_global or now.is_global


def was_written(node: Node) -> bool:
    """Return whether gitsync has written or adopted a resource, and may write or delete it again."""
    if node.record is None or not node.record.claim.is_ours:
        return False
    if not isinstance(node, Apply):
        return not node.detaches
    prepared = node.prepared
    return node.skipped_because is None and prepared.policy.allows_modify and not prepared.relations.written_by


def describe_recorded(record: Record) -> WritingIdentity:
    """Describe the identity that a resource was last reconciled with."""
    access = record.access
    subscription = access.subscription or record.arm_id.subscription or ""
    return WritingIdentity(credential=access.credential, ids=access.ids, subscription=subscription)
