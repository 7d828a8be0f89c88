"""`gitsync import --from-cluster-export`: what it writes and reports, and what it refuses."""

import json
import subprocess

import pytest

from gitsync.cli.main import run
from tests.support.cluster_objects import aso, make_list, make_object

GROUP_ID = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/core"
SERVER_ID = f"{GROUP_ID}/providers/Microsoft.DBforPostgreSQL/flexibleServers/shop"
GROUP = {
    "apiVersion": "resources.azure.com/v1api20200601",
    "kind": "ResourceGroup",
    "metadata": {"name": "core", "namespace": "shop", "annotations": {aso("credential-from"): "deployer"}},
    "spec": {"location": "westeurope"},
}
SERVER = {
    "apiVersion": "dbforpostgresql.azure.com/v1api20221201",
    "kind": "FlexibleServer",
    "metadata": {"name": "shop", "namespace": "shop"},
    "spec": {
        "location": "westeurope",
        "owner": {"name": "core"},
        "version": "14",
        "sku": {"name": "Standard_D4s_v3", "tier": "GeneralPurpose"},
        "administratorLogin": "adm",
        "administratorLoginPassword": {"name": "shop-admin", "key": "password"},
        "storage": {"storageSizeGB": 128},
    },
}
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "shop-admin"},
    "data": {"password": "aHVudGVyMg=="},
}
OBJECTS = [make_object(GROUP, GROUP_ID), make_object(SERVER, SERVER_ID), SECRET]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "export.yaml").write_text(make_list(OBJECTS))
    return tmp_path


def take(*arguments: str) -> int:
    return run(["import", "--from-cluster-export", "export.yaml", "--out", "shop", *arguments])


WRITTEN = """\
Written to shop:
  core/database.yaml        FlexibleServer
  core/resource-group.yaml  ResourceGroup

Left out:
      1  objects that are not manifests of Azure resources: Secret

To provide before a sync:
  Secret shop-admin, key password: core/database.yaml, FlexibleServer/shop
  Secret deployer, all keys: core/resource-group.yaml, ResourceGroup/core

2 manifests imported, 2 for the resource that ASO has recorded.
"""


def test_it_writes_manifests_and_reports_what_is_still_missing(elsewhere, capsys):
    assert take() == 0
    assert capsys.readouterr().out == WRITTEN
    files = {path.relative_to(elsewhere).as_posix(): path.read_text() for path in elsewhere.rglob("core/*.yaml")}
    assert sorted(files) == ["shop/core/database.yaml", "shop/core/resource-group.yaml"]
    assert files["shop/core/resource-group.yaml"] == (
        "apiVersion: resources.azure.com/v1api20200601\n"
        "kind: ResourceGroup\n"
        "metadata:\n  name: core\n  namespace: shop\n  annotations:\n    serviceoperator.azure.com/credential-from: deployer\n"
        "spec:\n  location: westeurope\n"
    )
    assert take() == 0
    assert "2  a manifest declares it already" in capsys.readouterr().out
    assert {path: (elsewhere / path).read_text() for path in files} == files, "nothing is written over"


def test_a_manifest_for_another_resource_is_an_error(elsewhere, capsys):
    """As if somebody had renamed the group in the export by hand."""
    text = (elsewhere / "export.yaml").read_text()
    (elsewhere / "export.yaml").write_text(text.replace("azureName: core", "azureName: base"))
    assert take("--output", "json") == 1
    document = json.loads(capsys.readouterr().out)
    differing = {
        resource["name"]: [(each["path"], each["live"]) for each in resource["differences"]]
        for file in document["files"]
        for resource in file["resources"]
    }
    assert differing == {"core": [("/id", GROUP_ID)], "shop": [("/id", SERVER_ID)]}
    assert (document["imported"], document["requests"], document["leftOut"][0]["subject"]) == (2, None, "Secret")


def test_an_empty_export_is_not_a_success(elsewhere, capsys):
    """kubectl writes it, with exit code 0, if it was started for the wrong kinds."""
    (elsewhere / "export.yaml").write_text(make_list([]))
    assert take() == 1
    assert "error: NothingExported" in capsys.readouterr().out
    assert not (elsewhere / "shop").exists()


@pytest.mark.parametrize("ignored", [False, True])
def test_an_export_in_the_repository_is_refused(elsewhere, capsys, ignored):
    """gitsync would read its objects as manifests beside those that are written."""
    subprocess.run(["git", "init", "-q"], check=True)
    if ignored:
        (elsewhere / ".gitsyncignore").write_text("export.yaml\n")
    assert take() == (0 if ignored else 2)
    assert ("where gitsync reads its objects as manifests" in capsys.readouterr().err) is not ignored
    assert (elsewhere / "shop").exists() is ignored


REFUSED = [
    (["--policy", "skip"], "--policy has no effect with --from-cluster-export", "policies are those of the cluster"),
    (["--resource-group", "core"], "--resource-group has no effect", "nothing is read from Azure"),
    (["--from-cluster-export", "missing.yaml"], "missing.yaml cannot be read: No such file", "the file is not there"),
    (["--from-cluster-export", "."], ". cannot be read: Is a directory", "the file is a folder"),
    (["--out", "export.yaml"], "export.yaml is not a folder", "the folder is a file"),
]


@pytest.mark.parametrize(("arguments", "said", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_bad_input_is_refused_and_nothing_is_written(elsewhere, capsys, arguments, said, why):
    assert take(*arguments) == 2, why
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in elsewhere.iterdir()) == ["export.yaml"]


def test_no_value_of_a_secret_is_written_or_shown(elsewhere, capsys):
    """Neither from a good Secret, nor from one that is broken."""
    broken = make_list(OBJECTS).replace("password: aHVudGVyMg==", "password: [aHVudGVyMg==")
    for text in (make_list(OBJECTS), broken, "apiVersion: v1\nkind: Secret\ndata: aHVudGVyMg==\n---\naHVudGVyMg==\n"):
        (elsewhere / "export.yaml").write_text(text)
        take()
        shown = capsys.readouterr()
        assert "aHVudGVyMg" not in shown.out + shown.err
    done = subprocess.run(["grep", "-r", "aHVudGVyMg", "shop"], cwd=elsewhere, capture_output=True, check=False)
    assert done.stdout == b""
