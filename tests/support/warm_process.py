"""Commands forked from a process that has imported gitsync (`warm_server`), with the methods of `subprocess.Popen` that
tests use.
"""

from __future__ import annotations

import atexit
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from io import TextIOWrapper
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self

SERVER = Path(__file__).with_name("warm_server.py")
INTERPRETER = "TESTS_INTERPRETER"
"""The variable with the program by which a module that the server runs starts others."""


class WarmProcess:
    """`gitsync ARGUMENTS`, started. `returncode` is as in `subprocess.Popen`."""

    def __init__(self, arguments: list[str], folder: Path, environment: dict[str, str], out: Any) -> None:
        """`out` is a file for stdout, or `subprocess.PIPE`."""
        self.returncode: int | None = None
        self.stdout: TextIOWrapper | None
        self.stdout, wanted = _make_pipe() if out == subprocess.PIPE else (None, os.dup(out.fileno()))
        self.stderr, errors = _make_pipe()
        self._reply = socket.socket(socket.AF_UNIX)
        self._reply.connect(find_door())
        nothing = os.open(os.devnull, os.O_RDONLY)
        streams = [nothing, wanted, errors]
        socket.send_fds(self._reply, [b"."], streams)
        for stream in streams:
            os.close(stream)
        requested = {"arguments": arguments, "folder": str(folder.resolve()), "environment": environment}
        self._reply.sendall(f"{requested!a}\n".encode())
        self._told = self._reply.makefile()
        self.pid = int(self._told.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()

    def poll(self) -> int | None:
        """The exit code, negative after a signal; None as long as it runs."""
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        """The exit code. Raises TimeoutExpired after so many seconds."""
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("gitsync", timeout or 0)
        return code

    def _look(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._reply], [], [], timeout)[0]:
            self.returncode = os.waitstatus_to_exitcode(int(self._told.readline()))
            self._told.close()
            self._reply.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """All of stdout and stderr, and the end. Raises TimeoutExpired after about so many seconds."""
        texts: dict[str, str] = {}
        streams = {"out": self.stdout, "err": self.stderr}
        readers = [
            Thread(target=lambda name=name, stream=stream: texts.update({name: stream.read()}), daemon=True)
            for name, stream in streams.items()
            if stream is not None
        ]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired("gitsync", timeout or 0)
        self.wait(timeout)
        return texts.get("out", ""), texts["err"]


def _make_pipe() -> tuple[TextIOWrapper, int]:
    reader, writer = os.pipe()
    return os.fdopen(reader), writer


def write_command(program: Path, door: str, *first: str) -> Path:
    """Write a program that has its work done at a door, with these arguments before its own."""
    return _write(program, f"run{(door, *first)!r}\n")


def write_interpreter(folder: Path) -> Path:
    """Write a Python into a folder that runs modules (`-m MODULE ARGUMENTS`) as `WarmProcess` does, also those that
    they start by `sys.executable`. All else is left to the interpreter of the tests.
    """
    others = f"os.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]])"
    return _write(
        folder / "python",
        f"import os\nif sys.argv[1:2] != ['-m']:\n    {others}\n"
        f"os.environ['{INTERPRETER}'] = sys.argv[0]\nrun({find_door()!r})\n",
    )


def _write(program: Path, text: str) -> Path:
    program.write_text(
        f"#!{sys.executable} -IS\nimport sys\nsys.path.append({str(SERVER.parent)!r})\n"
        f"from warm_command import run\n{text}"
    )
    program.chmod(0o755)
    return program


@cache
def find_door() -> str:
    """The socket of the server of this process, and of those that are forked from it later. It is started by the first
    who asks, and ends with the process that started it.
    """
    folder = tempfile.mkdtemp(prefix="gitsync-warm-")
    door = f"{folder}/door"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    server = subprocess.Popen(
        [sys.executable, str(SERVER), door], env=kept, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdout.readline()
    atexit.register(_end, server, folder, os.getpid())
    return door


def _end(server: subprocess.Popen[bytes], folder: str, owner: int) -> None:
    if os.getpid() == owner:
        server.communicate()
        shutil.rmtree(folder)
        return
    server.returncode = 0  # it is the child of another process
    for stream in (server.stdin, server.stdout):
        if stream is not None:
            stream.close()
