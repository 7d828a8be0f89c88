"""`gitsync unmanaged` beyond the groups that git has: other groups, what is directly in a subscription, and patterns."""

import json

import pytest

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.emulator.settings import ManagementLock
from gitsync.model.arm_id import ArmId
from tests.support.command_line import azure, run_here
from tests.support.filled_store import fill
from tests.support.world import SUBSCRIPTION

ROOT = f"/subscriptions/{SUBSCRIPTION}"
OTHER_ROOT = "/subscriptions/00000000-0000-0000-0000-00000000000b"
AUTHORIZATION = "providers/Microsoft.Authorization"
READER = f"{ROOT}/{AUTHORIZATION}/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
ROB = "11111111-1111-1111-1111-111111111111"
HERE = {"location": "westeurope"}
GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop}
spec: {location: westeurope}
"""


def assign(scope, number, **properties):
    name = f"00000000-0000-4000-8000-{number:012}"
    body = {"roleDefinitionId": READER, "principalId": ROB, "principalType": "User", "scope": scope, **properties}
    return {f"{scope}/{AUTHORIZATION}/roleAssignments/{name}": {"properties": body}}


def answer(path, *entries, status=200, body=None):
    """A rule that answers a list with these entries, each an id with its body."""
    value = [
        {"id": arm_id, "name": arm_id.rpartition("/")[2], **one} for each in entries for arm_id, one in each.items()
    ]
    return FaultRule(
        match=Match(path=f"*{path.lower()}"),
        answer=Canned(status=status, body={"value": value} if body is None else body),
    )


def look(folder, *arguments, bodies=(), sources=(GROUP,), **settings):
    (folder / "a.yaml").write_text("---\n".join(sources))
    with azure(fill(dict(bodies)), **settings) as served:
        return run_here("unmanaged", "--who=off", *arguments, folder=folder, **served.variables), served.sent()


def list_ids(done):
    return [ArmId(resource["armId"]).key.removeprefix(ROOT) for resource in json.loads(done.out)["resources"]]


SHOP = {f"{ROOT}/resourceGroups/shop": HERE}
ESTATE = {
    **SHOP,
    f"{ROOT}/resourceGroups/shop-two": HERE,
    f"{ROOT}/resourceGroups/lab": HERE,
    f"{ROOT}/resourceGroups/lab/providers/Microsoft.Network/routeTables/routes": HERE,
}


@pytest.mark.parametrize(
    ("named", "found", "why"),
    [
        ([], ["/resourcegroups/lab", "/resourcegroups/shop-two"], "other groups, and not their content"),
        (["shop"], [], "a group that git has"),
        (
            ["lab"],
            ["/resourcegroups/lab", "/resourcegroups/lab/providers/microsoft.network/routetables/routes"],
            "a group that is named, with its content",
        ),
        (["SHOP*"], ["/resourcegroups/shop-two"], "a pattern, in any case"),
        (["sh?p"], [], "a pattern for one character"),
        (
            ["*"],
            [
                "/resourcegroups/lab",
                "/resourcegroups/lab/providers/microsoft.network/routetables/routes",
                "/resourcegroups/shop-two",
            ],
            "all groups, with their content",
        ),
        (
            ["shop-*", "lab"],
            [
                "/resourcegroups/lab",
                "/resourcegroups/lab/providers/microsoft.network/routetables/routes",
                "/resourcegroups/shop-two",
            ],
            "both",
        ),
    ],
)
@pytest.mark.parametrize("way", ["--full", "--fast"])
def test_groups_that_are_looked_for(tmp_path, named, found, why, way):
    done, _ = look(tmp_path, "-o=json", way, *(f"--resource-group={name}" for name in named), bodies=ESTATE)
    assert (done.code, list_ids(done)) == (0, found), (why, done.err)


def test_the_text_reports_what_was_not_looked_into(tmp_path):
    done, _ = look(tmp_path, bodies=ESTATE)
    assert (
        "The content of 2 resource groups not in git is not listed. Name one with --resource-group, or '*' for all."
        in done.out
    )
    assert "lab:\n  ResourceGroup\n    lab" in done.out


@pytest.mark.parametrize("name", ["nowhere", "nowhere-*"])
@pytest.mark.parametrize("subscriptions", ["one", "two"])
def test_a_name_or_a_pattern_without_a_group_is_an_error(tmp_path, name, subscriptions):
    sources = [GROUP, FAR] if subscriptions == "two" else [GROUP]
    done, _ = look(tmp_path, f"--resource-group={name}", "--resource-group=l*", bodies=ESTATE, sources=sources)
    assert (done.code, done.out) == (2, "")
    assert f"Resource group {name} does not exist in subscription" in done.err


FAR = f"""\
apiVersion: network.azure.com/v20250301
kind: RouteTable
metadata: {{name: routes}}
spec: {{owner: {{armId: {OTHER_ROOT}/resourceGroups/far}}, location: westeurope}}
"""


def test_every_subscription_that_git_has_groups_in_is_looked_at(tmp_path):
    bodies = {**SHOP, f"{OTHER_ROOT}/resourceGroups/far": HERE, f"{OTHER_ROOT}/resourceGroups/new": HERE}
    for named in ([], ["--resource-group=*"]):
        done, _ = look(tmp_path, "-o=json", *named, bodies=bodies, sources=[GROUP, FAR])
        assert f"{OTHER_ROOT}/resourcegroups/new" in list_ids(done), done.err


LOCKS = [ManagementLock(scope=ROOT, name="keep"), ManagementLock(scope=f"{ROOT}/resourceGroups/shop", name="inside")]
POLICIES = f"{ROOT}/{AUTHORIZATION}/policyAssignments"


@pytest.mark.parametrize("way", ["--full", "--fast", "--resource-group=*"])
def test_what_is_directly_in_a_subscription_is_found(tmp_path, way):
    bodies = {**SHOP, **assign(ROOT, 1)}
    rule = answer(
        POLICIES,
        {f"{POLICIES}/tags": {}},
        {f"{POLICIES}/SecurityCenterBuiltIn": {}},
        {f"/providers/Microsoft.Management/managementGroups/top/{AUTHORIZATION}/policyAssignments/inherited": {}},
        {f"{ROOT}/resourceGroups/shop/{AUTHORIZATION}/policyAssignments/inside": {}},
    )
    done, _ = look(tmp_path, "-o=json", way, bodies=bodies, locks=tuple(LOCKS), rules=(rule,))
    assert [arm_id for arm_id in list_ids(done) if arm_id.startswith("/providers")] == [
        "/providers/microsoft.authorization/locks/keep",
        "/providers/microsoft.authorization/policyassignments/tags",
        "/providers/microsoft.authorization/roleassignments/00000000-0000-4000-8000-000000000001",
    ], done.err
    assert done.code == 0


def test_a_role_assignment_that_git_has_is_none(tmp_path):
    own = "00000000-0000-4000-8000-000000000001"
    manifest = f"""\
