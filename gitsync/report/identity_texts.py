"""Formats which resources another identity than before writes, and what that means."""

from __future__ import annotations

from gitsync.model.gvk import Key
from gitsync.model.identity import WritingIdentity
from gitsync.model.result import Result

IDENTITY_HINT = (
    "The new identity writes these resources, with its own rights, in its own tenant. Check that you want that, and "
    "that it has the roles that they need."
)


def format_identity(result: Result) -> str:
    """Format the identity before and now, in a line; "" if it does not change."""
    described = describe_identity_change(result)
    return f"identity: {described}" if described else ""


def describe_identity_change(result: Result) -> str:
    """Describe the identity before and now; "" if it does not change."""
    change = result.change.identity
    if change is None:
        return ""
    before, now = change.before, change.now
    line = f"{_describe(before, result.key)} → {_describe(now, result.key)}"
    is_other = now.subscription and now.subscription.casefold() != before.subscription.casefold()
    moved = f", for subscription {now.subscription} (before: {before.subscription or 'not known'})"
    return f"{line}{moved}" if is_other else line


def _describe(identity: WritingIdentity, key: Key) -> str:
    """Describe an identity: `client A of tenant B, from Secret red/aso-credential in red/secret.yaml:3`."""
    ids = identity.ids
    tenant = f" of tenant {ids.tenant_id}" if ids.tenant_id else ""
    who = f"client {ids.client_id}{tenant}" if ids.is_known else f"unknown client{tenant}"
    if identity.is_global:
        return f"{who}, from the settings" if ids.is_known else "the identity of the settings"
    where = f" in {identity.source or identity.store}" if identity.source or identity.store else ""
    unread = ", which this plan does not read" if identity.is_unread else ""
    return f"{who}, from Secret {key.namespace}/{identity.credential}{where}{unread}"
