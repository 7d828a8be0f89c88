"""`python -m bench.growth`: how the time for a hostile file grows with the file, as a ratio of processor times.

A file of four times the size should take four times as long, and somewhat more with a logarithm. A square takes
sixteen times as long. Exits 1 for a ratio above `MOST`. The files are those of tests/bounds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

BOUNDS = Path(__file__).resolve().parent.parent / "tests" / "bounds"
SMALL, TIMES = 250_000, 4
MOST = 8
"""Between four and sixteen; the machine may be busy."""

Make = Callable[[int], str]


def main() -> int:
    """Print a row for each file, and give the exit code."""
    sys.path.insert(0, str(BOUNDS))
    from hostile_files import IGNORE_FILES, MANIFESTS, PLANS, RECORDS  # noqa: PLC0415 - beside the tests

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
        command = ["-m", "gitsync", "validate", folder]
        words = command if reader == "validate" else [str(BOUNDS / "read_one.py"), reader, str(file)]
        process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in {0, 1}:
        raise RuntimeError(f"{reader} ended with status {status}")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
