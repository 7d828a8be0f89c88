"""Backup instances are Ready once their protection has come to an end."""

import pytest

from gitsync.extensions.api import ActionCall
from tests.extensions.asking import REGISTRY, Nobody, post_check, subject, with_
from tests.support.builders import vnet_id

GROUP = "dataprotection.azure.com"

NOT_YET = "Backup Instance is in non terminal state"


@pytest.mark.parametrize(
    ("status", "expected", "why"),
    [
        ("ProtectionConfigured", "", "it is protected"),
        ("SoftDeleted", "", "it has come to an end"),
        ("NotProtected", "", "it has come to an end, though not to a good one"),
        ("ConfiguringProtection", NOT_YET, "it is on its way"),
        ("ProtectionError", NOT_YET, "an error is no end"),
        ("", NOT_YET, "an empty status is a status"),
        (None, "", "no status, no objection"),
    ],
)
async def test_the_status_of_the_protection(status, expected, why):
    own = with_(protectionStatus=None if status is None else {"status": status})
    assert await post_check(GROUP, "BackupVaultsBackupInstance", own) == expected, why


async def test_an_instance_whose_vault_has_no_manifest_is_not_looked_at():
    own = with_(protectionStatus={"status": "ConfiguringProtection"})
    assert await post_check(GROUP, "BackupVaultsBackupInstance", own, owner_name="") == ""


@pytest.mark.parametrize(
    ("status", "code", "looks", "why"),
    [
        ("ProtectionError", "UserErrorDiskGone", True, "a mistake of the user's"),
        ("PROTECTIONERROR", "BMSUSERERROR", True, "case means nothing"),
        ("ProtectionError", "PolicyGone", False, "any other error"),
        ("ProtectionError", None, False, "an error without a code"),
        ("ConfiguringProtection", "UserErrorDiskGone", False, "no error any more"),
    ],
)
async def test_only_a_mistake_of_the_users_is_looked_at_again(status, code, looks, why):
    own = with_(protectionStatus={"status": status, **({"errorDetails": {"code": code}} if code else {})})
    requested = subject(GROUP, "BackupVaultsBackupInstance", own=own)
    answer = await REGISTRY.post_check(requested, Nobody())
    wanted = ActionCall(path=f"{vnet_id()}/sync", api_version="2024-04-01", body={"syncType": "Default"})
    assert (answer.reason, answer.then) == (NOT_YET, wanted if looks else None), why
