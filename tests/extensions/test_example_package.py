"""The worked example of a third party's package, installed with pip and run by the real command."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gitsync.emulator.settings import Timing
from gitsync.emulator.state.store import MemoryStore
from gitsync.emulator.types.behaviour import Style
from tests.support.command_line import SUBSCRIPTION, azure, gitsync
from tests.support.fault_rules import rules

EXAMPLE = Path(__file__).parents[2] / "examples" / "extension"
GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core"
ACCOUNT_ID = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/lake"
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
  accessTier: Hot
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Where pip put the package; beside gitsync, and for these tests alone."""
    target = tmp_path_factory.mktemp("site")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "--target",
            target,
            EXAMPLE,
        ],
        check=True,
        capture_output=True,
    )
    return target


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "manifests"
    made.mkdir()
    (made / "all.yaml").write_text(MANIFESTS)
    return made


def synced(folder: Path, installed: Path, variables: dict[str, str]):
    """The account's entry in the report of a sync."""
    more = {**variables, "PYTHONPATH": str(installed)}
    ended = gitsync("sync", "--resource-timeout", "3s", "--output", "json", folder=folder, **more)
    resources = json.loads(ended.out)["resources"]
    return next(resource for resource in resources if resource["kind"] == "StorageAccount")


def tagged(store: MemoryStore, arm_id: str, **tags: str) -> None:
    """What a person does in the portal."""
    found = store.resource(arm_id.casefold())
    store.put_resource(arm_id.casefold(), replace(found, body={**found.body, "tags": tags}))


def test_an_account_is_ready_once_somebody_approved_it_and_nothing_is_written_in_a_freeze(folder, installed):
    store = MemoryStore()
    with azure(store, operations=Timing(style=Style.DONE)) as served:
        found = synced(folder, installed, served.variables)
        assert (found["reason"], found["message"]) == (
            "PostReconciliationFailure",
            "The account is not approved yet: tag it approvedBy with your name.",
        )
        tagged(store, ACCOUNT_ID, approvedBy="ada")
        assert synced(folder, installed, served.variables)["reason"] == "Succeeded"
        tagged(store, GROUP_ID, changeFreeze="the board")
        (folder / "all.yaml").write_text(MANIFESTS.replace("Hot", "Cool"))
        before = len(served.sent("PUT"))
        found = synced(folder, installed, served.variables)
        assert (found["reason"], found["message"]) == (
            "ReconciliationBlocked",
            "Changes are frozen by the board: the resource group has the tag changeFreeze.",
        )
        assert len(served.sent("PUT")) == before
        tagged(store, GROUP_ID)
        assert synced(folder, installed, served.variables)["reason"] == "PostReconciliationFailure", (
            "a change is approved anew"
        )
        assert store.resource(ACCOUNT_ID.casefold()).body["properties"]["accessTier"] == "Cool"


def test_a_name_that_is_taken_is_an_error_and_no_warning(folder, installed):
    taken = "{match: {method: PUT, type: Microsoft.Storage/storageAccounts}, answer: {code: StorageAccountAlreadyTaken, status: 409}}"
    with azure(rules=rules(taken), operations=Timing(style=Style.DONE)) as served:
        found = synced(folder, installed, served.variables)
    assert (found["severity"], found["reason"]) == ("Error", "StorageAccountAlreadyTaken")


def test_without_the_package_none_of_it_happens(folder, tmp_path):
    with azure(operations=Timing(style=Style.DONE)) as served:
        assert synced(folder, tmp_path, served.variables)["reason"] == "Succeeded"
