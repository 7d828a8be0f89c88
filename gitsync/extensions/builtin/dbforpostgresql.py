"""dbforpostgresql.azure.com: a stopped or busy server accepts no changes, of itself or of its children; the address of
a server, and which children are worth a manifest.
"""

from __future__ import annotations

from gitsync.extensions.api import Extension, Extensions, Imported, NextImport, Subject, skipped
from gitsync.extensions.factories.secret_actions import DOMAIN_NAME
from gitsync.extensions.factories.server_parameters import OnlyWhatWasSet
from gitsync.extensions.factories.state_checks import TERMINAL, OwnerState, OwnState, allow_only
from gitsync.model.arm_id import ArmId

GROUP = "dbforpostgresql.azure.com"

# `Ready` is the only state of a server that accepts changes; the others pass as in ASO.
_UP = allow_only(*TERMINAL, "ready")
_SERVER = OwnState('Flexible Server is in state "{state}"', allows=_UP, field="state")
_OWNING_SERVER = OwnerState('Owning FlexibleServer is in state "{state}"', allows=_UP, field="state")

# PostgreSQL answers `isReadOnly` as a boolean, MySQL as a text.
_PARAMETERS = OnlyWhatWasSet(read_only=True, folds_case=False)
_NOT_OURS = {
    "azure_maintenance": "users have no access to it",
    "azure_sys": "it is built in, and not managed through Azure Resource Manager",
    "postgres": "it is built in, and not managed through Azure Resource Manager",
}


async def skip_system_databases(subject: Subject, next: NextImport) -> tuple[Subject, Imported]:  # noqa: A002 - ASO's word
    """Decides by the name alone, and reads none of the skipped databases (docs/reference/kinds.md#imports)."""
    # With case: PostgreSQL distinguishes a database `Postgres` from its own.
    reason = _NOT_OURS.get(ArmId(subject.arm_id).name)
    return (subject, skipped(reason)) if reason else await next(subject)


EXTENSIONS: Extensions = (
    Extension(group=GROUP, kind="FlexibleServer", pre_check=_SERVER, export_secrets=DOMAIN_NAME),
    Extension(group=GROUP, kind="FlexibleServersConfiguration", importer=_PARAMETERS),
    Extension(
        group=GROUP,
        kind="FlexibleServersDatabase",
        owner_check=_OWNING_SERVER,
        importer=skip_system_databases,
    ),
    Extension(group=GROUP, kind="FlexibleServersFirewallRule", owner_check=_OWNING_SERVER),
)
