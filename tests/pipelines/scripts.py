"""Scripts of jobs, whose gitsync runs in the process of the tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.command_line import Ended
from tests.support.shell_commands import run_shells_here


def run_job_script(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Ended:
    """Run a script to its end."""

    def run(programs: Path) -> Ended:
        environment = {**variables, "PATH": f"{programs}{os.pathsep}{variables['PATH']}"}
        done = subprocess.run(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run_shells_here(run)
