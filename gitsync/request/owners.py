"""The owner that a manifest names (docs/reference/reconciliation.md#owner-forms). `references` reports invalid
forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.resource import OwnerRef, Resource

ALIAS: Final = ("subscription.azure.com", "Alias")


def is_alias(owner: Key | None) -> bool:
    """Tell whether an owner created a subscription: its children are in that one, not in the run's."""
    return owner is not None and (owner.group, owner.kind) == ALIAS


def find_owner(resource: Resource, kind: Kind) -> OwnerRef | None:
    """The owner; None for a kind without one, and where the manifest names none in a form that can be used."""
    said = resource.spec.get("owner")
    if not kind.has_owner or not isinstance(said, Mapping):
        return None
    name, arm_id = said.get("name"), said.get("armId")
    if arm_id:
        return OwnerRef(arm_id=arm_id) if isinstance(arm_id, str) and not name else None
    group, of_kind = kind.owner or (said.get("group"), said.get("kind"))
    if not all(isinstance(text, str) and text for text in (group, of_kind, name)):
        return None
    return OwnerRef(key=Key(str(group), str(of_kind), resource.key.namespace, str(name)))
