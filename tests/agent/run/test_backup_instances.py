"""A check that wants an action called, in whole runs: the vault looks again at what a user's mistake had stopped."""

import pytest

from gitsync.emulator.settings import EmulatorSettings
from gitsync.model.verdict import Verdict
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, World, annotated, of

VAULT_ID = f"{GROUP_ID}/providers/Microsoft.DataProtection/backupVaults/safe"
INSTANCE_ID = f"{VAULT_ID}/backupInstances/disk"
API = "2023-11-01"
VAULT = """\
    apiVersion: dataprotection.azure.com/v1api20231101
    kind: BackupVault
    metadata:
      name: safe
    spec:
      location: westeurope
      owner:
        name: core
      properties:
        storageSettings:
          - {datastoreType: VaultStore, type: LocallyRedundant}
    """
INSTANCE = f"""\
    apiVersion: dataprotection.azure.com/v1api20231101
    kind: BackupVaultsBackupInstance
    metadata:
      name: disk
    spec:
      owner:
        name: safe
      properties:
        objectType: BackupInstance
        dataSourceInfo:
          objectType: Datasource
          resourceReference:
            armId: {GROUP_ID}/providers/Microsoft.Compute/disks/data
        policyInfo:
          policyReference:
            armId: {VAULT_ID}/backupPolicies/daily
    """
SYNC = f"POST {INSTANCE_ID}/sync"


def state(status, code=""):
    """A rule by which the protection comes to this once it is written."""
    details = f", errorDetails: {{code: {code}}}" if code else ""
    value = f"{{status: {status}{details}}}"
    return (
        "{match: {method: PUT, type: Microsoft.DataProtection/backupVaults/backupInstances}, "
        f"move: {{set: {{/properties/protectionStatus: {value}}}}}}}"
    )


def a_world(tmp_path, *lines):
    world = World(tmp_path, rules=rules(*lines) if lines else ())
    return world.says(group=GROUP, vault=VAULT, instance=INSTANCE)


def test_a_mistake_of_the_users_is_looked_at_again(tmp_path):
    world = a_world(tmp_path, state("ProtectionError", "UserErrorDiskGone"))
    found = of(world.sync(), "BackupVaultsBackupInstance")
    assert found.condition.is_ready, found.condition
    assert [line for line in world.writes if line.startswith("POST")] == [SYNC]
    sent = next(r for r in world.requests if r.method == "POST")
    assert sent.body == {"syncType": "Default"}
    assert found.verdict is Verdict.CREATE


@pytest.mark.parametrize(
    "line",
    [
        state("ProtectionError", "PolicyGone"),
        state("ProtectionError"),
        state("ConfiguringProtection"),
    ],
)
def test_nothing_else_is(tmp_path, line):
    world = a_world(tmp_path, line)
    found = of(world.sync(resource_timeout=60.0), "BackupVaultsBackupInstance")
    assert (found.condition.reason, found.condition.message) == (
        "PostReconciliationFailure",
        "Backup Instance is in non terminal state",
    )
    assert world.sent("POST") == []


def test_it_is_read_once_in_a_run_however_often_it_is_looked_at(tmp_path):
    in_vain = "{match: {method: POST, path: '*/sync'}, answer: {status: 200}}"
    world = a_world(tmp_path, state("ProtectionError", "UserErrorDiskGone"), in_vain)
    found = of(world.sync(resource_timeout=120.0), "BackupVaultsBackupInstance")
    assert found.condition.reason == "PostReconciliationFailure"
    assert world.sent("POST") == [f"{INSTANCE_ID}/sync"]
    looks = [r for r in world.requests if r.method == "GET" and r.path == INSTANCE_ID]
    assert len(looks) > 4
    world.sync(resource_timeout=60.0)
    assert world.sent("POST") == [f"{INSTANCE_ID}/sync"], "the next run asks once more"


def broken(tmp_path):
    """A world in which a mistake stopped the protection after it was written."""
    world = a_world(tmp_path)
    world.sync()
    body = world.read(INSTANCE_ID, API)
    status = {"status": "ProtectionError", "errorDetails": {"code": "UserErrorDiskGone"}}
    world.outside("PUT", INSTANCE_ID, {"properties": {**body["properties"], "protectionStatus": status}}, API)
    return world


def test_a_plan_requests_nothing_from_it(tmp_path):
    world = broken(tmp_path)
    world.plan()
    assert world.writes == []


def test_nothing_is_called_under_policy_skip(tmp_path):
    world = broken(tmp_path)
    skipped = annotated(INSTANCE, reconcile_policy="skip")
    report = world.says(group=GROUP, vault=VAULT, instance=skipped).sync(resource_timeout=60.0)
    assert of(report, "BackupVaultsBackupInstance").condition.reason == "PostReconciliationFailure"
    assert world.writes == []


def test_a_look_that_fails_is_reported(tmp_path):
    world = a_world(
        tmp_path,
        state("ProtectionError", "UserErrorDiskGone"),
        "{match: {method: POST, path: '*/sync'}, answer: {status: 400, code: LocationRequired, message: No.}}",
    )
    found = of(world.sync(resource_timeout=60.0), "BackupVaultsBackupInstance")
    assert found.condition.reason == "Failed"
    assert found.condition.message.startswith("LocationRequired: No.")
    assert len(world.sent("POST")) == 1
    world.settings = EmulatorSettings(limits=None)
    assert of(world.sync(), "BackupVaultsBackupInstance").condition.is_ready
