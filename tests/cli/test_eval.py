"""`gitsync eval`: an expression for a resource of SOURCE, recorded or live, and many from lines of JSON."""

from __future__ import annotations

import json

import pytest

from gitsync.cli.main import run

MANIFESTS = """
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop, namespace: web}
spec: {location: westeurope}
---
apiVersion: cache.azure.com/v1api20241101
kind: Redis
metadata: {name: sessions, namespace: web}
spec:
  owner: {name: shop}
  location: westeurope
  sku: {family: C, name: Standard, capacity: 1}
---
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: files, namespace: web}
spec:
  type: Microsoft.Storage/storageAccounts@2023-01-01
  azureName: shopfiles
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body: {location: westeurope, kind: StorageV2, sku: {name: Standard_LRS}}
  operatorSpec: {secretAction: listKeys}
"""
CHECK = {
    "apiVersion": "cache.azure.com/v20241101",
    "kind": "Redis",
    "self": {"metadata": {"name": "sessions"}, "status": {"port": 0}},
    "secret": {"primaryKey": "pk=="},
    "expression": "has(self.status.port) ? secret.primaryKey : self.metadata.name",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A folder that was synchronized with an emulator."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.yaml").write_text(MANIFESTS)
    azure = tmp_path_factory.mktemp("azure") / "azure"
    assert run(["sync", str(folder), "--emulator", str(azure)]) == 0
    return folder, azure


def evaluate(repository, text, *flags):
    return run(["eval", "Redis/sessions", text, str(repository[0]), *flags])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("self.status.sku.name", "Standard"),
        ("self.spec.sku.capacity + self.status.sku.capacity", "2"),
        ("self.status.conditions[0].reason", "Succeeded"),
        ("{'generation': string(self.metadata.generation)}", '{"generation": "1"}'),
        ("secret.primaryKey + '@' + self.status.name", "<secret>@sessions"),
        (r"self.status.sku.name + '\n'", r"Standard\n"),
    ],
)
def test_a_value_of_what_is_recorded(repository, capsys, text, shown):
    assert evaluate(repository, text) == 0
    assert capsys.readouterr().out == f"{shown}\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("secret.keys[0].value", "<secret>"),
        ("secret.keys[1].value + '@' + self.status.sku.name", "<secret>@Standard_LRS"),
        ("{'a': secret['keys'][0]['value'], 'b': secret.?other.orValue('')}", '{"a": "<secret>", "b": "<secret>"}'),
        ("'no secret'", "no secret"),
    ],
)
def test_the_answer_of_an_action_has_a_placeholder(repository, capsys, text, shown):
    assert run(["eval", "AzureResource/files", text, str(repository[0])]) == 0
    assert capsys.readouterr().out == f"{shown}\n"


@pytest.mark.parametrize("text", ["self.status.hostName", "has(self.status.properties.accessTier)"])
def test_what_is_not_recorded_of_a_body_is_unknown(repository, capsys, text):
    assert run(["eval", "AzureResource/files", text, str(repository[0])]) == 1
    assert "is not recorded" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["self.status.hostName", "has(self.status.port)"])
def test_what_is_not_recorded_is_unknown(repository, capsys, text):
    assert evaluate(repository, text) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "is not recorded" in told.err
    assert "--live" in told.err


def test_live_is_what_azure_returns(repository, capsys):
    flags = ("--live", "--emulator", str(repository[1]), "--output", "json")
    assert evaluate(repository, "secret.primaryKey + '@' + self.status.hostName", *flags) == 0
    assert json.loads(capsys.readouterr().out) == {
        "stage": "value",
        "type": "string",
        "value": "<secret>@sessions.redis.cache.windows.net",
        "secrets": ["primaryKey"],
        "exportable": True,
    }


def test_what_azure_does_not_have_is_reported(repository, capsys, tmp_path):
    assert evaluate(repository, "self.status.id", "--live", "--emulator", str(tmp_path / "empty")) == 2
    assert "does not exist in Azure" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["Redis/sessions", "self.nope"], 1, "undefined field 'nope'"),
        (["Redis/sessions", "self.spec.zones[0]"], 1, "index out of bounds"),
        (["Redis/other", "self.spec"], 2, "No resource is called Redis/other."),
        (["Redis/sessions"], 2, "eval needs an expression"),
        (["Redis/sessions", "1", "--jsonl", "-"], 2, "--jsonl takes no resource"),
        (["--jsonl", "none.jsonl"], 2, "cannot be read"),
    ],
)
def test_what_cannot_be_evaluated_is_reported(repository, monkeypatch, capsys, arguments, code, told):
    monkeypatch.chdir(repository[0])
    assert run(["eval", *arguments]) == code
    assert told in capsys.readouterr().err


