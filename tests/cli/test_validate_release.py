"""`gitsync validate` for a release of ASO: by flag, by variable and by gitsync.yaml."""

import json
from pathlib import Path

import pytest

from gitsync.cli.main import run
from gitsync.desired.catalog.releases import read_catalog_release

STORE = """\
apiVersion: storage.azure.com/v20230101
kind: StorageAccount
metadata: {name: orders}
spec:
  location: westeurope
  owner: {armId: /subscriptions/0/resourceGroups/rg}
  sku: {name: Standard_LRS}
  kind: StorageV2
"""
WORKFLOW = """\
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: flow}
spec:
  type: Microsoft.Logic/workflows@2019-05-01
  owner: {armId: /subscriptions/0/resourceGroups/rg}
  body: {location: westeurope}
"""
NEWEST = read_catalog_release().release
UNKNOWN = f"the catalog is of ASO {NEWEST}, so the versions that ASO 2.9"


@pytest.fixture
def validate(tmp_path, monkeypatch, capsys):
    """Validate a folder with a StorageAccount that ASO serves since 2.18, and with what ASO does not read."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITSYNC_CONFIG", "GITSYNC_ASO"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "estate"
    folder.mkdir()
    (folder / "store.yaml").write_text(STORE)
    (folder / "flow.yaml").write_text(WORKFLOW)
    (tmp_path / "operator").write_text("aso: 2.99\n")

    def validate(*flags, settings=""):
        if settings:
            (folder / "gitsync.yaml").write_text(settings)
        code = run(["validate", *flags, "--output", "json"])
        out, err = capsys.readouterr()
        return [problem["code"] for problem in json.loads(out)["problems"]] if out else (code, err)

    return validate


BOTH, KIND, NONE = ["NotPortable", "VersionNotServed"], ["NotPortable"], []


@pytest.mark.parametrize(
    ("flags", "settings", "codes", "why"),
    [
        (("estate",), "", NONE, "no cluster"),
        (("estate", "--aso"), "", KIND, "the newest release"),
        (("--aso", "estate"), "", KIND, "a word behind the flag that is no release"),
        (("estate", "--aso", "2.17"), "", BOTH, "a release"),
        (("--aso", "2.17", "estate"), "", BOTH, "a release before the source"),
        (("--aso=v2.17.0", "estate"), "", BOTH, "a tag"),
        (("--aso", "2.18", "estate"), "", KIND, "the first release that serves it"),
        (("--aso", str(NEWEST), "estate"), "", KIND, "the newest release by its number"),
        (("estate",), "aso: 2.17\n", BOTH, "a key"),
        (("estate",), "aso: '2.10'\n", BOTH, "a key as text"),
        (("estate",), "aso: 2.20\n", KIND, "a key that YAML would read as 2.2"),
        (("estate",), "aso: true\n", KIND, "a key for the newest release"),
        (("--aso", "2.18", "estate"), "aso: 2.17\n", KIND, "the flag before the key"),
        (("--aso=false", "estate"), "aso: 2.17\n", NONE, "no release in spite of the key"),
    ],
)
def test_the_release_decides_what_a_cluster_refuses(validate, flags, settings, codes, why):
    assert sorted(validate(*flags, settings=settings)) == codes, why


def test_the_variable_names_the_release(validate, monkeypatch):
    monkeypatch.setenv("GITSYNC_ASO", "2.17")
    assert sorted(validate("estate")) == BOTH


@pytest.mark.parametrize(
    ("flags", "settings", "words", "why"),
    [
        (("--aso", "2.99", "estate"), "", f"--aso: {UNKNOWN}", "a release that it does not know"),
        (("estate",), "# kind\naso: 2.99\n", f"gitsync.yaml:2: aso: {UNKNOWN}", "the same in the file"),
        (("estate", "--config", "operator"), "", f"operator:1: aso: {UNKNOWN}", "the same in a file of the operator"),
        (("estate", "--aso", "2.98"), "aso: 2.99\n", f"--aso: {UNKNOWN}", "the nearest counts"),
        (("--aso=1.9", "estate"), "", "--aso: expected a release of ASO such as 2.20", "an old ASO"),
        (("--aso=latest", "estate"), "", "--aso: expected a release of ASO such as 2.20", "a word"),
        (
            ("estate",),
            "aso: soon\n",
            "gitsync.yaml:1: aso: expected a release of ASO such as 2.20",
            "a word in the file",
        ),
    ],
)
def test_another_release_is_refused(validate, flags, settings, words, why):
    _, err = validate(*flags, settings=settings)
    assert words in err, why


OLD = """\
apiVersion: containerservice.azure.com/v1api20240402preview
kind: ManagedCluster
metadata: {name: shop}
spec: {location: westeurope, owner: {armId: /subscriptions/0/resourceGroups/rg}, dnsPrefix: shop}
"""
MIGRATES = "units: [{path: ., migrateVersions: true}]\n"


@pytest.mark.parametrize(
    ("release", "codes", "why"),
    [
        ("2.18", ["VersionMigrated"], "the version of the file"),
        ("2.19", ["VersionMigrated", "VersionNotServed"], "removed by the release"),
        (str(NEWEST), ["VersionMigrated", "VersionNotServed"], "removed long ago"),
        ("newest", ["VersionMigrated", "VersionNotServed"], "the newest release without its number"),
        ("2.5", ["VersionMigrated"], "the version of the file, although the one that gitsync reads came later"),
    ],
)
def test_a_cluster_reads_the_version_of_the_file_that_gitsync_migrates(validate, release, codes, why):
    (Path("estate") / "store.yaml").write_text(OLD)
    (Path("estate") / "flow.yaml").unlink()
    assert sorted(validate("estate", "--aso", release, settings=MIGRATES)) == codes, why
