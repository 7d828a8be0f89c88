"""Commands about AzureResources, over a real socket: revert, hold, ignore, unmanaged, import and the plan after it."""

from __future__ import annotations

import json

import pytest

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.model.verdict import Verdict
from tests.support.command_line import SUBSCRIPTION, azure, run_here
from tests.support.filled_store import ROOT, read_version
from tests.support.git_repositories import commit_all, init_repository
from tests.support.world import World

GROUP_ID = f"{ROOT}/shop"
IN_GROUP = f"{GROUP_ID}/providers"
FLOW_ID = f"{IN_GROUP}/Microsoft.Logic/workflows/orders"
GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop}
spec: {location: westeurope}
"""
FLOW = """\
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: orders}
spec:
  type: Microsoft.Logic/workflows@2019-05-01
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body:
    location: westeurope
    properties: {state: Enabled, definition: {steps: [a]}}
"""


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def run(world, command, *arguments, rules=()):
    """Run a command in the repository. Returns how it ended, and what it wrote to Azure."""
    with azure(store=world.store, clock=world.clock, rules=tuple(rules)) as served:
        ended = run_here(command, *arguments, folder=world.folder, **served.variables)
        return ended, [(method, path) for method, path, _ in served.sent("PUT", "PATCH", "DELETE", "POST")]


def annotate(name, value):
    return FLOW.replace("{name: orders}", f'{{name: orders, annotations: {{{name}: "{value}"}}}}')


def test_revert_writes_the_drift(world):
    world.synced(group=GROUP, flow=FLOW)
    world.somebody_changes(FLOW_ID, {"/properties/state": "Disabled"})
    options = ("--status-dir", str(world.state), "--checks", "none", "--who", "off")
    ended, writes = run(world, "revert", "AzureResource/orders", *options)
    assert (ended.code, writes) == (0, [("PUT", FLOW_ID)])
    assert "spec.body.properties.state" in ended.out
    again, writes = run(world, "revert", "orders", *options)
    assert (again.code, writes) == (0, [])


def test_a_hold_leaves_the_drift(world):
    world.synced(group=GROUP, flow=FLOW)
    world.somebody_changes(FLOW_ID, {"/properties/state": "Disabled"})
    held = world.says(group=GROUP, flow=annotate("gitsync/hold", "until 2026-03-02, incident")).sync()
    assert [result.verdict for result in held.results if result.key.name == "orders"] == [Verdict.HELD]
    assert world.writes == []


@pytest.mark.parametrize("ignored", ["/properties/state", "spec.body.properties.state"])
def test_an_ignored_field_has_no_drift(world, ignored):
    flow = annotate("gitsync/ignore", f"[{ignored}]")
    world.synced(group=GROUP, flow=flow)
    world.somebody_changes(FLOW_ID, {"/properties/state": "Disabled"})
    assert {result.verdict for result in world.sync().results} == {Verdict.IN_SYNC}
    world.somebody_changes(FLOW_ID, {"/properties/definition/steps": ["b"]})
    drifted = next(result for result in world.plan().results if result.key.name == "orders")
    assert [difference.path for difference in drifted.differences] == ["/properties/definition/steps"]


AUTOMATION = f"{IN_GROUP}/Microsoft.Automation/automationAccounts/ops"
B2B = f"{IN_GROUP}/Microsoft.Logic/integrationAccounts/b2b"
BALANCER = f"{IN_GROUP}/Microsoft.Network/loadBalancers/front"
SITE = f"{IN_GROUP}/Microsoft.Web/sites/shop"
HERE = {"location": "westeurope"}
LOCK = {"properties": {"level": "CanNotDelete"}}
BUDGET = {
    "properties": {
        "amount": 100,
        "category": "Cost",
        "timeGrain": "Monthly",
        "timePeriod": {"startDate": "2026-01-01T00:00:00Z"},
    }
}
OTHERS = {
    AUTOMATION: HERE | {"properties": {"sku": {"name": "Basic"}}},
    f"{AUTOMATION}/variables/Region": {"properties": {"value": '"x"', "isEncrypted": False}},
    f"{AUTOMATION}/schedules/nightly": {
        "properties": {"frequency": "Day", "interval": 1, "startTime": "2026-03-02T00:00:00+00:00"}
    },
    B2B: HERE | {"sku": {"name": "Standard"}},
    f"{B2B}/partners/contoso": {"properties": {"partnerType": "B2B", "content": {"b2b": {"businessIdentities": []}}}},
    FLOW_ID: HERE
    | {
        "properties": {
            "integrationAccount": {"id": B2B},
            "definition": {"$schema": "s", "actions": {"$secret": {"inputs": None}}},
            "parameters": {"$connections": {"type": "Object", "value": {}}},
        }
    },
    f"{IN_GROUP}/Microsoft.Maps/accounts/orders": HERE | {"sku": {"name": "G2"}},
    f"{IN_GROUP}/microsoft.insights/workbooks/0a1b5d2c-a08f-55af-a14e-fa97442cba25": HERE
    | {"kind": "shared", "properties": {"displayName": "d", "serializedData": "{}", "category": "workbook"}},
    f"{GROUP_ID}/providers/Microsoft.Authorization/locks/keep": LOCK,
    f"{FLOW_ID}/providers/Microsoft.Authorization/locks/keep": LOCK,
    f"{GROUP_ID}/providers/Microsoft.Authorization/policyAssignments/tags": {
        "properties": {
            "policyDefinitionId": "/providers/Microsoft.Authorization/policyDefinitions/"
            "871b6d14-10aa-478d-b590-94f262ecfa99",
            "parameters": {"tagName": {"value": "team"}},
        }
    },
    f"{GROUP_ID}/providers/Microsoft.Consumption/budgets/month": BUDGET,
    f"{ROOT.rpartition('/')[0]}/providers/Microsoft.Consumption/budgets/year": BUDGET,
    BALANCER: HERE | {"properties": {"backendAddressPools": [{"name": "all"}]}},
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A world after a sync of a group, in which somebody has made all others: to copy."""
    world = World(tmp_path_factory.mktemp("filled"))
    world.synced(group=GROUP)
    for arm_id, body in OTHERS.items():
        answer = world.outside("PUT", arm_id, body, api_version=read_version(arm_id))
        assert not answer or "error" not in answer, (arm_id, answer)
    return world


