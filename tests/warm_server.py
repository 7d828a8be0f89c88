"""A program that has imported all of gitsync, and forks a command of it for each request: imports are most of the time
of a short command. What it starts is a process like any other, with its own streams, environment, folder and signals.

A request is one byte on the socket whose number is the first argument, with three descriptors: stdout, stderr, and a
socket. On that socket come the arguments, folder and environment, as one line of JSON; back go the pid, and in the end
the status as `os.waitpid` gives it, a line each.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import gitsync
from gitsync.__main__ import main
from gitsync.catalog.catalog import open_catalog
from gitsync.model.gvk import GVK


def import_all() -> None:
    """Import every module of the package, and with it every library that a command may import. Unpack the facts about
    groups that many tests use.
    """
    for module in walk_packages(gitsync.__path__, "gitsync."):
        import_module(module.name)
    catalog = open_catalog()
    for group in ("resources.azure.com", "network.azure.com", "storage.azure.com"):
        kind = catalog.kinds(group)[0]
        catalog.kind(GVK(group, catalog.versions(group, kind)[0], kind))
    gc.collect()
    gc.freeze()


def serve(control: socket.socket) -> Any:
    """Fork for each request until the other end is closed. Return only in a command: what it is to do."""
    while True:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 3)
        if not descriptors:
            os._exit(0)
        if os.fork() == 0:
            control.close()
            return watch(*descriptors)
        for one in descriptors:
            os.close(one)


def watch(out: int, err: int, reply: int) -> Any:
    """Fork the command, tell of its beginning and its end, and exit. Return only in the command."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with socket.socket(fileno=reply) as told, told.makefile("rw") as lines:
        wanted = json.loads(lines.readline())
        pid = os.fork()
        if pid:
            os.close(out)
            os.close(err)
            print(pid, file=lines, flush=True)
            print(os.waitpid(pid, 0)[1], file=lines, flush=True)
            os._exit(0)
    for number, stream in enumerate((out, err), start=1):
        os.dup2(stream, number)
        os.close(stream)
    return wanted


def become(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Take on what `python -m gitsync` starts with."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:1] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv[1:] = arguments
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - as the interpreter has it
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.modules.pop("sitecustomize", None)
    with suppress(ModuleNotFoundError):
        import_module("sitecustomize")


def finish(ending: SystemExit) -> None:
    """End as the interpreter does: wait for threads, run what is to run at the end, write out what is buffered.

    The interpreter would then take every module apart, and so copy most of the memory of the server that this process
    was forked from: half the time of a short command. What it would report, such as text that cannot be written, is left
    to it.
    """
    if not isinstance(ending.code, int | None):
        raise ending
    threading._shutdown()  # type: ignore[attr-defined] # what the interpreter calls
    atexit._run_exitfuncs()
    gc.collect()  # what was left open says so
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ending.code or 0)
    raise ending


if __name__ == "__main__":
    import_all()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background has it ignored
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who watch
    become(**serve(socket.socket(fileno=int(sys.argv[1]))))
    try:
        main()
    except SystemExit as ending:
        finish(ending)
