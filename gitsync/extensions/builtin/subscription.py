"""subscription.azure.com: an alias represents the subscription that it created
(docs/reference/kinds.md#subscription-alias).

The children of an alias are in that subscription, and gitsync cancels the subscription before it deletes the alias.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gitsync.desired.validation.annotations import OVERRIDE
from gitsync.errors import ArmError, GitsyncError
from gitsync.extensions.api import ActsOnAzure, Extension, Extensions, NextDelete, Subject

GROUP = "subscription.azure.com"
CANCEL_API_VERSION = "2021-10-01"
READ_API_VERSION = "2022-12-01"
CANCELLED = frozenset({"deleted", "disabled", "warned"})
"""States of a subscription that cannot be cancelled any more, in lower case."""

GONE = "subscriptionnotfound"
# The id becomes part of the path of a POST, so it must not be able to lead anywhere else.
_ID = re.compile(r"[0-9A-Za-z-]*")


async def cancel_and_delete(subject: Subject, azure: ActsOnAzure, next: NextDelete) -> None:  # noqa: A002 - ASO's word
    """Cancel the subscription, if there is one, and then delete the alias, which leaves the subscription as it is.

    Raises GitsyncError if Azure's answer has something other than an id: otherwise the alias would be deleted, and the
    subscription would remain.
    """
    subscription_id = _read_subscription_id(subject)
    if not (subscription_id is None or (isinstance(subscription_id, str) and _ID.fullmatch(subscription_id))):
        raise GitsyncError(
            f"The response for {subject.arm_id} has no subscription id at properties.subscriptionId.",
            hint="Check the alias in Azure. gitsync did not change it.",
        )
    if subscription := _find_subscription_id(subject):
        await _cancel(subscription, azure)
    await next(subject, azure)


async def _cancel(subscription: str, azure: ActsOnAzure) -> None:
    """Cancel a subscription."""
    try:
        await azure.call(f"/subscriptions/{subscription}/providers/Microsoft.Subscription/cancel", CANCEL_API_VERSION)
    except ArmError as refusal:
        # An earlier try may have cancelled it.
        if not await _is_cancelled(subscription, azure, refusal):
            raise


async def _is_cancelled(subscription: str, azure: ActsOnAzure, refusal: ArmError) -> bool:
    if refusal.code.casefold() == GONE:
        return True
    try:
        live = await azure.get(f"/subscriptions/{subscription}", READ_API_VERSION)
    except ArmError as failure:
        return failure.code.casefold() == GONE
    return live is not None and str(live.body.get("state")).casefold() in CANCELLED


def predict_scope(subject: Subject) -> Mapping[str, str]:
    """The annotation for the scope of the alias's children; empty if Azure does not return it."""
    subscription = _find_subscription_id(subject)
    return {OVERRIDE: f"/subscriptions/{subscription}"} if subscription else {}


async def scope_children(subject: Subject, azure: ActsOnAzure) -> Mapping[str, str]:  # noqa: ARG001 - a handler's shape
    """The same; raises GitsyncError if Azure returns none, since the children need a subscription."""
    annotations = predict_scope(subject)
    if not annotations:
        raise GitsyncError("SubscriptionID field was empty", hint="The alias in Azure has no subscription.")
    return annotations


def _find_subscription_id(subject: Subject) -> str:
    """The id of the subscription that the alias created; "" if Azure returns none."""
    subscription_id = _read_subscription_id(subject)
    return subscription_id if isinstance(subscription_id, str) else ""


def _read_subscription_id(subject: Subject) -> object:
    """The subscription id in the response; None if it has none, as for an alias that created none."""
    properties = subject.live.body.get("properties") if subject.live else None
    return properties.get("subscriptionId") if isinstance(properties, Mapping) else None


EXTENSIONS: Extensions = (
    Extension(
        group=GROUP,
        kind="Alias",
        delete=cancel_and_delete,
        deletes_besides="Would cancel the subscription that the alias created.",
        succeeded=scope_children,
        foreseen=predict_scope,
        calls=(
            ("delete", "Microsoft.Subscription/cancel/action"),
            ("delete", "Microsoft.Resources/subscriptions/read"),
        ),
    ),
)
