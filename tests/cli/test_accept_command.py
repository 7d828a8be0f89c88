"""`gitsync accept` as people start it: what it prints, its exit codes, and what it refuses."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitsync.emulator.faults import Move
from gitsync.emulator.state.store import MemoryStore
from tests.support.command_line import Azure, Ended, azure, run_here
from tests.support.git_repositories import commit_all, init_repository
from tests.support.json_schemas import list_faults
from tests.support.world import GROUP_ID

ESTATE = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: core
spec:
  location: westeurope
---
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata:
  name: orders
spec:
  location: westeurope
  kind: StorageV2
  owner:
    name: core
  minimumTlsVersion: TLS1_2
  sku:
    name: Standard_LRS   # cheap
"""
ACCOUNT = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/orders"


class Estate:
    """A repository and an Azure that it was synced with."""

    def __init__(self, folder: Path, served: Azure) -> None:
        self.folder, self.served = folder, served
        self.file = folder / "estate.yaml"

    def run(self, *arguments: str, **more: str) -> Ended:
        variables = {**self.served.variables, "GITSYNC_STATUS_DIR": str(self.folder.parent / "status"), **more}
        return run_here(*arguments, folder=self.folder, **variables)

    def drifts(self, **values: Any) -> None:
        names = {"sku": "/sku/name", "tls": "/properties/minimumTlsVersion"}
        self.served.emulator.move(ACCOUNT, Move(set={names[name]: value for name, value in values.items()}))

    def make_says(self, text: str) -> Estate:
        self.file.write_text(text)
        commit_all(self.folder)
        return self


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, MemoryStore]:
    """The folder and the Azure of an estate after a sync, to copy."""
    folder, store = tmp_path_factory.mktemp("synced") / "estate", MemoryStore()
    folder.mkdir()
    init_repository(folder)
    with azure(store) as served:
        assert Estate(folder, served).make_says(ESTATE).run("sync").code == 0
    return folder.parent, store


@pytest.fixture
def estate(tmp_path: Path, synced: tuple[Path, MemoryStore]) -> Iterator[Estate]:
    folder, store = synced
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    with azure(copy.deepcopy(store)) as served:
        yield Estate(tmp_path / "estate", served)


@pytest.fixture(scope="module")
def drifted(tmp_path_factory: pytest.TempPathFactory, synced: tuple[Path, MemoryStore]) -> Iterator[Estate]:
    """An estate whose SKU has drifted, for commands that are refused: they leave it as it is."""
    folder, store = synced
    top = Path(shutil.copytree(folder, tmp_path_factory.mktemp("drifted") / "top"))
    with azure(copy.deepcopy(store)) as served:
        estate = Estate(top / "estate", served)
        estate.drifts(sku="Premium_LRS")
        yield estate


def test_drift_becomes_an_edit_and_the_next_plan_is_silent(estate: Estate) -> None:
    nothing = estate.run("accept")
    assert (nothing.code, nothing.out) == (0, "There is no drift to accept.\n")
    estate.drifts(sku="Premium_LRS")
    ended = estate.run("accept", "--who", "off")
    assert ended.code == 0, ended.err
    assert ended.out == (
        "Accepted 1 field of 1 resource.\n\nStorageAccount/orders  estate.yaml:8\n"
        '  ~ spec.sku.name: "Standard_LRS" → "Premium_LRS"\n\nestate.yaml is edited\n'
    )
    assert estate.file.read_text() == ESTATE.replace("Standard_LRS   # cheap", "Premium_LRS   # cheap")
    assert estate.run("plan", "--detailed-exitcode").code == 0, "nothing is left to do"
    assert not estate.served.sent("PATCH", "DELETE")


def test_what_is_skipped_ends_with_1_and_reports_how_to_accept_it(estate: Estate) -> None:
    estate.drifts(sku="Premium_LRS", tls="TLS1_0")
    ended = estate.run("accept", "--quiet")
    assert (ended.code, ended.err) == (1, "")
    assert ended.out == (
        "Skipped:\n  StorageAccount/orders spec.minimumTlsVersion\n    It allows a lower version of TLS.\n"
        "    To accept it anyway, run gitsync accept StorageAccount/orders\n    estate.yaml:17\n"
    )
    assert estate.file.read_text() == ESTATE.replace("Standard", "Premium"), "the rest was taken"
    ended = estate.run("accept", "StorageAccount/orders", "-o", "json")
    assert ended.code == 0, ended.err
    shown = json.loads(ended.out)
    assert list_faults("accept", shown) == []
    assert [entry["resource"] for entry in shown["accepted"]] == ["StorageAccount.storage.azure.com/default/orders"]
    assert shown["accepted"][0]["fields"][0]["new"] == "TLS1_0"
    assert shown["files"] == [{"path": "estate.yaml", "removed": False}]


