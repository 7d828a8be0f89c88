"""`python -m bench.any_type`: a silent run over an estate in which three in ten are AzureResources, of ten types,
beside one over an estate of the same size that has ASO's kinds only.

Rounds are interleaved. Exits 1 if it takes more than `MOST_TIMES` the CPU, or more requests.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench import estate
from bench.processes import Measure, azure, client

MOST_TIMES = 1.1


def main() -> int:
    """Print a row for each estate, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.any_type", description="Measure runs over any type.")
    parser.add_argument("--resources", type=int, default=1000, help="Resources of each estate. [default 1000]")
    parser.add_argument("--rounds", type=int, default=9, help="Rounds of both. [default 9]")
    options = parser.parse_args()
    with_kinds, with_types = _measure(options.resources, options.rounds)
    times = _take(with_types, "cpu") / _take(with_kinds, "cpu")
    print(f"{f'silent run of {options.resources}':<28}{'s CPU':>10}{'requests':>10}{'MB':>8}")
    for name, measures in (("ASO's kinds", with_kinds), ("three in ten of any type", with_types)):
        figures = (_take(measures, "cpu"), _take(measures, "requests"), _take(measures, "memory"))
        print("{:<28}{:>10.3f}{:>10.0f}{:>8.0f}".format(name, *figures))
    print(f"{times:.2f} times the CPU; the limit is {MOST_TIMES}.")
    return 1 if times > MOST_TIMES or _take(with_types, "requests") > _take(with_kinds, "requests") else 0


def _measure(resources: int, rounds: int) -> tuple[list[Measure], list[Measure]]:
    """Silent runs over both estates, each after a first run in an Azure of its own."""
    with tempfile.TemporaryDirectory(prefix="gitsync-bench-") as name, azure() as url, azure() as other:
        trees = []
        for folder, any_types in ((Path(name, "kinds"), False), (Path(name, "types"), True)):
            folder.mkdir()
            trees.append(estate.make(folder, resources, any_types=any_types))
        found: tuple[list[Measure], list[Measure]] = ([], [])
        for round_number in range(rounds + 1):
            for measures, tree, endpoint in zip(found, trees, (url, other), strict=True):
                measure = client("agent", endpoint, tree)
                if round_number:  # the first creates
                    measures.append(measure)
        return found


def _take(measures: list[Measure], figure: str) -> float:
    return median(measure[figure] for measure in measures)


if __name__ == "__main__":
    sys.exit(main())
