"""`gitsync render`: the requests of a source, for people and for machines."""

import json

import pytest
import yaml

from gitsync.cli.main import run

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core"

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec: {location: westeurope}
"""
ACCOUNT = """\
apiVersion: storage.azure.com/v20230101
kind: StorageAccount
metadata: {name: stuff, annotations: {serviceoperator.azure.com/reconcile-policy: POLICY}}
spec:
  owner: {name: core}
  location: westeurope
  kind: StorageV2
  sku: {name: Standard_LRS}
"""
SERVER = """\
apiVersion: dbformariadb.azure.com/v1api20180601
kind: Server
metadata: {name: db}
spec:
  owner: {name: core}
  location: westeurope
  properties:
    default:
      createMode: Default
      administratorLogin: me
      administratorLoginPassword: {name: admin, key: password}
---
apiVersion: v1
kind: Secret
metadata: {name: admin}
stringData: {password: hunter2hunter2}
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Away from settings of the working folder and of the user who runs the tests."""
    folder = tmp_path / "cwd"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("GITSYNC_CONFIG", "AZURE_SUBSCRIPTION_ID", "AZURE_TARGET_NAMESPACES", "DEFAULT_RECONCILE_POLICY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def render(tmp_path, capsys):
    """Render these files; the exit code, stdout and stderr."""

    def call(files, *flags):
        folder = tmp_path / "source"
        folder.mkdir()
        for name, text in files.items():
            (folder / f"{name}.yaml").write_text(text)
        code = run(["render", str(folder), "--subscription", SUBSCRIPTION, *flags])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def documents(render, files, *flags):
    code, out, _ = render(files, "--output", "json", *flags)
    return code, json.loads(out)


def test_json_shows_all_of_a_resource(render):
    code, document = documents(render, {"group": GROUP, "stuff": ACCOUNT.replace("POLICY", "skip")})
    assert (code, document["problems"]) == (0, [])
    assert document["resources"][1] == {
        "apiVersion": "storage.azure.com/v20230101",
        "kind": "StorageAccount",
        "namespace": "default",
        "name": "stuff",
        "source": {"path": "stuff.yaml", "line": 1},
        "policy": "skip",
        "armId": f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/stuff",
        "armApiVersion": "2023-01-01",
        "dependsOn": ["ResourceGroup.resources.azure.com/default/core"],
        "problems": [],
        "body": {
            "kind": "StorageV2",
            "location": "westeurope",
            "sku": {"name": "Standard_LRS"},
            "tags": None,
            "name": "stuff",
        },
    }


def test_default_tags_are_shown_with_where_they_are_set(render):
    namespace = (
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: default\n  annotations: {gitsync/tags: 'team: web'}\n"
    )
    files = {"group": GROUP, "ns": namespace, "gitsync": "tags:\n  env: dev\n"}
    _, out, _ = render(files)
    assert "# default tags: env (gitsync.yaml:2), team (ns.yaml:5)\n" in out
    assert yaml.safe_load(out)["tags"] == {"env": "dev", "team": "web"}


def test_json_has_where_default_tags_are_set(render):
    _, document = documents(render, {"group": GROUP, "gitsync": "tags:\n  env: dev\n"})
    (resource,) = document["resources"]
    assert resource["defaultTags"] == {"env": {"path": "gitsync.yaml", "line": 2}}


def test_a_secret_is_shown_by_where_it_comes_from(render):
    code, out, err = render({"group": GROUP, "server": SERVER}, "--output", "json")
    assert code == 0, err
    assert "<secret admin/password>" in out
    assert "hunter2" not in out + err


@pytest.mark.parametrize(
    ("files", "resource_codes", "file_codes", "why"),
    [
        (
            {"a": GROUP.replace("spec:", "spek:")},
            ["MissingField", "MisspeltField"],
            [],
            "a problem of a resource stands with it",
        ),
        (
            {"a": GROUP, "b": "kind: Redis\napiVersion: cache.azure.com/v1\na: [\n"},
            [],
            ["InvalidYaml"],
            "one of a file stands apart",
        ),
        ({"a": ACCOUNT.replace("POLICY", "skip")}, ["OwnerNotFound"], [], "an owner that is not there"),
    ],
)
def test_problems(render, files, resource_codes, file_codes, why):
    code, document = documents(render, files)
    assert code == 1, why
    assert [p["code"] for r in document["resources"] for p in r["problems"]] == resource_codes, why
    assert [p["code"] for p in document["problems"]] == file_codes, why
    assert [bool(r["problems"]) and "body" not in r for r in document["resources"]] == [
        resource_codes == ["OwnerNotFound"]
    ]


def test_only_what_is_requested_is_shown_and_its_owner_still_counts(render):
    files = {"group": GROUP, "stuff": ACCOUNT.replace("POLICY", "manage")}
    code, document = documents(render, files, "--only", "StorageAccount/stuff")
    assert code == 0
    assert [r["armId"] for r in document["resources"]] == [
        f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/stuff"
    ]


def test_text_is_yaml_with_the_requests_as_comments(render):
    files = {"group": GROUP, "stuff": ACCOUNT.replace("POLICY", "manage")}
    code, out, err = render(files, "--endpoint", "https://management.example/")
    assert (code, err) == (0, "")
    assert list(yaml.safe_load_all(out)) == [
        {"location": "westeurope", "name": "core"},
        {
            "kind": "StorageV2",
            "location": "westeurope",
            "sku": {"name": "Standard_LRS"},
            "tags": None,
            "name": "stuff",
        },
    ]
    assert out.startswith(
        "---\n"
        "# ResourceGroup.resources.azure.com/default/core (group.yaml:1, policy manage)\n"
        f"# PUT https://management.example{GROUP_ID}?api-version=2020-06-01\n"
    )


@pytest.mark.parametrize(
    ("files", "line", "why"),
    [
        (
            {"group": GROUP, "stuff": ACCOUNT.replace("POLICY", "skip")},
            (
                f"# GET https://management.azure.com{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/stuff"
                "?api-version=2023-01-01"
            ),
            "what is skipped is only read",
        ),
        ({"stuff": ACCOUNT.replace("POLICY", "manage")}, "# no request: no ARM id", "nothing to send"),
        (
            {"stuff": ACCOUNT.replace("POLICY", "manage")},
            "# error: spec.owner names ResourceGroup/core, which no manifest in namespace default declares.",
            "and why",
        ),
    ],
)
def test_text_shows_what_would_be_done(render, files, line, why):
    assert line in render(files)[1].splitlines(), why


def test_text_holds_no_control_characters_of_manifests(render):
    text = GROUP.replace("westeurope", '"west\\e[31m\\neurope"').replace("{name: core}", '{name: "core\\u202e"}')
    _, out, _ = render({"a": text})
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.mark.parametrize(
    ("files", "note", "why"),
    [
        ({}, "gitsync: nothing to render; check SOURCE and --path.", "an empty source"),
        (
            {"a": GROUP.replace("spec", "spek")},
            "gitsync: some manifests have problems; `gitsync validate` shows them.",
            "errors",
        ),
    ],
)
def test_notes_are_beside_what_is_rendered(render, files, note, why):
    assert note in render(files)[2].splitlines(), why


def test_without_a_subscription_ids_show_zeros_and_a_note_reports_it(tmp_path, capsys):
    (tmp_path / "a.yaml").write_text(GROUP)
    assert run(["render", str(tmp_path / "a.yaml").rpartition("/")[0]]) == 0
    said = capsys.readouterr()
    assert "/subscriptions/00000000-0000-0000-0000-000000000000/" in said.out
    assert "no subscription is set" in said.err


def test_a_name_that_no_api_server_takes_is_a_warning_since_no_request_bears_it(tmp_path, capsys):
    (tmp_path / "group.yaml").write_text(GROUP.replace("{name: core}", "{name: Upper.Case}"))
    assert run(["render", str(tmp_path), "--output", "json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["resources"]
    assert [(problem["code"], problem["severity"]) for problem in shown["problems"]] == [("ObjectName", "warning")]
    assert run(["validate", str(tmp_path)]) == 1
