"""An empty repository to copy: `git init` and two settings are three processes, and hundreds of tests begin with them."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

_SETTINGS = {
    "user.name": "Somebody",
    "user.email": "somebody@example.com",
    "maintenance.auto": "false",  # a process for every commit
}


def init_repository(folder: Path) -> None:
    """Make a folder a repository without commits, on the branch main, with an author and no hooks."""
    shutil.copytree(_make_template(), folder / ".git")


@cache
def _make_template() -> Path:
    top = Path(tempfile.mkdtemp(prefix="gitsync-tests-"))
    atexit.register(shutil.rmtree, top, ignore_errors=True)
    for words in (["init", "-q", "-b", "main", "--template="], *(["config", *row] for row in _SETTINGS.items())):
        subprocess.run(["git", *words], cwd=top, check=True, capture_output=True)
    return top / ".git"
