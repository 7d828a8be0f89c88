"""subscription.azure.com: an alias represents the subscription that it created
(docs/reference/kinds.md#subscription-alias).

The children of an alias are in that subscription, and gitsync cancels the subscription before it deletes the alias.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gitsync.errors import ArmError, GitsyncError
from gitsync.extensions.api import ActsOnAzure, Extension, Extensions, NextDelete, Subject
from gitsync.validation.annotations import OVERRIDE

GROUP = "subscription.azure.com"
CANCEL_API_VERSION = "2021-10-01"
READ_API_VERSION = "2022-12-01"
CANCELLED = frozenset({"deleted", "disabled", "warned"})
"""States of a subscription that cannot be cancelled any more, in lower case."""

GONE = "subscriptionnotfound"
_ID = re.compile(r"[0-9A-Za-z-]*")


async def cancel_first(subject: Subject, azure: ActsOnAzure, next: NextDelete) -> None:  # noqa: A002 - ASO's word
    """Cancel the subscription, if there is one, and then delete the alias, which leaves the subscription as it is.

    Raises GitsyncError where Azure's answer has no id in its place: the alias would go, and the subscription stay.
    """
    told = _told(subject)
    if not (told is None or (isinstance(told, str) and _ID.fullmatch(told))):
        raise GitsyncError(
            f"The response for {subject.arm_id} has no subscription id at properties.subscriptionId.",
            hint="Check the alias in Azure. gitsync did not change it.",
        )
    if made := _subscription(subject):
        await _cancel(made, azure)
    await next(subject, azure)


async def _cancel(subscription: str, azure: ActsOnAzure) -> None:
    """Cancel a subscription. Where Azure refuses, one that is cancelled or gone is what was wanted: an earlier try got
    as far as that.
    """
    try:
        await azure.call(f"/subscriptions/{subscription}/providers/Microsoft.Subscription/cancel", CANCEL_API_VERSION)
    except ArmError as refusal:
        if not await _is_cancelled(subscription, azure, refusal):
            raise


async def _is_cancelled(subscription: str, azure: ActsOnAzure, refusal: ArmError) -> bool:
    if refusal.code.casefold() == GONE:
        return True
    try:
        found = await azure.get(f"/subscriptions/{subscription}", READ_API_VERSION)
    except ArmError as failure:
        return failure.code.casefold() == GONE
    return found is not None and str(found.body.get("state")).casefold() in CANCELLED


def foreseen(subject: Subject) -> Mapping[str, str]:
    """Where the alias's children stand, as far as Azure tells."""
    made = _subscription(subject)
    return {OVERRIDE: f"/subscriptions/{made}"} if made else {}


async def tell_children(subject: Subject, azure: ActsOnAzure) -> Mapping[str, str]:  # noqa: ARG001 - a handler's shape
    """The same; raises GitsyncError if Azure returns none, since the children need a subscription."""
    annotations = foreseen(subject)
    if not annotations:
        raise GitsyncError("SubscriptionID field was empty", hint="The alias in Azure has no subscription.")
    return annotations


def _subscription(subject: Subject) -> str:
    """The id of the subscription that the alias made; "" where Azure does not tell."""
    made = _told(subject)
    return made if isinstance(made, str) else ""


def _told(subject: Subject) -> object:
    """The subscription id in the response; None if it has none, as for an alias that created none."""
    properties = subject.live.body.get("properties") if subject.live else None
    return properties.get("subscriptionId") if isinstance(properties, Mapping) else None


EXTENSIONS: Extensions = (
    Extension(
        group=GROUP,
        kind="Alias",
        delete=cancel_first,
        deletes_besides="Would cancel the subscription that the alias created.",
        succeeded=tell_children,
        foreseen=foreseen,
    ),
)
