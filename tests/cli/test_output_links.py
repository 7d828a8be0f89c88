"""Every option of every command that names a path to write to follows no link of a checkout.

An option that is new has to be put into one of the two tables.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

import pytest

from gitsync.cli.command_table import COMMANDS, load_command
from gitsync.settings.config.config import SETTINGS
from tests.support.command_line import SUBSCRIPTION, run_here
from tests.support.git_repositories import commit_all, init_repository
from tests.support.terraform_states import resource, state

MANIFESTS = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec: {location: westeurope}
---
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: lake}
spec:
  location: westeurope
  owner: {name: core}
  kind: StorageV2
  sku: {name: Standard_LRS}
  operatorSpec: {secrets: {key1: {name: lake, key: first}}}
"""

READS = {
    "--path",
    "--trusted-keys",
    "--plan",
    "--client-certificate-path",
    "--identity-file",
    "--identity-folder",
    "--federated-token-file",
    "--allow-identities",
    "--ca-bundle",
    "--emulator-script",
    "--secrets-folder",
    "--config-maps-folder",
    "--notify-file",
    "comment file",
    "eval --jsonl",
    "compare --baseline",
    "compare --applied",
    "compare --jsonl",
    "import --from-cluster-export",
    "import --from-terraform",
    "site --with",
    "emulator --script",
}

SYNC = ("sync", "--emulator")
STATE_IMPORT = (
    "import",
    "--emulator",
    "../azure.db",
    "--subscription",
    SUBSCRIPTION,
    "--from-terraform",
    "../s.tfstate",
)
WRITES = {
    "--out": ("plan", "--emulator", "--out", "{}/plan.json"),
    "--report": (*SYNC, "--report", "{}/report"),
    "--metrics": (*SYNC, "--metrics", "{}/gitsync.prom"),
    "--emulator": ("sync", "--emulator", "{}/azure.db"),
    "--export-folder": (*SYNC, "--export-to", "folder", "--export-folder", "{}/secrets"),
    "--export-sops-folder": (*SYNC, "--export-to", "sops", "--export-sops-folder", "{}/secrets"),
    "--export-dotenv": (*SYNC, "--export-to", "dotenv", "--export-dotenv", "{}/env"),
    "--status-dir": (*SYNC, "--status-dir", "{}/status"),
    "import --out": ("import", "--from-cluster-export", "../cluster.yaml", "--out", "{}/azure"),
    "import --removed": (*STATE_IMPORT, "--out", "../azure", "--removed", "{}/removed.tf"),
    "export --out": ("export", "terraform", "--subscription", SUBSCRIPTION, "--out", "{}/infra"),
    "init folder": ("init", "{}/estate"),
    "schema --out": ("schema", "--out", "{}/schemas"),
    "site --out": ("site", "--out", "{}/site"),
    "emulator --state": ("emulator", "--state", "{}/azure.db"),
    "emulator --certificate": ("emulator", "--tls", "--certificate", "{}/cert.pem"),
}
"""A command for each option, with `{}` for a folder."""

_SYNC_KEPT = ("sync", "--emulator", "../azure.db")
BEFORE = {"import --removed": _SYNC_KEPT, "site --out": _SYNC_KEPT}
"""What runs before a command that writes only of what is in Azure or on the status branch."""

LINKS = {
    "outside": "../elsewhere",
    "inside": "kept",
    "missing": "../elsewhere/new",
}


def list_path_options():
    """The settings and the own options of commands that name a file or a folder."""

    def is_path(metavar):
        return bool({"FILE", "FOLDER", "DIR", "PATH"} & set(str(metavar).strip("[]").split("|")))

    yield from (setting.flag for setting in SETTINGS.values() if setting.flag and is_path(setting.metavar))
    for name in COMMANDS:
        parser = argparse.ArgumentParser()
        load_command(name).arguments(parser)
        for action in parser._actions:  # argparse has no other list of them
            if is_path(action.metavar):
                yield f"{name} {(*action.option_strings, action.dest)[0]}"


