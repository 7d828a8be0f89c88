"""The prompt before the first sync of a target: who gets it, what is shown, and which answers mean yes."""

from __future__ import annotations

import io
from contextlib import contextmanager, nullcontext

import pytest

from gitsync.agent.run.guards import ChangeCounts
from gitsync.cli.running import format_confirmation, make_confirm
from gitsync.model.report import RunTarget
from gitsync.settings.config.config import Config

TARGET = RunTarget(repository="https://github.com/contoso/estate", subscription="1", subscription_name="Production")
COUNTS = ChangeCounts(creates=12, updates=3, deletes=0, hindered=0)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Both streams are terminals; what is typed is set by the test."""

    def type_in(answer):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        monkeypatch.setattr("sys.stderr", shown := Terminal())
        return shown

    return type_in


@pytest.mark.parametrize(
    ("answer", "goes_on"),
    [("y\n", True), ("YES\n", True), (" y \n", True), ("\n", False), ("n\n", False), ("yo\n", False), ("", False)],
)
def test_only_yes_means_yes(terminal, answer, goes_on):
    shown = terminal(answer)
    assert make_confirm(Config(), nullcontext)(TARGET, COUNTS) is goes_on
    assert shown.getvalue().endswith("Continue? [y/N] ")


@pytest.mark.parametrize(
    "config", [Config(yes=True), Config(plan_file="plan.json"), Config(emulator="")], ids=["yes", "plan", "emulator"]
)
def test_some_runs_prompt_no_one(terminal, config):
    terminal("n\n")
    assert make_confirm(config, nullcontext) is None


@pytest.mark.parametrize("stream", ["stdin", "stderr"])
def test_without_a_terminal_no_one_is_prompted(terminal, monkeypatch, stream):
    terminal("n\n")
    monkeypatch.setattr(f"sys.{stream}", io.StringIO())
    assert make_confirm(Config(), nullcontext) is None


def test_the_display_is_hidden_during_the_prompt(terminal):
    """Else the bar would be drawn over it."""
    shown, told = terminal("y\n"), []

    @contextmanager
    def pause():
        told.append(shown.getvalue())
        yield
        told.append(shown.getvalue())

    make_confirm(Config(), pause)(TARGET, COUNTS)
    assert told[0] == ""
    assert told[1].endswith("[y/N] ")


def test_the_prompt_names_the_target_and_the_counts():
    check = format_confirmation(TARGET, COUNTS)
    assert "Subscription: Production (1)" in check
    assert "This sync would create 12, update or adopt 3, delete 0." in check
    assert "would fail" not in check
    assert "2 would fail or wait." in format_confirmation(TARGET, COUNTS._replace(hindered=2))


def test_no_azure_name_moves_the_cursor():
    assert "\x1b" not in format_confirmation(RunTarget(subscription_name="\x1b[2J", subscription="1"), COUNTS)
