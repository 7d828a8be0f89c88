"""Gathering on a full disk, with clocks that jump, and of pins that no one could have written: an error or a report
that reports it, nothing is lost, and the next gathering is right.
"""

from __future__ import annotations

import re
import resource
import signal
from contextlib import closing, contextmanager

import pytest

from gitsync.errors import ConfigError, GitsyncError
from gitsync.report import json as report_json
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.clone import open_clone
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.pins import read_pin
from gitsync.repository.git.state.seal import RecordSeals
from tests.agent.run.test_gathering import STATUS, Rig, ended, new, synced
from tests.agent.run.test_gathering import gathered as all_gathered
from tests.support.git_repositories import read_object, write_object

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


def test_a_full_disk_loses_nothing(ended, gathered):
    """The disk has a little more room each time, until a gathering succeeds."""
    branches = ended.branches()
    for size in (0, 1, 60, 200, 600, 1500, 4000):
        try:
            with full_disk(size):
                report = ended.gather()
        except GitsyncError as error:
            assert error.message, size
            assert ended.branches() == branches, f"what the workers have recorded is there for the next: {size}"
        else:
            assert report.exit_code == 1 or ended.texts() == gathered[1], size
    assert report_json.render(ended.gather()) == gathered[0]
    assert ended.texts() == gathered[1]


def rewrite(rig: Rig, ref: str, change) -> None:
    """Write the commit of a branch again, with another text."""
    file = rig.bare / ref
    _, content = read_object(rig.bare, file.read_text().strip())
    text = change(content.decode())
    file.write_text(write_object(rig.bare, "commit", text.encode()).hex())


def move_dates(text: str, days: int) -> str:
    """The text of a commit, as if the clock had been so far ahead."""
    return re.sub(r"(?<=> )\d+(?= [+-]\d{4}\n)", lambda seconds: str(max(int(seconds[0]) + days * DAY, 0)), text)


@pytest.mark.parametrize(
    ("pin", "first", "others"),
    [
        (-20_000, 400, 0),
        (-400, 30_000, 0),
        (-1, 1, 0),
        (1, -1, 0),
        (400, -20_000, 0),
        (30_000, -400, 0),
        (-20_000, -20_000, -20_000),
        (30_000, 30_000, 30_000),
    ],
)
def test_clocks_that_jump_change_nothing_of_what_is_gathered(ended, gathered, pin, first, others):
    """By so many days, as the clocks of the pin, of the first worker and of the others were ahead."""
    workers = [f"refs/heads/{branch}" for branch in ended.branches() if "shards" in branch]
    for ref, days in zip((PIN, *workers), (pin, first, others, others), strict=True):
        rewrite(ended, ref, lambda text, days=days: move_dates(text, days))
    assert report_json.render(ended.gather()) == gathered[0]
    assert ended.texts() == gathered[1]


def test_a_pin_of_workers_that_no_run_has_is_refused(ended, subtests):
    with closing(open_clone(open_remote(Url(ended.bare.as_uri(), "file"), GitAccess()))) as clone:
        for workers in ("0", "99999999999", "4294967296", "-1", "3.0", "three", ""):
            rewrite(ended, PIN, lambda text, workers=workers: re.sub("(?<=Workers: ).*", workers, text))
            with subtests.test(workers):
                with pytest.raises(ConfigError, match="gitsync/runs/42 is not the pin") as refused:
                    read_pin(clone, "42", STATUS, RecordSeals())
                assert refused.value.hint
    with pytest.raises(ConfigError, match="gitsync/runs/42 is not the pin"):
        ended.gather()
