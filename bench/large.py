"""`python -m bench.large`: processor time and memory of runs over large estates, for each resource.

Both are linear if they are the same for each size. Exits 1 if a resource of the largest estate takes more than
`MOST_TIMES` the time of one of the smallest, or more than `MOST_KB` of memory.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import product
from pathlib import Path

from bench import estate
from bench.processes import Measure, azure, client

RUNS = ("first", "second")
MOST_TIMES = 1.5
MOST_KB = 40.0


def main() -> int:
    """Print a row for each size and run, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.large", description="Measure runs over large estates.")
    parser.add_argument("sizes", type=int, nargs="*", default=[1000, 10_000, 30_000], help="Resources of each estate.")
    sizes = sorted(parser.parse_args().sizes)
    found = {}
    print(
        "{:>9}  {:<8}{:>12}{:>14}{:>10}{:>14}".format("resources", "run", "CPU, s", "ms/resource", "MB", "KB/resource")
    )
    for size in sizes:
        measures = _measure(size)
        for run, measure in zip(RUNS, measures, strict=True):
            found[size, run] = measure
            memory = _memory(found, sizes[0], size, run)
            cpu = measure["cpu"]
            print(f"{size:>9}  {run:<8}{cpu:>12.1f}{cpu / size * 1e3:>14.2f}{measure['memory']:>10.0f}{memory:>14.1f}")
    return 1 if any(_is_steep(found, sizes[0], size, run) for size, run in product(sizes[1:], RUNS)) else 0


def _measure(size: int) -> list[Measure]:
    """A first and a second run over an estate of this size."""
    with tempfile.TemporaryDirectory(prefix="gitsync-bench-") as folder, azure() as url:
        tree = estate.make(Path(folder), size)
        return [client("agent", url, tree) for _ in RUNS]


def _memory(found: dict[tuple[int, str], Measure], least: int, size: int, run: str) -> float:
    """KB that a resource takes: what the estate needs more than the smallest, for each resource more."""
    more = found[size, run]["memory"] - found[least, run]["memory"]
    return more * 1e3 / (size - least) if size > least else 0.0


def _is_steep(found: dict[tuple[int, str], Measure], least: int, size: int, run: str) -> bool:
    times = found[size, run]["cpu"] / size / (found[least, run]["cpu"] / least)
    return times > MOST_TIMES or _memory(found, least, size, run) > MOST_KB


if __name__ == "__main__":
    sys.exit(main())
