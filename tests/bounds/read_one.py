"""Read one file as gitsync does, in a process of its own: `python read_one.py record|plan|ignore FILE`."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from gitsync.errors import GitsyncError
from gitsync.git.source.ignore import read_rules
from gitsync.git.state.codec import decode
from gitsync.git.state.plan_file import read_plan


def ignore(file: Path) -> None:
    rules = read_rules({".gitsyncignore": file.read_bytes()})
    for path in ("a/b.yaml", "a" * 200 + ".yaml", "a/" * 90 + "b.yaml"):
        rules.ignores(path)


READERS = {"record": lambda file: decode("a.yaml", file.read_bytes()), "plan": read_plan, "ignore": ignore}

if __name__ == "__main__":
    with suppress(GitsyncError):
        READERS[sys.argv[1]](Path(sys.argv[2]))
