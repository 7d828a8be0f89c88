"""Figures of several rounds: medians with their spread, and how many times the bare client's they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from bench.processes import Measure

UNITS = {"seconds": "s", "cpu": "s CPU", "memory": "MB", "requests": "requests"}


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of the rounds, the least and the most."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:.4g} ({self.least:.4g}-{self.most:.4g})"


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of one scenario, ours and the bare client's."""

    scenario: str
    figure: str
    ours: Spread
    bare: Spread

    @property
    def ratio(self) -> float:
        return self.ours.median / self.bare.median

    def document(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": round(self.ratio, 2)}


def rows(scenario: str, ours: Sequence[Measure], bare: Sequence[Measure]) -> list[Row]:
    """A row for every figure that both were measured by."""
    figures = [name for name in UNITS if name in ours[0] and name in bare[0]]
    return [Row(scenario, name, _spread(ours, name), _spread(bare, name)) for name in figures]


def table(all_rows: Iterable[Row]) -> str:
    """For people."""
    lines = [("", "gitsync", "bare", "ratio")]
    lines += [(f"{r.scenario}, {UNITS[r.figure]}", str(r.ours), str(r.bare), f"{r.ratio:.2f}") for r in all_rows]
    return "".join(f"{what:<32}{ours:<26}{bare:<26}{ratio:>6}\n" for what, ours, bare, ratio in lines)


def _spread(measures: Sequence[Measure], figure: str) -> Spread:
    values = [measure[figure] for measure in measures]
    return Spread(median(values), min(values), max(values))
