"""Gathering on a full disk, with clocks that jump, and of pins that no one could have written: an error or a report
that reports it, nothing is lost, and the next gathering is right.
"""

from __future__ import annotations

import re
import resource
import signal
import subprocess
from contextlib import contextmanager

import pytest

from gitsync.errors import GitsyncError
from gitsync.report import json as report_json
from tests.agent.run.test_gathering import Rig, ended, new, synced
from tests.agent.run.test_gathering import gathered as all_gathered

__all__ = ["all_gathered", "ended", "new", "synced"]  # fixtures
PIN = "refs/heads/gitsync/runs/42"
DAY = 86_400


@contextmanager
def full_disk(size: int):
    """No file grows beyond so many bytes, those of git neither: what a full disk does, for root too."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.fixture(scope="module")
def gathered(all_gathered):
    """What an undisturbed gathering reports, and writes."""
    rig, report = all_gathered
    return report_json.render(report), rig.texts()


@pytest.mark.parametrize("size", [0, 1, 60, 200, 600, 1500, 4000])
def test_a_full_disk_loses_nothing(ended, gathered, size):
    branches = ended.branches()
    try:
        with full_disk(size):
            report = ended.gather()
    except GitsyncError as error:
        assert error.message
        assert ended.branches() == branches, "what the workers have recorded is there for the next"
    else:
        assert report.exit_code == 1 or ended.texts() == gathered[1]
    assert report_json.render(ended.gather()) == gathered[0]
    assert ended.texts() == gathered[1]


def rewrite(rig: Rig, ref: str, change) -> None:
    """Write the commit of a branch again, with another text."""
    text = change(rig.git("cat-file", "commit", ref))
    write = ["git", "hash-object", "-t", "commit", "-w", "--stdin"]
    commit = subprocess.run(write, cwd=rig.bare, input=text, text=True, capture_output=True, check=True).stdout
    rig.git("update-ref", ref, commit.strip())


def move_dates(text: str, days: int) -> str:
    """The text of a commit, as if the clock had been so far ahead."""
    return re.sub(r"(?<=> )\d+(?= [+-]\d{4}\n)", lambda seconds: str(max(int(seconds[0]) + days * DAY, 0)), text)


@pytest.mark.parametrize("days", [-20_000, -400, -1, 1, 400, 30_000], ids=lambda days: f"{days} days")
@pytest.mark.parametrize("what", ["the pin", "a worker", "all"])
def test_clocks_that_jump_change_nothing_of_what_is_gathered(ended, gathered, what, days):
    refs = {
        "the pin": [PIN],
        "a worker": [f"refs/heads/{branch}" for branch in ended.branches() if "shards" in branch][:1],
        "all": [PIN, *(f"refs/heads/{branch}" for branch in ended.branches() if "shards" in branch)],
    }[what]
    for ref in refs:
        rewrite(ended, ref, lambda text: move_dates(text, days))
    branches = ended.branches()
    try:
        report = ended.gather()
    except GitsyncError as error:
        assert error.hint, "what cannot be believed says what to do"
        assert ended.branches() == branches
        return
    assert report_json.render(report) == gathered[0]
    assert ended.texts() == gathered[1]


@pytest.mark.parametrize("workers", ["0", "99999999999", "4294967296", "-1", "3.0", "three", ""])
def test_a_pin_of_workers_that_no_run_has_is_refused_at_once(ended, workers):
    rewrite(ended, PIN, lambda text: text.replace("Workers: 3", f"Workers: {workers}"))
    with pytest.raises(GitsyncError) as refused:
        ended.gather()
    assert "gitsync/runs/42" in refused.value.message
    assert refused.value.hint
