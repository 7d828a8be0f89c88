"""The permissions of Microsoft Graph that Entra ID kinds need, and the commands that grant them.

Each kind has rows in one table. Ids of permissions are the same in every tenant
(https://learn.microsoft.com/graph/permissions-reference). Azure roles have no effect on them.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.directory_relations import MEMBERS
from gitsync.desired.catalog.own_kinds import ASSIGNMENT, CREDENTIAL
from gitsync.model.gvk import Key
from gitsync.model.provider import Provider
from gitsync.model.resource import Prepared
from gitsync.providers.entra.group_conversion import is_for_roles

_GRAPH: Final = "00000003-0000-0000-c000-000000000000"
"""The client id of Microsoft Graph in every tenant."""

_OBJECT: Final = re.compile(r"[A-Za-z0-9-]{1,100}")


class GraphPermission(NamedTuple):
    """An application permission."""

    name: str  # as Microsoft Graph spells it
    role_id: str  # the id of its app role
    includes: frozenset[str] = frozenset()  # the names of larger ones, each of which is enough


class _Use(NamedTuple):
    """A resource, as far as permissions depend on it."""

    prepared: Prepared
    is_adopted: bool  # gitsync did not create it, so its identity may not own it

    @property
    def writes(self) -> bool:
        return self.prepared.is_written and not self.prepared.is_watched


class _Row(NamedTuple):
    """A permission, and which resources of the kind need it."""

    permission: GraphPermission
    is_needed: Callable[[_Use], bool]


_WRITE_ALL: Final = frozenset({"Directory.ReadWrite.All"})
GROUP_READ: Final = GraphPermission(
    "Group.Read.All",
    "5b567255-7703-4780-807c-7be8301ae99b",
    _WRITE_ALL | {"Group.ReadWrite.All", "Directory.Read.All"},
)
GROUP_WRITE: Final = GraphPermission("Group.ReadWrite.All", "62a82d76-70ea-41e2-9197-370581804d09", _WRITE_ALL)
APPLICATION_READ: Final = GraphPermission(
    "Application.Read.All",
    "9a5d68dd-52b0-4cc2-bd40-abcf44ac3a30",
    _WRITE_ALL | {"Application.ReadWrite.All", "Application.ReadWrite.OwnedBy", "Directory.Read.All"},
)
APPLICATION_WRITE: Final = GraphPermission(
    "Application.ReadWrite.OwnedBy", "18a4783c-866b-4cc7-a460-3d5e5662c884", frozenset({"Application.ReadWrite.All"})
)
APPLICATION_WRITE_ALL: Final = GraphPermission("Application.ReadWrite.All", "1bfefb4e-e0b5-418b-a88f-73c46d2cc8e9")
MEMBER_READ: Final = GraphPermission(
    "GroupMember.Read.All",
    "98830695-27a2-44f7-8c18-0c3ebc9698f6",
    GROUP_READ.includes | {"Group.Read.All", "GroupMember.ReadWrite.All"},
)
MEMBER_WRITE: Final = GraphPermission(
    "GroupMember.ReadWrite.All", "dbaae8cf-10b5-4b86-a4a1-f871c94c6695", _WRITE_ALL | {"Group.ReadWrite.All"}
)
ASSIGNMENT_WRITE: Final = GraphPermission("AppRoleAssignment.ReadWrite.All", "06b708a9-e830-4db3-a914-8e69da51d44f")
ROLES_WRITE: Final = GraphPermission("RoleManagement.ReadWrite.Directory", "9e3f62cf-ca93-4989-b6ce-bf83c28f9fe8")


def _writes(use: _Use) -> bool:
    return use.writes


def _only_reads(use: _Use) -> bool:
    return not use.writes


def _writes_for_roles(use: _Use) -> bool:
    return use.writes and is_for_roles(use.prepared.resource.spec)


def _writes_adopted(use: _Use) -> bool:
    return use.writes and use.is_adopted


def _reads_members(use: _Use) -> bool:
    return not use.writes and MEMBERS in use.prepared.resource.annotations


def _writes_members(use: _Use) -> bool:
    return use.writes and MEMBERS in use.prepared.resource.annotations


_OF_APPLICATIONS: Final = (
    _Row(APPLICATION_READ, _only_reads),
    _Row(APPLICATION_WRITE, _writes),
    _Row(APPLICATION_WRITE_ALL, _writes_adopted),
)

_BY_KIND: Final[Mapping[tuple[str, str], tuple[_Row, ...]]] = {
    CREDENTIAL: _OF_APPLICATIONS,
    ASSIGNMENT: (_Row(APPLICATION_READ, lambda _: True), _Row(ASSIGNMENT_WRITE, _writes)),
    ("entra.azure.com", "Application"): _OF_APPLICATIONS,
    ("entra.azure.com", "SecurityGroup"): (
        _Row(GROUP_READ, _only_reads),
        _Row(GROUP_WRITE, _writes),
        _Row(ROLES_WRITE, _writes_for_roles),
        _Row(MEMBER_READ, _reads_members),
        _Row(MEMBER_WRITE, _writes_members),
    ),
    ("entra.azure.com", "ServicePrincipal"): _OF_APPLICATIONS,
}
"""By group and kind. A test compares it with the kinds of the catalog."""


class NeededPermissions(NamedTuple):
    """The permissions that a source needs, each once, sorted by name."""

    to_grant: list[GraphPermission]
    covered: list[GraphPermission]  # those that one of `to_grant` includes


def list_needed_permissions(prepared: Iterable[Prepared], adopted: Collection[Key] = ()) -> NeededPermissions:
    """List the permissions that resources need. Resources of other providers need none. `adopted` are those that
    gitsync did not create.
    """
    catalog = open_catalog()
    entra = (each for each in prepared if catalog.provider(each.key.group, each.key.kind) is Provider.ENTRA)
    uses = (_Use(resource, resource.key in adopted) for resource in entra)
    needed = {row.permission for use in uses for row in _BY_KIND[use.prepared.key[:2]] if row.is_needed(use)}
    # One who may write may read: a smaller permission beside it would only be more to grant.
    names = {permission.name for permission in needed}
    return NeededPermissions(
        sorted(permission for permission in needed if not permission.includes & names),
        sorted(permission for permission in needed if permission.includes & names),
    )


def list_missing(needed: Iterable[GraphPermission], granted: Collection[str]) -> list[GraphPermission]:
    """List the permissions that none of the granted ones includes."""
    return [permission for permission in needed if not {permission.name, *permission.includes} & {*granted}]


def format_grant_commands(permissions: Iterable[GraphPermission], object_id: str, endpoint: str) -> tuple[str, ...]:
    """Format the commands that grant permissions to the service principal with an object id, for a POSIX shell. They
    work for an application and for a managed identity, and include the consent; the first prints GRAPH-ID.
    """
    principal = object_id if _OBJECT.fullmatch(object_id) else "OBJECT-ID"
    url = f"{endpoint}/v1.0/servicePrincipals/{principal}/appRoleAssignments"
    bodies = (
        {"principalId": principal, "resourceId": "GRAPH-ID", "appRoleId": permission.role_id}
        for permission in permissions
    )
    show = ["az", "ad", "sp", "show", "--id", _GRAPH, "--query", "id", "--output", "tsv"]
    rest = (["az", "rest", "--method", "POST", "--url", url, "--body", json.dumps(body)] for body in bodies)
    return tuple(map(shlex.join, (show, *rest)))
