"""What the checks `policy` and `preflight` say before a change is what the emulator does at the write, for each rule."""

import pytest

from gitsync.agent.checks.policy import DENIED, check_policy
from gitsync.agent.checks.preflight import check_preflight
from gitsync.model.verdict import Action
from tests.agent.checks.asking import GROUP, SUB, change, storage, storage_id
from tests.agent.checks.writing import GROUP_API, compare, compare_all

REFUSED, FINE, WARNING, SILENT = "refused", "fine", "warning", "not-checked"
STORAGE = "Microsoft.Storage/storageAccounts"
CORP = "/providers/Microsoft.Management/managementGroups/corp"

BODY = {
    "location": "West Europe",
    "kind": "StorageV2",
    "sku": {"name": "Standard_LRS"},
    "tags": {"Env": "dev"},
    "properties": {"minimumTlsVersion": "TLS1_2", "networkAcls": {"defaultAction": "Deny"}},
}
ACCOUNT = storage(body=BODY)
UPDATE = storage(body=BODY, action=Action.UPDATE)
REPLACE = storage(body=BODY, replaces=True)
BARE = storage(body={"location": "westeurope"})
NEW_GROUP = change(f"{GROUP}2", api_version=GROUP_API)
OLD_GROUP = change(GROUP, {"location": "westeurope", "tags": {"a": "b"}}, Action.UPDATE, api_version=GROUP_API)
NETWORK = change(f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub")
SUBNET = change(f"{NETWORK.arm_id}/subnets/one", {"properties": {"addressPrefix": "10.0.0.0/24"}})
SETTING = change(f"{storage_id()}/providers/Microsoft.Insights/diagnosticSettings/d", {"properties": {"a": 1}})
IN_EUROPE = ["westeurope", "northeurope"]


def policy(effect: str = "deny", scope: str = SUB, **members) -> dict:
    condition = {"type": STORAGE, **{name: members.pop(name) for name in list(members) if name in CONDITION}}
    if condition["type"] is None:
        del condition["type"]
    return {
        "policies": [{"name": "p", "displayName": "P", "scope": scope, "effect": effect, "if": condition, **members}]
    }


CONDITION = {"type", "field", "equals", "notEquals", "in", "notIn", "exists"}


def meets(field: str, **operator) -> dict:
    return policy(field=field, **operator)


DENIALS = [
    (ACCOUNT, policy(), REFUSED),
    (UPDATE, policy(), REFUSED),
    (REPLACE, policy(), REFUSED),
    (ACCOUNT, policy(type="Microsoft.Network/virtualNetworks"), FINE),
    (ACCOUNT, policy(type=[STORAGE.upper(), "Microsoft.X/y"]), REFUSED),
    (ACCOUNT, policy(type=None, field="location", exists=True), REFUSED),
    (ACCOUNT, meets("location", notIn=IN_EUROPE), FINE),
    (ACCOUNT, meets("location", notIn=["eastus"]), REFUSED),
    (ACCOUNT, {"policies": [{**meets("location")["policies"][0], "if": {"field": "location", "in": IN_EUROPE}}]}, REFUSED),
    (ACCOUNT, meets("name", equals="stapp1"), REFUSED),
    (ACCOUNT, meets("name", notEquals="stapp1"), FINE),
    (ACCOUNT, meets("kind", equals="StorageV2"), REFUSED),
    (ACCOUNT, meets("sku.name", notEquals="Standard_ZRS"), REFUSED),
    (ACCOUNT, meets("sku.name", equals="Standard_ZRS"), FINE),
    (ACCOUNT, meets("tags.env", exists=False), FINE),
    (ACCOUNT, meets("tags.env", exists=True), REFUSED),
    (ACCOUNT, meets("tags.env", notIn=["prod", "test"]), REFUSED),
    (ACCOUNT, meets("tags.team", exists=False), REFUSED),
    (BARE, meets("tags.env", exists=False), REFUSED),
    (BARE, meets("tags.env", notEquals="dev"), REFUSED),
    (BARE, meets("tags.env", equals="dev"), FINE),
    (ACCOUNT, meets("properties.minimumTlsVersion", notEquals="TLS1_3"), REFUSED),
    (ACCOUNT, meets("properties.minimumTlsVersion", equals="TLS1_0"), FINE),
    (ACCOUNT, meets("properties.networkAcls.defaultAction", exists=True), REFUSED),
    (BARE, meets("properties.networkAcls.defaultAction", exists=False), REFUSED),
    (NEW_GROUP, policy(type="Microsoft.Resources/subscriptions/resourceGroups"), REFUSED),
    (NEW_GROUP, policy(type=None, field="location", exists=True), FINE),
    (OLD_GROUP, policy(type="Microsoft.Resources/subscriptions/resourceGroups", scope=GROUP), REFUSED),
    (OLD_GROUP, policy(type="Microsoft.Resources/subscriptions/resourceGroups", field="tags.a", equals="b"), REFUSED),
    (SUBNET, policy(type="Microsoft.Network/virtualNetworks/subnets"), REFUSED),
    (SUBNET, policy(type="Microsoft.Network/virtualNetworks/subnets", field="name", equals="one"), REFUSED),
    (SUBNET, policy(type="Microsoft.Network/virtualNetworks/subnets", scope=NETWORK.arm_id), REFUSED),
    (SUBNET, policy(type="Microsoft.Network/virtualNetworks"), FINE),
    (ACCOUNT, policy(scope=CORP), REFUSED),
    (ACCOUNT, policy(scope=GROUP.upper()), REFUSED),
    (ACCOUNT, policy(scope=f"{GROUP}2"), FINE),
    (ACCOUNT, policy(scope=storage_id()), REFUSED),
    (ACCOUNT, policy(scope=storage_id("other")), FINE),
    (ACCOUNT, policy(notScopes=[GROUP]), FINE),
    (ACCOUNT, policy(notScopes=[storage_id("other")]), REFUSED),
]  # fmt: skip
EXEMPTIONS = [
    ({"scope": GROUP}, FINE),
    ({"scope": SUB}, FINE),
    ({"scope": storage_id()}, FINE),
    ({"scope": storage_id("other")}, REFUSED),
    ({"scope": GROUP, "expires": "2099-01-01"}, FINE),
    ({"scope": GROUP, "expires": "2020-01-01"}, REFUSED),
]
PRESENT = [ACCOUNT, NETWORK]
BOTH = [check_policy, check_preflight]


@pytest.mark.parametrize(("change", "settings", "verdict"), DENIALS)
def test_a_denial_is_foretold(change, settings, verdict):
    present = [
        each for each in PRESENT if each.arm_id != change.arm_id or change.action is Action.UPDATE or change.replaces
    ]
    verdicts, code = compare_all(BOTH, change, settings, present)
    assert (verdicts, code) == ([{verdict}] * 2, DENIED if verdict == REFUSED else "")


@pytest.mark.parametrize(("exemption", "verdict"), EXEMPTIONS)
def test_an_exemption_is_known_before(exemption, verdict):
    settings = policy() | {"exemptions": [{"policy": "p", **exemption}]}
    verdicts, code = compare_all(BOTH, ACCOUNT, settings)
    assert (verdicts, code) == ([{verdict}] * 2, DENIED if verdict == REFUSED else "")


@pytest.mark.parametrize(
    ("settings", "by_policy", "refused"),
    [
        (policy(mode="DoNotEnforce"), WARNING, False),
        (policy("audit"), WARNING, False),
        (policy("audit", mode="DoNotEnforce"), WARNING, False),
        (policy("audit", field="tags.env", equals="prod"), FINE, False),
        (policy("modify", field="tags.team", exists=False, set={"field": "tags.team", "value": "a"}), WARNING, False),
        (policy("modify", set={"field": "tags.env", "value": "prod"}), WARNING, False),
        (policy("modify", set={"field": "tags.env", "value": "dev"}), FINE, False),
        (policy("modify", mode="DoNotEnforce", set={"field": "tags.team", "value": "a"}), FINE, False),
        (policy("append", set={"field": "tags.team", "value": "a"}), WARNING, False),
        (policy("append", set={"field": "tags.env", "value": "dev"}), FINE, False),
        (policy("append", set={"field": "tags.env", "value": "prod"}), REFUSED, True),
        ({}, FINE, False),
    ],
)
def test_what_does_not_deny_is_not_refused(settings, by_policy, refused):
    verdicts, code = compare_all(BOTH, ACCOUNT, settings)
    assert (verdicts, code) == ([{by_policy}, {REFUSED if refused else FINE}], DENIED if refused else "")


RULE = {"if": {"type": STORAGE, "field": "kind", "equals": "StorageV2"}, "code": "InvalidKind", "message": "No."}


@pytest.mark.parametrize(
    ("preflight", "verdict", "code"),
    [
        ({"refuse": RULE}, REFUSED, "InvalidKind"),
        ({"refuse": {**RULE, "if": {"field": "kind", "equals": "Storage"}}}, FINE, ""),
        ({"empty": [STORAGE]}, SILENT, ""),
        ({"silent": [STORAGE]}, FINE, ""),
        ({"silent": [STORAGE], "refuse": RULE}, FINE, "InvalidKind"),
    ],
)
@pytest.mark.parametrize("change", [ACCOUNT, UPDATE, REPLACE], ids=["create", "update", "replace"])
def test_a_rule_of_a_provider_is_foretold_unless_it_has_no_preflight(change, preflight, verdict, code):
    present = [] if change is ACCOUNT else [ACCOUNT]
    assert compare(check_preflight, change, {"preflight": preflight}, present) == ({verdict}, code)


def test_an_extension_is_denied_by_the_policy_alone():
    settings = policy(type="Microsoft.Insights/diagnosticSettings")
    assert compare_all(BOTH, SETTING, settings, [ACCOUNT]) == ([{REFUSED}, {SILENT}], DENIED)
