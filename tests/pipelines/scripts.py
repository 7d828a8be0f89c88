"""Scripts of jobs. What they start as `gitsync` runs in the process of the tests."""

from __future__ import annotations

import atexit
import marshal
import os
import select
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.support.answered_programs import read_call, write_program
from tests.support.command_line import Ended, run_as


def run_script(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Ended:
    """Run a script to its end. What it starts as `gitsync` is run here, since a process takes three times the CPU: one
    after the other, with what it prints at its end.
    """
    listener, programs = _open()
    environment = {**variables, "PATH": f"{programs}{os.pathsep}{variables['PATH']}"}
    with (
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
        subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err
        ) as process,
    ):
        ending = os.pidfd_open(process.pid)
        while listener in select.select([listener, ending], [], [])[0]:
            _answer(listener)
        os.close(ending)
        code = process.wait()
        for stream in (out, err):
            stream.seek(0)
        return Ended(code, out.read(), err.read())


@cache
def _open() -> tuple[socket.socket, Path]:
    """The socket to which commands come, and the folder of the program that sends them."""
    listener = socket.create_server(("127.0.0.1", 0))
    atexit.register(listener.close)
    programs = Path(tempfile.mkdtemp(prefix="gitsync-programs-"))
    atexit.register(shutil.rmtree, programs, ignore_errors=True)
    write_program(programs, "gitsync", listener.getsockname()[1])
    return listener, programs


def _answer(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as stream:
        call = read_call(stream)
        code, out, err = run_as(call.arguments, call.folder, call.environment)
        connection.sendall(marshal.dumps((int(code), out, err)))
