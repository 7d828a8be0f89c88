"""dataprotection.azure.com: a backup instance is Ready once its protection has come to an end (extensions.md §4.2).

ASO also asks the vault to look again where the protection failed for a mistake of the user's. That is a write, and
checks have no writer: here such an instance stays as it is until the backup service has looked by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.extensions.points import CheckResult, Extension, Extensions, NextCheck, ReadsAzure, Subject, failure

GROUP = "dataprotection.azure.com"

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
    status = _status(subject)
    if not subject.owner_name or status is None or status.casefold() in SETTLED:
        return await next(subject, azure)
    return failure("Backup Instance is in non terminal state")


def _status(subject: Subject) -> str | None:
    found: Any = subject.live.body if subject.live else None
    for step in ("properties", "protectionStatus", "status"):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else None


EXTENSIONS: Extensions = (Extension(group=GROUP, kind="BackupVaultsBackupInstance", post_check=protection_is_settled),)
