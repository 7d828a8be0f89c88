"""`python -m bench.growth`: how the time for a hostile file grows with the file, as a ratio of processor times.

A file of four times the size should take four times as long, and somewhat more with a logarithm. A square takes sixteen
times as long. Exits 1 for a ratio above `MOST`. The files are those of tests/bounds, and are read as there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.support.hostile_files import IGNORE_FILES, MANIFESTS, PLANS, RECORDS

SMALL, TIMES = 250_000, 4
MOST = 8
"""Between four and sixteen; the machine may be busy."""

Make = Callable[[int], str]


def main() -> int:
    """Print a row for each file, and give the exit code."""
    tables = (("validate", MANIFESTS), ("ignore", IGNORE_FILES), ("record", RECORDS), ("plan", PLANS))
    steep = 0
    for reader, table in tables:
        for name, make in table.items():
            ratio = _ratio(reader, make)
            steep += ratio > MOST
            print(f"{ratio:5.1f}  {reader}: {name}")
    return 1 if steep else 0


def _ratio(reader: str, make: Make) -> float:
    nothing = _seconds(reader, "")
    small, large = (_seconds(reader, make(size)) for size in (SMALL, SMALL * TIMES))
    return (large - nothing) / max(small - nothing, 0.05)  # what takes no time has no ratio


def _seconds(reader: str, text: str) -> float:
    """Processor time of one process that reads a file."""
    with tempfile.TemporaryDirectory(prefix="gitsync-bench-") as folder:
        file = Path(folder, "a.yaml")
        file.write_text(text, encoding="utf-8")
        wanted = f"{reader} {folder if reader == 'validate' else file}"
        before = os.times()
        done = subprocess.run(
            [sys.executable, "-m", "tests.bounds.measured"], input=wanted, stdout=subprocess.PIPE, text=True, check=True
        )
        after = os.times()
    code = int(done.stdout.split()[0])
    if code not in {0, 1}:
        raise RuntimeError(f"{reader} ended with status {code}")
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    sys.exit(main())
