"""The display name of a subscription, for people: they recognise a wrong target by it, not by a UUID."""

from __future__ import annotations

from gitsync.arm.http.address import format_target
from gitsync.arm.http.call import ArmRequest
from gitsync.arm.http.conversation import Conversation
from gitsync.arm.http.exchange import Exchange
from gitsync.errors import ArmError

API_VERSION = "2022-12-01"

PATIENCE = 10.0
"""Seconds; a run does not wait longer for a name."""

_LONGEST = 200  # characters; Azure allows 64


async def read_subscription_name(exchange: Exchange, subscription: str, deadline: float) -> str:
    """Ask once. "" if Azure refuses, does not answer in time, or answers without a name.

    `deadline` is in the clock's monotonic seconds.
    """
    path = f"/subscriptions/{subscription}"
    call = ArmRequest(
        method="GET",
        path=path,
        target=format_target(path, API_VERSION),
        resource_id=path,
        accepts=frozenset({200}),
    )
    conversation = Conversation(deadline=min(deadline, exchange.clock.monotonic() + PATIENCE))
    try:
        answer = await exchange.once(call, conversation)
    except ArmError:
        return ""
    name = answer.mapping().get("displayName")
    return name[:_LONGEST] if isinstance(name, str) else ""
