"""The check that a private endpoint's connections were approved (docs/reference/kinds.md#private-endpoint-approval)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.errors import GitsyncError, UnexpectedShapeError
from gitsync.extensions.api import CheckResult, NextCheck, ReadsAzure, Subject, failure
from gitsync.extensions.factories.value_paths import find_value, list_entries
from gitsync.problems.field_path import find_member

APPROVED = "Approved"
_PATH = "properties/manualPrivateLinkServiceConnections"


async def check_connections(subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:  # noqa: A002 - ASO's word
    """Checks only connections that need manual approval; one without a state is not approved.

    Raises GitsyncError if Azure's list of connections is not valid.
    """
    try:
        entries = list_entries(find_value(_PATH, subject.live.body if subject.live else None), _PATH)
    except UnexpectedShapeError as fault:
        raise GitsyncError(f"Unexpected response for the connections of {subject.arm_id}: {fault}.") from None
    unapproved = [_read_id(entry) for entry in entries if _read_state(entry) != APPROVED]
    if not unapproved:
        return await next(subject, azure)
    ids = " ".join(f'"{id_}"' for id_ in unapproved)
    return failure(f"Private connection(s) '[{ids}]' to the PrivateEndpoint requires approval")


def _read_state(entry: Any) -> Any:
    return find_member(entry, "properties", "privateLinkServiceConnectionState", "status")


def _read_id(entry: Any) -> str:
    """The id of a connection, or its name if it has no id."""
    return str(entry.get("id") or entry.get("name") or "") if isinstance(entry, Mapping) else ""
