"""The frame, by running the command as people do. What depends on a new interpreter starts one (`run`)."""

import gc
import json
import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import gitsync
from gitsync.cli.command_table import COMMANDS
from gitsync.desired.catalog.releases import read_catalog_release
from gitsync.settings.config.config import SETTINGS
from tests.support import command_line


def run(*arguments, folder, **variables):
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("GITSYNC_", "AZURE_", "NO_COLOR"))
    }
    return subprocess.run(
        [sys.executable, "-m", "gitsync", *arguments],
        cwd=folder,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_help_lists_every_command(tmp_path):
    ended = command_line.run_here("--help", folder=tmp_path)
    assert (ended.code, ended.err) == (0, "")
    listed = {line.split()[0]: line.split(maxsplit=1)[1] for line in ended.out.splitlines() if line.startswith("  ")}
    assert listed == {name: entry.summary for name, entry in COMMANDS.items()}


def test_a_command_collects_garbage_seldom_and_still_does(tmp_path):
    before = gc.get_threshold()
    gc.set_threshold(700)
    try:
        command_line.run_here("validate", folder=tmp_path)
        found = gc.isenabled(), gc.get_threshold()[0]
    finally:
        gc.set_threshold(*before)
    assert found == (True, 100_000)


@pytest.mark.parametrize(
    "arguments", [["validate"], ["render"], ["graph"], ["status"], ["explain", "ResourceGroup"]], ids=lambda row: row[0]
)
def test_an_offline_command_does_not_mind_a_credential_for_an_emulator(arguments, tmp_path):
    ended = command_line.run_here(*arguments, folder=tmp_path, GITSYNC_CREDENTIAL="anonymous")
    assert "anonymous" not in ended.err
    assert ended.code == 0


def test_the_help_of_a_command_is_found_in_two_ways(tmp_path):
    shown = [command_line.run_here(*words, folder=tmp_path) for words in (["help", "graph"], ["graph", "--help"])]
    assert [ended.code for ended in shown] == [0, 0]
    assert shown[0].out == shown[1].out
    assert command_line.run_here("help", "grpah", folder=tmp_path).code == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_fits_on_two_screens(name, tmp_path):
    ended = command_line.run_here(name, "--help", folder=tmp_path, COLUMNS="100")
    assert len(ended.out.splitlines()) <= 100
    assert max(map(len, ended.out.splitlines())) <= 120


def test_nothing_at_all_is_a_usage_error_that_shows_the_help(tmp_path):
    ended = command_line.run_here(folder=tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert "usage: gitsync COMMAND" in ended.err


def test_version_is_the_packages(tmp_path):
    said = f"gitsync {gitsync.__version__}\ncatalog: {read_catalog_release()}\n"
    assert run("--version", folder=tmp_path).stdout == said
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert (project["name"], project["version"]) == (gitsync.DISTRIBUTION, gitsync.__version__)


REFUSED = [
    (["stauts"], {}, "Unknown command 'stauts'. Did you mean status?", "a slip"),
    (["--strict", "sync"], {}, "The command comes first, before --strict.", "the order"),
    (["status", "--outptu", "json"], {}, "Did you mean --output?", "a flag's slip"),
    (["status", "--output", "xml"], {}, "--output: expected text or wide or json or yaml, not 'xml'", "a wrong value"),
    (["status"], {"GITSYNC_STRICT": "maybe"}, "the variable GITSYNC_STRICT", "a wrong variable"),
]


@pytest.mark.parametrize(("arguments", "variables", "message", "why"), REFUSED, ids=[r[-1] for r in REFUSED])
def test_what_is_refused_ends_with_2(arguments, variables, message, why, tmp_path):
    ended = command_line.run_here(*arguments, folder=tmp_path, **variables)
    assert (ended.code, ended.out) == (2, ""), why
    assert message in ended.err
    assert "Traceback" not in ended.err


def test_a_wrong_file_in_the_working_folder_is_reported_with_its_line(tmp_path):
    (tmp_path / "gitsync.yaml").write_text("\nprunes: true\n")
    ended = command_line.run_here("status", folder=tmp_path)
    assert ended.code == 2
    assert "gitsync.yaml:2: there is no setting 'prunes'. Did you mean prune?" in ended.err


def test_a_misspelt_variable_is_a_warning_in_the_log(tmp_path):
    ended = command_line.run_here("status", folder=tmp_path, GITSYNC_MAX_DELETE="1")
    lines = [json.loads(line) for line in ended.err.splitlines() if line.startswith("{")]
    assert {
        "level": "warning",
        "message": "GITSYNC_MAX_DELETE is not a setting. Did you mean GITSYNC_MAX_DELETES?",
    } in [{"level": line["level"], "message": line["message"]} for line in lines]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_keeps_the_contract(name, tmp_path):
    command = import_module(COMMANDS[name].module)
    assert command.__doc__
    assert set(command.SETTINGS) <= set(SETTINGS)
    assert bool(command.OUTPUTS) == ("output" in command.SETTINGS)
    ended = command_line.run_here(name, "--help", folder=tmp_path)
    assert (ended.code, ended.err) == (0, "")
    assert f"usage: gitsync {name}" in ended.out


@pytest.mark.parametrize("arguments", [["--help"], ["explain"]], ids=" ".join)
def test_a_closed_pipe_is_not_a_fault(arguments, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        ended = command_line.ended(command_line.start(*arguments, folder=tmp_path, out=gone))
    assert (ended.code, ended.err) == (141, "")


def test_a_terminal_without_arrows_is_not_a_fault(tmp_path):
    ended = run("explain", "ResourceGroup", folder=tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert ended.returncode == 0
