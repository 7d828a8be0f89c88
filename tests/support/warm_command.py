"""`gitsync` for shells: has the server of a test (`warm_server`) fork a command with the streams, folder and
environment of this process. It starts with each command, so it uses what the interpreter has at its start, and two
modules in C: `json`, `signal` and `socket` take as long to import as the interpreter takes to start.
"""

import _signal
import _socket
import os
import sys

PASSED_ON = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)


def run(door: str) -> None:
    """Run `gitsync ARGUMENTS`, and end as it does."""
    server = _socket.socket(_socket.AF_UNIX)
    server.connect(door)
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    server.sendmsg([b"."], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    wanted = {"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}  # noqa: PTH109 - pathlib is slow to import
    server.sendall(f"{wanted!a}\n".encode())
    told = os.fdopen(server.detach())
    pid = int(told.readline())
    for number in PASSED_ON:
        _signal.signal(number, lambda received, _: os.kill(pid, received))
    code = os.waitstatus_to_exitcode(int(told.readline()))
    if code < 0:
        _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)
