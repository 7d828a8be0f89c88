"""Progress: what the line reports, and that it comes by the clock alone."""

import io
import queue
import re
import threading
from dataclasses import replace

import pytest

from gitsync.model.report import LimitUse
from gitsync.model.result import Stage, Wait
from gitsync.model.verdict import Verdict
from gitsync.providers.arm.session import Session
from gitsync.report.live_progress import format_rows, show_live
from gitsync.report.progress import Silent, Tally, format_ordinal, print_progress
from tests.report.report_builders import DRIFTED, IN_SYNC, REFUSED, failed, key, result
from tests.support.parts import change


class Ticks:
    """Seconds that pass when reported to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def at(stage, wait=None):
    return Session(deadline=1e9, stage=stage, wait=wait)


def nodes(count):
    return {key("ResourceGroup", f"rg-{number}"): () for number in range(count)}


def test_the_line_names_the_longest_first_with_its_time():
    clock = Ticks()
    tally = Tally(clock)
    tally.expect(nodes(4))
    logs = at(Stage.OBSERVE)
    tally.started(REFUSED.key, logs)
    clock.now = 100.0
    tally.started(DRIFTED.key, at(Stage.OBSERVE))
    logs.stage = Stage.ACT
    tally.started(REFUSED.key, logs)
    tally.started(IN_SYNC.key, at(Stage.OBSERVE))
    tally.finished(IN_SYNC)
    clock.now = 130.0
    assert tally.format_line() == (
        "1 of 4 done; in progress: StorageAccount/logs (2m10s, act), VirtualNetwork/hub (30s, observe)"
    )


@pytest.mark.parametrize(
    ("stage", "wait", "shown"),
    [
        (Stage.OBSERVE, None, "observe"),
        (Stage.POLL, None, "Azure works"),
        (Stage.OBSERVE, Wait("throttled", 164.0, 5), "throttled, tries again in 1m04s (5th try)"),
        (Stage.ACT, Wait("throttled", 103.2), "throttled, goes on in 4s"),
        (Stage.ACT, Wait("waits for the limit of reads", 101.0), None),
        (Stage.ACT, Wait("503 ServerBusy", 99.0, 2), "503 ServerBusy (2nd try)"),
        (Stage.ACT, Wait("waits for the write lock of virtualNetworks/hub"), None),
        (Stage.ACT, Wait("500 hunter2\x1b"), "500 ****\\x1b"),
    ],
    ids=["nothing", "poll", "try", "limit", "soon", "time-is-up", "lock", "hostile"],
)
def test_a_resource_reports_what_it_waits_for(stage, wait, shown):
    clock = Ticks()
    tally = Tally(clock, lambda text: text.replace("hunter2", "****"))
    tally.started(IN_SYNC.key, at(stage, wait))
    clock.now = 100.0
    ((row,), more) = tally.list_under_way()
    assert (row, more) == (("ResourceGroup/core", "1m40s", shown or wait.reason), 0)


def test_a_resource_reports_how_many_wait_for_it():
    tally = Tally(Ticks())
    group, hub, logs = IN_SYNC.key, DRIFTED.key, REFUSED.key
    tally.expect({group: (), hub: (group,), logs: (group,)})
    tally.started(group, at(Stage.POLL))
    assert tally.format_line() == "0 of 3 done; in progress: ResourceGroup/core (0s, Azure works; 2 wait for it)"
    tally.finished(DRIFTED)
    assert tally.format_line().endswith("; 1 waits for it)")
    tally.finished(REFUSED)
    assert tally.format_line().endswith("(0s, Azure works)")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (12, "12th"),
        (13, "13th"),
        (21, "21st"),
        (112, "112th"),
    ],
)
def test_ordinals(number, text):
    assert format_ordinal(number) == text


def test_a_line_names_five_and_counts_the_rest():
    tally = Tally(Ticks())
    for number in range(8):
        tally.started(key("ResourceGroup", f"rg-{number}"), at(Stage.ACT))
    assert tally.format_line() == "0 done; in progress: " + ", ".join(
        [*(f"ResourceGroup/rg-{n} (0s, act)" for n in range(5)), "and 3 more"]
    )


def test_a_resource_that_was_never_started_can_be_finished():
    tally = Tally(Ticks())
    tally.finished(IN_SYNC)
    assert tally.format_line() == "1 done"


def test_lines_come_while_nothing_happens_and_end_with_the_context():
    said = queue.Queue()
    with print_progress(Tally(Ticks()), said.put, every=0.001) as progress:
        progress.expect(nodes(2))
        progress.started(IN_SYNC.key, at(Stage.POLL))
        assert any("in progress: ResourceGroup/core" in said.get(timeout=30) for _ in range(1000))
    assert "gitsync-progress" not in {thread.name for thread in threading.enumerate()}


def test_the_live_view_shows_what_is_done_and_what_is_at_work():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    with show_live(Tally(Ticks()), terminal) as progress:
        progress.expect(nodes(2))
        progress.finished(result(key("ResourceGroup", "a")))
        progress.started(key("ResourceGroup", "[red]x\x1b"), at(Stage.ACT))
    shown = terminal.getvalue()
    assert "1 of 2 resources" in shown
    assert re.search(r"ResourceGroup/\[red\]x\\x1b +0s +act", shown)


@pytest.mark.parametrize("columns", ["30", "100"])
def test_the_bar_and_each_resource_have_a_line_of_their_own(columns, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with show_live(Tally(Ticks()), terminal) as progress:
        progress.expect(nodes(4))
        progress.finished(result(key("ResourceGroup", "a")))
        progress.started(key("VirtualNetwork", "a-network-with-a-rather-long-name"), at(Stage.ACT))
        progress.started(key("VirtualNetwork", "hub"), at(Stage.POLL))
    view = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue()).split("1 of 4 resources")[-1]
    lines = [line.strip("\r ") for line in view.splitlines() if line.strip("\r ")]
    assert len(lines) == 3, "the bar and two resources, each in one line however narrow the terminal is"
    assert set(lines[0]) <= set("━╸╺ ")
    assert [line.startswith("VirtualNetwo") for line in lines[1:]] == [True, True]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (
            110,
            [
                "  VirtualNetworksVirtualNetworkPeering/hub-to-spoke  1m40s  throttled, tries again in 1m04s (12th try)",
                "  ResourceGroup/core                                    9s  Azure works",
            ],
        ),
        (
            70,
            [
                "  VirtualNetwo…ub-to-spoke  1m40s  throttled, tries again in 1m04s (12th try)",
                "  ResourceGroup/core           9s  Azure works",
            ],
        ),
    ],
)
def test_names_are_cut_before_what_they_wait_for(width, lines):
    clock = Ticks()
    tally = Tally(clock)
    peering = key("VirtualNetworksVirtualNetworkPeering", "hub-to-spoke")
    tally.started(peering, at(Stage.ACT, Wait("throttled", 164.0, 12)))
    clock.now = 91.0
    tally.started(IN_SYNC.key, at(Stage.POLL))
    clock.now = 100.0
    assert format_rows(tally, width) == lines


def test_silence_means_nothing(capsys):
    silent = Silent()
    silent.expect(nodes(1))
    silent.started(IN_SYNC.key, at(Stage.ACT))
    silent.finished(IN_SYNC)
    assert capsys.readouterr() == ("", "")


UPDATED = replace(DRIFTED, verdict=Verdict.IN_SYNC)
LONG = replace(REFUSED, condition=failed("Odd", "no " * 1000))
MASKED = replace(REFUSED, condition=failed("Odd", "The value\n  hunter2\x1b[2J is refused."))
REPEATED = change(REFUSED, condition=failed("Odd", "Odd"), source=None)


@pytest.mark.parametrize(
    ("end", "line"),
    [
        (
            REFUSED,
            "failed: StorageAccount/logs: AccountNameInvalid: logs is not a valid storage account name. (azure.yaml:3)",
        ),
        (MASKED, "failed: StorageAccount/logs: Odd: The value ****\\x1b[2J is refused. (azure.yaml:3)"),
        (REPEATED, "failed: StorageAccount/logs: Odd"),
        (UPDATED, "updated VirtualNetwork/hub in 2m10s"),
        (IN_SYNC, None),
    ],
    ids=["failure", "secret", "code", "change", "nothing"],
)
def test_an_end_is_a_line(end, line):
    said, clock = [], Ticks()
    tally = Tally(clock, lambda text: text.replace("hunter2", "****"), said.append, says_changes=True)
    tally.started(end.key, at(Stage.ACT))
    clock.now = 130.0
    assert tally.finished(end), "the log need not repeat it"
    assert said == ([line] if line else [])


def test_a_long_cause_is_left_to_the_report():
    said = []
    Tally(Ticks(), str, said.append).finished(LONG)
    assert len(said[0]) < 500
    assert said[0].endswith("… (azure.yaml:3)")


def test_a_change_is_reported_only_where_requested():
    said = []
    tally = Tally(Ticks(), str, said.append)
    tally.finished(UPDATED)
    tally.finished(REFUSED)
    assert [line.partition(":")[0] for line in said] == ["failed"]


@pytest.mark.parametrize("progress", [Tally(Ticks()), Silent()], ids=["counts", "silent"])
def test_what_reports_nothing_leaves_it_to_the_log(progress):
    assert progress.finished(REFUSED) is False


READS, WRITES = LimitUse("reads", 0, 25.0, True, 0.0), LimitUse("writes", 0, 0.5, True, 0.0)


@pytest.mark.parametrize(
    ("uses", "shown"),
    [
        ([], []),
        ([READS._replace(taken=94, is_near=False)], []),
        ([READS._replace(taken=94)], ["24 reads/s, near the limit of 25"]),
        ([READS._replace(taken=94), WRITES._replace(taken=1)], [
            "24 reads/s, near the limit of 25", "0.2 writes/s, near the limit of 0.5"
        ]),
        ([READS._replace(paused_until=170.0)], ["reads throttled, go on in 1m06s"]),
        ([READS._replace(paused_until=170.0)] * 2, ["reads throttled, go on in 1m06s"]),
    ],
    ids=["none", "within", "near", "two", "throttled", "two alike"],
)  # fmt: skip
def test_the_rate_is_shown_near_a_limit(uses, shown):
    clock = Ticks()
    tally = Tally(clock)
    now = []
    clock.now = 100.0
    tally.watch(lambda: now)
    assert tally.list_near_limits() == []
    now = uses
    clock.now = 104.0
    assert tally.list_near_limits() == shown
    assert tally.format_line() == "; ".join(["0 done", *shown])


def test_a_rate_is_of_the_last_seconds_and_stays_for_some():
    clock = Ticks()
    tally = Tally(clock)
    taken_at = {2.0: 200, 3.0: 225, 4.0: 250, 8.0: 350}
    tally.watch(lambda: [READS._replace(taken=taken_at[clock.now])])
    rates = []
    for clock.now in taken_at:
        rates += [line.partition(",")[0] for line in tally.list_near_limits()]
    assert rates == ["100 reads/s", "100 reads/s", "25 reads/s", "25 reads/s"]


def test_a_run_that_is_stopped_names_what_it_leaves():
    said = []
    tally = Tally(Ticks(), str, said.append)
    tally.expect(nodes(10))
    tally.finished(IN_SYNC)
    for number in range(7):
        tally.started(key("ResourceGroup", f"rg-{number}"), at(Stage.POLL))
    assert tally.say_unfinished("Stopped by Ctrl-C", "Wait.")
    (text,) = said
    assert text.splitlines() == [
        "Stopped by Ctrl-C: 7 unfinished, 2 not begun. Wait.",
        *(f"  ResourceGroup/rg-{number} (0s, Azure works)" for number in range(5)),
        "  and 2 more",
    ]


def test_a_log_shows_by_itself_that_a_run_is_stopped():
    assert Tally(Ticks()).say_unfinished("Stopped by Ctrl-C", "Wait.") is False
