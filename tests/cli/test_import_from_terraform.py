"""`gitsync import --from-terraform`: from a state to manifests, over a real socket."""

import json
import subprocess
from pathlib import Path

import pytest

from gitsync.cli.main import run
from gitsync.workflows.imports.takeovers import UNWRITTEN
from gitsync.workflows.imports.terraform.state import MAX_BYTES
from tests.support.command_line import SUBSCRIPTION, azure, run_here
from tests.support.filled_store import ROOT, fill
from tests.support.terraform_states import resource, shown, state
from tests.support.world import World

SECRET = "correct-horse-battery"
GROUP = f"{ROOT}/Shop"
NET = f"{GROUP}/providers/Microsoft.Network"
NETWORK = f"{NET}/virtualNetworks/spoke"
SUBNET = f"{NETWORK}/subnets/app"
RULES = f"{NET}/networkSecurityGroups/app"
BALANCER = f"{NET}/loadBalancers/web"
POOL = f"{BALANCER}/backendAddressPools/all"
SERVER = f"{GROUP}/providers/Microsoft.DBforPostgreSQL/flexibleServers/orders"
ACCOUNT = f"{GROUP}/providers/Microsoft.Storage/storageAccounts/shopfiles"
CONTAINER = f"{ACCOUNT}/blobServices/default/containers/reports"
SEARCH = f"{GROUP}/providers/Microsoft.Search/searchServices/shop"

RULE = {"name": "https", "properties": {
    "access": "Allow", "direction": "Inbound", "priority": 100, "protocol": "Tcp", "sourceAddressPrefix": "*",
    "sourcePortRange": "*", "destinationAddressPrefix": "*", "destinationPortRange": "443"}}  # fmt: skip
