"""`gitsync import --from-stack` and `--from-deployment`: from what templates have made to manifests, over a real socket."""

import json
import subprocess

import pytest

from gitsync.cli.main import run
from gitsync.emulator.settings import Denial
from tests.support.command_line import SUBSCRIPTION, azure, run_here
from tests.support.filled_store import ROOT, fill
from tests.support.json_schemas import list_faults
from tests.support.world import World

SECRET = "correct-horse-battery"
OTHER = "11111111-1111-4111-8111-111111111111"
GROUP = f"{ROOT}/Shop"
PROVIDERS = f"{GROUP}/providers"
NETWORK = f"{PROVIDERS}/Microsoft.Network/virtualNetworks/spoke"
SUBNET = f"{NETWORK}/subnets/app"
ACCOUNT = f"{PROVIDERS}/Microsoft.Storage/storageAccounts/shopfiles"
BLOBS = f"{ACCOUNT}/blobServices/default"
SERVER = f"{PROVIDERS}/Microsoft.DBforPostgreSQL/flexibleServers/orders"
LOCK = f"{ACCOUNT}/providers/Microsoft.Authorization/locks/keep"
ROLE = f"{GROUP}/providers/Microsoft.Authorization/roleAssignments/22222222-2222-4222-8222-222222222222"
READER = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
POLICY = f"{GROUP}/providers/Microsoft.Authorization/policyAssignments/europe"
GONE = f"{PROVIDERS}/Microsoft.Network/publicIPAddresses/gone"
FAR = GROUP.replace(SUBSCRIPTION, OTHER)

BODIES = {
    GROUP: {"location": "westeurope"},
    NETWORK: {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.1.0.0/16"]}}},
    SUBNET: {"properties": {"addressPrefix": "10.1.1.0/24"}},
    ACCOUNT: {"location": "westeurope", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}},
    SERVER: {"location": "westeurope", "properties": {"version": "17", "administratorLogin": "boss",
             "administratorLoginPassword": SECRET}},
    LOCK: {"properties": {"level": "CanNotDelete"}},
    ROLE: {"properties": {"roleDefinitionId": READER, "principalId": OTHER, "principalType": "ServicePrincipal"}},
    POLICY: {"properties": {"displayName": "Europe", "policyDefinitionId":
             "/providers/Microsoft.Authorization/policyDefinitions/e56962a6-4747-49cd-b67b-bf8b01975c4c"}},
    f"{PROVIDERS}/Microsoft.Storage/storageAccounts/other": {"location": "westeurope", "kind": "StorageV2",
             "sku": {"name": "Standard_LRS"}},
}  # fmt: skip
STACK = f"{PROVIDERS}/Microsoft.Resources/deploymentStacks/shop"
DEPLOYMENT = f"{PROVIDERS}/Microsoft.Resources/deployments/main"

EXTENSIBLE = {"extension": {"name": "Kubernetes", "version": "1.0.0", "config": {"kubeConfig": {"value": SECRET}}},
              "type": "core/Secret@v1", "identifiers": {"name": SECRET}}  # fmt: skip
SECRETS = {"parameters": {"password": {"type": "String", "value": SECRET}}, "outputs": {"key": {"value": SECRET}}}


def managed(arm_id, status="managed", **more):
    return {"id": arm_id, "status": status, "denyStatus": "none", **more}


def stack(*resources, **more):
    return {
        "properties": {
            "provisioningState": "succeeded",
            "denySettings": {"mode": "none"},
            "actionOnUnmanage": {"resources": "delete", "resourceGroups": "delete"},
            "resources": list(resources),
            **SECRETS,
            **more,
        }
    }


def deployment(*ids, mode="Incremental", state="Succeeded", **more):
    outputs = [{"id": each} if isinstance(each, str) else each for each in ids]
    return {"properties": {"mode": mode, "provisioningState": state, "outputResources": outputs, **SECRETS, **more}}


def operation(target, kind="Create"):
    target = {"id": target} if isinstance(target, str) else target
    return {"properties": {"provisioningOperation": kind, "provisioningState": "Succeeded", "targetResource": target,
            "request": {"content": SECRET}, "statusMessage": {"error": {"message": SECRET}}}}  # fmt: skip


