"""apimanagement.azure.com: keys of gateways and subscriptions; and a product goes with its subscriptions."""

from __future__ import annotations

from typing import Final

from gitsync.extensions.api import ActsOnAzure, Extension, Extensions, NextDelete, Subject
from gitsync.extensions.factories.secret_actions import TWO_KEYS, Keys, SecretAction
from gitsync.extensions.factories.value_paths import At

GROUP = "apimanagement.azure.com"

_API_VERSION: Final = "2022-08-01"
# Azure names the keys of a gateway otherwise than those of a subscription; ASO's fields are the same for both.
_GATEWAY = Keys(SecretAction("/listKeys", _API_VERSION, {"primaryKey": At("primary"), "secondaryKey": At("secondary")}))
_SUBSCRIPTION = Keys(SecretAction("/listSecrets", _API_VERSION, TWO_KEYS))


async def delete_with_subscriptions(subject: Subject, azure: ActsOnAzure, next: NextDelete) -> None:  # noqa: A002 - ASO's word
    """Delete a product with its subscriptions: without the query, Azure refuses to delete a product that has some."""
    # The product is the one of the id, whatever its manifest was called (ASO takes the manifest's name).
    await azure.delete(subject.arm_id, _API_VERSION, if_match="*", query={"deleteSubscriptions": "true"})
    # The default delete follows, and has nothing left to do (docs/reference/kinds.md#api-management-product).
    await next(subject, azure)


EXTENSIONS: Extensions = (
    Extension(
        group=GROUP,
        kind="Product",
        delete=delete_with_subscriptions,
        deletes_besides="Would end all subscriptions to the product.",
    ),
    Extension(group=GROUP, kind="ServiceGateway", export_secrets=_GATEWAY),
    Extension(group=GROUP, kind="Subscription", export_secrets=_SUBSCRIPTION),
)
