"""The owner that a manifest names (docs/reference/reconciliation.md#owner-forms). `references` reports invalid
forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.resource import OwnerRef, Resource

ALIAS: Final = ("subscription.azure.com", "Alias")


def is_alias(owner: Key | None) -> bool:
    """Tell whether an owner created a subscription: its children are in that one, not in the run's."""
    return owner is not None and (owner.group, owner.kind) == ALIAS


def place_owner(owner: OwnerRef | None, known_ids: Mapping[Key, str]) -> OwnerRef | None:
    """Add the ARM id of an owner that no manifest declares, if it is known."""
    if owner is None or owner.key is None or owner.key not in known_ids:
        return owner
    return replace(owner, arm_id=known_ids[owner.key])


def find_owner(resource: Resource, kind: Kind) -> OwnerRef | None:
    """Return the owner; None for a kind without one, or if the manifest does not name one in a valid form."""
    owner = resource.spec.get("owner")
    if not kind.has_owner or not isinstance(owner, Mapping):
        return None
    name, arm_id = owner.get("name"), owner.get("armId")
    if arm_id:
        return OwnerRef(arm_id=arm_id) if isinstance(arm_id, str) and not name else None
    group, kind_name = kind.owner or (owner.get("group"), owner.get("kind"))
    if not all(isinstance(text, str) and text for text in (group, kind_name, name)):
        return None
    return OwnerRef(key=Key(str(group), str(kind_name), resource.key.namespace, str(name)))
