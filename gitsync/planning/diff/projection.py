"""Cuts a body down: to the fields that git sets, which a record keeps as baseline, or to those that a PATCH changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.desired.formats.list_pairing import (
    ATOMIC_MAPPINGS,
    OPEN_LISTS,
    TAGS,
    find_key_field,
    find_member,
    index_by_key,
    keep_key,
)
from gitsync.model.secret import MASKED, Secret


def select_desired(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a body sets: without nulls, empty objects and its name, which is in the URL.

    An empty object under an ARM id stays: the id itself is the value (identity.userAssignedIdentities).
    """
    return {key: value for key, value in drop_empty(body).items() if key != "name"}


def project(desired: Any, live: Any, name: str = "") -> Any:
    """Return the leaves of `live` that `desired` has; None if there are none. Secrets are never included.

    An entry of a list that git does not have is kept as its key only, so that a further one is noticed, except in lists
    that hold resources of their own kind. `name` is the member that has the values.
    """
    # The projection goes into the record, which must never have a secret that Azure returned.
    if isinstance(desired, Secret) or desired == MASKED:
        return None
    if isinstance(desired, dict) and isinstance(live, dict):
        projected = {
            key: kept
            for key, value in desired.items()
            if (kept := project(value, find_member(live, key, name), key)) is not None
        }
        # Such a mapping is complete in git, so a further member in Azure must stay visible as a difference.
        return {**live, **projected} if name in ATOMIC_MAPPINGS else projected
    if isinstance(desired, list) and any(isinstance(entry, Secret) or entry == MASKED for entry in desired):
        return None  # Azure may keep it in another order, so any of its values may be the secret
    if isinstance(desired, list) and isinstance(live, list):
        return _project_list(desired, live, name)
    return live


def _project_list(desired: list[Any], live: list[Any], name: str) -> list[Any]:
    if not desired or not isinstance(desired[0], dict):
        return live
    field = find_key_field(desired, live)
    if field is None:
        # Without keys nothing pairs the entries; a further one is cut as git's last, so that it still shows.
        return [project(desired[min(index, len(desired) - 1)], entry) for index, entry in enumerate(live)]
    desired_by_key = index_by_key(desired, field)
    return [
        project(desired_by_key[key][1], entry) if key in desired_by_key else keep_key(entry, field)
        for key, (_, entry) in index_by_key(live, field).items()
        # Entries of an open list are resources of their own, which others may declare.
        if key in desired_by_key or name not in OPEN_LISTS
    ]


def drop_empty(value: Any) -> Any:
    """Return a value without nulls and empty objects; those in lists stay."""
    if isinstance(value, dict):
        members = ((key, drop_empty(child)) for key, child in value.items() if child is not None)
        return {key: child for key, child in members if child != {} or key.startswith("/") or key in ATOMIC_MAPPINGS}
    if isinstance(value, list):
        return [drop_empty(child) for child in value]
    return value


def build_merge_patch(
    desired: Mapping[str, Any], live: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the smallest PATCH body that gives a document the desired members (RFC 7386): those of `desired` that
    differ from `live`; lists and tags are replaced as a whole.

    A member of `before` (the last sent body) that is no longer desired becomes null, which removes it. Tags are
    complete because ARM replaces them as a whole (resource-provider contract, PATCH), so they include those of others.
    """
    patch = _build_merge_patch(desired, live, before or {})
    patch.pop("name", None)  # identity comes from the URL
    return patch


def _build_merge_patch(
    desired: Mapping[str, Any], live: Mapping[str, Any], before: Mapping[str, Any]
) -> dict[str, Any]:
    patch: dict[str, Any] = {}
    for key in {**before, **desired}:
        value, previous, live_value = desired.get(key), before.get(key), live.get(key)
        if key == TAGS and isinstance(live_value, Mapping):
            # A PATCH replaces all tags, so those that Azure Policy or people set have to be in it.
            value = _keep_tags(value or {}, live_value, previous or {})
            if _fold_names(value) != _fold_names(live_value):
                patch[key] = value
        elif isinstance(value, Mapping) and isinstance(live_value, Mapping):
            inner = _build_merge_patch(value, live_value, previous if isinstance(previous, Mapping) else {})
            if inner:
                patch[key] = inner
        elif value != live_value:
            patch[key] = value
    return patch


def _keep_tags(desired: Mapping[str, Any], live: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the desired tags, and those of others: the live ones that git neither has nor sent."""
    # Names of tags have no case in Azure: one in another case is the same tag.
    own = {name.casefold() for name in (*desired, *before)}
    return {**{name: value for name, value in live.items() if name.casefold() not in own}, **desired}


def _fold_names(tags: Mapping[str, Any]) -> dict[str, Any]:
    return {name.casefold(): value for name, value in tags.items()}
