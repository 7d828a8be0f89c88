"""Output that commands no pipeline, whatever Azure or a file has: the commands that show what is recorded or compared."""

from __future__ import annotations

import json

import pytest
import yaml

from gitsync.cli.main import run
from gitsync.errors import GitsyncError
from gitsync.extensions.api import Extension
from gitsync.extensions.registry import BUILT_IN
from tests.support.world import GROUP, World

COMMAND = "##vso[task.complete result=Succeeded;]"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A group whose condition has such a command."""

    async def check(subject, azure, next):
        raise GitsyncError(COMMAND)

    world = World(tmp_path_factory.mktemp("inert"))
    world.extensions = (Extension(group="resources.azure.com", kind="ResourceGroup", pre_check=check), *BUILT_IN)
    world.synced(group=GROUP)
    return world


def of_records(words, form, world):
    return [*words, *(["--output", form] if form else []), "--status-dir", str(world.state)]


WORDS = {"status": ["status"], "describe": ["describe", "ResourceGroup/core"]}


@pytest.mark.parametrize("form", ["", "json", "yaml"])
@pytest.mark.parametrize("name", WORDS)
def test_what_is_recorded_commands_nothing(world, capsys, monkeypatch, name, form):
    monkeypatch.chdir(world.folder)
    assert run(of_records(WORDS[name], form, world)) == 0
    out = capsys.readouterr().out
    assert "task.complete" in out
    assert COMMAND not in out
    if form == "json":
        assert COMMAND in json.dumps(json.loads(out)), "the same value"
    if form == "yaml":
        yaml.safe_load(out)


@pytest.mark.parametrize("words", [[], ["--output", "json"]])
def test_what_is_compared_commands_nothing(tmp_path, capsys, words):
    for name, value in (("desired", COMMAND), ("live", "x")):
        (tmp_path / name).write_text(json.dumps({"properties": {"a": value}}))
    assert run(["compare", str(tmp_path / "desired"), str(tmp_path / "live"), *words]) == 4
    out = capsys.readouterr().out
    assert "task.complete" in out
    assert COMMAND not in out


def test_many_comparisons_command_nothing(tmp_path, capsys):
    prompt = {"type": "a/b", "apiVersion": "1", "id": "/x", "desired": {"a": COMMAND}, "live": {"a": "x"}}
    (tmp_path / "lines").write_text(json.dumps(prompt) + "\n")
    assert run(["compare", "--jsonl", str(tmp_path / "lines")]) == 4
    out = capsys.readouterr().out
    assert json.loads(out)["differences"][0]["desired"] == COMMAND, "the same value, spelled otherwise"
    assert COMMAND not in out
