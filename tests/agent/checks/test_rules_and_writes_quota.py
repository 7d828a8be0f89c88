"""What the check `quota` reports before a change, beside what the emulator does at the write: it refuses at the limit,
of which the check warns only, and it has the same sizes.
"""

import pytest

from gitsync.agent.checks.quota import check_quota
from gitsync.model.verdict import Action
from tests.agent.checks.asking import GROUP, change, storage
from tests.agent.checks.writing import compare

WE = {"location": "westeurope"}
SIZES = {
    "skus": [
        {"name": "Standard_D4s_v3", "family": "standardDSv3Family", "vCPUs": 4, **WE, "zones": ["1", "2"]},
        {"name": "Standard_X", "family": "standardXFamily", "vCPUs": 4, **WE, "restricted": [{"type": "Location"}]},
    ]
}


def quotas(cores: int = 100, **limits: int) -> dict:
    names = {
        "Microsoft.Compute": {"cores": 100, "standardDSv3Family": cores, "virtualMachineScaleSets": 100},
        "Microsoft.Network": {"PublicIPAddresses": 100, "StaticPublicIPAddresses": 100},
        "Microsoft.Storage": {"StorageAccounts": 100},
    }
    return SIZES | {
        "quotas": [
            {"provider": provider, **WE, "name": name, "limit": limits.get(name, limit)}
            for provider, of_provider in names.items()
            for name, limit in of_provider.items()
        ]
    }


def scale_set(capacity: int, size: str = "Standard_D4s_v3", **more):
    body = {**WE, "sku": {"name": size, "capacity": capacity}, "properties": {}}
    body |= {"zones": more.pop("zones")} if "zones" in more else {}
    return change(f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/web", body, **more)


ADDRESS = change(
    f"{GROUP}/providers/Microsoft.Network/publicIPAddresses/ip",
    {**WE, "properties": {"publicIPAllocationMethod": "Static"}},
)
PRESENT = scale_set(2)
GROWN = scale_set(4, action=Action.UPDATE, live_body=PRESENT.body)


@pytest.mark.parametrize(
    ("planned", "settings", "present", "verdict", "code"),
    [
        (scale_set(2), quotas(8), (), "fine", ""),
        (scale_set(3), quotas(8), (), "warning", "OperationNotAllowed"),
        (scale_set(2), quotas(cores=100, virtualMachineScaleSets=0), (), "warning", "OperationNotAllowed"),
        (GROWN, quotas(16), [PRESENT], "fine", ""),
        (GROWN, quotas(15), [PRESENT], "warning", "OperationNotAllowed"),
        (scale_set(1, "Standard_X"), quotas(), (), "refused", "SkuNotAvailable"),
        (scale_set(1, "Standard_Unheard"), quotas(), (), "refused", "SkuNotAvailable"),
        (scale_set(1, zones=["3"]), quotas(), (), "refused", "SkuNotAvailable"),
        (scale_set(1, zones=["2"]), quotas(), (), "fine", ""),
        (ADDRESS, quotas(), (), "fine", ""),
        (ADDRESS, quotas(PublicIPAddresses=0), (), "warning", "PublicIPCountLimitReached"),
        (ADDRESS, quotas(StaticPublicIPAddresses=0), (), "warning", "StaticPublicIPCountLimitReached"),
        (storage(), quotas(StorageAccounts=0), (), "warning", "MaxStorageAccountsCountPerSubscriptionExceeded"),
        (storage(), quotas(StorageAccounts=1), (), "fine", ""),
    ],
)
def test_what_is_short_is_warned_of(planned, settings, present, verdict, code):
    assert compare(check_quota, planned, settings, present) == ({verdict}, code)
