"""The meaning of a `provisioningState`.

ARM's resource-provider contract (async-api-reference) ends every operation with Succeeded, Failed or Canceled; every
other state means "still running". Some types end with states of their own. So a state that is neither a known end nor a
known step is unknown: a run waits for some minutes, and does not count it as a success.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, auto
from typing import Final

from gitsync.model.arm_id import ArmId

FAILED_STATES: Final = frozenset({"failed", "canceled", "cancelled"})
"""In lower case. 23 types in Azure/bicep-types-az spell the last one with two l."""

TERMINAL_STATES: Final = frozenset({"succeeded", *FAILED_STATES})
"""The contract's states, in lower case: they end an operation of any type."""

_CONNECTIONS = "privateendpointconnections"
_ENDS: Final[Mapping[str, frozenset[str]]] = {
    # Azure/bicep-types-az has no other value for it.
    "microsoft.apimanagement/service/gateways/apis": frozenset({"created"}),
    # Azure/bicep-types-az: Completed, Failed, Running.
    "microsoft.automation/automationaccounts/sourcecontrols/sourcecontrolsyncjobs": frozenset({"completed"}),
    # Azure/bicep-types-az: Enabling, Enabled, Disabling, Disabled, Failed. They are about HTTPS, which may be off.
    "microsoft.cdn/profiles/endpoints/customdomains": frozenset({"enabled", "disabled"}),
    # Recorded for MariaDB; the three servers share their API.
    f"microsoft.dbformariadb/servers/{_CONNECTIONS}": frozenset({"ready"}),
    f"microsoft.dbformysql/servers/{_CONNECTIONS}": frozenset({"ready"}),
    f"microsoft.dbforpostgresql/servers/{_CONNECTIONS}": frozenset({"ready"}),
    # Azure/bicep-types-az: Pending, Approved, Rejected, Disconnected.
    f"microsoft.digitaltwins/digitaltwinsinstances/{_CONNECTIONS}": frozenset({"approved"}),
    # Azure/bicep-types-az lists it beside Succeeded, with Creating, Scaling and Deleting.
    "microsoft.eventhub/clusters": frozenset({"active"}),
    # Azure/azure-rest-api-specs, keyvault/managedHsm: "Activated: The managed HSM pool is ready for normal use."
    "microsoft.keyvault/managedhsms": frozenset({"activated"}),
    # Azure/terraform-provider-azapi#163.
    "microsoft.sql/servers/outboundfirewallrules": frozenset({"ready"}),
    # Azure/bicep-types-az: Approving, Ready, Rejecting, Dropping, Failed.
    f"microsoft.sql/servers/{_CONNECTIONS}": frozenset({"ready"}),
}
"""By type, the states other than Succeeded that mean success, with their sources; all in lower case."""

_STEP_AT_END = re.compile(r"(ing|inprogress)$|^(accepted|notstarted|queued|submitted)$", re.IGNORECASE)
_STEP_AT_START = re.compile(r"ing(?=[A-Z])")
"""A running step is a present participle: Creating, ResolvingDNS, AdminUpdating. No list has them all."""


class StateMeaning(Enum):
    """What a state means for the last operation."""

    SUCCEEDED = auto()
    FAILED = auto()
    MOVING = auto()
    UNKNOWN = auto()


def read_state(state: str, arm_id: ArmId) -> StateMeaning:
    """Find the meaning of a state, in any spelling, for the type in a resource's id."""
    lower = state.casefold()
    if lower == "succeeded":
        return StateMeaning.SUCCEEDED
    if lower in FAILED_STATES:
        return StateMeaning.FAILED
    if _STEP_AT_END.search(state) or _STEP_AT_START.search(state):
        return StateMeaning.MOVING
    return StateMeaning.SUCCEEDED if lower in _ENDS.get(arm_id.arm_type.casefold(), ()) else StateMeaning.UNKNOWN
