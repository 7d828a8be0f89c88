"""What the check `names` reports before a create is what the emulator does at the write, for each rule of both."""

import pytest

from gitsync.agent.checks.names import check_names
from gitsync.model.verdict import Action
from tests.agent.checks.asking import GROUP, change
from tests.agent.checks.writing import compare

REFUSED, FINE, WARNING = "refused", "fine", "warning"
ELSEWHERE = "/subscriptions/22222222-2222-2222-2222-222222222222/resourceGroups/rg"
API = "2023-07-01"

VAULTS, HSMS = "Microsoft.KeyVault/vaults", "Microsoft.KeyVault/managedHSMs"
ACCOUNTS, SERVICES = "Microsoft.CognitiveServices/accounts", "Microsoft.ApiManagement/service"
STORES, WORKSPACES = "Microsoft.AppConfiguration/configurationStores", "Microsoft.OperationalInsights/workspaces"
RECOVER = {
    VAULTS: {"createMode": "recover"},
    HSMS: {"createMode": "recover"},
    ACCOUNTS: {"restore": True},
    SERVICES: {"restore": True},
    STORES: {"createMode": "Recover"},
}
SOFT = [*RECOVER, WORKSPACES]
UNIQUE = [VAULTS, HSMS, SERVICES, STORES, "Microsoft.Storage/storageAccounts", "Microsoft.Web/sites"]
UNIQUE += ["Microsoft.ContainerRegistry/registries", "Microsoft.DocumentDB/databaseAccounts"]


def at(arm_type: str, name: str = "name1234", group: str = GROUP) -> str:
    return f"{group}/providers/{arm_type}/{name}"


def create(
    arm_type: str, properties=None, *, name: str = "name1234", group: str = GROUP, location="westeurope", **more
):
    body = {"location": location, "sku": {"name": "standard"}, "properties": properties or {}}
    return change(at(arm_type, name, group), body, api_version=API, **more)


def deleted(arm_type: str, *, group: str = GROUP, location: str = "westeurope", **more) -> dict:
    return {"deleted": [{"id": at(arm_type, group=group), "location": location, **more}]}


CASES = [
    *((create(kind), deleted(kind), (), REFUSED, "what was deleted holds the name") for kind in RECOVER),
    *((create(kind, RECOVER[kind]), deleted(kind), (), FINE, "and comes back") for kind in RECOVER),
    *(
        (create(kind, RECOVER[kind], location="northeurope"), deleted(kind), (), REFUSED, "where it was")
        for kind in RECOVER
    ),
    *((create(kind, name="other123"), deleted(kind), (), FINE, "another name") for kind in SOFT),
    *((create(kind), {}, (), FINE, "a free name") for kind in [*SOFT, *UNIQUE]),
    *((create(kind, RECOVER[kind]), {}, (), REFUSED, "nothing to recover") for kind in (VAULTS, ACCOUNTS, SERVICES)),
    *(
        (create(kind), deleted(kind, group=ELSEWHERE), (), REFUSED, "in another subscription")
        for kind in (VAULTS, STORES)
    ),
    (create(WORKSPACES), deleted(WORKSPACES), (), WARNING, "a workspace comes back by itself"),
    (create(WORKSPACES, location="northeurope"), deleted(WORKSPACES), (), REFUSED, "in its region only"),
    (create(WORKSPACES), deleted(WORKSPACES, group=f"{GROUP}2"), (), REFUSED, "and in its group"),
    (create(ACCOUNTS), deleted(ACCOUNTS, group=f"{GROUP}2"), (), FINE, "another group has other names of accounts"),
    (create(VAULTS, {"createMode": "default"}), deleted(VAULTS, purgeProtection=True), (), REFUSED, "protected"),
    *(
        (create(kind), {"takenNames": [{"type": kind, "name": "name1234"}]}, (), REFUSED, "somebody else has it")
        for kind in UNIQUE
    ),
    *((create(kind, name="x_!"), {"strictNames": True}, (), REFUSED, "a name of the wrong form") for kind in UNIQUE),
    (
        create("Microsoft.Network/publicIPAddresses", {"dnsSettings": {"domainNameLabel": "shop"}}),
        {"takenNames": [{"type": "Microsoft.Network/publicIPAddresses", "name": "shop"}]},
        (),
        REFUSED,
        "a label that somebody has",
    ),
    (
        create("Microsoft.Network/publicIPAddresses", {"dnsSettings": {"domainNameLabel": "shop"}}),
        {},
        (),
        FINE,
        "a free one",
    ),
    *((create(kind), {"strictNames": True}, (create(kind),), FINE, "our own, which is adopted") for kind in UNIQUE),
    *((create(kind, live_body={}, replaces=True), {}, (create(kind),), REFUSED, "its own delete") for kind in RECOVER),
    (
        create("Microsoft.Storage/storageAccounts", replaces=True),
        {},
        (create("Microsoft.Storage/storageAccounts"),),
        FINE,
        "the name of a storage account is free at once",
    ),
]


@pytest.mark.parametrize(("change", "settings", "present", "verdict", "why"), CASES)
def test_the_verdict_is_what_the_write_gets(change, settings, present, verdict, why):
    verdicts, code = compare(check_names, change, settings, present)
    assert verdicts == {verdict}, why
    assert (code != "") == (verdict == REFUSED), (why, code)


def test_an_update_needs_no_check_of_names():
    account = create("Microsoft.Storage/storageAccounts")
    update = create("Microsoft.Storage/storageAccounts", {"a": 1}, action=Action.UPDATE)
    settings = {"takenNames": [{"type": "Microsoft.Storage/storageAccounts", "name": "name1234"}]}
    assert compare(check_names, update, settings, [account]) == (set(), "")
