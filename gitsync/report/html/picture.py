"""Draws the owner graph as a picture inside the page (SVG): each resource, or each resource group of a large run.

The list above it has the same information, for readers who cannot see the picture.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from gitsync.model.gvk import Key
from gitsync.model.result import Outcome, Result
from gitsync.report.escape import shorten
from gitsync.report.html.looks import LOOKS, BarPart, Tone, choose_look, choose_tone, divide_bar
from gitsync.report.html.markup import make_anchor, render_template
from gitsync.report.html.picture_layout import (
    NameT,
    Placed,
    Size,
    draw_path,
    draw_tip,
    place_forest,
    place_layers,
    route_references,
)
from gitsync.report.ordering import GroupName, group_results, make_reading_order, rate_urgency
from gitsync.settings.logging import escape_controls

_MOST_BOXES = 300  # resources; above that groups are drawn
_FEW_BOXES = 30  # as many are shown from the start
_HEIGHT, _GAP = 34, Size(width=0, height=0, step_x=48, step_y=12)  # of a resource, and around it
_TILE = Size(width=212, height=52, step_x=254, step_y=82)
_TILES_ACROSS = 4
_MOST_LINES_SEEN = 100  # boxes; with more, lines are faint until one of their ends is pointed at
_MARGIN = 8
_CHARACTERS = 32  # of a name, in a box
_KIND_CHARACTERS = 60  # more than any Azure kind has
_TILE_CHARACTERS = 23
_LEFT, _RIGHT, _NARROWEST = 30, 10, 190  # pixels of a box: before its text, after it, and together
_BUS = 10  # pixels before a box, where the line of its owner turns
_NAME_WIDTH, _KIND_WIDTH = 6.9, 6.05  # pixels of a character, in the widest fonts of systems


class GraphLine(NamedTuple):
    """A line of a picture."""

    path: str  # as SVG
    means: str  # "owns" or "needs"
    start: str  # the name of a box that it joins
    end: str  # the name of the other box
    tip: str = ""


class Box(NamedTuple):
    """What a box shows, where it is, and by which name scripts and links find it."""

    x: int  # pixels from the left
    y: int  # pixels from the top
    node: str  # the name that scripts and links use
    tone: Tone
    title: str
    sign: str
    name: str  # the text in it, shortened
    below: str  # the line below that, shortened
    bar: Sequence[BarPart] = ()  # the parts of a bar at its foot


class Drawing(NamedTuple):
    """What a picture consists of, and how large it is."""

    lines: Sequence[GraphLine]
    boxes: Sequence[Box]
    size: Size
    width: int  # of the picture, in pixels
    height: int  # of the picture, in pixels
    hidden: int = 0  # the number of boxes that are left out


def render_picture(results: Sequence[Result]) -> Markup:
    """Render the section with the picture; "" where there is nothing to draw."""
    if not results:
        return Markup()
    ordered = sorted(results, key=lambda r: make_reading_order(r.key))
    grouped = len(ordered) > _MOST_BOXES
    drawn = _draw_groups(ordered) if grouped else _draw_resources(ordered)
    words = {choose_look(result): _explain_word(result) for result in ordered}
    return render_template(
        "picture.html",
        grouped=grouped,
        opened=len(ordered) <= _FEW_BOXES,
        count=len(ordered),
        looks=sorted(words.items(), key=lambda item: (item[0].tone, item[0].sign)),  # the legend
        size=drawn.size,
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
    owners = _collect_owners(known)
    children: dict[Key, list[Key]] = defaultdict(list)
    for key, owner in owners.items():
        children[owner].append(key)
    size = _measure_boxes(results)
    placed = place_forest(children, [key for key in known if key not in owners], size)
    needs = [
        (key, target)
        for key in known
        for target in sorted({*known[key].manifest.depends_on})
        # The line of the owner shows that already.
        if target in known and target != key and not _is_above(target, key, owners)
    ]
    lines = [
        *(_draw_elbow(placed, owner, key, size) for key, owner in owners.items()),
        *_draw_references(placed, needs, size, make_anchor),
    ]
    boxes = [_make_box(result, placed.corners[key]) for key, result in known.items()]
    return Drawing(lines, boxes, size, placed.width, placed.height)


def _measure_boxes(results: Sequence[Result]) -> Size:
    """Boxes that are as wide as the longest kind and name in one of them."""
    kind = min(_KIND_CHARACTERS, max(len(result.key.kind) for result in results)) * _KIND_WIDTH
    name = min(_CHARACTERS, max(len(result.key.name) for result in results)) * _NAME_WIDTH
    width = max(_NARROWEST, _LEFT + round(max(kind, name)) + _RIGHT)
    return Size(width=width, height=_HEIGHT, step_x=width + _GAP.step_x, step_y=_HEIGHT + _GAP.step_y)


def _explain_word(result: Result) -> str:
    return Outcome.FAILED.value if result.outcome is Outcome.FAILED else result.verdict.value


def _draw_references(
    placed: Placed[NameT], needs: Sequence[tuple[NameT, NameT]], size: Size, find_node: Callable[[NameT], str]
) -> Iterator[GraphLine]:
    """Draw a line for each reference, beside the boxes."""
    for (start, end), points in zip(needs, route_references(placed.corners, needs, size), strict=True):
        yield GraphLine(draw_path(points), "needs", find_node(start), find_node(end), draw_tip(points))


def _collect_owners(known: Mapping[Key, Result]) -> dict[Key, Key]:
    """Collect the owner of each resource, if the owner is drawn too; cycles, which only invalid manifests have, are
    cut.
    """
    owners: dict[Key, Key] = {}
    for key, result in known.items():
        owner = result.manifest.owner
        if owner and owner in known and owner != key and not _is_above(key, owner, owners):
            owners[key] = owner
    return owners


def _is_above(upper: Key, key: Key, owners: Mapping[Key, Key]) -> bool:
    """Return whether one resource owns the other, at whatever distance."""
    above: Key | None = key
    while above := owners.get(above) if above else None:
        if above == upper:
            return True
    return False


def _draw_elbow(placed: Placed[Key], owner: Key, key: Key, size: Size) -> GraphLine:
    """Draw a line from the right of an owner to the left of what it owns, with a corner just before that."""
    (x, y), (to_x, to_y) = placed.corners[owner], placed.corners[key]
    half = size.height // 2
    path = f"M{x + size.width} {y + half}H{to_x - _BUS}V{to_y + half}H{to_x}"
    return GraphLine(path, "owns", make_anchor(owner), make_anchor(key))


def _make_box(result: Result, corner: tuple[int, int]) -> Box:
    name, kind = escape_controls(result.key.name), escape_controls(result.key.kind)
    look = choose_look(result)
    return Box(
        *corner,
        node=make_anchor(result.key),
        tone=choose_tone(result),
        title=f"{kind}/{name} in {result.key.namespace}: {_explain_word(result)}, {look.means}",
        sign=look.sign,
        name=shorten(name, _CHARACTERS),
        below=shorten(kind, _KIND_CHARACTERS),
    )


def _draw_groups(results: Sequence[Result]) -> Drawing:
    where = group_results(results)
    content: dict[GroupName, list[Result]] = defaultdict(list)
    for result in results:
        content[where[result.key]].append(result)
    urgent = sorted(content, key=lambda group: (min(map(choose_tone, content[group])), group.label, group))
    # The most urgent groups are drawn, in the order in which a reader looks for a name.
    shown = sorted(urgent[:_MOST_BOXES], key=lambda group: (group.label, group))
    needs = _collect_needs(results, where, frozenset(shown))
    placed = place_layers(needs, shown, _TILE, _TILES_ACROSS)
    needed = [(group, target) for group in shown for target in sorted(needs[group])]
    lines = list(_draw_references(placed, needed, _TILE, lambda group: group.id))
    boxes = [_make_tile(group, content[group], placed.corners[group]) for group in shown]
    return Drawing(lines, boxes, _TILE, placed.width, placed.height, len(content) - len(shown))


def _collect_needs(
    results: Iterable[Result], where: Mapping[Key, GroupName], shown: frozenset[GroupName]
) -> dict[GroupName, set[GroupName]]:
    """Collect which groups each group needs something from."""
    found: dict[GroupName, set[GroupName]] = defaultdict(set)
    for result in results:
        here = where[result.key]
        named = {where[key] for key in (result.manifest.owner, *result.manifest.depends_on) if key and key in where}
        found[here] |= (named & shown) - {here}
    return found


def _make_tile(group: GroupName, content: Sequence[Result], corner: tuple[int, int]) -> Box:
    tones = Counter(choose_tone(result) for result in content)
    verdicts = Counter(result.verdict for result in content)
    told = ", ".join(f"{verdicts[verdict]} {verdict.value}" for verdict in LOOKS if verdicts[verdict])
    worst = min(content, key=lambda r: (choose_tone(r), rate_urgency(r)))
    return Box(
        *corner,
        node=group.id,
        tone=min(tones),
        title=f"{group.label}: {told}",
        sign=choose_look(worst).sign,
        name=shorten(group.label, _TILE_CHARACTERS),
        below=shorten(told, _TILE_CHARACTERS + 6),
        bar=list(divide_bar(tones, start=10.0, width=_TILE.width - 20, digits=1)),
    )
