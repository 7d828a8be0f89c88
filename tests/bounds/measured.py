"""Read files as gitsync does, each in a process of its own, and print the exit code and the peak memory in MB of each.

A line on stdin has what to do and a file: `validate FOLDER`, `record FILE`, `plan FILE`, `ignore FILE`, or `fill MB`,
which takes that much. A small process that has read a manifest, and so imported what that needs, forks for each: what
it forks has at least its own peak, as a new interpreter has once it has imported the same, and a run of the tests is
much larger.
"""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from gitsync.cli.main import run
from gitsync.errors import GitsyncError
from gitsync.repository.git.source.file_selection import read_rules
from gitsync.repository.git.state.former_tree import convert_file
from gitsync.repository.git.state.plan_file import read_plan
from gitsync.repository.git.state.record_files import decode_record

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: core
spec:
  location: westeurope
"""
MOST = 4 << 30
"""Bytes of address space; a test that fails must not take the machine with it."""


def ignore(file: str) -> None:
    rules = read_rules({".gitsyncignore": Path(file).read_bytes()})
    for path in ("a/b.yaml", "a" * 200 + ".yaml", "a/" * 90 + "b.yaml"):
        rules.ignores(path)


READERS = {
    "validate": lambda folder: run(["validate", folder]),
    "record": lambda file: decode_record("a.json", Path(file).read_bytes()),
    "former": lambda file: convert_file("a/b/c/d.yaml", Path(file).read_bytes()),
    "plan": lambda file: read_plan(Path(file)),
    "ignore": ignore,
    "fill": lambda megabytes: len(b"x" * (int(megabytes) * 1_000_000)),
}


def read(reader: str, file: str) -> int:
    """The exit code of a command, and 0 for other readers."""
    with suppress(GitsyncError):
        result = READERS[reader](file)
        return result if reader == "validate" else 0
    return 0


def be_quiet() -> None:
    """Discard what is printed from now on."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nothing, stream)


def warm_up() -> None:
    """Import what a command imports."""
    with TemporaryDirectory() as folder:
        Path(folder, "a.yaml").write_text(GROUP)
        run(["validate", folder])


def measure(reader: str, file: str) -> str:
    pid = os.fork()
    if pid == 0:
        code = 99  # for what no reader may raise
        try:
            be_quiet()
            resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
            code = read(reader, file)
        finally:
            os._exit(code)
    _, status, usage = os.wait4(pid, 0)
    return f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss / 1024}"


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w", buffering=1) as answers:
        be_quiet()
        warm_up()
        for line in sys.stdin:
            what, _, name = line.rstrip("\n").partition(" ")
            answers.write(f"{measure(what, name)}\n")
