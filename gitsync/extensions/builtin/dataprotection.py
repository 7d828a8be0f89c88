"""dataprotection.azure.com: a backup instance is Ready once its protection has come to an end
(docs/reference/kinds.md#backup-instance-protection).

If the protection failed with a user error, gitsync requests a new validation from the vault: the user may have fixed
the cause.
"""

from __future__ import annotations

from gitsync.desired.problems.field_path import find_member
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
"""The version of the action that validates again, for any version of the manifest."""

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


async def check_protection(subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:  # noqa: A002 - ASO's word
    """Agrees if the owner has no manifest, or Azure returns no status, as ASO does."""
    status = _read_protection_status(subject, "status")
    if not subject.owner_name or status is None or status.casefold() in SETTLED:
        return await next(subject, azure)
    sync = ActionCall(path=f"{subject.arm_id}/sync", api_version=SYNC_API_VERSION, body={"syncType": "Default"})
    return failure("Backup Instance is in non terminal state", sync if _is_fixable(subject) else None)


def _is_fixable(subject: Subject) -> bool:
    """Return whether the protection failed with an error that the user may have fixed since."""
    code = _read_protection_status(subject, "errorDetails", "code") or ""
    return (
        _read_protection_status(subject, "status") or ""
    ).casefold() == "protectionerror" and "usererror" in code.casefold()


def _read_protection_status(subject: Subject, *path: str) -> str | None:
    """The text at a path below `properties.protectionStatus`; None if there is none."""
    value = find_member(subject.live.body if subject.live else None, "properties", "protectionStatus", *path)
    return value if isinstance(value, str) else None


EXTENSIONS: Extensions = (
    Extension(
        group=GROUP,
        kind="BackupVaultsBackupInstance",
        post_check=check_protection,
        calls=(("post_check", "Microsoft.DataProtection/backupVaults/backupInstances/sync/action"),),
    ),
)
