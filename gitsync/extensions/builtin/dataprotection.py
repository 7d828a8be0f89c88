"""dataprotection.azure.com: a backup instance is Ready once its protection has come to an end
(docs/reference/kinds.md#backup-instance-protection).

If the protection failed with a user error, gitsync requests a new validation from the vault: the user may have fixed
the cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.extensions.api import (
    ActionCall,
    CheckResult,
    Extension,
    Extensions,
    NextCheck,
    ReadsAzure,
    Subject,
    failure,
)

GROUP = "dataprotection.azure.com"
SYNC_API_VERSION = "2024-04-01"
"""Of the action that looks again, whatever the manifest's is."""

SETTLED = frozenset(
    {
        "backupschedulessuspended",
        "configuringprotectionfailed",
        "invalid",
        "notprotected",
        "protectionconfigured",
        "protectionstopped",
        "retentionschedulessuspended",
        "softdeleted",
    }
)
"""Lower case; any other status is on its way to one of these, or is an error."""


async def protection_is_settled(subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:  # noqa: A002 - ASO's word
    """Agrees where the owner has no manifest, and where Azure tells no status: ASO does not look there either."""
    status = _told(subject, "status")
    if not subject.owner_name or status is None or status.casefold() in SETTLED:
        return await next(subject, azure)
    return failure("Backup Instance is in non terminal state", _look_again(subject) if _is_mendable(subject) else None)


def _is_mendable(subject: Subject) -> bool:
    """Whether the protection failed with an error that the user may have fixed since."""
    code = _told(subject, "errorDetails", "code") or ""
    return (_told(subject, "status") or "").casefold() == "protectionerror" and "usererror" in code.casefold()


def _look_again(subject: Subject) -> ActionCall:
    return ActionCall(path=f"{subject.arm_id}/sync", api_version=SYNC_API_VERSION, body={"syncType": "Default"})


def _told(subject: Subject, *path: str) -> str | None:
    """What Azure tells at a place below `properties.protectionStatus`."""
    found: Any = subject.live.body if subject.live else None
    for step in ("properties", "protectionStatus", *path):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else None


EXTENSIONS: Extensions = (Extension(group=GROUP, kind="BackupVaultsBackupInstance", post_check=protection_is_settled),)
