"""Runs that read a repository from memory see what they would see of a checkout."""

import subprocess
from pathlib import Path

import pytest

from tests.support.world import ACCOUNT, GROUP, SUBNET, VNET, World, read_status, results

HISTORY = (
    {"group": GROUP, "net/hub": VNET, "net/deep/one": SUBNET},
    {"group": GROUP, "net/hub": VNET},
    {"group": GROUP, "net.more": ACCOUNT, "net/hub": VNET.replace("10.0.0.0/16", "10.0.0.0/15")},
)
"""Files are added, removed and changed; `net.more.yaml` sorts before `net/`, and its folder behind it."""


def say(world, documents):
    return world.says_files({f"{name}.yaml": text for name, text in documents.items()})


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_a_folder_that_is_written_is_a_clean_checkout(tmp_path):
    world = World(tmp_path)
    for documents in HISTORY:
        say(world, documents)
    folder = world.folder
    assert git(folder, "status", "--porcelain", "--branch") == "## main\n"
    assert git(folder, "fsck", "--strict", "--no-progress") == ""
    assert git(folder, "rev-list", "--count", "HEAD") == f"{len(HISTORY)}\n"
    for number, documents in enumerate(reversed(HISTORY)):
        files = git(folder, "ls-tree", "-r", "--name-only", f"HEAD~{number}").splitlines()
        assert set(files) == {f"{name}.yaml" for name in documents}, number


def test_a_repository_with_files_for_git_is_written(tmp_path):
    world = World(tmp_path).says_files({"group.yaml": GROUP, ".gitignore": "*.tmp\n"})
    (world.folder / "a.tmp").touch()
    assert git(world.folder, "status", "--porcelain") == ""
    assert git(world.folder, "ls-files").splitlines() == [".gitignore", "group.yaml"]


@pytest.mark.parametrize("settings", [{}, {"prune": True}, {"prune": True, "path": "net"}], ids=str)
def test_runs_are_those_of_a_folder(tmp_path, settings):
    """Each run is done twice, in worlds that are alike but for the folder of one: it reports, writes and records the
    same.
    """
    world = World(tmp_path)
    world.says(group=GROUP).sync()
    for number, documents in enumerate(HISTORY):
        say(world, documents)
        written = world.copy(tmp_path / f"copy-{number}")
        assert git(written.folder, "status", "--porcelain") == ""
        report, expected = (each.sync(max_deletes=9, **settings) for each in (world, written))
        assert report.revision == expected.revision == git(written.folder, "rev-parse", "HEAD").strip()
        assert results(report) == results(expected), number
        assert world.writes == written.writes, number
        assert read_status(world) == read_status(written), number