def take(folder, bodies, *arguments, estate=BODIES, **settings):
    """Import with these stacks and deployments in Azure; no value of theirs is in an output or a file."""
    with azure(fill({**estate, **bodies}), **settings) as served:
        done = run_here("import", "--out", "out", *arguments, folder=folder, **served.variables)
        assert {method for method, _, _ in served.sent()} <= {"GET"}, "an import only reads"
    written = "".join(path.read_text() for path in folder.rglob("*.yaml"))
    assert SECRET not in done.out + done.err + written
    return done


def read_rows(done):
    return [
        (row["outcome"], row["address"], row["manifest"] and f"{row['manifest']['kind']}/{row['manifest']['name']}")
        for row in json.loads(done.out)["outcomes"]
    ]


def read_reasons(done):
    return {row["address"]: row["reason"] for row in json.loads(done.out)["outcomes"]}


FULL = stack(
    managed(GROUP),
    managed(NETWORK.replace("resourceGroups", "resourcegroups")),
    managed(SUBNET),
    managed(ACCOUNT),
    managed(f"{ACCOUNT}/"),
    managed(BLOBS),
    managed(SERVER),
    managed(LOCK),
    managed(ROLE),
    managed(POLICY),
    managed(GONE),
    managed(FAR),
    managed(f"{PROVIDERS}/Microsoft.Network/publicIPAddresses/leaving", "deleteFailed"),
    managed(f"{PROVIDERS}/Microsoft.Network/publicIPAddresses/denied", "removeDenyFailed"),
    managed(f"{PROVIDERS}/Microsoft.Network/publicIPAddresses/later", "suspended"),
    managed(f"{PROVIDERS}/Microsoft.Resources/deployments/nested"),
    managed(f"{PROVIDERS}/Microsoft.Unheard/of/it"),
    managed("x\n'; rm -rf /; '"),
    {**EXTENSIBLE, "status": "managed"},
    {**EXTENSIBLE, "status": "managed"},
    failedResources=[
        {"id": f"{PROVIDERS}/Microsoft.Network/publicIPAddresses/failed", "error": {"code": "SkuNotAvailable",
         "message": SECRET}},
        {"id": ACCOUNT, "error": {"code": "Conflict"}},
    ],
    detachedResources=[{"id": f"{PROVIDERS}/Microsoft.Network/publicIPAddresses/detached"}],
    deletedResources=[{"id": f"{PROVIDERS}/Microsoft.Network/publicIPAddresses/deleted"}],
)  # fmt: skip
OUTCOMES = [
    ("taken", GROUP, "ResourceGroup/shop"),
    ("taken", NETWORK.replace("resourceGroups", "resourcegroups"), "VirtualNetwork/spoke"),
    ("taken", SUBNET, "VirtualNetworksSubnet/spoke-app"),
    ("taken", ACCOUNT, "StorageAccount/shopfiles"),
    ("covered", BLOBS, "StorageAccount/shopfiles"),
    ("taken", SERVER, "FlexibleServer/orders"),
    ("taken", LOCK, "AzureResource/shopfiles-keep"),
    ("taken", ROLE, "RoleAssignment/shop-reader-22222222"),
    ("taken", POLICY, "AzureResource/shop-europe"),
    ("kept", GONE, None),
    ("kept", FAR, None),
    ("kept", f"{PROVIDERS}/Microsoft.Network/publicIPAddresses/leaving", None),
    ("kept", f"{PROVIDERS}/Microsoft.Network/publicIPAddresses/denied", None),
    ("kept", f"{PROVIDERS}/Microsoft.Network/publicIPAddresses/later", None),
    ("kept", f"{PROVIDERS}/Microsoft.Resources/deployments/nested", None),
    ("kept", f"{PROVIDERS}/Microsoft.Unheard/of/it", None),
    ("kept", "x\n'; rm -rf /; '", None),
    ("kept", "core/Secret@v1", None),
    ("kept", "core/Secret@v1 [2]", None),
    ("kept", f"{PROVIDERS}/Microsoft.Network/publicIPAddresses/failed", None),
]


