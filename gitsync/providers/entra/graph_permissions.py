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


class _Row(NamedTuple):
    """A permission, and which resources of the kind need it."""

    permission: GraphPermission
    is_needed: Callable[[Prepared], bool]


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
ROLES_WRITE: Final = GraphPermission("RoleManagement.ReadWrite.Directory", "9e3f62cf-ca93-4989-b6ce-bf83c28f9fe8")


def _writes(prepared: Prepared) -> bool:
    return prepared.is_written and not prepared.is_watched


def _only_reads(prepared: Prepared) -> bool:
    return not _writes(prepared)


def _writes_for_roles(prepared: Prepared) -> bool:
    return _writes(prepared) and is_for_roles(prepared.resource.spec)


_OF_APPLICATIONS: Final = (_Row(APPLICATION_READ, _only_reads), _Row(APPLICATION_WRITE, _writes))

_BY_KIND: Final[Mapping[tuple[str, str], tuple[_Row, ...]]] = {
    ("entra.azure.com", "Application"): _OF_APPLICATIONS,
    ("entra.azure.com", "SecurityGroup"): (
        _Row(GROUP_READ, _only_reads),
        _Row(GROUP_WRITE, _writes),
        _Row(ROLES_WRITE, _writes_for_roles),
    ),
    ("entra.azure.com", "ServicePrincipal"): _OF_APPLICATIONS,
}
"""By group and kind. A test compares it with the kinds of the catalog."""


def list_needed_permissions(prepared: Iterable[Prepared]) -> list[GraphPermission]:
    """List the permissions that resources need, each once, sorted by name. Resources of other providers need none."""
    catalog = open_catalog()
    entra = (each for each in prepared if catalog.provider(each.key.group, each.key.kind) is Provider.ENTRA)
    needed = {
        row.permission
        for resource in entra
        for row in _BY_KIND[resource.key.group, resource.key.kind]
        if row.is_needed(resource)
    }
    # One who may write may read: a smaller permission beside it would only be more to grant.
    names = {permission.name for permission in needed}
    return sorted(permission for permission in needed if not permission.includes & names)


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
