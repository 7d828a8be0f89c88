"""`gitsync export terraform`: the files, what it refuses, and its report."""

import json

import pytest

from gitsync.cli.main import run
from tests.support.command_line import SUBSCRIPTION

MANIFESTS = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec: {location: westeurope}
---
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetwork
metadata: {name: hub}
spec: {location: westeurope, owner: {name: core}, addressSpace: {addressPrefixes: [10.0.0.0/16]}}
---
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetworksSubnet
metadata: {name: one}
spec: {owner: {name: hub}, addressPrefix: 10.0.0.0/24}
---
apiVersion: sql.azure.com/v1api20211101
kind: Server
metadata: {name: db}
spec:
  location: westeurope
  owner: {name: core}
  administratorLogin: boss
  administratorLoginPassword: {name: admin, key: password}
---
apiVersion: v1
kind: Secret
metadata: {name: admin}
stringData: {password: hunter2hunter2}
---
apiVersion: entra.azure.com/v1
kind: SecurityGroup
metadata: {name: team}
spec: {displayName: Team, mailNickname: team, membershipType: assigned}
"""

REPORT = """\
Written to infra:
  group-core.tf
  imports.tf
  providers.tf
  variables.tf

To change in the first plan:
  azapi_resource.server_db  secrets, which an imported state does not have

Variables to give:
  admin_password  Secret default/admin, key password

Not exported:
  SecurityGroup/team  it is in Microsoft Entra ID, which azapi does not manage

4 resources to import, 1 to change; 1 not exported.
"""


@pytest.fixture
def estate(tmp_path, monkeypatch):
    (tmp_path / "estate").mkdir()
    (tmp_path / "estate" / "all.yaml").write_text(MANIFESTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def export(*flags):
    return run(["export", "terraform", "estate", "--out", "infra", *flags])


def read_files(folder):
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def test_report(estate, capsys):
    assert export("--subscription", SUBSCRIPTION) == 0
    assert capsys.readouterr().out == REPORT
    files = read_files(estate / "infra")
    assert list(files) == ["group-core.tf", "imports.tf", "providers.tf", "variables.tf"]
    assert "hunter2" not in "".join(files.values())
    assert files["imports.tf"].count("import {") == files["group-core.tf"].count('resource "azapi_resource"') == 4


def test_report_names_the_namespaces(estate, capsys):
    team = MANIFESTS.rsplit("---", maxsplit=1)[-1]
    for namespace in ("one", "two"):
        (estate / "estate" / f"{namespace}.yaml").write_text(team.replace("{name", f"{{namespace: {namespace}, name"))
    assert export("--subscription", SUBSCRIPTION) == 0
    reason = "it is in Microsoft Entra ID, which azapi does not manage"
    listed = "".join(f"  {each}:\n    SecurityGroup/team  {reason}\n" for each in ("default", "one", "two"))
    assert f"Not exported:\n{listed}\n4 resources to import" in capsys.readouterr().out


def test_report_as_json(estate, capsys):
    assert export("--subscription", SUBSCRIPTION, "--output", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert {row["address"]: row["variables"] for row in document["resources"]}["azapi_resource.server_db"] == [
        "admin_password"
    ]
    assert document["variables"] == [
        {"name": "admin_password", "origin": "Secret default/admin, key password", "sensitive": True}
    ]
    assert [row["address"] for row in document["changes"]] == ["azapi_resource.server_db"]
    assert [(row["kind"], row["name"]) for row in document["notExported"]] == [("SecurityGroup", "team")]
    assert document["exitCode"] == 0


def test_a_reference_to_what_is_not_selected_is_an_id(estate):
    assert export("--subscription", SUBSCRIPTION, "--only", "VirtualNetworksSubnet/one") == 0
    parent = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core/providers/Microsoft.Network/virtualNetworks/hub"
    assert f'parent_id = "{parent}"' in (estate / "infra" / "group-core.tf").read_text()


def test_an_error_in_a_manifest_fails_and_the_others_are_written(estate, capsys):
    (estate / "estate" / "wrong.yaml").write_text(MANIFESTS.split("---")[1].replace("hub", "bad").replace("core", "no"))
    assert export("--subscription", SUBSCRIPTION) == 1
    assert "VirtualNetwork/bad  its manifest has errors: run gitsync validate" in capsys.readouterr().out
    assert "virtual_network_hub" in (estate / "infra" / "group-core.tf").read_text()


def test_no_file_is_overwritten(estate, capsys):
    (estate / "infra").mkdir()
    (estate / "infra" / "providers.tf").write_text("mine")
    assert export("--subscription", SUBSCRIPTION) == 2
    assert "providers.tf already exists." in capsys.readouterr().err
    assert read_files(estate / "infra") == {"providers.tf": "mine"}


def test_a_backend_may_be_there_before(estate):
    (estate / "infra").mkdir()
    (estate / "infra" / "backend.tf").write_text("mine")
    assert export("--subscription", SUBSCRIPTION) == 0
    assert (estate / "infra" / "backend.tf").read_text() == "mine"


def test_a_subscription_is_needed_for_ids(estate, capsys):
    assert export() == 2
    assert "No subscription is set." in capsys.readouterr().err
    assert not (estate / "infra").exists()
