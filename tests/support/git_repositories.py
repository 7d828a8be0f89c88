"""Empty repositories, with no settings of this machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

SETTINGS = """\
[user]
\tname = Somebody
\temail = somebody@example.com
[maintenance]
\tauto = false
"""
"""The last is a process for every commit."""


def init_repository(folder: Path) -> None:
    """Make a folder a repository without commits, on the branch main, with an author and no hooks."""
    command = ["git", "init", "-q", "-b", "main", "--template=", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    with (folder / ".git" / "config").open("a") as config:
        config.write(SETTINGS)