def test_each_option_with_a_path_is_known_to_read_or_to_write():
    assert sorted(list_path_options()) == sorted([*READS, *WRITES])


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A folder with a repository that has committed links, and what commands read beside it."""
    top = tmp_path_factory.mktemp("template")
    repository = top / "repository"
    (repository / "kept").mkdir(parents=True)
    (repository / "kept" / "readme").touch()
    init_repository(repository)
    (repository / "all.yaml").write_text(MANIFESTS)
    for name, target in LINKS.items():
        (repository / name).symlink_to(target)
    commit_all(repository)
    (top / "elsewhere").mkdir(mode=0o700)
    (top / "cluster.yaml").write_text(MANIFESTS.replace("core", "other"))  # an import skips what is there
    group = resource("azurerm_resource_group", "core", f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core")
    (top / "s.tfstate").write_bytes(state(group))
    return top


@pytest.fixture
def checkout(tmp_path, template):
    """The repository. What is in `kept` and elsewhere stays as it is."""
    shutil.copytree(template, tmp_path, symlinks=True, dirs_exist_ok=True)
    return tmp_path / "repository"


def list_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("option", WRITES)
def test_nothing_is_written_through_a_link_of_the_checkout(checkout, option, link):
    words = [word.format(link) for word in WRITES[option]]
    ended = run_here(*words, folder=checkout)
    assert ended.code in {1, 2}, ended.out
    assert f"{link} is a link" in ended.err + ended.out
    assert "Traceback" not in ended.err
    assert list_files(checkout.parent / "elsewhere") == []
    assert list_files(checkout / "kept") == ["readme"]


SHORT = {
    option: words for option, words in WRITES.items() if words[0] not in {"emulator", "schema"} and "sops" not in words
}
"""Those that end by themselves, and need no other program. `schema` takes a second, and is in test_init.py."""


@pytest.mark.parametrize("option", SHORT)
def test_a_link_of_the_operator_is_followed(checkout, option):
    way = checkout.parent / "way"
    way.symlink_to(checkout.parent / "elsewhere")
    if option in BEFORE:
        run_here(*BEFORE[option], folder=checkout)
    if option == "init folder":  # ends at a file in place of its schemas, which take a second (test_workspace.py)
        (way / "estate").mkdir()
        (way / "estate" / ".gitsync-schemas").touch()
    before = list_files(way)
    ended = run_here(*(word.format("../way") for word in SHORT[option]), folder=checkout)
    assert "is a link" not in ended.err + ended.out
    assert list_files(checkout.parent / "elsewhere") != before, ended.err + ended.out


@pytest.mark.parametrize("location", ["resources", "resources/ResourceGroup", ".lock", "inventory.json"])
def test_no_link_inside_of_the_status_folder_is_written_through(checkout, location):
    """The default location of a folder without a remote is inside it."""
    status = checkout.parent / "plain" / ".gitsync"
    target = checkout.parent / "elsewhere"
    (status / location).parent.mkdir(parents=True)
    (status / location).symlink_to(target if "." not in location else target / "file")
    (status.parent / "all.yaml").write_text(MANIFESTS)
    ended = run_here("sync", ".", "--emulator", "azure.db", folder=status.parent)
    assert list_files(target) == [], ended.out
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("name", ["azure.db-wal", "azure.db-shm", "azure.db-journal"])
def test_no_link_beside_the_state_of_the_emulator_is_followed(checkout, name):
    (checkout / name).symlink_to("../elsewhere/file")
    ended = run_here("sync", "--emulator", "azure.db", folder=checkout)
    assert list_files(checkout.parent / "elsewhere") == []
    assert "Traceback" not in ended.err


def test_a_pipe_in_place_of_an_output_ends_no_run_in_a_wait(checkout):
    for name in ("pipe.prom", "pipe.env", "pipe.db"):
        os.mkfifo(checkout / name)
    options = ("--metrics", "pipe.prom", "--export-to", "dotenv", "--export-dotenv", "pipe.env")
    ended = run_here(*SYNC, *options, folder=checkout)
    assert (ended.code, "pipe.env is not a file" in ended.err) == (2, True)
    ended = run_here("sync", "--emulator", "pipe.db", folder=checkout)
    assert (ended.code, "Traceback" in ended.err) == (2, False)
