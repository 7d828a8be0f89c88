"""Lays out the picture, in pixels: where its boxes are, and the ways of references between them. The same resources are
always at the same places.

There are two layouts. A forest of owners has a column for each step down and a row for each leaf, its trees side by
side in a few columns as in a newspaper. Groups are in layers: what depends on nothing at the top, everything else below
what it depends on.

The boxes form a grid, and a way never crosses one. It leaves a box at its right, follows the channel between two
columns, then the one between two rows, and reaches the other box from a side. In each channel, the ways to one box
share a lane.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

NameT = TypeVar("NameT")

_ROWS_A_COLUMN = 36  # of the newspaper; above that there are two, and three at most
_MOST_COLUMNS = 3
_STEPS_ACROSS = 5  # boxes beside each other that a page has room for
# Pixels of a channel between columns that have no lanes; the lines of owners have theirs at its end.
_BEGIN, _END = 6, 18
_LANE = 5  # pixels from one lane to the next, if there is room
_LEAVES, _REACHES = 0.75, 0.3  # of the height of a box; the line of its owner is in the middle
_CORNER = 4  # pixels: the radius
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Size:
    """A box, and the room from one to the next, in pixels."""

    width: int
    height: int
    step_x: int  # from the left of one box to that of the next
    step_y: int  # from the top of one box to that of the next


@dataclass(frozen=True, slots=True)
class Placed(Generic[NameT]):
    """The left upper corner of each box, and the size of the picture."""

    corners: Mapping[NameT, tuple[int, int]]
    width: int
    height: int


def place_forest(children: Mapping[NameT, Sequence[NameT]], roots: Sequence[NameT], size: Size) -> Placed[NameT]:
    """Lay out trees; `children` names those of every box in their order, and nothing in a circle."""
    trees = [_place_tree(children, root) for root in roots]
    wanted = min(_MOST_COLUMNS, -(-sum(map(_count_rows, trees)) // _ROWS_A_COLUMN))
    for columns in range(wanted, 1, -1):
        placed = _place_columns(trees, columns, size)
        if placed.width <= _STEPS_ACROSS * size.step_x:
            return placed
    return _place_columns(trees, 1, size)


def _place_columns(trees: Sequence[Mapping[NameT, tuple[int, int]]], columns: int, size: Size) -> Placed[NameT]:
    """Lay out trees below each other; once a column has about its share, start the next one."""
    share = sum(map(_count_rows, trees)) / columns
    corners: dict[NameT, tuple[int, int]] = {}
    left = row = tallest = deepest = 0
    for tree in trees:
        # A tree stays if more than half of it still fits.
        if row and row + _count_rows(tree) / 2 > share:
            left, row, deepest = left + deepest * size.step_x, 0, 0
        corners |= {name: (left + depth * size.step_x, (row + at) * size.step_y) for name, (depth, at) in tree.items()}
        row += _count_rows(tree)
        tallest, deepest = max(tallest, row), max(deepest, *(depth + 1 for depth, _ in tree.values()))
    return Placed(corners, left + deepest * size.step_x, tallest * size.step_y)


def _count_rows(tree: Mapping[NameT, tuple[int, int]]) -> int:
    return max(row for _, row in tree.values()) + 1


def _place_tree(children: Mapping[NameT, Sequence[NameT]], root: NameT) -> dict[NameT, tuple[int, int]]:
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
    """Lay out groups below what they depend on, at most `across` in a line; the names come in the order of a line."""
    corners: dict[NameT, tuple[int, int]] = {}
    line = 0
    for layer in _split_layers(targets, list(names)):
        for number, name in enumerate(layer):
            down, right = divmod(number, across)
            corners[name] = (right * size.step_x, (line + down) * size.step_y)
        line += -(-len(layer) // across)
    wide = max((x for x, _ in corners.values()), default=0) + size.step_x
    return Placed(corners, wide, line * size.step_y)


def _split_layers(targets: Mapping[NameT, AbstractSet[NameT]], names: list[NameT]) -> list[list[NameT]]:
    """Split groups into layers, each at the highest possible level; in a cycle, the first comes before the others."""
    placed: set[NameT] = set()
    found: list[list[NameT]] = []
    while names:
        ready = [name for name in names if targets.get(name, frozenset()) <= placed | {name}] or names[:1]
        placed.update(ready)
        names = [name for name in names if name not in placed]
        found.append(ready)
    return found


class _Way(NamedTuple):
    """The channels of a way."""

    first: int  # beside the first box
    across: int | None  # between rows, None if one channel joins both
    last: int  # beside the other box
    from_left: bool  # it reaches the other box from the left


def route_references(
    corners: Mapping[NameT, tuple[int, int]], references: Sequence[tuple[NameT, NameT]], size: Size
) -> list[list[Point]]:
    """Route references: return the points of each way, from a box to the one that it refers to. Every part is
    horizontal or vertical.
    """
    cells = {name: (x // size.step_x, y // size.step_y) for name, (x, y) in corners.items()}
    ways = [_choose_channels(cells[start], cells[end]) for start, end in references]
    ends = [end for _, end in references]
    columns = _assign_lanes(((way.first, way.last), end) for way, end in zip(ways, ends, strict=True))
    rows = _assign_lanes(
        (() if way.across is None else (way.across,), end) for way, end in zip(ways, ends, strict=True)
    )
    found = []
    for way, (start, end) in zip(ways, references, strict=True):
        (x, y), (to_x, to_y) = corners[start], corners[end]
        leaves, reaches = y + size.height * _LEAVES, to_y + size.height * _REACHES
        first, last = (
            _compute_x(columns[way.first], end, way.first, size),
            _compute_x(columns[way.last], end, way.last, size),
        )
        points: list[Point] = [(x + size.width, leaves), (first, leaves)]
        if way.across is not None:
            middle = _compute_y(rows[way.across], end, way.across, size)
            points += [(first, middle), (last, middle)]
        found.append([*points, (last, reaches), (to_x if way.from_left else to_x + size.width, reaches)])
    return found


def _choose_channels(start: tuple[int, int], end: tuple[int, int]) -> _Way:
    (column, row), (to_column, to_row) = start, end
    from_left = to_column > column
    last = to_column - 1 if from_left else to_column
    below = row >= to_row
    return _Way(column, None if last == column else to_row - (not below), last, from_left)


def _assign_lanes(uses: Iterable[tuple[Iterable[int], NameT]]) -> Mapping[int, Mapping[NameT, int]]:
    """For each channel the lanes of the boxes that ways in it lead to, in the order in which they come."""
    lanes: dict[int, dict[NameT, int]] = defaultdict(dict)
    for channels, end in uses:
        for channel in channels:
            lanes[channel].setdefault(end, len(lanes[channel]))
    return lanes


def _compute_x(lanes: Mapping[NameT, int], end: NameT, channel: int, size: Size) -> float:
    room = size.step_x - size.width - _BEGIN - _END
    return channel * size.step_x + size.width + _BEGIN + lanes[end] * min(_LANE, room / len(lanes))


def _compute_y(lanes: Mapping[NameT, int], end: NameT, channel: int, size: Size) -> float:
    room = size.step_y - size.height
    return channel * size.step_y + size.height + room * (lanes[end] + 1) / (len(lanes) + 1)


def draw_path(points: Sequence[Point]) -> str:
    """Draw an SVG path through points, with round corners."""
    parts = [f"M{_format_point(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        # Two corners may share a part of the way, so each takes half of it at most.
        radius = min(_CORNER, _measure(before, corner) / 2, _measure(corner, after) / 2)
        parts.append(f"L{_format_point(_approach(corner, before, radius))}")
        parts.append(f"Q{_format_point(corner)} {_format_point(_approach(corner, after, radius))}")
    return "".join([*parts, f"L{_format_point(points[-1])}"])


def draw_tip(points: Sequence[Point]) -> str:
    """Draw the tip of an arrow at the end of a way, as an SVG path."""
    (x, y), (before, _) = points[-1], points[-2]
    back = x + (7 if before > x else -7)
    return f"M{_format_point((x, y))}L{_format_point((back, y - 3.5))}L{_format_point((back, y + 3.5))}z"


def _measure(first: Point, other: Point) -> float:
    return abs(first[0] - other[0]) + abs(first[1] - other[1])


def _approach(corner: Point, other: Point, distance: float) -> Point:
    """Find the point at a distance from a corner, towards another point; one of their coordinates is the same."""
    length = _measure(corner, other)
    share = distance / length if length else 0.0
    return corner[0] + (other[0] - corner[0]) * share, corner[1] + (other[1] - corner[1]) * share


def _format_point(point: Point) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}".replace(".0", "")
