"""One run at a time in a status folder.

The lock is the kernel's (flock): it ends with its process, so it never has to be broken. The number in the
file only shows people the process that holds it.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from gitsync.errors import StateError

LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class FolderLock:
    """A lock that is held."""

    descriptor: int

    def release(self) -> None:
        os.close(self.descriptor)


def acquire_lock(folder: Path) -> FolderLock:
    """Take the lock of a folder. StateError if another run holds it; OSError if it cannot be taken."""
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except BlockingIOError:
        holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(descriptor)
        raise StateError(
            f"{folder} is locked by another run (pid {holder}).", hint="Wait for it to finish, then run again."
        ) from None
    except OSError:
        os.close(descriptor)
        raise
    return FolderLock(descriptor)
