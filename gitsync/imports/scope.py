"""Where an import looks, from the ids and groups of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from gitsync.errors import ConfigError
from gitsync.formats.arm_path import find_resource_group, find_subscription
from gitsync.validation.references import is_arm_id

_GROUP_STEPS = 5  # in the id of a resource group: "", subscriptions, S, resourceGroups, G
_SUBSCRIPTION_STEPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportScope:
    """In resource groups, at resources by their ids, or without either in the whole subscription."""

    subscription: str
    groups: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        return f"/subscriptions/{self.subscription}"

    @property
    def is_whole(self) -> bool:
        return not self.groups and not self.ids


def read_scope(ids: Sequence[str], groups: Iterable[str], subscription: str | None, endpoint: str) -> ImportScope:
    """Read ids and groups as typed. ConfigError for a text that is no id, an id of another cloud, ids of several
    subscriptions, and no subscription.
    """
    paths = [_read_id(text, endpoint) for text in ids]
    subscriptions = {found.casefold(): found for path in paths if (found := find_subscription(path))}
    if subscription:
        subscriptions.setdefault(subscription.casefold(), subscription)
    if len(subscriptions) > 1:
        raise ConfigError(
            f"The ids are of several subscriptions: {', '.join(sorted(subscriptions.values()))}.",
            hint="Run an import for each, with its --subscription.",
        )
    if not subscriptions:
        raise ConfigError("No subscription is set.", hint="Set --subscription or AZURE_SUBSCRIPTION_ID.")
    named = [find_resource_group(path) or "" for path in paths if path.count("/") + 1 == _GROUP_STEPS]
    is_whole = any(path.count("/") + 1 == _SUBSCRIPTION_STEPS for path in paths)
    return ImportScope(
        subscription=subscriptions.popitem()[1],
        groups=() if is_whole else tuple(dict.fromkeys((*groups, *named))),
        ids=() if is_whole else tuple(dict.fromkeys(path for path in paths if path.count("/") + 1 > _GROUP_STEPS)),
    )


def _read_id(text: str, endpoint: str) -> str:
    parts = urlsplit(text)
    if parts.scheme and parts.netloc:
        host = urlsplit(endpoint).netloc
        if parts.netloc.casefold() != host.casefold():
            raise ConfigError(
                f"{text} is at {parts.netloc}, and --endpoint is {host}.",
                hint="Set --endpoint to the cloud of the id, or give the ARM id alone.",
            )
        text = parts.path
    path = text.rstrip("/")
    if not is_arm_id(path) or not find_subscription(path):
        raise ConfigError(f"{text} is not an ARM id.", hint="Give an id that begins with /subscriptions/.")
    return path
