"""Checks that the connections of a private endpoint were approved, and exports its private address
(docs/reference/kinds.md#private-endpoints).
"""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.desired.problems.field_path import find_member
from gitsync.errors import GitsyncError, UnexpectedShapeError
from gitsync.extensions.api import CheckResult, NextCheck, ReadsAzure, Subject, failure
from gitsync.extensions.factories.value_paths import At, find_value, list_entries

APPROVED = "Approved"
FIELD = "primaryNicPrivateIpAddress"
API_VERSION = "2022-01-01"

_CONNECTIONS = "properties/manualPrivateLinkServiceConnections"
_INTERFACE = At("properties/networkInterfaces/0/id")
_ADDRESS = At("properties/privateIPAddress")


async def check_connections(subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:  # noqa: A002 - ASO's word
    """Check only connections that need manual approval; one without a state is not approved.

    Raises GitsyncError if Azure's list of connections is not valid.
    """
    try:
        entries = list_entries(find_value(_CONNECTIONS, subject.live.body if subject.live else None), _CONNECTIONS)
    except UnexpectedShapeError as fault:
        raise GitsyncError(f"Unexpected response for the connections of {subject.arm_id}: {fault}.") from None
    state = ("properties", "privateLinkServiceConnectionState", "status")
    # A connection without an id goes by its name.
    unapproved = [
        str(entry.get("id") or entry.get("name") or "") for entry in entries if find_member(entry, *state) != APPROVED
    ]
    if not unapproved:
        return await next(subject, azure)
    ids = " ".join(f'"{id_}"' for id_ in unapproved)
    return failure(f"Private connection(s) '[{ids}]' to the PrivateEndpoint requires approval")


async def export_private_address(subject: Subject, azure: ReadsAzure, wanted: frozenset[str]) -> Mapping[str, str]:
    """Read the address in the network interface of an endpoint: its own status lacks it. Nothing if it has no network
    interface yet, or none of its addresses is the primary one.

    Raises ArmError if the interface cannot be read, GitsyncError if it does not exist or is not as expected.
    """
    if FIELD not in wanted:
        return {}
    try:
        # A new endpoint has no interface for a while: then there is no address to export yet.
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
    has_primary = any(_ADDRESS(entry) and find_value("properties/primary", entry) is True for entry in addresses)
    # As in ASO, the first address is exported if any is the primary one: Azure lists that one first.
    return {FIELD: _ADDRESS(addresses[0]) or ""} if has_primary else {}
