"""`gitsync explain`: what a kind may say, from the command line."""

import json

import pytest

from gitsync.cli.main import run


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


TEXT = """\
kind:       StorageAccount
apiVersion: storage.azure.com/v20230101
also:       v20250601, v1api20230101, v20220901, v1api20220901, v20210401, v1api20210401
ARM:        Microsoft.Storage/storageAccounts, api-version 2023-01-01
owner:      a ResourceGroup (resources.azure.com) by name, or by armId
name:       spec.azureName, else metadata.name; 3 to 24 characters; matches ^[a-z0-9]+$
Azure can:  delete, get, put

spec.sku: Sku
  required
  ARM: sku

FIELD   TYPE     RULES
name    string   required; one of Premium_LRS, Premium_ZRS, Standard_GRS, Standard_GZRS, Standard_LRS, \
Standard_RAGRS, Standard_RAGZRS or Standard_ZRS; ARM: sku/name
tier    string   one of Premium or Standard; ARM: sku/tier
"""


def test_a_field(capsys):
    assert run(["explain", "StorageAccount.sku", "--api-version", "v20230101"]) == 0
    assert capsys.readouterr().out == TEXT


def test_all_kinds(capsys):
    assert run(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 280
    assert "ResourceGroup.resources.azure.com" in lines


def test_all_kinds_as_json(capsys):
    assert run(["explain", "--output", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["resources.azure.com"] == ["ResourceGroup"]


def test_recursion_is_indented(capsys):
    assert run(["explain", "ResourceGroup", "--recursive"]) == 0
    assert "\n  configMapExpressions " in capsys.readouterr().out


def test_a_field_without_fields_has_no_table(capsys):
    assert run(["explain", "ResourceGroup.location"]) == 0
    assert capsys.readouterr().out.endswith("\nspec.location: string\n  required\n  ARM: location\n")


def test_json(capsys):
    assert run(["explain", "ResourceGroup.tags", "--output", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["field"], told["type"], told["rules"], told["fields"]) == (
        "spec.tags",
        "map of string",
        ["ARM: tags"],
        [],
    )


def test_a_name_that_is_not_known_refuses(capsys):
    assert run(["explain", "ResourceGrup"]) == 2
    assert "Did you mean ResourceGroup?" in capsys.readouterr().err