def test_each_resource_of_a_stack_is_taken_covered_or_kept(tmp_path):
    done = take(tmp_path, {STACK: FULL}, "--from-stack", STACK, "--output", "json")
    assert done.code == 0, done.out + done.err
    assert [row[:2] for row in read_rows(done)] == [row[:2] for row in OUTCOMES]
    assert read_rows(done) == OUTCOMES
    document = json.loads(done.out)
    assert document["source"] == "deployment stack shop"
    assert list_faults("import", document) == []
    assert document["imported"] == document["nothingToChange"] == 8
    reasons = read_reasons(done)
    assert all(reasons[address] for outcome, address, _ in OUTCOMES if outcome != "taken")
    assert reasons[GONE] == "it does not exist in Azure"
    assert OTHER in reasons[FAR]
    assert "Kubernetes" in reasons["core/Secret@v1"]
    assert "SkuNotAvailable" in reasons[f"{PROVIDERS}/Microsoft.Network/publicIPAddresses/failed"]
    assert [row["subject"].rpartition("/")[2] for row in document["leftOut"]] == ["deleted", "detached"]
    account = (tmp_path / "out/shop/storage.yaml").read_text()
    assert account.startswith("# deployment stack shop\n")
    assert "other" not in account, "the stack does not manage it"


def test_a_plan_of_what_was_written_has_nothing_to_do(tmp_path):
    mine = stack(*(managed(each) for each in (GROUP, NETWORK, SUBNET, ACCOUNT, LOCK, POLICY)))
    assert take(tmp_path, {STACK: mine}, "--from-stack", STACK).code == 0
    out = tmp_path / "out"
    written = {path.relative_to(out).as_posix(): path.read_text() for path in out.rglob("*.yaml")}
    (tmp_path / "world").mkdir()
    world = World(tmp_path / "world")
    world.store = fill(BODIES)
    report = world.says_files(written).plan()
    assert {result.action.value for result in report.results} == {"none"}
    assert world.writes == []


def test_the_report_as_text(tmp_path):
    mine = stack(managed(GROUP), managed(ACCOUNT), managed(GONE), EXTENSIBLE, denySettings={"mode": "denyDelete"})
    done = take(tmp_path, {STACK: mine}, "--from-stack", STACK)
    assert done.out == (
        "Written to out:\n"
        "  shop/resource-group.yaml  ResourceGroup\n"
        "  shop/storage.yaml         StorageAccount\n"
        "\n"
        "Resources of the deployment stack shop:\n"
        "  taken    Shop                                              ResourceGroup/shop\n"
        "  taken    Shop/Microsoft.Storage/storageAccounts/shopfiles  StorageAccount/shopfiles\n"
        "  kept     Shop/Microsoft.Network/publicIPAddresses/gone     it does not exist in Azure\n"
        "  kept     core/Secret@v1                                    a resource of the extension Kubernetes, not of "
        "Azure Resource Manager\n"
        "  2 taken, 0 covered, 2 kept\n"
        "\n"
        "Before the first sync:\n"
        "  The stack has the deny setting denyDelete: until it is detached, Azure refuses deletes of gitsync, unless the "
        "stack excludes its identity.\n"
        "  Stop what updates the stack, such as its pipeline: an update writes what the template has.\n"
        "  Decide about 1 resource that the table shows as kept: a detached stack manages nothing.\n"
        f"  Detach the stack (its resources stay in Azure): az stack group delete --subscription {SUBSCRIPTION} "
        "--resource-group Shop --name shop --action-on-unmanage detachAll\n"
        "\n"
        "2 resources imported, 2 with nothing to change; 4 requests (2.00 a resource).\n"
    )


SCOPES = [
    (STACK, f"az stack group delete --subscription {SUBSCRIPTION} --resource-group Shop", "a resource group"),
    (f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Resources/deploymentStacks/shop",
     f"az stack sub delete --subscription {SUBSCRIPTION}", "a subscription"),
    ("/providers/Microsoft.Management/managementGroups/corp/providers/Microsoft.Resources/deploymentStacks/shop",
     "az stack mg delete --management-group-id corp", "a management group"),
]  # fmt: skip