@pytest.fixture
def estate(filled, tmp_path):
    return filled.copy(tmp_path)


def test_an_import_leaves_nothing_out_for_lack_of_a_kind(estate):
    ended, writes = run(estate, "import", "--out", "azure", "--output", "json")
    report = json.loads(ended.out)
    assert (ended.code, writes) == (0, []), [file["resources"] for file in report["files"]]
    imported = {resource["armId"].casefold() for file in report["files"] for resource in file["resources"]}
    assert imported == {arm_id.casefold() for arm_id in OTHERS}
    assert report["skipped"] == [GROUP_ID]
    assert not [row for row in report["leftOut"] if row["reason"].startswith("type that gitsync")]
    texts = {path.relative_to(estate.folder).as_posix(): path.read_text() for path in estate.folder.rglob("*.yaml")}
    silent = estate.says_files(texts).sync()
    assert {(result.verdict.value, result.action.value) for result in silent.results} <= {
        ("adopt", "none"),
        ("in-sync", "none"),
    }
    assert not [result for result in silent.results if result.differences]
    assert (silent.exit_code, estate.writes) == (0, [])
    assert {result.verdict for result in estate.sync().results} == {Verdict.IN_SYNC}


DEPLOYMENT = f"{IN_GROUP}/Microsoft.Resources/deployments/first"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((DEPLOYMENT,), "a deployment is a list of writes that Azure sends"),
        ((f"{IN_GROUP}/Microsoft.KeyVault/vaults/safe/secrets/key",), "this one consists of a secret"),
        ((f"{IN_GROUP}/Microsoft.Resources/deploymentScripts/first",), "whose writes run a script"),
        ((f"{IN_GROUP}/Microsoft.Advisor/metadata/x",), "can only be read"),
        (("--type", "Microsoft.Logic/workflow"), "Did you mean Microsoft.Logic/workflows?"),
        (("--type", "Contoso.Things/things"), "Contoso.Things/things is not a known ARM type"),
    ],
)
def test_what_cannot_be_imported_has_a_reason(filled, arguments, says):
    ended, _ = run(filled, "import", *arguments, "--out", "azure")
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err
    assert not (filled.folder / "azure").exists()


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("--type", "microsoft.logic/WORKFLOWS"), {"orders"}),
        (("--type", "Microsoft.Logic/integrationAccounts/partners"), {"b2b-contoso"}),
        (("--type", "Microsoft.Authorization/locks"), {"shop-keep", "orders-keep"}),
        (("--type", "Microsoft.Consumption/budgets"), {"shop-month", "subscription-year"}),
        ((B2B,), {"b2b", "b2b-contoso"}),
        ((f"{FLOW_ID}/providers/Microsoft.Authorization/locks/keep",), {"orders-keep"}),
        ((f"{AUTOMATION}/variables/Region", "--name", "none"), {"ops-region"}),
    ],
)
def test_an_import_selects_any_type(filled, tmp_path_factory, arguments, names):
    out = tmp_path_factory.mktemp("out") / "azure"
    ended, _ = run(filled, "import", *arguments, "--out", str(out), "--output", "json")
    assert ended.code == 0, ended.out + ended.err
    found = {resource["name"] for file in json.loads(ended.out)["files"] for resource in file["resources"]}
    assert found == names


def test_a_requested_version_is_taken(filled, tmp_path):
    arguments = ("--type", "Microsoft.Logic/workflows", "--api-version", "2018-07-01-preview")
    run(filled, "import", *arguments, "--out", str(tmp_path / "azure"))
    assert "type: Microsoft.Logic/workflows@2018-07-01-preview" in (tmp_path / "azure/shop/logic.yaml").read_text()


