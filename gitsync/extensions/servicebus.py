"""servicebus.azure.com: a subscription is refused while its topic is still being made (extensions.md §5.2)."""

from __future__ import annotations

from gitsync.extensions.points import Extensions
from gitsync.extensions.refusals import Refusal, classified

GROUP = "servicebus.azure.com"

EXTENSIONS: Extensions = classified(
    GROUP, (Refusal(kind="NamespacesTopicsSubscription", code="MessagingGatewayBadRequest"),)
)