@pytest.mark.parametrize(("arm_id", "command", "why"), SCOPES, ids=[row[-1] for row in SCOPES])
def test_the_command_that_detaches_a_stack(arm_id, command, why, tmp_path):
    done = take(tmp_path, {arm_id: stack(managed(GROUP))}, "--from-stack", arm_id, "--output", "json")
    (*_, last) = json.loads(done.out)["steps"]
    assert last.endswith(f": {command} --name shop --action-on-unmanage detachAll"), why


def test_a_name_with_brackets_is_quoted_for_a_shell(tmp_path):
    arm_id = STACK.replace("deploymentStacks/shop", "deploymentStacks/shop(1)")
    done = take(tmp_path, {arm_id: stack(managed(GROUP))}, "--from-stack", arm_id, "--output", "json")
    command = json.loads(done.out)["steps"][-1].partition(": ")[2]
    (tmp_path / "az").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "az").chmod(0o755)
    ran = subprocess.run(
        ["sh", "-c", command], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )
    assert "\nshop(1)\n" in ran.stdout


NOTES = [
    ({"denySettings": {"mode": "none"}}, None, "deny", "no deny settings"),
    ({"denySettings": {"mode": "denyDelete"}}, "refuses deletes of gitsync", None, "deletes are denied"),
    ({"denySettings": {"mode": "DenyWriteAndDelete"}}, "refuses writes and deletes of gitsync", None, "writes too"),
    ({"provisioningState": "failed"}, "The last update of the stack failed", None, "a failed update"),
    ({"provisioningState": "deploying"}, "Wait until the stack is updated (deploying)", None, "an update goes on"),
    ({}, "Stop what updates the stack", "kept", "always"),
    ({"resources": [managed(GROUP), managed(GONE), {**EXTENSIBLE}]}, "Decide about 1 resource ", None, "some are kept"),
]


@pytest.mark.parametrize(("more", "present", "absent", "why"), NOTES, ids=[row[-1] for row in NOTES])
def test_what_to_do_before_the_first_sync(more, present, absent, why, tmp_path):
    done = take(tmp_path, {STACK: stack(managed(GROUP), **more)} if "resources" not in more else
                {STACK: {"properties": {**stack()["properties"], **more}}}, "--from-stack", STACK,
                "--output", "json")  # fmt: skip
    steps = "\n".join(json.loads(done.out)["steps"])
    assert present is None or present in steps, why
    assert absent is None or absent not in steps, why


NESTED = DEPLOYMENT.replace("main", "network")
DEEPER = DEPLOYMENT.replace("main", "subnets")


def test_nested_deployments_are_followed(tmp_path):
    bodies = {
        DEPLOYMENT: deployment(GROUP, NETWORK, SUBNET, GONE, EXTENSIBLE),
        f"{DEPLOYMENT}/operations/1": operation(GROUP),
        f"{DEPLOYMENT}/operations/2": operation(NESTED),
        f"{DEPLOYMENT}/operations/3": operation(ACCOUNT, "Read"),
        f"{DEPLOYMENT}/operations/4": operation(EXTENSIBLE),
        f"{DEPLOYMENT}/operations/5": operation({}, "EvaluateDeploymentOutput"),
        NESTED: deployment(NETWORK, SUBNET),
        f"{NESTED}/operations/1": operation(DEEPER),
        f"{NESTED}/operations/2": operation(NETWORK),
        DEEPER: deployment(SUBNET),
        f"{DEEPER}/operations/1": operation(DEPLOYMENT),
        f"{DEEPER}/operations/2": operation(DEEPER.upper().replace("/SUBSCRIPTIONS", "/subscriptions")),
    }
    done = take(tmp_path, bodies, "--from-deployment", DEPLOYMENT, "--output", "json")
    assert done.code == 0, done.out + done.err
    assert read_rows(done) == [
        ("taken", GROUP, "ResourceGroup/shop"),
        ("taken", NETWORK, "VirtualNetwork/spoke"),
        ("taken", SUBNET, "VirtualNetworksSubnet/spoke-app"),
        ("kept", GONE, None),
        ("kept", "core/Secret@v1", None),
    ], "an existing resource that a template reads is not one that it has made"
    network = (tmp_path / "out/shop/network.yaml").read_text()
    assert [line for line in network.splitlines() if line.startswith("#")] == [
        "# deployment main/network",
        "# deployment main/network/subnets",
    ]
    assert json.loads(done.out)["steps"] == [
        "Stop what runs the deployment main again, such as its pipeline: it writes what the template has."
    ]


