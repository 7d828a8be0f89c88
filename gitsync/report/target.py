"""What a run reads and writes to: the lines at the top of every report."""

from __future__ import annotations

from typing import Any, NamedTuple

from gitsync.model.target import RunTarget
from gitsync.report.headline import shorten_revision


class Fact(NamedTuple):
    """A name and its value, both plain text."""

    name: str
    value: str


def list_target(target: RunTarget) -> list[Fact]:
    """What is known, without empty values. An empty target, as of a report that was made without one, gives nothing."""
    if target == RunTarget():
        return []
    source = f"{target.repository} at {shorten_revision(target.revision)}" + (f" ({target.ref})" if target.ref else "")
    facts = (
        Fact("Source", source if target.repository else ""),
        Fact("Subscription", _format_subscription(target)),
        Fact("Endpoint", target.endpoint),
        Fact("Identity", target.identity),
        Fact("Agent", target.agent),
    )
    return [fact for fact in facts if fact.value]


def _format_subscription(target: RunTarget) -> str:
    """`Name (id)`, and those of credential Secrets."""
    ours = f"{target.subscription_name} ({target.subscription})" if target.subscription_name else target.subscription
    others = f"by credential Secrets: {', '.join(target.other_subscriptions)}" if target.other_subscriptions else ""
    return "; ".join(part for part in (ours, others) if part)


def build_target(target: RunTarget) -> dict[str, Any]:
    """The target as plain JSON values."""
    return {
        "repository": target.repository,
        "revision": target.revision,
        "ref": target.ref,
        "subscription": target.subscription,
        "subscriptionName": target.subscription_name,
        "otherSubscriptions": list(target.other_subscriptions),
        "endpoint": target.endpoint,
        "identity": target.identity,
        "agent": target.agent,
    }
