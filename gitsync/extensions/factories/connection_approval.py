"""The check that a private endpoint's connections were approved (docs/reference/kinds.md#private-endpoint-approval)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.errors import GitsyncError
from gitsync.extensions.api import CheckResult, NextCheck, ReadsAzure, Subject, failure
from gitsync.extensions.factories.value_paths import Misshapen, find_value, list_entries

APPROVED = "Approved"
_PLACE = "properties/manualPrivateLinkServiceConnections"


async def connections_are_approved(subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:  # noqa: A002 - ASO's word
    """Only those that somebody must approve by hand are looked at; what tells no state was not approved.

    Raises GitsyncError where Azure's list of them is not one.
    """
    try:
        listed = list_entries(find_value(_PLACE, subject.live.body if subject.live else None), _PLACE)
    except Misshapen as fault:
        raise GitsyncError(f"Unexpected response for the connections of {subject.arm_id}: {fault}.") from None
    waiting = [_id(entry) for entry in listed if _state(entry) != APPROVED]
    if not waiting:
        return await next(subject, azure)
    ids = " ".join(f'"{id_}"' for id_ in waiting)
    return failure(f"Private connection(s) '[{ids}]' to the PrivateEndpoint requires approval")


def _state(entry: Any) -> Any:
    for step in ("properties", "privateLinkServiceConnectionState", "status"):
        entry = entry.get(step) if isinstance(entry, Mapping) else None
    return entry


def _id(entry: Any) -> str:
    """The id of a connection, or its name where Azure gives none."""
    return str(entry.get("id") or entry.get("name") or "") if isinstance(entry, Mapping) else ""
