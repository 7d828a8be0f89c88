"""`python -m bench.volume`: how many documents `validate` reads in a second of processor time, of four sorts.

Beside them stands what the parser alone takes for the same text, in C. Machines differ, so what counts is how many
times as long the reading takes. Exits 1 for more than twice what it took when `TIMES` was measured.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import process_time

import yaml

from bench.processes import without_settings

_RESOURCE = (
    "apiVersion: {group}/v1api20200601\nkind: {kind}\nmetadata:\n  name: a{number}\nspec:\n  location: westeurope\n"
)
_FOREIGN = "apiVersion: g{number}.example.com/v1\nkind: Kind{number}\nmetadata:\n  name: a\nspec:\n  replicas: 1\n"

SORTS: Mapping[str, Callable[[int], str]] = {
    "without a kind": lambda number: f"name: a{number}\nreplicas: 1\n",
    "foreign": lambda number: _FOREIGN.format(number=number),
    "misspelt": lambda number: _RESOURCE.format(group="resource.azure.com", kind=f"Grup{number}", number=number),
    "valid": lambda number: _RESOURCE.format(group="resources.azure.com", kind="ResourceGroup", number=number),
}
"""A document of each sort, by its number: no two are equal, so that nothing is found out for all at once."""

TIMES: Mapping[str, float] = {"without a kind": 9.5, "foreign": 8.5, "misspelt": 12.0, "valid": 9.5}
"""How many times as long as the parser the reading of each sort took."""
_SHORTEST = 1e-6  # seconds


def main() -> int:
    """Print a row for each sort, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.volume", description="Measure the reading of documents.")
    parser.add_argument("--documents", type=int, default=10_000, help="Documents of each sort. [default 10000]")
    parser.add_argument("--rounds", type=int, default=3, help="Rounds of each sort. [default 3]")
    options = parser.parse_args()
    print(f"{'documents':<16}{'a second':>12}{'times the parser':>20}{'limit':>8}")
    slow = 0
    for sort, make in SORTS.items():
        taken, parsed = _measure([make(number) for number in range(options.documents)], options.rounds)
        times, limit = taken / parsed, 2 * TIMES[sort]
        slow += times > limit
        print(f"{sort:<16}{options.documents / taken:>12,.0f}{times:>20.1f}{limit:>8.1f}")
    return 1 if slow else 0


def _measure(documents: list[str], rounds: int) -> tuple[float, float]:
    """The processor time of reading documents and of parsing them, without the start of the process."""
    text = "---\n".join(documents)
    with tempfile.TemporaryDirectory(prefix="gitsync-bench-") as name:
        few, all_of_them = Path(name, "few"), Path(name, "all")
        for folder, content in ((few, documents[0]), (all_of_them, text)):
            folder.mkdir()
            (folder / "a.yaml").write_text(content, encoding="utf-8")
        taken = median(_validate(all_of_them) - _validate(few) for _ in range(rounds))
    # A few documents may take less than the noise of two processes.
    return max(taken, _SHORTEST), median(_parse(text) for _ in range(rounds))


def _validate(folder: Path) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "gitsync", "validate", str(folder)]
    subprocess.run(command, check=False, capture_output=True, env=without_settings())
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _parse(text: str) -> float:
    started = process_time()
    for _ in yaml.parse(text, Loader=yaml.CSafeLoader):
        pass
    return process_time() - started


if __name__ == "__main__":
    sys.exit(main())