BODIES = {
    GROUP: {"location": "westeurope"},
    RULES: {"location": "westeurope", "properties": {"securityRules": [RULE]}},
    NETWORK: {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.1.0.0/16"]}}},
    SUBNET: {"properties": {"addressPrefix": "10.1.1.0/24", "networkSecurityGroup": {"id": RULES}}},
    f"{NETWORK}2": {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.2.0.0/16"]}}},
    BALANCER: {"location": "westeurope", "properties": {"backendAddressPools": [{"name": "all", "properties": {}}]}},
    SERVER: {"location": "westeurope", "properties": {"version": "17", "administratorLogin": "boss",
             "administratorLoginPassword": SECRET}},
    ACCOUNT: {"location": "westeurope", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}},
    CONTAINER: {"properties": {"publicAccess": "None"}},
    SEARCH: {"location": "westeurope", "sku": {"name": "basic"}},
}  # fmt: skip
STRANGER = f"{GROUP}/providers/Microsoft.Storage/storageAccounts/other"

HUB = 'module.net["eu"]'
RESOURCES = (
    resource("azurerm_client_config", "me", "x", mode="data"),
    resource("azurerm_resource_group", "shop", GROUP),
    resource("azurerm_network_security_group", "app", RULES.replace("resourceGroups", "resourcegroups")),
    resource("azurerm_virtual_network", "each", (0, NETWORK), (1, f"{NETWORK}9")),
    resource("azurerm_virtual_network", "second", ("b", f"{NETWORK}2"), module=HUB),
    resource("azurerm_subnet", "app", ("app", SUBNET)),
    resource("azurerm_subnet_network_security_group_association", "app", SUBNET),
    resource("azurerm_lb", "web", BALANCER),
    resource("azurerm_lb_backend_address_pool", "all", POOL),
    resource("azurerm_postgresql_flexible_server", "orders", {"id": SERVER, "administrator_password": SECRET}),
    resource("azurerm_storage_account", "files", {"id": ACCOUNT, "primary_access_key": SECRET}),
    resource("azurerm_storage_container", "reports", {"id": "https://x.example", "resource_manager_id": CONTAINER}),
    resource("azurerm_storage_account_queue_properties", "files", ACCOUNT),
    resource("azurerm_storage_future_settings_of_account", "files", ACCOUNT),
    resource("azapi_resource", "search", SEARCH),
    resource("random_password", "orders", {"id": "none", "result": SECRET}),
    resource("azurerm_key_vault_secret", "orders", {"id": "https://v.example/secrets/o", "value": SECRET}),
)
OUTCOMES = [
    ("taken", "azurerm_resource_group.shop", "ResourceGroup/shop"),
    ("taken", "azurerm_network_security_group.app", "NetworkSecurityGroup/app"),
    ("taken", "azurerm_network_security_group.app", "NetworkSecurityGroupsSecurityRule/app-https"),
    ("taken", "azurerm_virtual_network.each[0]", "VirtualNetwork/spoke"),
    ("kept", "azurerm_virtual_network.each[1]", None),
    ("taken", 'module.net["eu"].azurerm_virtual_network.second["b"]', "VirtualNetwork/spoke2"),
    ("taken", 'azurerm_subnet.app["app"]', "VirtualNetworksSubnet/spoke-app"),
    ("covered", "azurerm_subnet_network_security_group_association.app", "VirtualNetworksSubnet/spoke-app"),
    ("taken", "azurerm_lb.web", "LoadBalancer/web"),
    ("covered", "azurerm_lb_backend_address_pool.all", "LoadBalancer/web"),
    ("taken", "azurerm_postgresql_flexible_server.orders", "FlexibleServer/orders"),
    ("taken", "azurerm_storage_account.files", "StorageAccount/shopfiles"),
    ("taken", "azurerm_storage_container.reports", "StorageAccountsBlobServicesContainer/shopfiles-reports"),
    ("kept", "azurerm_storage_account_queue_properties.files", None),
    ("kept", "azurerm_storage_future_settings_of_account.files", None),
    ("taken", "azapi_resource.search", "SearchService/shop"),
    ("kept", "random_password.orders", None),
    ("kept", "azurerm_key_vault_secret.orders", None),
    ("kept", "data.azurerm_client_config.me", None),
]


@pytest.fixture(scope="module")
def store():
    return fill({**BODIES, STRANGER: BODIES[ACCOUNT]})


def take(store, folder, content, *arguments):
    (folder / "s.tfstate").write_bytes(content)
    with azure(store) as served:
        done = run_here(
            "import", "--from-terraform", "s.tfstate", "--out", "out", *arguments, folder=folder, **served.variables
        )
        assert {method for method, _, _ in served.sent()} <= {"GET"}, "an import only reads"
    return done


def read_all(folder):
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.yaml")}


def list_rows(document):
    rows = json.loads(document)["outcomes"]
    return [
        (row["outcome"], row["address"], row["manifest"] and f"{row['manifest']['kind']}/{row['manifest']['name']}")
        for row in rows
    ]


@pytest.mark.parametrize("make", [state, shown], ids=["a state file", "show -json"])
def test_each_resource_is_taken_covered_or_kept(store, tmp_path, make):
    done = take(store, tmp_path, make(*RESOURCES), "--output", "json", "--removed", "removed.tf")
    assert done.code == 1, "one resource is gone"
    document = json.loads(done.out)
    assert sorted(map(str, list_rows(done.out))) == sorted(map(str, OUTCOMES))
    assert all(row["reason"] for row in document["outcomes"] if row["outcome"] == "kept")
    assert [problem["code"] for problem in document["problems"]] == ["IdNotImported"]
    assert f"{NETWORK}9" in document["problems"][0]["message"]
    assert document["imported"] == document["nothingToChange"] == 11
    assert document["leftOut"] == [], "all is in one table"
    files = {path.name: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert "other" not in "".join(read_all(tmp_path / "out").values()), "no one asked for what the state does not name"
    assert SECRET not in "".join(text for name, text in files.items() if name != "s.tfstate") + done.out + done.err
    secrets = [secret for file in document["files"] for own in file["resources"] for secret in own["secrets"]]
    assert secrets == [{"name": "orders-flexibleserver", "key": "administratorLoginPassword"}]
    check_forgetting(files)


def check_forgetting(files):
    blocks = [line.removeprefix("  from = ") for line in files["removed.tf"].splitlines() if "from = " in line]
    assert sorted(blocks) == [
        "azapi_resource.search",
        "azurerm_lb.web",
        "azurerm_lb_backend_address_pool.all",
        "azurerm_network_security_group.app",
        "azurerm_postgresql_flexible_server.orders",
        "azurerm_resource_group.shop",
        "azurerm_storage_account.files",
        "azurerm_storage_container.reports",
        "azurerm_subnet.app",
        "azurerm_subnet_network_security_group_association.app",
    ]
    assert files["removed.tf"].count("destroy = false") == len(blocks)
    assert [line for line in files["removed.sh"].splitlines() if not line.startswith(("#", "set"))] == [
        "terraform state rm 'azurerm_virtual_network.each[0]'",
        """terraform state rm 'module.net["eu"].azurerm_virtual_network.second["b"]'""",
    ]


def test_a_plan_of_what_was_written_has_nothing_to_do(store, tmp_path):
    there = [entry for entry in RESOURCES if entry["name"] != "each"]
    there.append(resource("azurerm_virtual_network", "each", (0, NETWORK)))
    done = take(store, tmp_path, state(*there))
    assert done.code == 0, done.out + done.err
    written = read_all(tmp_path / "out")
    assert sorted(written) == [
        f"shop/{name}.yaml" for name in ("database", "network", "resource-group", "search", "storage")
    ]
    assert '# module.net["eu"].azurerm_virtual_network.second["b"]\napiVersion' in written["shop/network.yaml"]
    (tmp_path / "world").mkdir()
    world = World(tmp_path / "world")
    world.store = store
    report = world.says_files(written).plan()
    writes = {str(result.key.name): result.action.value for result in report.results if result.action.value != "none"}
    assert writes.keys() <= {"orders"}, "only its password is not there yet"
    assert world.writes == []


def test_a_second_import_proves_what_the_first_has_written(store, tmp_path):
    content = state(resource("azurerm_resource_group", "shop", GROUP), resource("azurerm_lb", "web", BALANCER))
    assert take(store, tmp_path, content).code == 0
    again = take(store, tmp_path, content, "--removed", "removed.tf", "--output", "json")
    assert [outcome for outcome, _, _ in list_rows(again.out)] == ["taken", "taken"]
    assert json.loads(again.out)["imported"] == 0
    network = tmp_path / "out/shop/network.yaml"
    network.write_text(network.read_text().replace("location: westeurope", "location: northeurope"))
    changed = take(store, tmp_path, content, "--removed", "other.tf", "--output", "json")
    assert list_rows(changed.out)[1] == ("kept", "azurerm_lb.web", "LoadBalancer/web")
    assert "azurerm_lb.web" not in (tmp_path / "other.tf").read_text(), "Terraform keeps what is not proven"


def test_terraform_keeps_what_gitsync_would_only_read(store, tmp_path):
    content = state(resource("azurerm_resource_group", "shop", GROUP), resource("azurerm_lb", "web", BALANCER))
    done = take(store, tmp_path, content, "--policy", "skip", "--removed", "removed.tf", "--output", "json")
    assert done.code == 0, done.out + done.err
    assert list_rows(done.out)[0] == ("kept", "azurerm_resource_group.shop", "ResourceGroup/shop")
    assert {row["reason"] for row in json.loads(done.out)["outcomes"]} == {UNWRITTEN}
    assert not (tmp_path / "removed.tf").exists()


def test_what_is_selected(store, tmp_path):
    done = take(
        store, tmp_path, state(*RESOURCES), "--type", "VirtualNetwork", "--exclude", "spoke2", "--output", "json"
    )
    rows = list_rows(done.out)
    assert [row for row in rows if row[0] == "taken"] == [
        ("taken", "azurerm_virtual_network.each[0]", "VirtualNetwork/spoke")
    ]
    reasons = {row["address"]: row["reason"] for row in json.loads(done.out)["outcomes"]}
    assert reasons["azurerm_resource_group.shop"] == "no match for the filters"
    assert reasons['module.net["eu"].azurerm_virtual_network.second["b"]'] == "excluded"


def test_the_table_as_text(store, tmp_path):
    content = state(
        resource("azurerm_resource_group", "shop", GROUP), resource("random_password", "p\u0061", {"id": SECRET})
    )
    done = take(store, tmp_path, content)
    assert done.out == (
        "Written to out:\n"
        "  shop/resource-group.yaml  ResourceGroup\n"
        "\n"
        "Resources of the Terraform state:\n"
        "  taken    azurerm_resource_group.shop  ResourceGroup/shop\n"
        "  kept     random_password.pa           a value or a step of Terraform\n"
        "  1 taken, 0 covered, 1 kept\n"
        "\n"
        "1 resource imported, 1 with nothing to change; 1 request (1.00 a resource).\n"
    )


def test_one_subscription_at_a_time(store, tmp_path):
    other = "11111111-1111-4111-8111-111111111111"
    content = state(
        resource("azurerm_resource_group", "shop", GROUP),
        resource("azurerm_resource_group", "far", GROUP.replace(SUBSCRIPTION, other)),
    )
    done = take(store, tmp_path, content, "--output", "json")
    assert list_rows(done.out)[1] == ("kept", "azurerm_resource_group.far", None)
    assert other in done.out


ONE = state(resource("azurerm_resource_group", "core", GROUP))
REFUSED = [
    (ONE, ["/subscriptions/x"], "ID has no effect", "ids"),
    (ONE, ["--resource-group", "shop"], "--resource-group has no effect", "a group"),
    (
        ONE,
        ["--removed", "removed.hcl"],
        "must name a file that Terraform reads",
        "a file that Terraform would not read",
    ),
    (ONE, ["--removed", "there.tf"], "there.tf already exists", "a file that exists"),
    (ONE, ["--removed", "script.tf"], "script.sh already exists", "a script that exists"),
    (ONE, ["--removed", "link.tf"], "link.tf is a link", "a link"),
    (ONE, ["--from-cluster-export", "s.tfstate"], "--from-terraform has no effect", "two sources"),
    (state(resource("random_pet", "x", "x")), [], "no resource of Azure Resource Manager", "nothing of Azure"),
    (
        ONE,
        ["--subscription", "11111111-1111-4111-8111-111111111111"],
        "no resource in subscription 1111",
        "another one",
    ),
    (b"\0" * (MAX_BYTES + 1), [], "has more than 64 MB", "a state that is too large"),
    (None, [], "cannot be read", "no file"),
]


@pytest.mark.parametrize(("content", "arguments", "message", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_is_refused(content, arguments, message, why, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("there.tf").touch()
    Path("script.sh").touch()
    Path("link.tf").symlink_to("elsewhere.tf")
    if content is not None:
        Path("s.tfstate").write_bytes(content)
    assert run(["import", "--from-terraform", "s.tfstate", "--out", "out", *arguments]) == 2, why
    assert message in capsys.readouterr().err, why
    assert not Path("out").exists()


INSIDE = [
    ("s.tfstate", "out", True, "beside the manifests in one repository"),
    ("out/s.tfstate", "out", True, "in the folder itself"),
    ("deep/in/it/s.tfstate", "out/deep", True, "anywhere in the repository"),
    ("../s.tfstate", "out", False, "beside the repository"),
]


@pytest.mark.parametrize(("path", "out", "is_refused", "why"), INSIDE, ids=[row[-1] for row in INSIDE])
def test_a_state_in_the_repository_of_the_manifests(path, out, is_refused, why, store, tmp_path):
    repository = tmp_path / "estate"
    (repository / ".git").mkdir(parents=True)
    file = repository / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(ONE)
    with azure(store) as served:
        done = run_here("import", "--from-terraform", path, "--out", out, folder=repository, **served.variables)
    assert done.code == (2 if is_refused else 0), why + done.err
    assert ("A state holds passwords and keys in plain text" in done.err) is is_refused, why
    assert (repository / out / "shop").exists() is not is_refused, why


def test_a_link_into_the_repository_is_followed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("out/.git").mkdir(parents=True)
    Path("out/s.tfstate").write_bytes(ONE)
    Path("link").symlink_to("out/s.tfstate")
    assert run(["import", "--from-terraform", "link", "--out", "out"]) == 2
    assert "the repository of --out" in capsys.readouterr().err


def test_removed_needs_a_state(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["import", "--out", "out", "--removed", "removed.tf"]) == 2
    assert "--removed has no effect without --from-terraform" in capsys.readouterr().err


def test_hostile_addresses_and_ids_stay_text(store, tmp_path):
    content = state(
        resource("azurerm_resource_group", "shop", ("x'; touch hacked; '${1}\n---\nkind: Secret", GROUP)),
        resource("azurerm_resource_group", "twice", (0, GROUP), (1, f"{GROUP}/")),
        resource("azurerm_key_vault", "odd", f"{GROUP}/providers/Microsoft.KeyVault/vaults/<script>"),
    )
    done = take(store, tmp_path, content, "--removed", "removed.tf", "--output", "json")
    assert done.code == 0, done.out + done.err
    assert json.loads(done.out)["imported"] == 1, "an id counts once"
    (text,) = read_all(tmp_path / "out").values()
    assert len([line for line in text.splitlines() if line.startswith("#")]) == 3, "all of its addresses"
    # Every instance was taken, so there is no script; a kept one leaves the rest to it.
    kept = resource("azurerm_resource_group", "shop", ("a'; touch hacked; '", GROUP), ("gone", f"{GROUP}-gone"))
    take(store, tmp_path, state(kept), "--removed", "more.tf")
    (tmp_path / "terraform").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "terraform").chmod(0o755)
    ran = subprocess.run(
        ["sh", "more.sh"],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "state\nrm\nazurerm_resource_group.shop[\"a'; touch hacked; '\"]\n"
    assert not (tmp_path / "hacked").exists()
