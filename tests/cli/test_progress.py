"""What a run reports of its resources while it works: a line for a person or a line of the log, never both."""

import json
from textwrap import dedent

import pytest

from gitsync.cli.main import run
from tests.support import world
from tests.support.command_line import SUBSCRIPTION

SCRIPT = """
rules:
  - {match: {method: PUT, type: Microsoft.Network/virtualNetworks}, answer: {code: Odd, status: 400}}
"""
CREATED, FAILED = "created ResourceGroup/core in ", "failed: VirtualNetwork/hub: Odd (all.yaml:"
TEXT = ("--log-format", "text")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with two manifests, and an emulator that refuses the second one."""
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "all.yaml").write_text("---\n".join(map(dedent, (world.GROUP, world.VNET))))
    (tmp_path / "script.yaml").write_text(SCRIPT)
    monkeypatch.chdir(folder)
    return folder


def err_of(command, capsys, *flags):
    azure = ("--emulator", "--emulator-script", "../script.yaml", "--subscription", SUBSCRIPTION)
    run([command, *azure, "--status-dir", "../status", "--output", "json", *flags])
    return capsys.readouterr().err.splitlines()


def test_a_person_reads_a_line_for_each_change_and_failure(folder, capsys):
    lines = err_of("sync", capsys, *TEXT, "--log-level", "warning")
    assert [line.startswith(start) for line, start in zip(lines, (CREATED, FAILED), strict=True)] == [True, True]


def test_a_plan_changes_nothing_so_its_report_shows_what_it_would_change(folder, capsys):
    assert err_of("plan", capsys, *TEXT, "--log-level", "warning") == []


def test_a_log_that_has_them_is_not_repeated(folder, capsys):
    lines = err_of("sync", capsys, *TEXT, "--log-level", "info")
    assert sum("Resource changed" in line for line in lines) == 1
    assert sum("Resource failed" in line for line in lines) == 1
    assert not [line for line in lines if line.startswith((CREATED, FAILED))]


def test_a_machine_reads_the_log_alone(folder, capsys):
    lines = [json.loads(line) for line in err_of("sync", capsys)]
    assert {"Resource changed", "Resource failed"} <= {line["message"] for line in lines}


def test_a_quiet_run_leaves_it_to_the_report(folder, capsys):
    assert err_of("sync", capsys, *TEXT, "--quiet") == []
