"""A folder that `gitsync init` has prepared, in the language server that editors run: the way of a new user."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import re2

from gitsync.desired.editor.kind_schemas import DRAFT
from gitsync.desired.editor.schema_files import ENTRY, SHARED, build_files
from gitsync.desired.editor.settings_schemas import OPERATOR_SETTINGS, SOURCE_SETTINGS
from gitsync.desired.editor.workspace import SCHEMAS
from tests.desired.editor.language_server import LanguageServer
from tests.desired.editor.schema_validation import CATALOG, schema
from tests.support.command_line import gitsync
from tests.support.programs import needs_language_server

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "editor.md").read_text()
HEADER = "apiVersion: storage.azure.com/v20230101\nkind: StorageAccount\nmetadata:\n  name: example\n"
SPEC = HEADER + "spec:\n  owner: {name: web}\n  location: westeurope\n  kind: StorageV2\n"

FLOW = """\
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata:
  name: orders
spec:
  type: Microsoft.Logic/workflows@2016-06-01
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body:
    location: westeurope
    properties:
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """A folder after `gitsync init`, by an interpreter that orders sets in its own way."""
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "flow.yaml").write_text(FLOW)
    ended = gitsync("init", folder=folder, PYTHONHASHSEED="7")
    assert ended.code == 0, ended.err
    return folder


@pytest.fixture(scope="module")
def editor(workspace):
    server = LanguageServer(workspace, json.loads((workspace / ".vscode" / "settings.json").read_text()))
    yield server
    server.close()


def messages(marks):
    return [mark["message"] for mark in marks]


def labels(items):
    return [item["label"] for item in items]


@pytest.mark.parametrize(
    "path", [SHARED, SOURCE_SETTINGS, OPERATOR_SETTINGS, "network.azure.com/virtualnetwork_v20250301.json"]
)
def test_the_same_bytes_in_any_process(workspace, path):
    written = (workspace / SCHEMAS / path).read_text()
    assert written == json.dumps({"$schema": DRAFT, **schema(path)}, ensure_ascii=False, separators=(",", ":")) + "\n"


def test_every_schema_that_the_entry_names_is_there(workspace):
    folder = workspace / SCHEMAS
    entry = json.loads((folder / ENTRY).read_text())
    named = {
        kind["then"]["$ref"]
        for group in entry["allOf"]
        for version in group["then"].get("allOf", ())
        for kind in version["then"]["allOf"]
    }
    assert len(named) > 500
    assert sorted(path for path in named if not (folder / path).is_file()) == []


def test_the_files_of_a_source_have_its_types(workspace):
    folder, body = workspace / SCHEMAS, "microsoft.logic.workflows_2016-06-01.json"
    assert (folder / "azure.gitsync" / body).is_file()
    assert body in (folder / "azure.gitsync" / "azureresource_v1.json").read_text()
    assert "azureresource_v1.json" in (folder / ENTRY).read_text()


def test_every_version_has_a_file_of_its_name(workspace):
    """The layout that other tools look for: GROUP/KIND_VERSION.json, in lower case."""
    paths = {
        f"{group}/{kind.lower()}_{version}.json"
        for group in CATALOG.groups()
        for kind in CATALOG.kinds(group)
        for version in CATALOG.versions(group, kind)
    }
    assert sorted(path for path in paths if not (workspace / SCHEMAS / path).is_file()) == []


@needs_language_server
def test_a_message_names_the_wrong_field(editor):
    text = SPEC + "  sku:\n    name: Standard\n    teir: Standard\n  allowBlobPublicAccess: 'no'\n"
    found = messages(editor.open("wrong.yaml", text))
    assert found[:1] + found[2:] == [
        "spec.allowBlobPublicAccess must be true or false.",
        "Property teir is not allowed.",
    ]
    assert found[1].startswith("spec.sku.name must be Premium_LRS, Premium_ZRS, Standard_GRS,")


@needs_language_server
def test_each_document_of_a_file_is_evaluated_by_its_kind(editor):
    others = "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: 1, foo: 2}\n"
    wrong = "---\napiVersion: network.azure.com/v20250301\nkind: VirtualNetwrk\n"
    (mark,) = editor.open("several.yaml", SPEC + "  sku: {name: Standard_LRS}\n" + others + wrong)
    assert mark["message"].startswith("network.azure.com/v20250301 has no such kind. Known kinds: AzureFirewall,")
    assert mark["range"]["start"]["line"] == 15


@needs_language_server
def test_a_source_without_types(editor, workspace):
    """As a new user begins: there is no type whose body gets a schema."""
    path = f"{SCHEMAS}/azure.gitsync/without_types.json"
    content = next(content for path, content in build_files(CATALOG, ()) if path.endswith("/azureresource_v1.json"))
    (workspace / path).write_bytes(content)
    text = f"# yaml-language-server: $schema={path}\n{FLOW}  tag: {{}}\n"
    assert messages(editor.open("without-types.yaml", text)) == ["Property tag is not allowed."]


@needs_language_server
def test_completion_offers_fields_with_their_values(editor):
    assert {"owner", "sku", "supportsHttpsTrafficOnly"} <= set(
        labels(editor.complete("fields.yaml", HEADER + "spec:\n  |"))
    )
    assert labels(editor.complete("choices.yaml", SPEC + "  accessTier: |")) == ["Cool", "Hot", "Premium"]
    kinds = labels(editor.complete("kinds.yaml", "apiVersion: keyvault.azure.com/v20230701\nkind: |"))
    assert "Vault" in kinds
    assert "StorageAccount" not in kinds


