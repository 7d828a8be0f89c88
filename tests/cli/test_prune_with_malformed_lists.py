"""`gitsync sync --prune` as people start it, against an Azure whose lists are unexpected."""

from __future__ import annotations

import json
import subprocess
from textwrap import dedent

import pytest

from gitsync.emulator.settings import Timing
from gitsync.emulator.state.store import MemoryStore
from gitsync.emulator.types.behaviour import Style
from tests.support import world
from tests.support.command_line import SUBSCRIPTION, azure, run_here
from tests.support.fault_rules import rules

GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core"
STRANGER_ID = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/files"
AT_ONCE = Timing(style=Style.DONE)


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    for name, text in (("group", world.GROUP), ("vnet", world.VNET)):
        (folder / f"{name}.yaml").write_text(dedent(text))
    (folder / ".gitignore").write_text(".gitsync\n")
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    return folder


def commit(folder):
    who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"]
    for arguments in (["add", "-A"], [*who, "commit", "-q", "--allow-empty", "-m", "Change"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({}, "no list"),
        ({"value": {"id": STRANGER_ID}}, "an object for a list"),
        ({"value": [], "nextLink": "{base}" + f"{GROUP_ID}/resources?api-version=2021-04-01"}, "a link to itself"),
    ],
)
def test_the_group_and_what_is_foreign_in_it_stay(repository, body, why):
    store = MemoryStore()
    commit(repository)
    with azure(store, operations=AT_ONCE) as served:
        assert run_here("sync", folder=repository, **served.variables).code == 0
        served.emulator.put(STRANGER_ID, {"location": "westeurope"})
    for manifest in repository.glob("*.yaml"):
        manifest.unlink()
    commit(repository)
    rule = {"match": {"method": "GET", "path": "*/resources"}, "answer": {"status": 200, "body": body}}
    with azure(store, operations=AT_ONCE, rules=rules(json.dumps(rule))) as served:
        end = run_here("sync", "--prune", "--max-deletes=5", folder=repository, **served.variables)
        deleted = [path for _, path, _ in served.sent("DELETE")]
        assert served.emulator.resource(STRANGER_ID) is not None, why
    assert (end.code, GROUP_ID in deleted) == (1, False)
    assert "MalformedList" in end.out + end.err
