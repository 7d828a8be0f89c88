"""Short names of resources for people: Kind/name, with the group only if needed, and an order to list them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from gitsync.logging import escape_controls
from gitsync.model.gvk import Key


def shorten_names(keys: Iterable[Key]) -> Mapping[Key, str]:
    """Kind/name for each key; with the group if two groups have such a kind and name in one namespace."""
    unique = set(keys)
    times = Counter((key.namespace, key.kind, key.name) for key in unique)
    return {key: _format_name(key, with_group=times[key.namespace, key.kind, key.name] > 1) for key in unique}


def reading_order(key: Key) -> tuple[str, Key]:
    """Sort key for people: namespace by namespace, and by key inside one."""
    return (key.namespace, key)


def has_namespaces(keys: Iterable[Key]) -> bool:
    """Tell whether there is more than one namespace."""
    return len({key.namespace for key in keys}) > 1


def _format_name(key: Key, *, with_group: bool) -> str:
    return escape_controls(f"{key.kind}.{key.group}/{key.name}" if with_group else f"{key.kind}/{key.name}")
