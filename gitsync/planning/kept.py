"""What a record keeps for a resource that ARM does not have, so that a later run finds it without its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.model.provider import NOTHING_KEPT, Kept, Provider
from gitsync.model.resource import Prepared
from gitsync.model.template import SecretKeyRef


def list_kept(prepared: Prepared, given_id: str = "", before: Kept = NOTHING_KEPT) -> Kept:
    """Return what to keep of a resource: the administrator that its manifest names, and the id that its provider gave
    it; without one, that on record.
    """
    if prepared.provider is Provider.ARM or prepared.template is None:
        return before
    # Who signs in to a server to manage the user; nothing for what is in no server.
    parts = (prepared.template.body.get(name) for name in ("localUser", "aadUser"))
    login: Mapping[str, Any] = next((part for part in parts if isinstance(part, Mapping)), {})
    password = login.get("serverAdminPassword")
    return Kept(
        given_id=given_id or before.given_id,
        administrator=str(login.get("serverAdminUsername", "")),
        alias=str(login.get("alias", "")),
        password_from=(password.name, password.key) if isinstance(password, SecretKeyRef) else None,
    )