def test_only_the_fields_that_are_named_are_taken(estate: Estate) -> None:
    estate.drifts(sku="Premium_LRS", tls="TLS1_0")
    ended = estate.run("accept", "orders", "--field", "/sku")
    assert ended.code == 0, ended.out
    assert estate.file.read_text() == ESTATE.replace("Standard", "Premium")


def test_an_uncommitted_edit_of_the_file_stays(estate: Estate) -> None:
    estate.drifts(sku="Premium_LRS")
    edited = ESTATE.replace("kind: StorageV2\n", "kind: StorageV2\n  tags: {a: b}  # not yet committed\n")
    estate.file.write_text(edited)
    assert estate.run("accept").code == 0
    assert estate.file.read_text() == edited.replace("Standard", "Premium")


@pytest.mark.parametrize(
    ("arguments", "variables", "message"),
    [
        (("nosuch",), {}, "No resource is called nosuch."),
        (
            ("--field", "sku..name"),
            {},
            "--field sku..name is not a field. It is not a valid field from character 4 on.",
        ),
        ((), {"GITSYNC_REF": "main"}, "SOURCE is a revision"),
        ((), {"GITSYNC_SOURCE": "https://example.com/estate.git"}, "SOURCE is a revision"),
        ((), {"GITSYNC_SOURCE": ".."}, "is not in a git repository"),
    ],
    ids=["an unknown name", "no place", "a revision", "a URL", "no repository"],
)
def test_what_cannot_be_accepted_into_is_refused(
    drifted: Estate, arguments: tuple[str, ...], variables: dict[str, str], message: str
) -> None:
    ended = drifted.run("accept", *arguments, **variables)
    assert ended.code == 2
    assert message in ended.err
    assert drifted.file.read_text() == ESTATE


def test_a_field_is_taken_as_plans_print_it(estate: Estate) -> None:
    estate.drifts(sku="Premium_LRS")
    assert "spec.sku.name" in estate.run("plan").out
    for field in ("spec.sku.name", "spec.sku", "/sku/name", "/sku", "spec"):
        ended = estate.run("accept", "--field", field)
        assert (ended.code, ended.out.partition("\n")[0]) == (0, "Accepted 1 field of 1 resource."), field
        estate.file.write_text(ESTATE)


@pytest.mark.parametrize(
    ("field", "hint"),
    [
        ("spec.sku.nam", "Did you mean spec.sku.name?"),
        ("spec.sku.tier", "Did you mean spec.sku.name?"),
        ("spec.sku.name.x", "Did you mean spec.sku.name?"),
        ("/sku/tier", "Did you mean spec.sku.name?"),
        ("spec.minimumTlsVersion", "Did you mean spec.sku.name?"),
    ],
)
def test_a_field_that_no_drift_has_is_an_error_with_the_nearest(drifted: Estate, field: str, hint: str) -> None:
    ended = drifted.run("accept", "orders", "--field", "spec.sku", "--field", field)
    assert ended.code not in {0, 1}
    assert f"--field {field}: this field has no drift." in ended.err
    assert hint in ended.err
    assert drifted.file.read_text() == ESTATE


def test_a_field_without_any_drift_is_an_error(estate: Estate) -> None:
    ended = estate.run("accept", "--field", "spec.sku.name")
    assert ended.code not in {0, 1}
    assert "Run gitsync plan to see what differs." in ended.err


def test_what_only_a_pattern_selects_may_be_skipped_beside_a_name(estate: Estate) -> None:
    estate.drifts(tls="TLS1_0")
    assert estate.run("accept", "ResourceGroup/core", "Storage*/*").code == 0
    assert estate.run("accept", "Storage*/*").code == 1


@pytest.mark.parametrize("name", ["StorageAccount", "storageaccount", "storageaccounts"])
def test_a_kind_is_not_a_name(drifted: Estate, name: str) -> None:
    ended = drifted.run("accept", name)
    assert ended.code not in {0, 1}
    assert f"{name} is a kind, not the name of a resource." in ended.err
    assert "Use StorageAccount/orders or StorageAccount/*." in ended.err
