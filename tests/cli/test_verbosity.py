"""`-q`: nothing on stdout or stderr while all is well, and the usual report if something failed."""

import pytest

from gitsync.cli.main import run
from tests.support import world
from tests.support.command_line import SUBSCRIPTION

AZURE = ("--emulator", "--subscription", SUBSCRIPTION, "--status-dir", "../status")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with one manifest."""
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "group.yaml").write_text(world.GROUP)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("command", ["validate", "plan", "sync"])
def test_a_quiet_command_prints_nothing_if_all_is_well(command, folder, capsys):
    assert run([command, "-q", *(AZURE if command != "validate" else ())]) == 0
    assert capsys.readouterr() == ("", "")


def test_changes_are_not_a_failure(folder, capsys):
    assert run(["plan", "--quiet", "--detailed-exitcode", *AZURE]) == 3
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_a_quiet_command_prints_its_report_if_something_failed(command, folder, capsys):
    (folder / "group.yaml").write_text(world.GROUP + "  nothingSuch: 1\n")
    more = AZURE if command == "plan" else ()
    assert run([command, "-q", *more]) == 1
    assert "nothingSuch" in capsys.readouterr().out


def test_another_form_than_text_is_printed_in_any_case(folder, capsys):
    assert run(["validate", "-q", "-o", "json"]) == 0
    assert '"errors": 0' in capsys.readouterr().out


def test_more_and_less_exclude_each_other(folder, capsys):
    assert run(["plan", "-q", "-v"]) == 2
    assert "not allowed with" in capsys.readouterr().err
