"""A status that was edited by hand, cut off, or written by a later gitsync: the run is refused with a word, and nothing
is lost: not in Azure, which is not asked, and not in the status, which stays as it was found.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil

import pytest

from gitsync.agent.run.run import execute
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.store import MemoryStore
from gitsync.errors import StateError
from gitsync.model.verdict import Action, Verdict
from gitsync.report.progress import Silent
from gitsync.settings.config.config import Config
from tests.support.git_repositories import commit_all, init_repository
from tests.support.world import GROUP, GROUP_ID, SUBSCRIPTION, VNET, World, of

GROUP_FILE = "default/resources.azure.com/ResourceGroup/core.json"
VNET_FILE = "default/network.azure.com/VirtualNetwork/hub.json"
INVENTORY = "inventory.json"
REPLACED = {
    "a file": lambda folder: folder.write_text("x"),
    "a dangling link": lambda folder: folder.symlink_to("nowhere"),
    "a damaged file in it": lambda folder: (
        shutil.copytree(folder.with_name("before"), folder) and (folder / "inventory.json").write_text("{")
    ),
}
ORIGINAL = "ResourceGroup.resources.azure.com/default/core"


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    return world


def state(world):
    files = (path for path in world.state.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(world.state)): path.read_bytes() for path in files}


def edit(world, name, old, new):
    file = world.state / name
    text = file.read_text()
    assert re.search(old, text), text
    file.write_text(re.sub(old, new, text, count=1))


def refused(world, message, hint, why="", runs=("prune",)):
    """A run does nothing: one that deletes, since each reads the status before it does anything."""
    before = state(world)
    how = {"plan": world.plan, "sync": world.sync, "prune": lambda: world.sync(prune=True)}
    for run in runs:
        world.requests = []
        with pytest.raises(StateError) as caught:
            how[run]()
        assert re.search(message, caught.value.message), f"{why}: {caught.value.message}"
        assert hint in caught.value.hint
        assert caught.value.exit_code == 2
        assert world.requests == []
    assert state(world) == before


@pytest.mark.parametrize(
    ("name", "old", "new", "message", "why"),
    [
        (GROUP_FILE, '"schema": 1', '"schema": 2', r"core\.json: written by a newer gitsync \(schema 2; this one reads 1\)", "a record of the future"),
        (INVENTORY, '"schema": 2', '"schema": 7', r"inventory\.json: written by a newer gitsync \(schema 7", "a tree of the future"),
    ],
)  # fmt: skip
def test_from_a_future_version(world, name, old, new, message, why):
    edit(world, name, old, new)
    refused(world, message, "Upgrade gitsync.", why, runs=("plan", "sync", "prune"))


@pytest.mark.parametrize("name", [GROUP_FILE, INVENTORY])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_cut_off(world, name, share):
    """Wherever it was cut: in the head, within a line, before the newline at the end."""
    file = world.state / name
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    refused(world, re.escape(name), "see git log of the status branch")


@pytest.mark.parametrize("lines", range(1, 13))
def test_an_inventory_that_was_cut_off_between_lines(world, lines):
    """The rest is not JSON."""
    file = world.state / INVENTORY
    content = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(content[:-lines]))
    refused(world, r"inventory\.json", "remove")


@pytest.mark.parametrize(
    ("name", "old", "new", "message", "why"),
    [
        (GROUP_FILE, '"claim": "created"', '"claim": "mine"', r"core\.json:\d+: gitsync\.claim is 'mine', not one of", "a claim that nobody knows"),
        (GROUP_FILE, '"claim": "created"', '"claim": "none"', "core.json and inventory.json differ in claim", "it would not be pruned any more"),
        (GROUP_FILE, '"armId": "(.*)core"', r'"armId": "\1live"', "differ in armId", "another resource would be deleted"),
        (GROUP_FILE, '"policy": "manage"', '"policy": "skip"', "differ in policy", "it would stay in Azure"),
        (INVENTORY, '"claim": "created"', '"claim": "adopted"', "differ in claim", "the index may be what was edited"),
        (GROUP_FILE, '"armId": .*', '"armId": [', r"core\.json:\d+: The file is not JSON", "a bracket that is never closed"),
        (GROUP_FILE, "^", "<<<<<<< HEAD\n", r"core\.json:1: The file is not JSON", "a merge that was not finished"),
        (GROUP_FILE, '"generation": 1,', '"generation": 1, "generation": 2,', r"core\.json:1: .*is there twice", "two answers"),
        (GROUP_FILE, '"writes": 1', '"writes": "many"', r"core\.json:\d+: gitsync\.writes must be a whole number", "text for a number"),
        (GROUP_FILE, '"writes": 1', '"row": {"count": 3, "paths": ["/tags"], "at": "lately"}, "writes": 1', r"row\.at is 'lately', not a time", "a time that is none"),
        (GROUP_FILE, '"writes": 1', '"row": {"count": 3, "paths": [1], "at": "2030-01-01T00:00:00Z"}, "writes": 1', r"row\.paths must be a list of strings", "a path that is none"),
        (GROUP_FILE, '"name": "core",', '"name": "other",', r"core\.json:\d+: metadata names .*other, whose file is", "a file in another's place"),
    ],
)  # fmt: skip
def test_edited_by_hand(world, name, old, new, message, why):
    edit(world, name, old, new)
    refused(world, message, "Restore the", why)


@pytest.mark.parametrize(
    ("name", "message", "hint", "why"),
    [
        (VNET_FILE, r"inventory\.json names VirtualNetwork\.network\.azure\.com/default/hub, but .* does not exist", "its entry", "its resource would be adopted, or, once it left git, stay in Azure for ever"),
        (INVENTORY, r"has files but no inventory\.json", "--status-dir", "records without their inventory"),
    ],
)  # fmt: skip
def test_a_file_that_was_removed(world, name, message, hint, why):
    (world.state / name).unlink()
    refused(world, message, hint, why)


def test_a_record_that_was_added(world):
    text = (world.state / GROUP_FILE).read_text()
    added = world.state / GROUP_FILE.replace("core", "live")
    added.write_text(
        text.replace('"name": "core"', '"name": "live"').replace("resourceGroups/core", "resourceGroups/live")
    )
    refused(world, r"live\.json exists, but inventory\.json does not name ResourceGroup", "remove its file")


def test_bytes_that_are_not_text(world):
    (world.state / GROUP_FILE).write_bytes(b"\xff\xfe\x00")
    refused(world, r"core\.json:1: The file is not JSON: byte 1 is not UTF-8", "Restore the file")


def test_removed_with_its_entry_it_was_never_recorded_and_is_adopted(world):
    """The way out that the hint names."""
    (world.state / VNET_FILE).unlink()
    inventory = json.loads((world.state / INVENTORY).read_text())
    inventory["resources"] = [entry for entry in inventory["resources"] if "default/hub" not in entry["key"]]
    (world.state / INVENTORY).write_text(json.dumps(inventory) + "\n")
    report = world.sync()
    found = of(report, "VirtualNetwork")
    assert (found.verdict, found.differences, world.writes, report.exit_code) == (Verdict.ADOPT, (), [], 0)
    assert '"claim": "adopted"' in (world.state / VNET_FILE).read_text()


def test_restored_it_goes_on_as_if_nothing_had_been(world):
    before = state(world)
    edit(world, GROUP_FILE, '"schema": 1', '"schema": 9')
    with pytest.raises(StateError):
        world.sync()
    for name, content in before.items():
        (world.state / name).write_bytes(content)
    report = world.sync()
    assert ({result.verdict for result in report.results}, world.writes) == ({Verdict.IN_SYNC}, [])
    assert state(world) == before


def test_an_inventory_in_another_layout_is_read(world):
    """An editor may indent and order as it likes; what counts is what it has."""
    file = world.state / INVENTORY
    file.write_text(json.dumps(dict(reversed(json.loads(file.read_text()).items())), indent=7) + "\n")
    assert {result.verdict for result in world.sync().results} == {Verdict.IN_SYNC}


def test_edits_of_what_decides_nothing_are_fixed_by_looking(world):
    """Texts for people are not read, and a baseline is held against git and Azure before anything is sent."""
    (world.state / "SUMMARY.md").write_text("nothing of this is read")
    (world.state / "report.json").unlink()
    edit(world, GROUP_FILE, r'(?s)"location": "westeurope"(\s*\},\s*"claim")', r'"location": "atlantis"\1')
    report = world.sync()
    assert ({result.verdict for result in report.results}, world.writes) == ({Verdict.IN_SYNC}, [])
    assert "atlantis" not in (world.state / GROUP_FILE).read_text()


def test_a_status_that_is_gone_is_begun_again_without_a_write(world):
    shutil.rmtree(world.state)
    report = world.sync()
    assert {result.verdict for result in report.results} == {Verdict.ADOPT}
    assert (world.writes, report.exit_code) == ([], 0)
    assert world.read(GROUP_ID)["location"] == "westeurope"


class Replacing(Silent):
    """Progress of a run whose status folder is replaced once its first resource is written."""

    def __init__(self, folder, replacement):
        self.folder, self.replacement = folder, replacement

    def finished(self, result):
        if not (before := self.folder.with_name("before")).exists():
            self.folder.rename(before)
            self.replacement(self.folder)
        return super().finished(result)


@pytest.mark.parametrize("replacement", REPLACED.values(), ids=REPLACED)
def test_a_folder_that_is_replaced_during_a_run_is_a_status_that_was_not_written(tmp_path, replacement):
    """Azure was changed by then: the report has what was done, and the next run is refused until the folder is back."""
    source, status = tmp_path / "source", tmp_path / "status"
    init_repository(source)
    (source / "group.yaml").write_text(GROUP)
    commit_all(source)
    usual = {"subscription": SUBSCRIPTION, "credential": "anonymous", "checks": ("none",), "who": "off"}

    async def sync(progress):
        async with Emulator(EmulatorSettings(limits=None), store) as azure:
            config = Config(source=str(source), status_dir=str(status), endpoint=azure.url, **usual)
            return await execute(config, writes=True, progress=progress)

    store = MemoryStore()
    report = asyncio.run(sync(Replacing(status, replacement)))
    assert (report.exit_code, [problem.code for problem in report.problems]) == (1, ["StatusNotWritten"])
    assert report.problems[0].message.startswith("Status cannot be written to ")
    assert report.problems[0].hint
    assert [result.action for result in report.results] == [Action.CREATE]
    with pytest.raises(StateError):
        asyncio.run(sync(Silent()))
    shutil.rmtree(status) if status.is_dir() else status.unlink()
    status.with_name("before").rename(status)
    assert asyncio.run(sync(Silent())).exit_code == 0
