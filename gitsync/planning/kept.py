"""What a record keeps for a resource that ARM does not have, so that a later run finds it without its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.model.provider import NOTHING_KEPT, Kept, Provider
from gitsync.model.resource import Prepared
from gitsync.model.template import SecretKeyRef


def find_kept(prepared: Prepared, given_id: str = "", before: Kept = NOTHING_KEPT) -> Kept:
    """Return what to keep of a resource: the administrator that its manifest names, and the id that its provider gave
    it; without one, that on record.
    """
    if prepared.provider is Provider.ARM or prepared.template is None:
        return before
    login = _find_login(prepared.template.body)
    password = login.get("serverAdminPassword")
    return Kept(
        given_id=given_id or before.given_id,
        administrator=str(login.get("serverAdminUsername", "")),
        password_from=(password.name, password.key) if isinstance(password, SecretKeyRef) else None,
    )


def _find_login(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a body that says who signs in to a server to manage the user; empty for what is in no server."""
    logins = (body.get(name) for name in ("localUser", "aadUser"))
    return next((login for login in logins if isinstance(login, Mapping)), {})
