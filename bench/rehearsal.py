"""`python -m bench.rehearsal`: what a rehearsal costs beside the sync that it plays, of the same resources.

Both run against the emulator inside of the process, so that its work counts for both. A rehearsal is two syncs and the
reading of the manifests, and interrupts are left out. Processor time counts: the client of a sync waits for the limits
of ARM, which a rehearsal only foresees. Exits 1 if it takes more than `MOST_TIMES` that of the sync.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import estate
from bench.__main__ import forget
from bench.processes import HERE, command

MOST_TIMES = 3.0


def main() -> int:
    """Print a row for each of the two rehearsals, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.rehearsal", description="Measure rehearsals beside syncs.")
    parser.add_argument("--resources", type=int, default=1000, help="Resources to rehearse. [default 1000]")
    resources = parser.parse_args().resources
    print(f"{f'rehearsal of {resources}':<28}{'sync, s CPU':>14}{'rehearsal, s CPU':>18}{'times':>8}")
    times = []
    for run, sync, rehearsal in _measure(resources):
        times.append(rehearsal / sync)
        print(f"{run:<28}{sync:>14.2f}{rehearsal:>18.2f}{times[-1]:>8.2f}")
    return 1 if max(times) > MOST_TIMES else 0


def _measure(resources: int) -> Iterator[tuple[str, float, float]]:
    """The processor time of a sync and of its rehearsal, of everything and of nothing."""
    with tempfile.TemporaryDirectory(prefix="gitsync-bench-") as name:
        folder = Path(name)
        tree = estate.make(folder, resources)
        rehearsal = _run("rehearse", tree)
        yield "of a first sync", _run("sync", tree, "--emulator"), rehearsal
        forget(folder / "remote.git")  # with the memory of that sync, its Azure is gone
        _run("sync", tree, f"--emulator={folder / 'azure.db'}")
        rehearsal = _run("rehearse", tree)
        yield "of a silent sync", _run("sync", tree, f"--emulator={folder / 'azure.db'}"), rehearsal


def _run(name: str, tree: Path, *flags: str) -> float:
    script = f"--emulator-script={HERE / 'azure.yaml'}"
    return command("-m", "gitsync", name, tree, f"--subscription={estate.SUBSCRIPTION}", script, *flags)["cpu"]


if __name__ == "__main__":
    sys.exit(main())
