"""An identity that may read one resource group: no check fails, and what it cannot know is not checked, with the right."""

import pytest

from gitsync.arm.client import open_arm
from gitsync.arm.session import Session
from gitsync.checks.checks import CHECKS
from gitsync.checks.questions import Questions
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatedPrincipal, EmulatorSettings, ManagementLock
from gitsync.emulator.state.store import MemoryStore
from gitsync.model.check import CheckName, CheckVerdict
from gitsync.model.verdict import Action
from tests.checks.asking import GROUP, change, storage
from tests.support.arm_rig import StaticCredential, anonymous
from tests.support.fake_clock import FakeClock

READER = EmulatedPrincipal(client="reader", object="reader", secret="x", actions=("*/read",), scopes=(GROUP,))
LOCK = ManagementLock(scope=f"{GROUP}/providers/Microsoft.Storage/storageAccounts/locked", read_only=False)
VAULT = change(f"{GROUP}/providers/Microsoft.KeyVault/vaults/kv1", {"location": "westeurope", "properties": {}})
CHANGES = [storage("new1"), VAULT, storage("old1", action=Action.DELETE), storage("locked", action=Action.DELETE)]
MISSING = {
    CheckName.LOCKS: {"Microsoft.Authorization/locks/read", "Microsoft.Authorization/denyAssignments/read"},
    CheckName.NAMES: {
        "Microsoft.KeyVault/deletedVaults/read",
        "Microsoft.KeyVault/checkNameAvailability/read",
        "Microsoft.Storage/checkNameAvailability/read",
    },
    CheckName.VERSIONS: {"Microsoft.Resources/subscriptions/providers/read"},
}


async def _check(name: CheckName):
    settings = EmulatorSettings(limits=None, require_token=True, principals=(READER,), locks=(LOCK,))
    clock, store = FakeClock(), MemoryStore()
    async with Emulator(EmulatorSettings(limits=None), store) as azure, open_arm(anonymous(azure.url), clock) as arm:
        writer = arm.writer(Session(deadline=clock.monotonic() + 60))
        assert await writer.wait(await writer.put(GROUP, "2021-04-01", {"location": "westeurope"}))
    async with Emulator(settings, store) as azure:
        token = azure.tokens.token(READER)
        async with open_arm(anonymous(azure.url), clock, StaticCredential(token)) as arm:
            return await CHECKS[name](CHANGES, Questions(arm, lambda: Session(deadline=clock.monotonic() + 60)))


@pytest.mark.parametrize("name", list(CheckName))
async def test_no_check_fails_and_each_says_why_it_has_no_verdict(name):
    found = await _check(name)
    assert found
    assert all(finding.message for _, finding in found if finding.verdict is CheckVerdict.NOT_CHECKED)


@pytest.mark.parametrize("name", sorted(MISSING))
async def test_what_is_not_checked_names_the_right_that_is_missing(name):
    missing = {finding.missing_right.casefold() for _, finding in await _check(name) if finding.missing_right}
    assert missing == {right.casefold() for right in MISSING[name]}


async def test_a_lock_in_the_own_group_is_seen():
    refused = [key.name for key, finding in await _check(CheckName.LOCKS) if finding.verdict is CheckVerdict.REFUSED]
    assert refused == ["locked"]
