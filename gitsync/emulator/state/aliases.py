"""Subscriptions that were created by an alias, and canceled ones, as recorded in the store.

Separate from the answers about subscriptions, because other modules need to know which subscriptions exist.
"""

from __future__ import annotations

from gitsync.emulator.patch import find_value
from gitsync.emulator.state.store import Store
from gitsync.emulator.types.provider_fields import uuid_of

_PREFIX = "/providers/microsoft.subscription/aliases/"


def list_alias_subscriptions(store: Store) -> set[str]:
    """The ids of the subscriptions of all aliases, in lower case."""
    return {
        str(find_value(alias.body, ("properties", "subscriptionId")) or uuid_of(key, "subscription")).casefold()
        for key, alias in store.below(_PREFIX)
    }


def is_canceled(store: Store, subscription: str) -> bool:
    return bool(store.note(_make_note_name(subscription)))


def put_canceled(store: Store, subscription: str, *, canceled: bool) -> None:
    store.put_note(_make_note_name(subscription), canceled)


def _make_note_name(subscription: str) -> str:
    return f"canceled:{subscription}".casefold()
