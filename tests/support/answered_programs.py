"""Programs whose work is done in the process of the tests: those that are not on this machine, since one that imports what
its answer takes needs 20 ms more, and `gitsync` for shells.
"""

from __future__ import annotations

import os
import socket
import tempfile
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple, TextIO

from tests.support.warm_process import write_command
from tests.support.warm_server import receive


class ProgramCall(NamedTuple):
    """How a program was called."""

    home: Path  # where it is
    folder: Path  # where it runs
    name: str
    arguments: list[str]
    stdin: str
    environment: dict[str, str]


Answer = tuple[int, str, str]
"""The exit code, and what goes to stdout and to stderr."""


def write_program(folder: Path, name: str, door: str) -> Path:
    """Write a program whose calls are answered at a door of `answer_calls`."""
    return write_command(folder / name, door, str(folder / name))


@cache
def answer_calls(answer: Callable[[ProgramCall], Answer]) -> str:
    """Answer one call after the other, as long as this process runs; the door."""
    door = f"{tempfile.mkdtemp(prefix='gitsync-programs-')}/door"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(door)
    listener.listen()

    def serve() -> None:
        while do_next(listener, partial(_do, answer)):
            pass

    threading.Thread(target=serve, daemon=True).start()
    return door


def _do(
    answer: Callable[[ProgramCall], Answer],
    streams: tuple[TextIO, TextIO, TextIO],
    arguments: list[str],
    folder: str,
    environment: dict[str, str],
) -> int:
    stdin, stdout, stderr = streams
    program, *own = arguments
    is_read = "-" in own or "/dev/stdin" in own or any(argument.endswith("=@-") for argument in own)
    home, text = Path(program).parent, stdin.read() if is_read else ""
    try:
        code, out, err = answer(ProgramCall(home, Path(folder), Path(program).name, own, text, environment))
    except Exception as error:  # noqa: BLE001 - as an interpreter ends
        code, out, err = 1, "", f"{error!r}\n{traceback.format_exc()}"  # gitsync shows the first line
    stdout.write(out)
    stderr.write(err)
    return code


def do_next(door: socket.socket, do: Callable[..., int]) -> bool:
    """Do what the next program wants that comes to a door, with its streams; return whether it wanted something."""
    request, _ = door.accept()
    with request:
        descriptors, wanted = receive(request)
        if not wanted:
            return False
        code = 0
        # The reader of a stream may have read enough, as `head` has.
        with (
            suppress(BrokenPipeError),
            os.fdopen(descriptors[2], "w", encoding="utf-8", buffering=1) as stderr,
            os.fdopen(descriptors[1], "w", encoding="utf-8") as stdout,
            os.fdopen(descriptors[0], encoding="utf-8") as stdin,
        ):
            code = do((stdin, stdout, stderr), **wanted)
        request.sendall(b"0\n%d\n" % (code << 8))
    return True