@pytest.mark.parametrize(("status", "requested"), [(405, 1), (404, 1), (403, 3)])
def test_a_collection_that_azure_refuses_is_requested_once(world, status, requested):
    world.synced(group=GROUP)
    for name in ("a", "b", "c"):
        world.azure().put(B2B.replace("b2b", name), HERE | {"sku": {"name": "Standard"}})
    refusal = FaultRule(match=Match(path="*/partners"), answer=Canned(status=status, code="Refused", message="No."))
    with azure(store=world.store, clock=world.clock, rules=(refusal,)) as served:
        ended = run_here("import", "--out", "azure", folder=world.folder, **served.variables)
        assert len([path for _, path, _ in served.sent() if path.endswith("/partners")]) == requested
    line = "Microsoft.Logic/integrationAccounts/partners: not read at 2 of 3; the first refused"
    assert (line in ended.out) is (requested == 1)


def test_a_singleton_that_somebody_has_set_is_imported(world):
    world.synced(group=GROUP)
    site, settings = HERE | {"kind": "app"}, {"properties": {"allow": False}}
    for arm_id, body in {SITE: site, f"{SITE}/basicPublishingCredentialsPolicies/ftp": settings}.items():
        world.outside("PUT", arm_id, body, api_version=read_version(arm_id))
    ended, _ = run(world, "import", "--out", "azure", "--output", "json")
    found = {resource["name"] for file in json.loads(ended.out)["files"] for resource in file["resources"]}
    assert "shop-ftp" in found


def test_unmanaged_names_the_command_for_all_types(estate):
    ended, _ = run(estate, "unmanaged", "--status-dir", str(estate.state), "--who", "off", "--output", "json")
    report = json.loads(ended.out)
    strays = {stray["armId"].casefold(): stray for stray in report["resources"]}
    assert strays.keys() >= {
        arm_id.casefold() for arm_id in OTHERS if "/subscriptions/" in arm_id and "year" not in arm_id
    }
    flow = strays[FLOW_ID.casefold()]
    assert (flow["kind"], flow["type"]) == ("AzureResource", "Microsoft.Logic/workflows")
    assert "gitsync import --resource-group shop --out azure" in report["imports"]
    ended, _ = run(estate, "unmanaged", "--status-dir", str(estate.state), "--who", "off")
    assert "  Microsoft.Logic/workflows\n    orders  created" in ended.out
    assert "cannot manage" not in ended.out


ABOVE = "/providers/Microsoft.Management/managementGroups/all"
POLICY = {"properties": {"policyDefinitionId": "/providers/Microsoft.Authorization/policyDefinitions/x"}}


@pytest.mark.parametrize(
    ("arm_id", "body", "owner"),
    [
        (ABOVE, {"properties": {"displayName": "All"}}, "armId: /\n"),
        (f"{ABOVE}/providers/Microsoft.Authorization/policyAssignments/tags", POLICY, f"armId: {ABOVE}\n"),
        (f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Security/pricings/Api",
         {"properties": {"pricingTier": "Standard", "subPlan": "P1"}}, f"armId: /subscriptions/{SUBSCRIPTION}\n"),
    ],
)  # fmt: skip
def test_what_is_above_resource_groups_is_imported_by_its_id(world, arm_id, body, owner):
    answer = world.outside("PUT", arm_id, body, api_version=read_version(arm_id))
    assert "error" not in answer, answer
    ended, _ = run(world, "import", arm_id, "--out", "azure")
    assert (ended.code, "1 resource imported, 1 with nothing to change" in ended.out) == (0, True), (
        ended.out + ended.err
    )
    (file,) = world.folder.rglob("*.yaml")
    assert owner in file.read_text()
    texts = {file.relative_to(world.folder).as_posix(): file.read_text()}
    assert world.says_files(texts).sync().exit_code == 0
    assert world.writes == []


def test_an_audit_names_who_changed_it(tmp_path):
    source, script = tmp_path / "source", tmp_path / "script.yaml"
    source.mkdir()
    (source / "shop.yaml").write_text(f"{GROUP}---\n{FLOW}")
    init_repository(source)
    commit_all(source)
    at_once = "settings: {changeLog: {resourceGraphDelay: 0, actorDelay: 0, activityLogDelay: 0}}\n"
    change = f"{{after: 0, by: rob@contoso.com, id: {FLOW_ID}, set: {{/properties/state: Disabled}}}}"
    variables = {
        "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
        "GITSYNC_EMULATOR": str(tmp_path / "azure.db"),
        "GITSYNC_EMULATOR_SCRIPT": str(script),
    }
    for text in (at_once, f"{at_once}moves: [{change}]\n"):
        script.write_text(text)
        assert run_here("sync", source.as_uri(), "--yes", folder=tmp_path, **variables).code == 0
    done = run_here("audit", source.as_uri(), "-o", "json", folder=tmp_path, **variables)
    assert done.code == 4, done.err
    others = [row for row in json.loads(done.out)["operations"] if row["origin"] == "other"]
    assert [(row["armId"].casefold(), "rob@contoso.com" in str(row)) for row in others] == [(FLOW_ID.casefold(), True)]
