"""Checks the permissions of Microsoft Graph that the Entra ID kinds of the source need, by the claims of a token.

An application has its permissions in `roles`, a person in `scp`. Without a token, only a read shows that Graph answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from gitsync.desired.formats.json_members import as_mapping, read_claims, read_text
from gitsync.model.arm_id import NO_ID
from gitsync.model.clock import Clock
from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared
from gitsync.model.signin import Method
from gitsync.providers.arm.client import Arm
from gitsync.providers.arm.cloud import choose_graph
from gitsync.providers.arm.session import Session
from gitsync.providers.entra.directory_kind import ObjectSearch
from gitsync.providers.entra.graph_permissions import (
    ASSIGNMENT_WRITE,
    GraphPermission,
    NeededPermissions,
    format_grant_commands,
    list_missing,
    list_needed_permissions,
)
from gitsync.providers.entra.graph_requests import make_search
from gitsync.providers.entra.group_conversion import SECURITY_GROUP
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
"""The search of a group that need not exist."""


async def examine_graph(
    config: Config, arm: Arm, clock: Clock, prepared: Iterable[Prepared], adopted: Collection[Key] = ()
) -> Check | None:
    """Check the identity of the run; None if no resource that it reconciles is in Entra ID. `adopted` are the resources
    that gitsync did not create.
    """
    needed = list_needed_permissions((each for each in prepared if not has_own_credential(each)), adopted)
    if not needed.to_grant:
        return None
    signs_in = config.emulator is None and config.credential != Method.ANONYMOUS
    session = Session(deadline=clock.monotonic() + PATIENCE)
    return await run_check(
        _NAME, lambda: _read_claims(needed, arm, session) if signs_in else _read_groups(arm, session)
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


async def _read_groups(arm: Arm, session: Session) -> Check:
    retrier = arm.reach_service(choose_graph(arm.cloud))
    await retrier.send(make_search(SECURITY_GROUP, NO_ID, _SOME_SEARCH), session)
    return make_ok(_NAME, "Microsoft Graph returns groups. Permissions to write are not checked without a token.")


def _name(permissions: Iterable[GraphPermission]) -> str:
    return ", ".join(permission.name for permission in permissions)