def test_what_a_failed_deployment_has_made(tmp_path):
    failed = deployment(state="Failed", error={"message": SECRET})
    del failed["properties"]["outputResources"]
    bodies = {
        DEPLOYMENT: failed,
        f"{DEPLOYMENT}/operations/1": operation(GROUP),
        f"{DEPLOYMENT}/operations/2": operation(GONE),
    }
    done = take(tmp_path, bodies, "--from-deployment", DEPLOYMENT, "--output", "json")
    assert done.code == 0, done.out + done.err
    assert read_rows(done) == [("taken", GROUP, "ResourceGroup/shop"), ("kept", GONE, None)]
    assert json.loads(done.out)["steps"][0] == (
        "The deployment main has the state Failed: resources of its template may be missing here."
    )


STATES = [
    ({"state": "Running"}, "Wait until the deployment main has ended (Running)", "it still runs"),
    ({"state": "Canceled"}, "has the state Canceled", "somebody stopped it"),
    ({"mode": "Complete"}, "deletes from resource group Shop what its template does not have", "the mode Complete"),
]


@pytest.mark.parametrize(("more", "message", "why"), STATES, ids=[row[-1] for row in STATES])
def test_notes_about_a_deployment(more, message, why, tmp_path):
    done = take(tmp_path, {DEPLOYMENT: deployment(GROUP, **more)}, "--from-deployment", DEPLOYMENT, "--output", "json")
    assert message in "\n".join(json.loads(done.out)["steps"]), why


def test_a_nested_deployment_that_cannot_be_read_is_an_error(tmp_path):
    bodies = {DEPLOYMENT: deployment(GROUP), f"{DEPLOYMENT}/operations/1": operation(NESTED)}
    done = take(tmp_path, bodies, "--from-deployment", DEPLOYMENT, "--output", "json")
    assert done.code == 1
    (problem,) = json.loads(done.out)["problems"]
    assert (problem["code"], NESTED in problem["message"]) == ("IdNotImported", True)
    assert read_rows(done) == [("taken", GROUP, "ResourceGroup/shop")]


UNREADABLE = [
    (["--from-stack", STACK], {}, {}, "does not exist", "Check --from-stack and", "no stack"),
    (["--from-deployment", DEPLOYMENT], {}, {}, "does not exist", "oldest deployments", "no deployment"),
    (["--from-stack", STACK], {STACK: stack(managed(GROUP))}, {"denied": (Denial(scope="*deploymentstacks*"),)},
     "AuthorizationFailed", "a role that grants it", "no right to read the stack"),
    (["--from-deployment", DEPLOYMENT], {DEPLOYMENT: deployment(GROUP)}, {"denied": (Denial(scope="*/operations"),)},
     "AuthorizationFailed", "a role that grants it", "no right to read the operations"),
    (["--from-stack", STACK], {STACK: stack()}, {}, "has no resource", "", "an empty stack"),
    (["--from-deployment", DEPLOYMENT], {DEPLOYMENT: deployment()}, {}, "has made no resource", "", "it made nothing"),
    (["--from-stack", STACK], {STACK: {"properties": {"resources": "all"}}}, {}, "not a list", "", "no list"),
    (["--from-stack", STACK], {STACK: {"properties": {"resources": [1]}}}, {}, "not a list", "", "no objects"),
    (["--from-deployment", DEPLOYMENT], {DEPLOYMENT: {"properties": {"outputResources": {}}}}, {}, "not a list", "",
     "no list of outputs"),
    (["--from-stack", STACK], {STACK: stack(EXTENSIBLE)}, {}, "no resource of Azure Resource Manager", "",
     "only resources of extensions"),
    (["--from-stack", STACK], {STACK: stack(managed(FAR))}, {}, "no resource in subscription", OTHER,
     "all in another subscription"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "bodies", "settings", "message", "hint", "why"), UNREADABLE, ids=[row[-1] for row in UNREADABLE]
)
def test_what_cannot_be_read(arguments, bodies, settings, message, hint, why, tmp_path):
    done = take(tmp_path, bodies, *arguments, **settings)
    assert done.code == 2, why + done.out + done.err
    assert message in done.err, why
    assert hint in done.err, why
    assert not (tmp_path / "out").exists(), why


