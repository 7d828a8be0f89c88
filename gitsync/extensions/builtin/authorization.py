"""authorization.azure.com: roles by name, and what is not worth importing (docs/reference/kinds.md#role-assignment,
#imports).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.desired.catalog.packed_tables import make_role_id
from gitsync.desired.formats.json_members import read_mapping, read_text
from gitsync.errors import GitsyncError
from gitsync.extensions.api import (
    Extension,
    Extensions,
    Imported,
    LookupRequest,
    LookupResult,
    Modifier,
    NextImport,
    Subject,
    skipped,
)
from gitsync.model.arm_id import ArmId

GROUP = "authorization.azure.com"
BUILT_IN_ROLE = "BuiltInRole"
ROLES = LookupRequest("/providers/Microsoft.Authorization/roleDefinitions", "2022-04-01", lists=True, for_the_run=True)
"""All roles of the tenant; Azure's own have the same ids in every subscription."""


def find_role_name(subject: Subject) -> str:
    """The name of a built-in role that the manifest gives; "" if it refers to a role otherwise."""
    return read_text(subject.spec.get("roleDefinitionReference"), "wellKnownName")


def request_roles(subject: Subject) -> tuple[LookupRequest, ...]:
    return (ROLES,) if find_role_name(subject) else ()


def set_role(body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
    """The body with the id of the role instead of its name, as in Azure, so that a name is not drift.

    Raises GitsyncError if no built-in role has the name.
    """
    name = find_role_name(subject)
    if not name:
        return body
    role_name = index_roles(subject.answers.get(ROLES)).get(name.casefold())
    if role_name is None:
        raise GitsyncError(
            f'unable to find Azure built-in role-definition with well-known name "{name}" '
            "(see https://learn.microsoft.com/azure/role-based-access-control/built-in-roles)"
        )
    properties = read_mapping(body, "properties")
    return {**body, "properties": {**properties, "roleDefinitionId": make_role_id(ArmId(subject.arm_id), role_name)}}


def index_roles(answer: LookupResult) -> dict[str, str]:
    """Names in Azure (UUIDs) of the built-in roles, by their display names in lower case."""
    entries = answer if isinstance(answer, tuple) else ()
    roles: dict[str, str] = {}
    for entry in entries:
        properties, name = entry.get("properties"), entry.get("name")
        # The list has custom roles too, and a name in git must mean the same role in every tenant.
        if not isinstance(properties, Mapping) or properties.get("type") != BUILT_IN_ROLE:
            continue
        display_name = properties.get("roleName")
        if isinstance(display_name, str) and isinstance(name, str):
            roles[display_name.casefold()] = name
    return roles


async def skip_inherited(subject: Subject, next: NextImport) -> tuple[Subject, Imported]:  # noqa: A002 - ASO's word
    """Skip inherited assignments: Azure lists them at every scope below their own."""
    subject, answer = await next(subject)
    owner, scope = subject.owner.body.get("id") if subject.owner else None, _property(subject, "scope")
    if answer.skipped or not isinstance(owner, str) or not scope or ArmId(owner).is_same(ArmId(scope)):
        return subject, answer
    return subject, skipped(f"role assignment is inherited from {scope}")


async def skip_built_in(subject: Subject, next: NextImport) -> tuple[Subject, Imported]:  # noqa: A002 - ASO's word
    """Skip Azure's own roles, which need no manifest."""
    subject, answer = await next(subject)
    if answer.skipped or _property(subject, "type").casefold() != BUILT_IN_ROLE.casefold():
        return subject, answer
    return subject, skipped("role definition is a built-in role")


def _property(subject: Subject, name: str) -> str:
    return read_text(subject.live.body.get("properties"), name) if subject.live else ""


EXTENSIONS: Extensions = (
    Extension(
        group=GROUP,
        kind="RoleAssignment",
        modify=Modifier(asks=request_roles, compared=set_role),
        importer=skip_inherited,
    ),
    Extension(group=GROUP, kind="RoleDefinition", importer=skip_built_in),
)
