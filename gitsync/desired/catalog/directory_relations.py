"""The relations between Entra ID objects that an annotation of a manifest sets: members of a group, and owners.

The body of a request has them by the name of each object in git, as a mapping that is complete: what only the live
state has is a difference. Of a relation that git only adds to, the live state has what git added, or adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

MEMBERS: Final = "gitsync/members"
OWNERS: Final = "gitsync/owners"

_GROUP: Final = ("entra.azure.com", "SecurityGroup")
APPLICATION: Final = ("entra.azure.com", "Application")
PRINCIPAL: Final = ("entra.azure.com", "ServicePrincipal")


class DirectoryRelation(NamedTuple):
    """A relation, and how git, a body and Microsoft Graph name it."""

    annotation: str
    name: str  # in paths of Microsoft Graph
    complete: str  # the member of a body that has all objects
    added: str  # the one that has some of them
    kinds: frozenset[tuple[str, str]]  # group and kind of the manifests that may have it

    def body_name(self, *, is_complete: bool) -> str:
        return self.complete if is_complete else self.added


RELATIONS: Final[Mapping[str, DirectoryRelation]] = {
    MEMBERS: DirectoryRelation(MEMBERS, "members", "memberIds", "addedMemberIds", frozenset({_GROUP})),
    OWNERS: DirectoryRelation(
        OWNERS, "owners", "ownerIds", "addedOwnerIds", frozenset({_GROUP, APPLICATION, PRINCIPAL})
    ),
}
"""By annotation."""

BODY_NAMES: Final = frozenset(name for relation in RELATIONS.values() for name in (relation.complete, relation.added))

OBJECT_IDS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("managedidentity.azure.com", "UserAssignedIdentity"): ("principalId",),
    _GROUP: ("entraID",),
    PRINCIPAL: ("entraID",),
    APPLICATION: ("entraID",),
}
"""The member of the status that has the object id of a resource in Entra ID, by group and kind."""

SYSTEM_ID: Final = ("identity", "principalId")
"""The one of the identity that Azure keeps for a resource of any other kind."""


def find_body_relation(name: str) -> DirectoryRelation | None:
    """Find the relation that a member of a body has."""
    return next((relation for relation in RELATIONS.values() if name in {relation.complete, relation.added}), None)
