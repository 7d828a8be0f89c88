"""The ways of references through the picture: between boxes, never across one.

The boxes form a grid. A way leaves a box at its right, follows the channel between two columns, then the one between
two rows, and reaches the other box from a side. In each channel, the ways to one box share a lane.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gitsync.report.html.placement import NameT, Size

_BEGIN, _END = (
    6,
    18,
)  # pixels of a channel between columns that have no lanes; the lines of owners have theirs at its end
_LANE = 5  # pixels from one lane to the next, if there is room
_LEAVES, _REACHES = 0.75, 0.3  # of the height of a box; the line of its owner is in the middle
_CORNER = 4  # pixels: the radius

Point = tuple[float, float]


class _Way(NamedTuple):
    """The channels of a way: beside the first box, between rows (None if one channel joins both), and beside the other
    box, which it reaches from the left or the right.
    """

    first: int
    across: int | None
    last: int
    from_left: bool


def route_references(
    corners: Mapping[NameT, tuple[int, int]], references: Sequence[tuple[NameT, NameT]], size: Size
) -> list[list[Point]]:
    """The points of each way, from a box to the one that it refers to. Every part is horizontal or vertical."""
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
        first, last = _find_x(columns[way.first], end, way.first, size), _find_x(columns[way.last], end, way.last, size)
        points: list[Point] = [(x + size.width, leaves), (first, leaves)]
        if way.across is not None:
            middle = _find_y(rows[way.across], end, way.across, size)
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


def _find_x(lanes: Mapping[NameT, int], end: NameT, channel: int, size: Size) -> float:
    room = size.step_x - size.width - _BEGIN - _END
    return channel * size.step_x + size.width + _BEGIN + lanes[end] * min(_LANE, room / len(lanes))


def _find_y(lanes: Mapping[NameT, int], end: NameT, channel: int, size: Size) -> float:
    room = size.step_y - size.height
    return channel * size.step_y + size.height + room * (lanes[end] + 1) / (len(lanes) + 1)


def draw_path(points: Sequence[Point]) -> str:
    """An SVG path through points, with round corners."""
    parts = [f"M{_format(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(_CORNER, _measure(before, corner) / 2, _measure(corner, after) / 2)
        parts.append(f"L{_format(_approach(corner, before, radius))}")
        parts.append(f"Q{_format(corner)} {_format(_approach(corner, after, radius))}")
    return "".join([*parts, f"L{_format(points[-1])}"])


def draw_tip(points: Sequence[Point]) -> str:
    """The tip of an arrow at the end of a way, as an SVG path."""
    (x, y), (before, _) = points[-1], points[-2]
    back = x + (7 if before > x else -7)
    return f"M{_format((x, y))}L{_format((back, y - 3.5))}L{_format((back, y + 3.5))}z"


def _measure(one: Point, other: Point) -> float:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _approach(corner: Point, other: Point, distance: float) -> Point:
    """The point at a distance from a corner, towards another point; one of their coordinates is the same."""
    length = _measure(corner, other)
    share = distance / length if length else 0.0
    return corner[0] + (other[0] - corner[0]) * share, corner[1] + (other[1] - corner[1]) * share


def _format(point: Point) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}".replace(".0", "")