def test_nothing_is_recorded_before_a_sync(tmp_path, capsys):
    (tmp_path / "shop.yaml").write_text(MANIFESTS)
    assert evaluate((tmp_path, None), "self.status.id") == 2
    assert "No status is recorded for" in capsys.readouterr().err


COMPUTED = """
---
apiVersion: network.azure.com/v1api20201101
kind: PublicIPAddress
metadata: {name: egress, namespace: web}
spec: {owner: {name: shop}, location: westeurope, publicIPAllocationMethod: Static}
---
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata:
  name: photos
  namespace: web
  annotations:
    gitsync/set: |
      spec.tags.address: resource("PublicIPAddress/egress").status.ipAddress
      spec.tags.group: resource("ResourceGroup/shop").name
      spec.tags.none: resource("PublicIPAddress/egress").status.?dnsSettings.?fqdn
spec: {owner: {name: shop}, location: westeurope, kind: StorageV2, sku: {name: Standard_LRS}, accessTier: Hot}
"""


def test_the_fields_that_expressions_compute(tmp_path, monkeypatch, capsys):
    folder, azure = tmp_path / "shop", str(tmp_path / "azure")
    folder.mkdir()
    (folder / "shop.yaml").write_text(MANIFESTS + COMPUTED)
    monkeypatch.chdir(folder)
    assert run(["eval", "StorageAccount/photos"]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[:4] == [
        "spec.tags.address: unknown: no status of PublicIPAddress/egress is recorded.",
        '    resource("PublicIPAddress/egress").status.ipAddress',
        'spec.tags.group: "shop"',
        '    resource("ResourceGroup/shop").name',
    ]
    assert "--live" in told.err
    assert run(["sync", str(folder), "--emulator", azure]) == 0
    capsys.readouterr()
    flags = ("--live", "--emulator", azure, "--output", "json")
    assert run(["eval", "StorageAccount/photos", *flags]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [field["field"] for field in found] == ["spec.tags.address", "spec.tags.group", "spec.tags.none"]
    assert found[0]["value"].count(".") == 3
    assert found[2]["value"] is None


def send_request(tmp_path, *lines):
    (tmp_path / "lines").write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return run(["eval", "--jsonl", str(tmp_path / "lines")])


def test_each_line_gets_an_answer(tmp_path, capsys):
    others = ("self.metadata.nope", "self.spec.tags.x", "cel.bind(a, 'x', a)", "self.spec.sku", "secret['primaryKey']")
    assert send_request(tmp_path, CHECK, "", *({**CHECK, "expression": text} for text in others)) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["stage"] for answer in answers] == ["value", "compile", "eval", "compile", "value", "value"]
    assert answers[0] == {
        "stage": "value",
        "type": "string",
        "value": "pk==",
        "secrets": ["primaryKey"],
        "exportable": True,
    }
    assert answers[2] == {"stage": "eval", "error": "no such key: x", "secrets": [], "exportable": True}
    assert answers[4] == {"stage": "value", "type": "v20241101.Sku", "secrets": [], "exportable": False}
    assert answers[5]["secrets"] == [], "ASO overlooks it"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "Line 2 is not JSON"),
        ("[]", "Line 2 is not a JSON object"),
        ({**CHECK, "kind": "Lamp"}, "Line 2: Lamp of cache.azure.com/v20241101 is not known"),
        ({**CHECK, "expression": 1}, "Line 2: expression must be a string"),
        ({**CHECK, "self": []}, "Line 2: self must be a mapping"),
        ({**CHECK, "secret": {"primaryKey": 1}}, "Line 2: secret.primaryKey must be a string"),
    ],
)
def test_a_line_that_cannot_be_read_ends_the_command(tmp_path, capsys, line, told):
    assert send_request(tmp_path, CHECK, line) == 2
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 1
    assert told in shown.err
    assert "pk==" not in shown.err
