"""`gitsync` for shells that a test starts, run in the process of the test: a third of the CPU of a process that is forked.
For shells that run one command after the other, and that send no signals.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from tests.support.command_line import run_into
from tests.support.warm_process import write_command
from tests.support.warm_server import receive

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
        write_command(Path(folder), f"{folder}/door")
        result = thread.submit(work, Path(folder))
        result.add_done_callback(lambda _: _knock(f"{folder}/door"))
        while _answer(door):
            pass
        return result.result()


def _knock(door: str) -> None:
    """Let who waits at the door see that the work is done."""
    with socket.socket(socket.AF_UNIX) as request:
        request.connect(door)
        request.sendall(b".{}\n")


def _answer(door: socket.socket) -> bool:
    """Run the next command; return whether there was one."""
    request, _ = door.accept()
    with request:
        descriptors, wanted = receive(request)
        if wanted:
            code = _run(descriptors, **wanted)
            request.sendall(b"0\n%d\n" % (code << 8))  # no process, and the status of one
        return bool(wanted)


def _run(descriptors: list[int], arguments: list[str], folder: str, environment: dict[str, str]) -> int:
    stdin, stdout, stderr = descriptors
    os.close(stdin)
    code = 0
    # The reader of a stream may have read enough, as `head` has.
    with (
        suppress(BrokenPipeError),
        os.fdopen(stderr, "w", encoding="utf-8", buffering=1) as err,
        os.fdopen(stdout, "w", encoding="utf-8") as out,
    ):
        code = run_into(out, err, *arguments, folder=Path(folder), environment=environment)
    return code