apiVersion: authorization.azure.com/v20220401
kind: RoleAssignment
metadata: {{name: mine}}
spec:
  azureName: {own}
  owner: {{armId: {ROOT}}}
  principalId: {ROB}
  roleDefinitionReference: {{wellKnownName: Reader}}
"""
    bodies = {**SHOP, **assign(ROOT, 1), **assign(ROOT, 2, principalId=READER.rpartition("/")[2])}
    done, _ = look(tmp_path, "-o=json", bodies=bodies, sources=[GROUP, manifest])
    assert [arm_id.rpartition("/")[2] for arm_id in list_ids(done)] == ["00000000-0000-4000-8000-000000000002"]


def test_what_is_inherited_from_a_management_group_is_none(tmp_path):
    above = "/providers/Microsoft.Management/managementGroups/top"
    rule = answer(f"{ROOT}/{AUTHORIZATION}/roleAssignments", assign(above, 1), assign(ROOT, 2))
    done, _ = look(tmp_path, "-o=json", bodies=SHOP, rules=(rule,))
    assert [arm_id.rpartition("/")[2] for arm_id in list_ids(done)] == ["00000000-0000-4000-8000-000000000002"]


ASSIGNED = [
    ({}, "Reader for User 11111111-1111-1111-1111-111111111111 on the subscription", "who has what where"),
    ({"principalType": "Group"}, "Reader for Group 11111111-", "a group"),
    ({"principalType": None}, "Reader for principal 11111111-", "a type that Azure does not say"),
    (
        {"roleDefinitionId": f"{ROOT}/{AUTHORIZATION}/roleDefinitions/22222222-2222-2222-2222-222222222222"},
        "22222222-2222-2222-2222-222222222222 for User",
        "a role that is not known",
    ),
]


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_role_assignment_reports_who_has_which_role_where(tmp_path, form):
    assigned = (assign(ROOT, number, **properties) for number, (properties, _, _) in enumerate(ASSIGNED))
    rule = answer(f"{ROOT}/{AUTHORIZATION}/roleAssignments", *assigned)
    done, _ = look(tmp_path, f"-o={form}", bodies=SHOP, rules=(rule,))
    for _, said, why in ASSIGNED:
        assert said in done.out, why


def test_json_has_role_principal_and_scope(tmp_path):
    network = f"{ROOT}/resourceGroups/shop/providers/Microsoft.Network/routeTables/routes"
    done, _ = look(tmp_path, "-o=json", bodies={**SHOP, network: HERE, **assign(network, 1), **assign(ROOT, 2)})
    found = {resource["scope"]: resource for resource in json.loads(done.out)["resources"] if "scope" in resource}
    assert {*found} == {network, ROOT}
    for one in found.values():
        assert (one["role"], one["principal"]["id"]) == ("Reader", ROB)
    assert found[ROOT]["resourceGroup"] == ""


def test_the_command_that_it_names_imports_what_is_in_a_subscription(tmp_path):
    bodies = {**SHOP, **assign(ROOT, 1)}
    (tmp_path / "a.yaml").write_text(GROUP)
    with azure(fill(bodies)) as served:
        done = run_here("unmanaged", "-o=json", folder=tmp_path, **served.variables)
        (command,) = json.loads(done.out)["imports"]
        done = run_here(*command.split()[1:], folder=tmp_path, **served.variables)
        assert "1 resource imported" in done.out, done.err
        again = run_here("unmanaged", folder=tmp_path, **served.variables)
    assert again.out.startswith("0 resources not in git."), again.out


def test_a_named_group_queries_nothing_about_its_subscription(tmp_path):
    _, sent = look(tmp_path, "--resource-group=shop", bodies=SHOP)
    assert [path for _, path, _ in sent if path.lower().startswith(f"{ROOT}/providers/microsoft.authorization")] == []


@pytest.mark.parametrize("status", [400, 403, 404])
def test_a_list_that_azure_refuses_is_a_gap(tmp_path, status):
    refused = {"error": {"code": "Refused", "message": "No."}}
    lists = [f"{ROOT}/{AUTHORIZATION}/{kind}" for kind in ("locks", "policyAssignments", "roleAssignments")]
    rules = tuple(answer(path, status=status, body=refused) for path in lists)
    done, _ = look(tmp_path, "-o=json", bodies=SHOP, rules=rules)
    assert done.code == 1
    assert sorted(json.loads(done.out)["gaps"]) == [f"{path}: refused by Azure (Refused)" for path in lists]


def test_groups_that_azure_makes_are_none(tmp_path):
    names = ["NetworkWatcherRG", "cloud-shell-storage-westeurope", "DefaultResourceGroup-WEU", "AzureBackupRG_weu_1"]
    managed = {f"{ROOT}/resourceGroups/MC_a_b_weu": HERE | {"managedBy": f"{ROOT}/x"}}
    bodies = {**SHOP, **managed, **{f"{ROOT}/resourceGroups/{name}": HERE for name in names}}
    done, _ = look(tmp_path, "-o=json", bodies=bodies)
    assert list_ids(done) == []
    assert len(json.loads(done.out)["leftOut"]) == len(names) + 1
