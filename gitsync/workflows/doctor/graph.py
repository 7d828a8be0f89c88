"""Checks the permissions of Microsoft Graph that the Entra ID kinds of the source need, by the claims of a token.

An application has its permissions in `roles`, a person in `scp`. Without a token, only reads show what Graph returns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from gitsync.desired.catalog.directory_relations import APPLICATION, PRINCIPAL
from gitsync.desired.catalog.own_kinds import ASSIGNMENT, CREDENTIAL
from gitsync.desired.formats.json_members import as_mapping, read_claims, read_text
from gitsync.model.arm_id import NO_ID
from gitsync.model.clock import Clock
from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared
from gitsync.model.signin import Method
from gitsync.providers.arm.client import Arm
from gitsync.providers.arm.cloud import choose_graph
from gitsync.providers.arm.session import Session
from gitsync.providers.entra.directory_kind import DirectoryKind, ObjectSearch
from gitsync.providers.entra.directory_kinds import KINDS
from gitsync.providers.entra.graph_permissions import (
    ASSIGNMENT_WRITE,
    GraphPermission,
    NeededPermissions,
    format_grant_commands,
    list_missing,
    list_needed_permissions,
)
from gitsync.providers.entra.graph_requests import make_search
from gitsync.settings.config.config import Config
from gitsync.workflows.doctor.azure import PATIENCE, run_check
from gitsync.workflows.doctor.rights import has_own_credential
from gitsync.workflows.doctor.setup_check import Check, CheckLevel, make_doubt, make_ok

_NAME: Final = "graph-permissions"
_AS_USER: Final = "Directory.AccessAsUser.All"
"""A delegated permission to do what the directory roles of the person allow."""

_GRANT: Final = (
    "Run these commands as an administrator, with the output of the first in place of GRAPH-ID. A new token has the "
    "permissions; a managed identity may get an old one for some hours."
)
_RISK: Final = "With AppRoleAssignment.ReadWrite.All, the identity can give itself and others any permission."
_LESS: Final = "Grant it only to an identity that signs in from a protected branch or environment."

_SOME_SEARCH: Final = ObjectSearch("displayName", "gitsync")
"""The search of an object that need not exist."""

_READ_IN: Final = {CREDENTIAL: APPLICATION, ASSIGNMENT: PRINCIPAL}
"""The kind of the objects in which Graph has those of another kind."""


async def examine_graph(
    config: Config, arm: Arm, clock: Clock, prepared: Iterable[Prepared], adopted: Collection[Key] = ()
) -> Check | None:
    """Check the identity of the run; None if no resource that it reconciles is in Entra ID. `adopted` are the resources
    that gitsync did not create.
    """
    own = [each for each in prepared if not has_own_credential(each)]
    needed = list_needed_permissions(own, adopted)
    if not needed.to_grant:
        return None
    signs_in = config.emulator is None and config.credential != Method.ANONYMOUS
    session = Session(deadline=clock.monotonic() + PATIENCE)
    return await run_check(
        _NAME, lambda: _read_claims(needed, arm, session) if signs_in else _read_objects(_list_kinds(own), arm, session)
    )


async def _read_claims(permissions: NeededPermissions, arm: Arm, session: Session) -> Check:
    graph, needed = choose_graph(arm.cloud), permissions.to_grant
    token = await arm.get_token(graph.scope, session)
    claims = as_mapping(read_claims(token.reveal()))
    roles, scopes = claims.get("roles"), read_text(claims, "scp").split()
    granted = [role for role in roles if isinstance(role, str)] if isinstance(roles, list) else scopes
    missing = list_missing(needed, granted)
    rest = f" They include {_name(permissions.covered)}." if permissions.covered else ""
    # The token of a person shows what the tool may do at most; the roles of the person decide.
    if scopes and (not missing or _AS_USER in scopes):
        return make_ok(_NAME, f"{_name(needed)}: granted to the tool, as far as the roles of the person allow.{rest}")
    risk = _RISK if ASSIGNMENT_WRITE in needed else ""
    if not missing:
        message = f"{_name(needed)} granted.{rest}"
        return make_doubt(_NAME, f"{message} {risk}", _LESS) if risk else make_ok(_NAME, message)
    message = f"{_name(missing)} of Microsoft Graph not granted."
    values = {"needed": _name(needed), "missing": _name(missing)}
    if scopes:
        hint = "Sign in as an application or a managed identity with these permissions: the login of a tool lacks them."
        return Check(name=_NAME, level=CheckLevel.ERROR, message=message, hint=hint, values=values)
    return Check(
        name=_NAME,
        level=CheckLevel.ERROR,
        message=message,
        hint=f"{_GRANT}{f' {risk}' if risk else ''}",
        values=values,
        commands=format_grant_commands(missing, read_text(claims, "oid"), graph.endpoint),
    )


def _list_kinds(prepared: Iterable[Prepared]) -> list[DirectoryKind]:
    """List the kinds of directory objects that have what resources are about, sorted by their collections."""
    names = {_READ_IN.get(each.key[:2], each.key[:2]) for each in prepared}
    return sorted((KINDS[name] for name in names & KINDS.keys()), key=lambda kind: kind.collection)


async def _read_objects(kinds: Sequence[DirectoryKind], arm: Arm, session: Session) -> Check:
    retrier = arm.reach_service(choose_graph(arm.cloud))
    for kind in kinds:
        await retrier.send(make_search(kind, NO_ID, _SOME_SEARCH), session)
    returned = ", ".join(f"{kind.names.one}s" for kind in kinds)
    return make_ok(_NAME, f"Microsoft Graph returns {returned}. Permissions to write are not checked without a token.")


def _name(permissions: Iterable[GraphPermission]) -> str:
    return ", ".join(permission.name for permission in permissions)
