"""`python -m bench`: what gitsync costs beside a bare client that sends the same requests to the same emulator.

Rounds are interleaved, so that a machine that is busy for a while is so for both; what counts is the ratio. Both run in
processes of their own, and so does the emulator. Bare of start-up is a Python that does nothing.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from bench import estate
from bench.figures import Row, find_ratio, rows, table
from bench.processes import HERE, Measure, azure, client, command

RENDERED = 50
"""Manifests of the start-up that reads some."""

SHARE, BURST, PER_SECOND = 5, 50, 25
"""The bucket of `scarce.yaml`: for one of so many resources, its size, and the reads that come each second."""

MOST_CPU, ESTATE = 3.5, 1000
"""How many times the bare client's CPU a second run over so many resources may take; beyond it, the exit code is 1."""

Measures = defaultdict[str, list[Measure]]


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="gitsync-bench-") as name:
        folder = Path(name)
        found = [
            *_syncs(folder / "syncs", options.resources, options.rounds),
            *_scarce_syncs(folder / "scarce", options.resources // SHARE),
            *_starts(folder, options.rounds),
        ]
    print(table(found), end="")
    document = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "resources": options.resources,
        "rounds": options.rounds,
        "rows": [row.document() for row in found],
    }
    options.output.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    ratio = find_ratio(found, f"second run of {options.resources}", "cpu")
    if ratio <= MOST_CPU or options.resources < ESTATE:  # in a small one, the start of a run counts for more
        return 0
    print(f"A second run takes {ratio:.2f} times the CPU of the bare client; the limit is {MOST_CPU}.")
    return 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure gitsync against a bare client.")
    parser.add_argument("--resources", type=int, default=1000, help="Resources to sync. [default 1000]")
    parser.add_argument("--rounds", type=int, default=9, help="Rounds of each scenario. [default 9]")
    parser.add_argument("--output", type=Path, default=HERE / "results.json", help="[default bench/results.json]")
    return parser.parse_args()


def _syncs(folder: Path, resources: int, rounds: int) -> list[Row]:
    """First and second runs, each pair of an Azure of its own."""
    tree, requests = _make_estate(folder, resources)
    ours: Measures = defaultdict(list)
    bare: Measures = defaultdict(list)
    for _ in range(rounds):
        forget(folder / "remote.git")
        with azure() as url, azure() as other:
            for which in ("first", "second"):
                ours[which].append(client("agent", url, tree))
                bare[which].append(client("bare", other, requests, which))
    return [row for which in ours for row in rows(f"{which} run of {resources}", ours[which], bare[which])]


def _scarce_syncs(folder: Path, resources: int) -> list[Row]:
    """A second run against the buckets of ARM, scaled down to the size of the estate. Each client begins with a full
    one. Once: most of its time is waiting, which varies little.
    """
    tree, requests = _make_estate(folder, resources)
    with azure("scarce.yaml") as url:
        _refill(client("agent", url, tree))
        ours = client("agent", url, tree)
        _refill(ours)
        bare = client("bare", url, requests, "second")
    return rows(f"second run of {resources}, throttled", [ours], [bare])


def _refill(before: Measure) -> None:
    """Wait until the bucket is full again after the requests of a client."""
    time.sleep(min(before["requests"], BURST) / PER_SECOND)  # noqa: TID251 - real time


def _make_estate(folder: Path, resources: int) -> tuple[Path, Path]:
    """The work tree of an estate, and the file of the requests that it stands for."""
    folder.mkdir()
    tree = estate.make(folder, resources)
    requests = folder / "requests.json"
    requests.write_text(json.dumps(estate.requests_of(tree)), encoding="utf-8")
    return tree, requests


def _starts(folder: Path, rounds: int) -> list[Row]:
    """From the start of a process to its end."""
    few = folder / "few"
    estate.write(few, RENDERED)
    commands = {"--help": ("--help",), f"render of {RENDERED}": ("render", few)}
    ours: Measures = defaultdict(list)
    bare: list[Measure] = []
    for _ in range(rounds):
        bare.append(command("-c", "pass"))
        for name, arguments in commands.items():
            ours[name].append(command("-m", "gitsync", *arguments))
    return [row for name in commands for row in rows(name, ours[name], bare)]


def forget(remote: Path) -> None:
    """Remove the recorded state."""
    subprocess.run(["git", "update-ref", "-d", "refs/heads/gitsync/status"], cwd=remote, check=True)


if __name__ == "__main__":
    sys.exit(main())