@needs_language_server
@pytest.mark.parametrize(
    ("header", "offered", "why"),
    [
        ("apiVersion: v1\nkind: Secret\n", ["data", "stringData"], "a whole header"),
        ("apiVersion: v1\nkind: S\n", [], "half a kind, perhaps of Service"),
        ("apiVersion: v\nkind: Secret\n", [], "half a version"),
    ],
)
def test_completion_offers_fields_once_the_header_is_written(editor, header, offered, why):
    assert labels(editor.complete(f"{why}.yaml", f"{header}|")) == offered, why


@needs_language_server
def test_completion_offers_annotations_and_references(editor):
    annotations = HEADER + "  annotations:\n    serviceoperator.azure.com/reconcile-policy: |"
    assert set(labels(editor.complete("policy.yaml", annotations))) == {"manage", "skip", "detach-on-delete"}
    role = "apiVersion: authorization.azure.com/v20220401\nkind: RoleAssignment\nmetadata: {name: x}\nspec:\n"
    names = editor.complete("role.yaml", role + "  roleDefinitionReference:\n    wellKnownName: |")
    assert {"Reader", "Contributor"} <= set(labels(names))
    owner = role + "  owner:\n    group: keyvault.azure.com\n    kind: |\n"
    assert labels(editor.complete("owner.yaml", owner)) == ["Vault"]


@needs_language_server
def test_an_empty_file_offers_whole_manifests(editor):
    network = next(
        completion for completion in editor.complete("empty.yaml", "|") if completion["label"] == "VirtualNetwork"
    )
    assert "kind: VirtualNetwork\n" in network["insertText"]
    assert "addressPrefixes:\n" in network["insertText"]


@needs_language_server
def test_hover_shows_type_and_path_in_arm(editor):
    assert "string; required; ARM: sku/name" in editor.hover("hover.yaml", SPEC + "  sku:\n    na|me: Standard_LRS\n")
    kind = editor.hover("kind.yaml", SPEC.replace("kind: Sto", "ki|nd: Sto"))
    assert "ARM: Microsoft.Storage/storageAccounts, api-version 2023-01-01." in kind


@needs_language_server
def test_the_body_of_a_type_that_the_source_uses(editor):
    assert {"definition", "parameters", "state"} <= set(labels(editor.complete("body.yaml", f"{FLOW}      |")))
    assert "provisioningState" not in labels(editor.complete("body2.yaml", f"{FLOW}      |"))
    assert "Enabled" in labels(editor.complete("state.yaml", f"{FLOW}      state: |"))
    secret = f"{FLOW}      parameters: {{key: {{value: {{$secret: {{name: a, key: b}}}}}}}}\n"
    assert messages(editor.open("secret.yaml", secret)) == []
    assert messages(editor.open("wrong-body.yaml", f"{FLOW}      stat: Enabled\n")) == ["Property stat is not allowed."]
    assert "one of" not in editor.hover("hover-body.yaml", f"{FLOW}      sta|te: Enabled\n")
    types = editor.complete("type.yaml", FLOW.partition("Microsoft.Logic")[0] + "Microsoft.Consumption|")
    assert any(label.startswith("Microsoft.Consumption/budgets@") for label in labels(types))


@needs_language_server
def test_gitsync_yaml_has_a_schema_of_its_own(editor, workspace):
    assert messages(editor.open("gitsync.yaml", (workspace / "gitsync.yaml").read_text())) == []
    assert sorted(messages(editor.open("sub/gitsync.yaml", "namespce: web\nprune: true\n"))) == [
        "Property namespce is not allowed.",
        "Property prune is not allowed.",
    ]


@needs_language_server
@pytest.mark.parametrize("name", ["kustomization.yaml", "chart/values-prod.yaml", ".github/workflows/sync.yaml"])
def test_files_of_other_tools_are_not_evaluated(editor, name):
    assert editor.open(name, "apiVersion: network.azure.com/v1\nkind: Nothing\n") == []


@pytest.fixture(scope="module")
def patterns(workspace):
    texts = [path.read_text() for path in sorted((workspace / SCHEMAS).rglob("*.json"))]
    return sorted({pattern for text in texts for pattern in find_patterns(json.loads(text))})


def test_every_pattern_is_one_of_go(patterns):
    """Go's engine, which kubeconform and others use, is RE2."""
    assert len(patterns) > 100
    assert all(re2.compile(pattern) for pattern in patterns)


@needs_language_server
def test_every_pattern_is_one_of_javascript(patterns):
    """Python's engine, which other tests use, reads patterns that the editor's does not."""
    script = "JSON.parse(fs.readFileSync(0)).forEach(one => new RegExp(one, 'u'))"
    ended = subprocess.run(
        ["node", "-e", script], input=json.dumps(patterns), text=True, capture_output=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


@needs_language_server
def test_the_page_shows_what_the_editor_shows(editor):
    wrong = re.search(r"^```yaml\n(apiVersion.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)[1]
    marks = sorted((mark["range"]["start"]["line"] + 1, mark["message"]) for mark in editor.open("page.yaml", wrong))
    assert "".join(f"line {line}: {message}\n" for line, message in marks) in PAGE
    hover = editor.hover("page-hover.yaml", wrong.replace("name: Standard_LRS", "na|me: Standard_LRS"))
    assert hover.partition("\n")[0] in PAGE


def find_patterns(value):
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        yield from value.get("patternProperties", ())
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from find_patterns(member)
