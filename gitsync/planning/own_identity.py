"""Recognize what belongs to the identity that gitsync itself runs as: its application and principal, the credentials by
which it signs in, and what it may do. A run that changed these could lock itself out, or give itself more rights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.directory_relations import APPLICATION, PRINCIPAL
from gitsync.desired.catalog.own_kinds import ASSIGNMENT, CREDENTIAL
from gitsync.desired.problems.field_path import find_member
from gitsync.model.arm_id import ArmId

OWN: Final = "OwnIdentity"
"""The reason of a resource that is not written, since it belongs to gitsync's own identity."""

_IDENTITY: Final = ("managedidentity.azure.com", "UserAssignedIdentity")
_TRUST: Final = ("managedidentity.azure.com", "FederatedIdentityCredential")
_ROLE: Final = ("authorization.azure.com", "RoleAssignment")

_CLIENT: Final = "client"
_OBJECT: Final = "object"


class OwnIds(NamedTuple):
    """The ids of the identity of a run; "" for what is not known."""

    client: str
    object: str
    managed: str  # the ARM id of a managed identity


class _Sign(NamedTuple):
    """A member of a body that has an id of its principal."""

    id: str
    path: tuple[str, ...]


_SIGNS: Final[Mapping[tuple[str, str], tuple[_Sign, ...]]] = {
    APPLICATION: (_Sign(_CLIENT, ("appId",)),),
    PRINCIPAL: (_Sign(_CLIENT, ("appId",)), _Sign(_OBJECT, ("id",))),
    CREDENTIAL: (_Sign(_CLIENT, ("appId",)),),
    ASSIGNMENT: (_Sign(_OBJECT, ("principalId",)),),
    _ROLE: (_Sign(_OBJECT, ("properties", "principalId")),),
    _IDENTITY: (_Sign(_OBJECT, ("properties", "principalId")), _Sign(_CLIENT, ("properties", "clientId"))),
    _TRUST: (),
}
"""By the group and kind of a manifest."""

_NOUNS: Final[Mapping[tuple[str, str], str]] = {
    APPLICATION: "is the application",
    PRINCIPAL: "is the service principal",
    CREDENTIAL: "is a credential of the application",
    ASSIGNMENT: "is an app role of the identity",
    _ROLE: "is a role assignment of the identity",
    _IDENTITY: "is the managed identity",
    _TRUST: "is a credential of the managed identity",
}

ADVICE: Final = "Change it by another identity, or name it to allow the change: gitsync sync --only {name}"


def may_be_own(kind: tuple[str, str]) -> bool:
    """Return whether a resource of a kind may belong to an identity."""
    return kind in _SIGNS


def explain_own(kind: tuple[str, str], arm_id: ArmId, bodies: Iterator[Any], own: OwnIds) -> str:
    """Explain that a resource belongs to the identity of the run, by its bodies; "" if it does not."""
    is_own = any(_has_sign(body, sign, own) for body in bodies for sign in _SIGNS.get(kind, ()))
    # The body of a federated credential has no id of its identity, but its ARM id is below the identity.
    is_below = kind in {_IDENTITY, _TRUST} and bool(own.managed) and arm_id.is_within(ArmId(own.managed))
    if not is_own and not is_below:
        return ""
    return f"It {_NOUNS[kind]} that gitsync itself runs as."


def _has_sign(body: Any, sign: _Sign, own: OwnIds) -> bool:
    value, wanted = find_member(body, *sign.path), own.client if sign.id == _CLIENT else own.object
    # An id that gitsync has not found out equals none, not even an empty one.
    return isinstance(value, str) and bool(wanted) and value.casefold() == wanted.casefold()
