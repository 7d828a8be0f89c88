"""Progress: what the line says, and that it comes by the clock alone."""

import io
import queue
import re
import threading

import pytest

from gitsync.model.result import Stage
from gitsync.report.live import show_live
from gitsync.report.progress import Silent, Tally, print_progress
from tests.report.report_builders import DRIFTED, IN_SYNC, REFUSED, key, result


class Ticks:
    """Seconds that pass when told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_the_line_names_the_longest_first_with_its_time():
    clock = Ticks()
    tally = Tally(clock)
    tally.expect(4)
    tally.started(REFUSED.key, Stage.OBSERVE)
    clock.now = 100.0
    tally.started(DRIFTED.key, Stage.OBSERVE)
    tally.started(REFUSED.key, Stage.POLL)
    tally.started(IN_SYNC.key, Stage.OBSERVE)
    tally.finished(IN_SYNC)
    clock.now = 130.0
    assert tally.format_line() == (
        "1 of 4 done; in progress: StorageAccount/logs (poll, 2m10s), VirtualNetwork/hub (observe, 30s)"
    )


def test_a_line_names_five_and_counts_the_rest():
    tally = Tally(Ticks())
    for number in range(8):
        tally.started(key("ResourceGroup", f"rg-{number}"), Stage.ACT)
    assert tally.format_line() == "0 done; in progress: " + ", ".join(
        [*(f"ResourceGroup/rg-{n} (act, 0s)" for n in range(5)), "and 3 more"]
    )


def test_a_resource_that_was_never_started_can_be_finished():
    tally = Tally(Ticks())
    tally.finished(IN_SYNC)
    assert tally.format_line() == "1 done"


def test_lines_come_while_nothing_happens_and_end_with_the_context():
    said = queue.Queue()
    with print_progress(Tally(Ticks()), said.put, every=0.001) as progress:
        progress.expect(2)
        progress.started(IN_SYNC.key, Stage.POLL)
        assert any("in progress: ResourceGroup/core" in said.get(timeout=30) for _ in range(1000))
    assert "gitsync-progress" not in {thread.name for thread in threading.enumerate()}


def test_the_live_view_shows_what_is_done_and_what_is_at_work():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    with show_live(Tally(Ticks()), terminal) as progress:
        progress.expect(2)
        progress.finished(result(key("ResourceGroup", "a")))
        progress.started(key("ResourceGroup", "[red]x\x1b"), Stage.ACT)
    shown = terminal.getvalue()
    assert "1 of 2 resources" in shown
    assert "ResourceGroup/[red]x\\x1b (act, 0s)" in shown


@pytest.mark.parametrize("columns", ["30", "100"])
def test_the_bar_and_each_resource_have_a_line_of_their_own(columns, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with show_live(Tally(Ticks()), terminal) as progress:
        progress.expect(4)
        progress.finished(result(key("ResourceGroup", "a")))
        progress.started(key("VirtualNetwork", "a-network-with-a-rather-long-name"), Stage.ACT)
        progress.started(key("VirtualNetwork", "hub"), Stage.POLL)
    view = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue()).split("1 of 4 resources")[-1]
    lines = [line.strip("\r ") for line in view.splitlines() if line.strip("\r ")]
    assert len(lines) == 3, "the bar and two resources, each in one line however narrow the terminal is"
    assert set(lines[0]) <= set("━╸╺ ")
    assert [line.startswith("VirtualNetwork/") for line in lines[1:]] == [True, True]


def test_silence_says_nothing(capsys):
    silent = Silent()
    silent.expect(1)
    silent.started(IN_SYNC.key, Stage.ACT)
    silent.finished(IN_SYNC)
    assert capsys.readouterr() == ("", "")
