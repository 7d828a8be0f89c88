"""Figures of several rounds: medians with their spread, and how many times the bare client's they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from bench.processes import Measure

FIGURES = {"seconds": ("s", ".3f"), "cpu": ("s CPU", ".3f"), "memory": ("MB", ".0f"), "requests": ("requests", ".0f")}
"""What is measured: its unit, and how it is written."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of the rounds, the least and the most."""

    median: float
    least: float
    most: float

    def __format__(self, spec: str) -> str:
        return f"{self.median:{spec}} ({self.least:{spec}}-{self.most:{spec}})"


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of one scenario, ours and the bare client's."""

    scenario: str  # its name
    figure: str  # its name
    ours: Spread
    bare: Spread

    @property
    def ratio(self) -> float:
        return self.ours.median / self.bare.median

    def document(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": round(self.ratio, 2)}


def rows(scenario: str, ours: Sequence[Measure], bare: Sequence[Measure]) -> list[Row]:
    """A row for every figure that both were measured by."""
    figures = [name for name in FIGURES if name in ours[0] and name in bare[0]]
    return [Row(scenario, name, _spread(ours, name), _spread(bare, name)) for name in figures]


def find_ratio(all_rows: Iterable[Row], scenario: str, figure: str) -> float:
    """How many times the bare client's figure ours is."""
    return next(row.ratio for row in all_rows if (row.scenario, row.figure) == (scenario, figure))


def table(all_rows: Iterable[Row]) -> str:
    """For people."""
    lines = ["{:<40}{:<24}{:<24}{:>6}\n".format("", "gitsync", "bare", "ratio")]
    for row in all_rows:
        unit, spec = FIGURES[row.figure]
        ours, bare = f"{row.ours:{spec}}", f"{row.bare:{spec}}"
        lines.append(f"{row.scenario + ', ' + unit:<40}{ours:<24}{bare:<24}{row.ratio:>6.2f}\n")
    return "".join(lines)


def _spread(measures: Sequence[Measure], figure: str) -> Spread:
    values = [measure[figure] for measure in measures]
    return Spread(median(values), min(values), max(values))
