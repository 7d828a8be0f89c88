"""A program that has another process do its work, with its streams, folder and environment: the server of a test
(`warm_server`), which forks a command, or the test itself (`answered_programs`). It starts with each command, so it
uses what the interpreter has at its start, and a module in C: `os` takes a millisecond to import, and `json`, `signal`
and `socket` as long as the interpreter takes to start.
"""

import _signal
import _socket
import posix
import sys

PASSED_ON = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)


def run(door: str, *first: str) -> None:
    """Have who waits at a door run a command, whose arguments are these and those of this program, and end as it does."""
    server = _socket.socket(_socket.AF_UNIX)
    server.connect(door)
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    server.sendmsg([b"."], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    environment = {_decode(name): _decode(value) for name, value in posix.environ.items()}
    wanted = {"arguments": [*first, *sys.argv[1:]], "folder": posix.getcwd(), "environment": environment}
    server.sendall(f"{wanted!a}\n".encode())
    told = open(server.detach())  # noqa: PTH123, SIM115 - it is open until this process ends, and pathlib is slow to import
    pid = int(told.readline())
    for number in PASSED_ON if pid else ():
        _signal.signal(number, lambda received, _: posix.kill(pid, received))
    code = posix.waitstatus_to_exitcode(int(told.readline()))
    if code < 0:
        _signal.signal(-code, _signal.SIG_DFL)
        posix.kill(posix.getpid(), -code)
    sys.exit(code)


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")
