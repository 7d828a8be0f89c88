"""A program that has imported all of gitsync, and forks a command of it for each request: imports are most of the time
of a short command. What it starts is a process like any other, with its own streams, environment, folder and signals.
Another program in Python is forked as well, with `-m` and its module as the first arguments.

A request is a connection to the socket whose path is the first argument. It brings stdin, stdout and stderr with its
first byte, and the arguments, folder and environment as one line, a literal of Python; back go the pid, 0 if there is no
process of its own, and in the end the status as `os.waitpid` gives it, a line each. The program ends with its own stdin.
"""

from __future__ import annotations

import atexit
import gc
import os
import runpy
import select
import signal
import socket
import sys
import sysconfig
import threading
from ast import literal_eval
from contextlib import suppress
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from loguru import logger

import gitsync
from gitsync.__main__ import main
from gitsync.agent.run.emulator_settings import list_known_types
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.extensions.third_party import load_installed
from gitsync.model.gvk import GVK
from gitsync.repository.git.source.worktree import load_gitpython

IMPORTED_LATE = ("azure.core.rest._aiohttp", "encodings.utf_8_sig")
"""What libraries import when they are first used, as gitsync imports GitPython."""


def import_all() -> None:
    """Import every module of the package, and with it every library that a command may import. Unpack the facts about
    groups that many tests use.
    """
    for module in walk_packages(gitsync.__path__, "gitsync."):
        import_module(module.name)
    for name in IMPORTED_LATE:
        import_module(name)
    load_gitpython()
    sysconfig.get_path = cache(sysconfig.get_path)
    import_module("kept_metadata").keep_metadata()  # beside this program
    load_installed()
    logger.remove(logger.add(sys.stderr))  # it reads 36 paths each time that logs begin
    catalog = open_catalog()
    for group in ("resources.azure.com", "network.azure.com", "storage.azure.com"):
        kind = catalog.kinds(group)[0]
        catalog.kind(GVK(group, catalog.versions(group, kind)[0], kind))
    for namespace in ("microsoft.resources", "microsoft.network", "microsoft.storage"):
        list_known_types(namespace)  # an emulator does for the check of the subscription
    gc.collect()
    gc.freeze()


def serve(listener: socket.socket) -> Any:
    """Fork for each request until stdin ends. Return only in a command: what it is to do."""
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, socket.socket] = {}
    while True:
        ready = select.select([listener, woken, 0], [], [])[0]
        if 0 in ready:
            os._exit(0)
        if woken in ready:
            os.read(woken, 512)
            tell_ends(running)
        if listener in ready:
            request, _ = listener.accept()
            descriptors, wanted = receive(request)
            pid = os.fork()
            if pid == 0:
                for descriptor in (listener, request, *running.values()):
                    descriptor.close()
                os.close(woken)
                os.close(wakes)
                take(descriptors)
                return wanted
            running[pid] = request
            for descriptor in descriptors:
                os.close(descriptor)
            request.sendall(b"%d\n" % pid)


def tell_ends(running: dict[int, socket.socket]) -> None:
    """Tell the status of each command that has ended to who asked for it."""
    for pid in tuple(running):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with running.pop(pid) as reply, suppress(OSError):  # no one may wait for it any more
                reply.sendall(b"%d\n" % status)


def receive(request: socket.socket) -> tuple[list[int], Any]:
    """The streams of a command, and what it is to do."""
    _, descriptors, _, _ = socket.recv_fds(request, 1, 3)
    with request.makefile() as lines:
        return descriptors, literal_eval(lines.readline())


def take(descriptors: list[int]) -> None:
    """Make descriptors the standard streams, and forget the signals of the server."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(descriptors):
        os.dup2(stream, number)
        os.close(stream)


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


def start() -> None:
    """Run `gitsync ARGUMENTS`, or the module of `-m MODULE ARGUMENTS`."""
    if sys.argv[1:2] != ["-m"]:
        return main()
    module = sys.argv[2]
    del sys.argv[1:3]
    if module == gitsync.__name__:
        return main()
    sys.executable = os.environ.get("TESTS_INTERPRETER", sys.executable)  # as write_interpreter sets it
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    raise SystemExit


def finish(ending: SystemExit) -> None:
    """End as the interpreter does: wait for threads, run what is to run at the end, write out what is buffered.

    The interpreter would then take every module apart, and so copy most of the memory of the server that this process
    was forked from: half the time of a short command. What it would report, such as text that cannot be written, is
    left to it.
    """
    if not isinstance(ending.code, int | None):
        raise ending
    threading._shutdown()  # type: ignore[attr-defined] # what the interpreter calls
    atexit._run_exitfuncs()
    gc.collect()  # what was left open warns here
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ending.code or 0)
    raise ending


if __name__ == "__main__":
    import_all()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background has it ignored
    door = socket.socket(socket.AF_UNIX)
    door.bind(sys.argv[1])
    door.listen()
    os.write(1, b"\n")  # its parent may send commands now
    become(**serve(door))
    try:
        start()
    except SystemExit as ending:
        finish(ending)
