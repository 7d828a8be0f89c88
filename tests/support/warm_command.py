"""`gitsync` for shells: has the server of a test (`warm_server`) fork a command with the streams, folder and
environment of this process. It imports little, since it starts with each command.
"""

import json
import os
import signal
import socket
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(door: str) -> None:
    """Run `gitsync ARGUMENTS`, and end as it does."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(door)
        socket.send_fds(server, [b"."], [0, 1, 2])
        wanted = {"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}  # noqa: PTH109 - pathlib is slow to import
        server.sendall(f"{json.dumps(wanted)}\n".encode())
        with server.makefile() as told:
            pid = int(told.readline())
            for number in PASSED_ON:
                signal.signal(number, lambda received, _: os.kill(pid, received))
            code = os.waitstatus_to_exitcode(int(told.readline()))
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)
