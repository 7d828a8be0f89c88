"""Where the boxes of the picture stand, in pixels: the same resources always at the same places.

Two ways. A forest of owners, with a column for each step down and a row for each leaf, its trees side by side in a few
columns as a newspaper has them. And layers, for groups: what depends on nothing at the top, everything else below what
it depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Generic, TypeVar

NameT = TypeVar("NameT")

_ROWS_A_COLUMN = 36  # of the newspaper; above that there are two, and three at most
_MOST_COLUMNS = 3
_STEPS_ACROSS = 5  # boxes beside each other that a page has room for


@dataclass(frozen=True, slots=True)
class Size:
    """A box, and the room from one to the next."""

    width: int
    height: int
    step_x: int
    step_y: int


@dataclass(frozen=True, slots=True)
class Placed(Generic[NameT]):
    """The left upper corner of each box, and the size of the picture."""

    corners: Mapping[NameT, tuple[int, int]]
    width: int
    height: int


def place_forest(children: Mapping[NameT, Sequence[NameT]], roots: Sequence[NameT], size: Size) -> Placed[NameT]:
    """Place trees; `children` names those of every box in their order, and nothing in a circle."""
    trees = [_tree(children, root) for root in roots]
    wanted = min(_MOST_COLUMNS, -(-sum(map(_rows, trees)) // _ROWS_A_COLUMN))
    for columns in range(wanted, 1, -1):
        placed = _newspaper(trees, columns, size)
        if placed.width <= _STEPS_ACROSS * size.step_x:
            return placed
    return _newspaper(trees, 1, size)


def _newspaper(trees: Sequence[Mapping[NameT, tuple[int, int]]], columns: int, size: Size) -> Placed[NameT]:
    """Place trees below each other; once a column has about its share, start the next one."""
    share = sum(map(_rows, trees)) / columns
    corners: dict[NameT, tuple[int, int]] = {}
    left = row = tallest = deepest = 0
    for tree in trees:
        if row and row + _rows(tree) / 2 > share:
            left, row, deepest = left + deepest * size.step_x, 0, 0
        corners |= {name: (left + depth * size.step_x, (row + at) * size.step_y) for name, (depth, at) in tree.items()}
        row += _rows(tree)
        tallest, deepest = max(tallest, row), max(deepest, *(depth + 1 for depth, _ in tree.values()))
    return Placed(corners, left + deepest * size.step_x, tallest * size.step_y)


def _rows(tree: Mapping[NameT, tuple[int, int]]) -> int:
    return max(row for _, row in tree.values()) + 1


def _tree(children: Mapping[NameT, Sequence[NameT]], root: NameT) -> dict[NameT, tuple[int, int]]:
    """Depth and row of each box; an owner is in the row of its first child."""
    cells: dict[NameT, tuple[int, int]] = {}
    row, waiting = -1, [(root, 0, True)]
    while waiting:
        name, depth, opens = waiting.pop()
        row += opens
        cells[name] = (depth, row)
        below = [(child, depth + 1, number > 0) for number, child in enumerate(children.get(name, ()))]
        waiting += reversed(below)
    return cells


def place_layers(
    targets: Mapping[NameT, AbstractSet[NameT]], names: Iterable[NameT], size: Size, across: int
) -> Placed[NameT]:
    """Place groups below what they depend on, at most `across` in a line; the names come in the order of a line."""
    corners: dict[NameT, tuple[int, int]] = {}
    line = 0
    for layer in _layers(targets, list(names)):
        for number, name in enumerate(layer):
            down, right = divmod(number, across)
            corners[name] = (right * size.step_x, (line + down) * size.step_y)
        line += -(-len(layer) // across)
    wide = max((x for x, _ in corners.values()), default=0) + size.step_x
    return Placed(corners, wide, line * size.step_y)


def _layers(targets: Mapping[NameT, AbstractSet[NameT]], names: list[NameT]) -> list[list[NameT]]:
    """The highest possible level of each; in a cycle, the first comes before the others."""
    placed: set[NameT] = set()
    found: list[list[NameT]] = []
    while names:
        ready = [name for name in names if targets.get(name, frozenset()) <= placed | {name}] or names[:1]
        placed.update(ready)
        names = [name for name in names if name not in placed]
        found.append(ready)
    return found
