"""What the checks find out with the role Reader: all in a subscription; of one group, what that group can show."""

import pytest

from gitsync.agent.checks.check_table import list_checks
from gitsync.emulator.settings import EmulatedPrincipal, EmulatorSettings, ManagementLock
from gitsync.emulator.state.store import MemoryStore
from gitsync.model.check import CheckVerdict
from gitsync.model.verdict import Action
from tests.agent.checks.asking import GROUP, SUB, change, storage
from tests.agent.checks.writing import GROUP_API, put, writing

WE = {"location": "westeurope"}
CHANGES = [
    storage(body={**WE, "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}),
    storage("old", action=Action.DELETE),
    change(f"{GROUP}/providers/Microsoft.KeyVault/vaults/vault1", {**WE, "properties": {}}),
    change(f"{GROUP}/providers/Microsoft.Network/publicIPAddresses/ip", {**WE, "properties": {}}),
    change(GROUP, {**WE, "tags": {"a": "b"}}, Action.UPDATE, api_version=GROUP_API),
    storage("elsewhere", f"{GROUP}2"),
]


async def check_as_reader(scope: str, name: str, **more):
    store = MemoryStore()
    async with writing(EmulatorSettings(limits=None), store) as (writer, _):
        await put(writer, GROUP, GROUP_API, WE)
    reader = EmulatedPrincipal(client="us", object="object-us", secret="x", actions=("*/read",), scopes=(scope,))
    settings = EmulatorSettings(limits=None, require_token=True, principals=(reader,), **more)
    async with writing(settings, store) as (_, requests):
        return await list_checks()[name](CHANGES, requests)


@pytest.mark.parametrize("name", list_checks())
@pytest.mark.parametrize("scope", [SUB, GROUP])
async def test_nothing_fails_or_is_refused_for_want_of_a_right(scope, name):
    findings = await check_as_reader(scope, name)
    assert not [finding for _, finding in findings if finding.verdict is CheckVerdict.REFUSED]
    lacking = {finding.missing_right for _, finding in findings if finding.missing_right}
    if scope == SUB:
        assert not lacking
    for _, finding in findings:
        if finding.missing_right:
            assert finding.verdict is CheckVerdict.NOT_CHECKED
            assert finding.missing_right in finding.message + finding.advice


async def test_a_lock_in_the_own_group_is_seen():
    lock = ManagementLock(scope=f"{GROUP}/providers/Microsoft.Storage/storageAccounts/old")
    findings = await check_as_reader(GROUP, "locks", locks=(lock,))
    assert {key.name for key, finding in findings if finding.verdict is CheckVerdict.REFUSED} == {"old"}


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("locks", "Microsoft.Authorization/locks/read"),
        ("locks", "Microsoft.Authorization/denyAssignments/read"),
        ("names", "Microsoft.KeyVault/deletedVaults/read"),
        ("names", "Microsoft.KeyVault/checkNameAvailability/read"),
        ("versions", "Microsoft.Resources/subscriptions/providers/read"),
        ("policy", "Microsoft.PolicyInsights/checkPolicyRestrictions/read"),
        ("quota", "Microsoft.Storage/locations/usages/read"),
    ],
)
async def test_the_missing_right_is_named(name, right):
    findings = await check_as_reader(GROUP, name)
    assert right.casefold() in {finding.missing_right.casefold() for _, finding in findings}
