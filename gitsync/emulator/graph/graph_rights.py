"""The permissions of Microsoft Graph for each kind of requests; one of a set is enough."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from gitsync.emulator.graph.answers import refuse_graph
from gitsync.emulator.graph.graph_settings import GraphSettings

_READ_DIRECTORY: Final = "Directory.Read.All"
_WRITE_DIRECTORY: Final = "Directory.ReadWrite.All"
_OWNED: Final = "Application.ReadWrite.OwnedBy"


class GraphRights(NamedTuple):
    """The permissions for the objects of a collection."""

    reads: frozenset[str]  # for GET
    creates: frozenset[str]  # for POST
    writes: frozenset[str]  # for PATCH and DELETE
    writes_owned: frozenset[str] = frozenset()  # for objects that the caller owns

    @property
    def all(self) -> frozenset[str]:
        return self.reads | self.creates | self.writes | self.writes_owned


def _make_rights(family: str, *creates: str, owned: Collection[str] = ()) -> GraphRights:
    writes = frozenset({f"{family}.ReadWrite.All", _WRITE_DIRECTORY})
    return GraphRights(
        reads=writes | {f"{family}.Read.All", _READ_DIRECTORY, *owned},
        creates=writes | {*creates},
        writes=writes,
        writes_owned=frozenset(owned),
    )


OF_GROUPS: Final = _make_rights("Group", "Group.Create")
OF_APPLICATIONS: Final = _make_rights("Application", _OWNED, owned={_OWNED})
OF_MEMBERS: Final = GraphRights(
    reads=OF_GROUPS.reads | {"GroupMember.Read.All", "GroupMember.ReadWrite.All"},
    creates=OF_GROUPS.writes | {"GroupMember.ReadWrite.All"},
    writes=OF_GROUPS.writes | {"GroupMember.ReadWrite.All"},
)
OF_ASSIGNMENTS: Final = GraphRights(
    reads=OF_APPLICATIONS.reads | {"AppRoleAssignment.ReadWrite.All"},
    creates=frozenset({"AppRoleAssignment.ReadWrite.All"}),
    writes=frozenset({"AppRoleAssignment.ReadWrite.All"}),
)
ROLES_WRITE: Final = frozenset({"RoleManagement.ReadWrite.Directory"})
"""For groups that can have roles of the directory."""

ALL: Final = OF_GROUPS.all | OF_APPLICATIONS.all | OF_MEMBERS.all | OF_ASSIGNMENTS.all | ROLES_WRITE
"""Those of a caller without a setting."""


def has_permission(settings: GraphSettings, allowing: Collection[str]) -> bool:
    return settings.permissions is None or bool(set(allowing) & set(settings.permissions))


def require_permission(settings: GraphSettings, allowing: Collection[str]) -> None:
    """Refuse a request if all permissions for it are missing."""
    if not has_permission(settings, allowing):
        raise refuse_graph(403, "Authorization_RequestDenied", "Insufficient privileges to complete the operation.")
