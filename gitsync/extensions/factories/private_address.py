"""The private address of a private endpoint, which is in its network interface and not in its own status.

The gate is whether some address is the primary one; the exported address is that of the first entry, as in ASO
(docs/reference/kinds.md#private-endpoint-address). Azure lists the primary one first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.errors import GitsyncError, UnexpectedShapeError
from gitsync.extensions.api import ReadsAzure, Subject
from gitsync.extensions.factories.value_paths import At, find_value, list_entries

FIELD = "primaryNicPrivateIpAddress"
API_VERSION = "2022-01-01"

_INTERFACE = At("properties/networkInterfaces/0/id")
_ADDRESS = At("properties/privateIPAddress")


async def export_private_address(subject: Subject, azure: ReadsAzure, wanted: frozenset[str]) -> Mapping[str, str]:
    """Nothing if the endpoint has no network interface yet, or none of its addresses is the primary one.

    Raises ArmError if the interface cannot be read, GitsyncError if it does not exist or is not as expected.
    """
    if FIELD not in wanted:
        return {}
    try:
        interface = _INTERFACE(subject.live.body if subject.live else None)
        return await _read_address(interface, azure) if interface else {}
    except UnexpectedShapeError as fault:
        raise GitsyncError(f"Unexpected response for the network interface of {subject.arm_id}: {fault}.") from None


async def _read_address(interface: str, azure: ReadsAzure) -> Mapping[str, str]:
    live = await azure.get(interface, API_VERSION)
    if live is None:
        raise GitsyncError(
            f"The network interface {interface} does not exist, so the private address of its endpoint is unknown.",
            hint="Run again: Azure creates it with the endpoint.",
        )
    path = "properties/ipConfigurations"
    addresses = list_entries(find_value(path, live.body), path)
    return {FIELD: _ADDRESS(addresses[0]) or ""} if any(_is_primary(entry) for entry in addresses) else {}


def _is_primary(entry: Mapping[str, Any]) -> bool:
    return bool(_ADDRESS(entry)) and find_value("properties/primary", entry) is True
