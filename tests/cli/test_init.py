"""`gitsync init` and `gitsync schema`: what they write, and what they keep."""

import json
from xml.etree import ElementTree as ET

import pytest

from gitsync.cli.init import prepare_folder, update_schemas
from gitsync.cli.main import run
from gitsync.cli.schema import write_schemas
from gitsync.settings.config.config_file import read_source_settings
from gitsync.settings.files.target_folder import TargetFolder

FILES = (
    "gitsync.yaml",
    ".gitignore",
    ".gitsyncignore",
    ".vscode/settings.json",
    ".vscode/extensions.json",
    ".idea/jsonSchemas.xml",
)
SCHEMAS = (("manifest.json", b"{}\n"), ("gitsync.json", b"{}\n"), ("x.azure.com/thing_v1.json", b"{}\n"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def target(folder):
    return TargetFolder(folder)


def list_files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_empty_folder(folder, target):
    assert list(prepare_folder(target)) == [f"created  {path}" for path in FILES]
    assert list_files(folder).keys() == set(FILES)


def test_the_files_are_valid(folder, target):
    list(prepare_folder(target))
    update_schemas(target, SCHEMAS)
    settings = read_source_settings((folder / "gitsync.yaml").read_bytes(), "gitsync.yaml")
    assert settings.keys() == {"namespace", "unknown_fields"}
    schemas = json.loads((folder / ".vscode/settings.json").read_text())["yaml.schemas"]
    assert [path for path in schemas if not (folder / path).is_file()] == []
    options = ET.parse(folder / ".idea/jsonSchemas.xml").iter("option")
    paths = [option.get("value") for option in options if option.get("name") == "relativePathToSchema"]
    assert paths == list(schemas)
    assert (folder / ".gitignore").read_text() == ".gitsync/\n.gitsync-schemas/\n"


def test_a_second_time_changes_nothing(folder, target):
    list(prepare_folder(target))
    before = list_files(folder)
    assert list(prepare_folder(target)) == [f"kept     {path}" for path in FILES]
    assert list_files(folder) == before


def test_files_of_the_user_are_kept_and_what_they_lack_is_reported(folder, target):
    (folder / ".vscode").mkdir()
    (folder / ".vscode/settings.json").write_text('{"editor.tabSize": 2}\n')
    (folder / ".gitignore").write_text("*.log\n")
    (folder / "gitsync.yaml").write_text("namespace: web\n")
    lines = list(prepare_folder(target))
    assert (folder / ".vscode/settings.json").read_text() == '{"editor.tabSize": 2}\n'
    assert (folder / ".gitignore").read_text() == "*.log\n"
    ignored = ["kept     .gitignore", "         Add to it:", "           .gitsync/", "           .gitsync-schemas/"]
    assert lines[:6] == ["kept     gitsync.yaml", *ignored, "created  .gitsyncignore"]
    assert '             "yaml.schemas": {' in lines


def test_a_link_in_place_of_a_file_is_kept(folder, target, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "profile"
    (folder / "gitsync.yaml").symlink_to(outside)
    assert next(prepare_folder(target)) == "kept     gitsync.yaml"
    assert not outside.exists()


def test_what_became_of_the_schemas(folder, target):
    assert update_schemas(target, SCHEMAS) == "created  .gitsync-schemas/ (3 schemas)"
    assert update_schemas(target, SCHEMAS) == "kept     .gitsync-schemas/ (3 schemas)"
    (folder / ".gitsync-schemas/manifest.json").write_text("{}")
    assert update_schemas(target, SCHEMAS) == "updated  .gitsync-schemas/ (3 schemas)"


def test_schemas_are_counted(folder, target):
    assert write_schemas(target, SCHEMAS) == (3, 3)
    assert write_schemas(target, SCHEMAS) == (3, 0)
    assert list_files(folder).keys() == {path for path, _ in SCHEMAS}


@pytest.mark.parametrize("link", [".vscode", ".idea", ".gitsync-schemas"])
def test_a_repository_does_not_lead_a_write_elsewhere(folder, tmp_path_factory, capsys, link):
    outside = tmp_path_factory.mktemp("outside")
    (folder / link).symlink_to(outside)
    assert run(["init"]) == 2
    assert f"{link} is a link, so nothing is written into it. Replace" in " ".join(capsys.readouterr().err.split())
    assert list(outside.iterdir()) == []


def test_a_url_is_refused(capsys):
    assert run(["init", "https://example.com/web.git"]) == 2
    assert "is a URL, not a folder." in capsys.readouterr().err


def test_schema_needs_a_folder(folder, capsys):
    (folder / "file").write_text("")
    assert run(["schema", "--out", "file"]) == 2
    assert "is not a folder" in capsys.readouterr().err
    assert run(["schema"]) == 2


def test_schemas_of_the_types_that_a_source_uses(folder, target, capsys):
    manifest = "apiVersion: azure.gitsync/v1\nkind: AzureResource\nspec: {type: Microsoft.Logic/workflows@2019-05-01}\n"
    (folder / "apps").mkdir()
    (folder / "apps" / "flow.yaml").write_text(manifest)
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "other.yaml").write_text(manifest.replace("workflows", "integrationAccounts"))
    (folder / "notes.yaml").write_text("example: Microsoft.Web/sites@2022-03-01\n")
    (folder / "elsewhere").mkdir()
    (folder / "way").symlink_to("elsewhere")  # a link of the operator is followed
    assert run(["schema", str(folder), "--out", str(folder / "way")]) == 0
    names = {path.name for path in (folder / "elsewhere" / "azure.gitsync").iterdir()}
    own = {"applicationfederatedcredential_v1.json", "approleassignment_v1.json", "azureresource_v1.json"}
    assert names == {*own, "microsoft.logic.workflows_2019-05-01.json"}
