"""`gitsync` for shells that a test starts, run in the process of the test: a third of the CPU of a process that is forked.
For shells that run one command after the other, and that send no signals.
"""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TextIO, TypeVar

from tests.support.answered_programs import do_next
from tests.support.command_line import run_into
from tests.support.warm_process import write_command

T = TypeVar("T")


def run_shells_here(work: Callable[[Path], T]) -> T:
    """Do work in a thread, and run here what its shells start as `gitsync` from the folder that it gets."""
    with (
        ThreadPoolExecutor(1) as thread,
        tempfile.TemporaryDirectory(prefix="gitsync-shell-") as folder,
        socket.socket(socket.AF_UNIX) as door,
    ):
        door.bind(f"{folder}/door")
        door.listen()
        write_command(Path(folder, "gitsync"), f"{folder}/door")
        result = thread.submit(work, Path(folder))
        result.add_done_callback(lambda _: _knock(f"{folder}/door"))
        while do_next(door, _run):
            pass
        return result.result()


def _knock(door: str) -> None:
    """Let who waits at the door see that the work is done."""
    with socket.socket(socket.AF_UNIX) as request:
        request.connect(door)
        request.sendall(b".{}\n")


def _run(streams: tuple[TextIO, TextIO, TextIO], arguments: list[str], folder: str, environment: dict[str, str]) -> int:
    _, out, err = streams
    return run_into(out, err, *arguments, folder=Path(folder), environment=environment)
