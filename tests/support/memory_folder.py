"""A file system in memory for the temporary folders of tests, where there is one."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
NEEDED = 2 << 30
"""Bytes: three times what the folders of one run take. Containers often have 64 MB there."""


def find_memory_folder(folder: Path = MEMORY, needed: int = NEEDED) -> str | None:
    """The folder, if it is large enough and can hold programs. None if a variable names another."""
    if any(name in os.environ for name in ("TMPDIR", "PYTEST_DEBUG_TEMPROOT")) or not os.access(folder, os.W_OK):
        return None
    found = os.statvfs(folder)
    has_room = found.f_bavail * found.f_frsize >= needed
    return str(folder) if has_room and not found.f_flag & os.ST_NOEXEC else None


def make_own_folder(parent: str) -> str:
    """Make a folder in it that is removed when this process ends. gitsync would look
    through what other runs left beside it, in each run, for folders of killed runs: a thirtieth of what tests of runs
    take.
    """
    folder = tempfile.mkdtemp(prefix="gitsync-tests-", dir=parent)
    Path(folder).chmod(0o755)  # servers of databases run as another user
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
