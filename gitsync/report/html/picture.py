"""The owner graph as a picture inside the page (SVG): each resource, or each resource group of a large run.

The list below it has the same information, for readers who cannot see the picture.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from gitsync.logging import escape_controls
from gitsync.model.gvk import Key
from gitsync.model.result import Outcome, Result
from gitsync.report.escape import shorten
from gitsync.report.html.anchors import make_anchor
from gitsync.report.html.grouping import GroupName, group_results
from gitsync.report.html.looks import LOOKS, Tone, find_look, find_order, find_tone
from gitsync.report.html.markup import render_template
from gitsync.report.html.placement import Placed, Size, place_forest, place_layers
from gitsync.report.html.summary import BarPart, divide_bar
from gitsync.report.names import reading_order
from gitsync.report.urgency import find_urgency

_MOST_BOXES = 300  # resources; above that groups are drawn
_BOX = Size(width=200, height=32, step_x=226, step_y=40)
_TILE = Size(width=200, height=52, step_x=216, step_y=84)
_TILES_ACROSS = 5
_MOST_LINES_SEEN = 100  # boxes; with more, lines are faint until one of their ends is pointed at
_MARGIN = 8
_CHARACTERS = 23  # of a name, in a box


class Line(NamedTuple):
    """A line of a picture: its SVG path, what it means ("owns" or "needs"), and the boxes that it joins."""

    path: str
    means: str
    start: str
    end: str


class Box(NamedTuple):
    """What a box shows, where it is, and by which name scripts and links find it."""

    x: int
    y: int
    node: str
    tone: Tone
    title: str
    sign: str
    name: str
    below: str
    bar: Sequence[BarPart] = ()


class Drawing(NamedTuple):
    """What a picture consists of, and how large it is. `hidden` boxes are left out."""

    lines: Sequence[Line]
    boxes: Sequence[Box]
    width: int
    height: int
    hidden: int = 0


def render_picture(results: Sequence[Result]) -> Markup:
    """The section with the picture; "" where there is nothing to draw."""
    if not results:
        return Markup()
    ordered = sorted(results, key=lambda r: reading_order(r.key))
    grouped = len(ordered) > _MOST_BOXES
    drawn = _draw_groups(ordered) if grouped else _draw_resources(ordered)
    return render_template(
        "picture.html",
        grouped=grouped,
        size=_TILE if grouped else _BOX,
        lines=drawn.lines,
        boxes=drawn.boxes,
        width=drawn.width + 2 * _MARGIN,
        height=drawn.height + 2 * _MARGIN,
        margin=_MARGIN,
        crowded=len(drawn.boxes) > _MOST_LINES_SEEN,
        hidden=drawn.hidden,
    )


def _draw_resources(results: Sequence[Result]) -> Drawing:
    known = {result.key: result for result in results}
    owners = _owners(known)
    children: dict[Key, list[Key]] = defaultdict(list)
    for key, owner in owners.items():
        children[owner].append(key)
    placed = place_forest(children, [key for key in known if key not in owners], _BOX)
    needs = ((key, target) for key in known for target in known[key].depends_on if target in known and target != key)
    lines = [
        *(_elbow(placed, owner, key) for key, owner in owners.items()),
        *(_arc(placed, key, target) for key, target in needs if not _is_above(target, key, owners)),
    ]
    boxes = [_make_box(result, placed.corners[key]) for key, result in known.items()]
    return Drawing(lines, boxes, placed.width, placed.height)


def _owners(known: Mapping[Key, Result]) -> dict[Key, Key]:
    """The owner of each resource, if the owner is drawn too; cycles, which only invalid manifests have, are cut."""
    owners: dict[Key, Key] = {}
    for key, result in known.items():
        owner = result.owner
        if owner and owner in known and owner != key and not _is_above(key, owner, owners):
            owners[key] = owner
    return owners


def _is_above(upper: Key, key: Key, owners: Mapping[Key, Key]) -> bool:
    """Whether it owns the other, at whatever distance."""
    above: Key | None = key
    while above := owners.get(above) if above else None:
        if above == upper:
            return True
    return False


def _elbow(placed: Placed[Key], owner: Key, key: Key) -> Line:
    """From the right of an owner to the left of what it owns, with a corner where the columns part."""
    (x, y), (to_x, to_y) = placed.corners[owner], placed.corners[key]
    middle, half = to_x - (_BOX.step_x - _BOX.width) // 2, _BOX.height // 2
    path = f"M{x + _BOX.width} {y + half}H{middle}V{to_y + half}H{to_x}"
    return Line(path, "owns", make_anchor(owner), make_anchor(key))


def _arc(placed: Placed[Key], key: Key, target: Key) -> Line:
    """From what needs something to what it needs, bowed so that it passes beside the boxes between them."""
    (x, y), (to_x, to_y) = placed.corners[key], placed.corners[target]
    half, right, bow = _BOX.height // 2, _BOX.width, 24
    if x <= to_x - right:
        path = f"M{x + right} {y + half}C{x + right + bow} {y + half} {to_x - bow} {to_y + half} {to_x} {to_y + half}"
    else:
        far = max(x, to_x) + right + bow
        path = f"M{x + right} {y + half}C{far} {y + half} {far} {to_y + half} {to_x + right} {to_y + half}"
    return Line(path, "needs", make_anchor(key), make_anchor(target))


def _make_box(result: Result, corner: tuple[int, int]) -> Box:
    name, kind = escape_controls(result.key.name), escape_controls(result.key.kind)
    look = find_look(result)
    word = Outcome.FAILED.value if result.outcome is Outcome.FAILED else result.verdict.value
    return Box(
        *corner,
        node=make_anchor(result.key),
        tone=find_tone(result),
        title=f"{kind}/{name} in {result.key.namespace}: {word}, {look.means}",
        sign=look.sign,
        name=shorten(name, _CHARACTERS),
        below=shorten(kind, _CHARACTERS),
    )


def _draw_groups(results: Sequence[Result]) -> Drawing:
    where = group_results(results)
    content: dict[GroupName, list[Result]] = defaultdict(list)
    for result in results:
        content[where[result.key]].append(result)
    urgent = sorted(content, key=lambda place: (min(map(find_tone, content[place])), place.label, place))
    shown = sorted(urgent[:_MOST_BOXES], key=lambda place: (place.label, place))
    needs = _needs(results, where, frozenset(shown))
    placed = place_layers(needs, shown, _TILE, _TILES_ACROSS)
    lines = [_curve(placed, place, target) for place in shown for target in sorted(needs[place])]
    boxes = [_make_tile(place, content[place], placed.corners[place]) for place in shown]
    return Drawing(lines, boxes, placed.width, placed.height, len(content) - len(shown))


def _needs(
    results: Iterable[Result], where: Mapping[Key, GroupName], shown: frozenset[GroupName]
) -> dict[GroupName, set[GroupName]]:
    """Which groups each group needs something from."""
    found: dict[GroupName, set[GroupName]] = defaultdict(set)
    for result in results:
        here = where[result.key]
        named = {where[key] for key in (result.owner, *result.depends_on) if key and key in where}
        found[here] |= (named & shown) - {here}
    return found


def _curve(placed: Placed[GroupName], place: GroupName, target: GroupName) -> Line:
    """From the top of a group to the bottom of one that it needs."""
    (x, y), (to_x, to_y) = placed.corners[place], placed.corners[target]
    half, bow = _TILE.width // 2, 26
    below = to_y + _TILE.height
    path = f"M{x + half} {y}C{x + half} {y - bow} {to_x + half} {below + bow} {to_x + half} {below}"
    return Line(path, "needs", place.id, target.id)


def _make_tile(place: GroupName, content: Sequence[Result], corner: tuple[int, int]) -> Box:
    tones = Counter(find_tone(result) for result in content)
    verdicts = Counter(result.verdict for result in content)
    told = ", ".join(f"{verdicts[verdict]} {verdict.value}" for verdict in LOOKS if verdicts[verdict])
    worst = min(content, key=lambda r: (find_tone(r), find_urgency(r)[0], find_order(r.verdict)))
    return Box(
        *corner,
        node=place.id,
        tone=min(tones),
        title=f"{place.label}: {told}",
        sign=find_look(worst).sign,
        name=shorten(place.label, _CHARACTERS),
        below=shorten(told, _CHARACTERS + 8),
        bar=list(divide_bar(tones, start=10.0, width=_TILE.width - 20, digits=1)),
    )
