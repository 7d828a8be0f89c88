"""Backup instances are Ready once their protection has come to an end."""

import pytest
from asking import post_check, with_

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
def test_the_status_of_the_protection(status, expected, why):
    own = with_(protectionStatus=None if status is None else {"status": status})
    assert post_check(GROUP, "BackupVaultsBackupInstance", own) == expected, why


def test_an_instance_whose_vault_has_no_manifest_is_not_looked_at():
    own = with_(protectionStatus={"status": "ConfiguringProtection"})
    assert post_check(GROUP, "BackupVaultsBackupInstance", own, owner_name="") == ""
