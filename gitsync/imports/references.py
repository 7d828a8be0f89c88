"""References from ARM ids: to a manifest by its name where there is one, else by the id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.catalog.roles import name_built_in_role
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key


class ManifestIndex:
    """The manifests of one namespace, imported or already there, by the ARM ids that they stand for."""

    def __init__(self, keys: Mapping[str, Key]) -> None:
        self._keys = {arm_id.rstrip("/").casefold(): key for arm_id, key in keys.items()}

    def refer(self, arm_id: str) -> Mapping[str, Any]:
        """A reference to a resource."""
        key = self._keys.get(arm_id.rstrip("/").casefold())
        return {"group": key.group, "kind": key.kind, "name": key.name} if key else {"armId": arm_id}

    def refer_to_role(self, arm_id: str) -> Mapping[str, Any] | None:
        """A reference to a role: by its name if it is a built-in one; None if it is none that the table has."""
        name = name_built_in_role(arm_id)
        return {"wellKnownName": name} if name else None

    def own(self, kind: Kind, owner_id: str) -> Mapping[str, Any]:
        """The owner of a resource of a kind: by its name alone where the kind says of what kind it is."""
        key = self._keys.get(owner_id.rstrip("/").casefold())
        if key is None:
            return {"armId": owner_id}
        if kind.any_owner:
            return {"group": key.group, "kind": key.kind, "name": key.name}
        return {"name": key.name} if kind.owner == (key.group, key.kind) else {"armId": owner_id}
