"""dbforpostgresql.azure.com: a server that is stopped or busy takes no changes, of itself or of what lies in it."""

from __future__ import annotations

from gitsync.extensions.points import Extension, Extensions
from gitsync.extensions.states import TERMINAL, OwnerState, OwnState, only_in

GROUP = "dbforpostgresql.azure.com"

_UP = only_in(*TERMINAL, "ready")
_SERVER = OwnState('Flexible Server is in state "{state}"', allows=_UP, field="state")
_OWNING_SERVER = OwnerState('Owning FlexibleServer is in state "{state}"', allows=_UP, field="state")

EXTENSIONS: Extensions = (
    Extension(group=GROUP, kind="FlexibleServer", pre_check=_SERVER),
    Extension(group=GROUP, kind="FlexibleServersDatabase", owner_check=_OWNING_SERVER),
    Extension(group=GROUP, kind="FlexibleServersFirewallRule", owner_check=_OWNING_SERVER),
)
