"""Programs that are not on this machine: what they do is done in the process of the tests, since one that imports what
its answer takes needs 20 ms more.
"""

from __future__ import annotations

import marshal
import os
import sys
import threading
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from socketserver import StreamRequestHandler, TCPServer
from typing import IO, NamedTuple

_PROGRAM = """\
#!{python} -ISE
import marshal, posix, sys, _socket  # others would take most of the time

arguments = sys.argv[1:]
is_read = "-" in arguments or "/dev/stdin" in arguments or any(one.endswith("=@-") for one in arguments)
stdin = sys.stdin.read() if is_read else ""
line = _socket.socket()
line.connect(("127.0.0.1", {port}))
call = marshal.dumps([{home!r}, posix.getcwd(), {name!r}, arguments, stdin, posix.environ])
line.send(b"%12d" % len(call))
while call:
    call = call[line.send(call):]
parts = list(iter(lambda: line.recv(65536), b""))
code, out, err = marshal.loads(b"".join(parts))
sys.stdout.write(out)
sys.stderr.write(err)
sys.exit(code)
"""


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


def write_program(folder: Path, name: str, port: int) -> Path:
    """Write a program that sends to a port how it was called, and ends with its answer."""
    program = folder / name
    program.write_text(_PROGRAM.format(python=sys.executable, port=port, home=str(folder), name=name))
    program.chmod(0o755)
    return program


def _read_call(stream: IO[bytes]) -> ProgramCall:
    home, folder, name, arguments, stdin, environment = marshal.loads(stream.read(int(stream.read(12))))
    variables = {os.fsdecode(key): os.fsdecode(value) for key, value in environment.items()}
    return ProgramCall(Path(home), Path(folder), name, arguments, stdin, variables)


class _Server(TCPServer):
    request_queue_size = 128
    """Calls that may wait on a busy machine: the kernel resets those beyond."""


@cache
def answer_calls(answer: Callable[[ProgramCall], Answer]) -> int:
    """Answer one call after the other, as long as this process runs; the port."""

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            call = _read_call(self.rfile)
            try:
                ended = answer(call)
            except Exception as error:  # noqa: BLE001 - as an interpreter ends
                ended = 1, "", f"{error!r}\n{traceback.format_exc()}"  # gitsync shows the first line
            self.wfile.write(marshal.dumps(ended))

    server = _Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]
