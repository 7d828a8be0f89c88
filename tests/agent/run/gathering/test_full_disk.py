"""Gathering while the disk is full, in each step of git that writes a file: nothing is lost, and the next gathering is
right.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from gitsync.errors import GitsyncError
from gitsync.model.report import Report
from gitsync.report import json as report_json
from tests.agent.run.gathering.rig import STATUS, Rig

pytestmark = pytest.mark.together("gathering")

STEPS = ("config", "fetch", "cat-file", "fast-import", "push")
"""What a gathering has git do that writes a file, in order: read the settings, fetch the branches, read the reports, write
the commit, push it. The branches of workers are removed by a push too, which writes nothing.
"""

GIT = """\
#!/bin/sh
trap '' XFSZ  # as on a full disk: a write that is refused, and no signal
for step in {steps} other; do case " $* " in *" $step "*) break;; esac; done
case $step in other) exec {git} "$@";; esac
# What gitsync tries again in the same run has no room at all: more of it proves nothing, and takes time.
if [ -e {folder}/full ]; then echo "the disk is still full" >&2; exit 128; fi
read -r blocks < {folder}/$step
case $step in
  fast-import | push) (ulimit -f "$blocks"; exec {git} "$@") || {{ code=$?; echo $step > {folder}/full; exit $code; }};;
  *) ulimit -f "$blocks"; exec {git} "$@";;
esac
"""


class FullDisk:
    """A program `git` whose files grow to some blocks of 512 bytes, in each step to another number: none at first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for step in STEPS:
            (folder / step).write_text("0\n")
        (folder / "git").write_text(GIT.format(folder=folder, git=shutil.which("git"), steps=" ".join(STEPS)))
        (folder / "git").chmod(0o755)

    def enlarge(self, step: str) -> None:
        """Give more room to a step: all of it to one that leaves nothing behind, so that one failure shows all."""
        blocks = int((self.folder / step).read_text())
        more = blocks * 8 or 2
        (self.folder / step).write_text(f"{more if step in {'fast-import', 'push'} else 'unlimited'}\n")
        (self.folder / "full").unlink(missing_ok=True)

    def find_step(self, message: str) -> str:
        """Find the step that had no room; without a try that was made again, its error names it."""
        full = self.folder / "full"
        return full.read_text().strip() if full.exists() else re.search(r"git (\S+) failed: ", message)[1]


def gather_on_full_disk(rig: Rig, disk: FullDisk) -> Report | str:
    """Gather, and return the report, or the step of git for which the disk had no room."""
    try:
        report = rig.gather()
    except GitsyncError as error:
        message = error.message
    else:
        if not report.exit_code:
            return report
        (problem,) = report.problems
        assert problem.code == "StatusNotWritten"
        message = problem.message
    return disk.find_step(message)


def test_a_full_disk_loses_nothing(ended, gathered, tmp_path, monkeypatch):
    """Each step has more room once it has failed, until a gathering succeeds."""
    branches, disk, failed = ended.branches(), FullDisk(tmp_path / "disk"), []
    rig, report = gathered
    monkeypatch.setenv("PATH", f"{disk.folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda seconds: None)  # between tries
    while isinstance(step := gather_on_full_disk(ended, disk), str):
        failed.append(step)
        assert ended.branches() == branches, f"what the workers have recorded is there for the next: {failed}"
        disk.enlarge(step)
    assert list(dict.fromkeys(failed)) == list(STEPS)
    assert min(failed.count("fast-import"), failed.count("push")) > 1, "also after something was written"
    assert report_json.render(step) == report_json.render(report)
    assert ended.texts() == rig.texts()
    assert ended.branches() == ["gitsync/runs/42", STATUS], "those of the workers are taken in"