REFUSED = [
    (["--from-stack", NETWORK], "is not the id of a deployment stack", "another type"),
    (["--from-stack", DEPLOYMENT], "Use --from-deployment", "a deployment"),
    (["--from-deployment", STACK], "Use --from-stack", "a stack"),
    (["--from-deployment", f"{DEPLOYMENT}/operations/1"], "is not the id of a deployment", "an operation"),
    (["--from-stack", "/providers/Microsoft.Resources/deploymentStacks/x"], "is not the id", "no stack is in a tenant"),
    (["--from-stack", f"{NETWORK}/providers/Microsoft.Resources/deploymentStacks/x"], "is not the id", "below a resource"),
    (["--from-stack", "shop"], "is not an ARM id", "a name"),
    (["--from-stack", f"{STACK}<script>"], "is not an ARM id", "markup"),
    (["--from-stack", STACK, "--from-deployment", DEPLOYMENT], "--from-deployment has no effect with --from-stack",
     "two sources"),
    (["--from-stack", STACK, "--from-terraform", "s"], "--from-stack has no effect with --from-terraform", "a state"),
    (["--from-stack", STACK, "--from-cluster-export", "s"], "--from-stack has no effect", "a cluster"),
    (["--from-stack", STACK, "--removed", "x.tf"], "--removed has no effect with --from-stack", "nothing of Terraform"),
    (["--from-deployment", DEPLOYMENT, GROUP], "ID has no effect with --from-deployment", "an id"),
    (["--from-deployment", DEPLOYMENT, "--tag", "a=b"], "--tag has no effect with --from-deployment", "a tag"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_is_refused(arguments, message, why, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["import", "--out", "out", *arguments]) == 2, why
    assert message in capsys.readouterr().err, why
    assert not (tmp_path / "out").exists()


def test_several_subscriptions_need_a_choice(tmp_path):
    done = take(tmp_path, {STACK: stack(managed(GROUP), managed(FAR))}, "--from-stack", STACK, "--output", "json")
    assert read_rows(done)[1] == ("kept", FAR, None)
    with azure(fill({**BODIES, STACK: stack(managed(GROUP), managed(FAR))})) as served:
        unset = {**served.variables, "AZURE_SUBSCRIPTION_ID": ""}
        done = run_here("import", "--out", "new", "--from-stack", STACK, folder=tmp_path, **unset)
    assert (done.code, "several subscriptions" in done.err) == (2, True)


def test_what_is_selected(tmp_path):
    arguments = ("--type", "VirtualNetwork", "--exclude", "shopfiles", "--output", "json")
    mine = stack(managed(GROUP), managed(NETWORK), managed(ACCOUNT))
    done = take(tmp_path, {STACK: mine}, "--from-stack", STACK, *arguments)
    assert [row[0] for row in read_rows(done)] == ["kept", "taken", "kept"]
    assert read_reasons(done)[GROUP] == "no match for the filters"


def test_a_second_import_skips_what_has_a_manifest(tmp_path):
    mine = {STACK: stack(managed(GROUP), managed(NETWORK))}
    assert take(tmp_path, mine, "--from-stack", STACK).code == 0
    again = take(tmp_path, mine, "--from-stack", STACK, "--output", "json")
    assert {row[0] for row in read_rows(again)} == {"taken"}
    assert json.loads(again.out)["imported"] == 0
