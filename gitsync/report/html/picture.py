"""The owner graph as a picture inside the page (SVG): each resource, or each resource group of a large run.

The list below it has the same information, for readers who cannot see the picture.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitsync.logging import escape_controls
from gitsync.model.gvk import Key
from gitsync.model.result import Result
from gitsync.report.escape import shorten
from gitsync.report.headline import format_plural
from gitsync.report.html.anchors import make_anchor
from gitsync.report.html.grouping import GroupName, group_results
from gitsync.report.html.looks import LOOKS, Tone, find_tone
from gitsync.report.html.markup import BREAK, NOTHING, Markup, element, joined, text
from gitsync.report.html.placement import Placed, Size, place_forest, place_layers
from gitsync.report.names import reading_order

_MOST_BOXES = 300  # resources; above that groups are drawn
_BOX = Size(width=200, height=32, step_x=226, step_y=40)
_TILE = Size(width=200, height=52, step_x=216, step_y=84)
_TILES_ACROSS = 5
_MOST_LINES_SEEN = 100  # boxes; with more, lines are faint until one of their ends is pointed at
_MARGIN = 8
_CHARACTERS = 23  # of a name, in a box

_BOXES_LEGEND = (
    "From owner to dependent, left to right; a dashed line leads to each other dependency of a resource."
    " A box leads to its resource in the list."
)
_TILES_LEGEND = "One box per resource group, below the groups that it depends on; the bar shows its verdicts."


def render_picture(results: Sequence[Result]) -> Markup:
    """The section with the picture; "" where there is nothing to draw."""
    if not results:
        return NOTHING
    ordered = sorted(results, key=lambda r: reading_order(r.key))
    grouped = len(ordered) > _MOST_BOXES
    legend = _TILES_LEGEND if grouped else _BOXES_LEGEND
    drawn = _of_groups(ordered) if grouped else _of_resources(ordered)
    scroller = element("div", drawn, class_="scroller", tabindex=0, role="region", aria_label="Owner graph")
    return element(
        "section",
        element("h2", text("Owner graph"), id="graph-title"),
        element("p", text(legend), class_="note"),
        scroller,
        id="graph",
        aria_labelledby="graph-title",
    )


def _of_resources(results: Sequence[Result]) -> Markup:
    known = {result.key: result for result in results}
    owners = _owners(known)
    children: dict[Key, list[Key]] = defaultdict(list)
    for key, owner in owners.items():
        children[owner].append(key)
    placed = place_forest(children, [key for key in known if key not in owners], _BOX)
    needs = ((key, target) for key in known for target in known[key].depends_on if target in known and target != key)
    parts = (
        *(_elbow(placed, owner, key) for key, owner in owners.items()),
        *(_arc(placed, key, target) for key, target in needs if not _is_above(target, key, owners)),
        *(_box(result, placed.corners[key]) for key, result in known.items()),
    )
    return _drawing(
        placed, parts, f"{format_plural(len(known), 'resource')} and their owners; the list below has them all."
    )


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


def _elbow(placed: Placed[Key], owner: Key, key: Key) -> Markup:
    """From the right of an owner to the left of what it owns, with a corner where the columns part."""
    (x, y), (to_x, to_y) = placed.corners[owner], placed.corners[key]
    middle, half = to_x - (_BOX.step_x - _BOX.width) // 2, _BOX.height // 2
    path = f"M{x + _BOX.width} {y + half}H{middle}V{to_y + half}H{to_x}"
    return element("path", d=path, class_="owns", data_from=make_anchor(owner), data_to=make_anchor(key))


def _arc(placed: Placed[Key], key: Key, target: Key) -> Markup:
    """From what needs something to what it needs, bowed so that it passes beside the boxes between them."""
    (x, y), (to_x, to_y) = placed.corners[key], placed.corners[target]
    half, right, bow = _BOX.height // 2, _BOX.width, 24
    if x <= to_x - right:
        path = f"M{x + right} {y + half}C{x + right + bow} {y + half} {to_x - bow} {to_y + half} {to_x} {to_y + half}"
    else:
        far = max(x, to_x) + right + bow
        path = f"M{x + right} {y + half}C{far} {y + half} {far} {to_y + half} {to_x + right} {to_y + half}"
    return element("path", d=path, class_="needs", data_from=make_anchor(key), data_to=make_anchor(target))


def _box(result: Result, corner: tuple[int, int]) -> Markup:
    name, kind = escape_controls(result.key.name), escape_controls(result.key.kind)
    look = LOOKS[result.verdict]
    frame = element("rect", width=_BOX.width - 2, height=_BOX.height - 2, x=1, y=1, rx=5)
    lines = (
        element("text", text(look.sign), x=14, y=21, class_="sign"),
        element("text", text(shorten(name, _CHARACTERS)), x=28, y=14, class_="name"),
        element("text", text(shorten(kind, _CHARACTERS)), x=28, y=26, class_="kind"),
    )
    title = element("title", text(f"{kind}/{name} in {result.key.namespace}: {result.verdict.value}, {look.means}"))
    inside = element("svg", title, frame, *lines, **_at(corner, _BOX))
    link = {
        "class_": f"box {find_tone(result).css}",
        "href": f"#{make_anchor(result.key)}",
        "data_node": make_anchor(result.key),
    }
    return element("a", inside, tabindex=-1, **link)


def _at(corner: tuple[int, int], size: Size) -> dict[str, int]:
    return {"x": corner[0], "y": corner[1], "width": size.width, "height": size.height}


def _of_groups(results: Sequence[Result]) -> Markup:
    where = group_results(results)
    content: dict[GroupName, list[Result]] = defaultdict(list)
    for result in results:
        content[where[result.key]].append(result)
    urgent = sorted(content, key=lambda place: (min(map(find_tone, content[place])), place.label, place))
    shown = sorted(urgent[:_MOST_BOXES], key=lambda place: (place.label, place))
    needs = _needs(results, where, frozenset(shown))
    placed = place_layers(needs, shown, _TILE, _TILES_ACROSS)
    parts = (
        *(_curve(placed, place, target) for place in shown for target in sorted(needs[place])),
        *(_tile(place, content[place], placed.corners[place]) for place in shown),
    )
    hidden = len(content) - len(shown)
    groups = format_plural(len(shown), "resource group")
    words = f"{groups} and their dependencies; the list below has the resources."
    note = f"… and {format_plural(hidden, 'more resource group')}, not drawn to keep this small."
    return joined([_drawing(placed, parts, words), element("p", text(note), class_="note") if hidden else NOTHING])


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


def _curve(placed: Placed[GroupName], place: GroupName, target: GroupName) -> Markup:
    """From the top of a group to the bottom of one that it needs."""
    (x, y), (to_x, to_y) = placed.corners[place], placed.corners[target]
    half, bow = _TILE.width // 2, 26
    below = to_y + _TILE.height
    path = f"M{x + half} {y}C{x + half} {y - bow} {to_x + half} {below + bow} {to_x + half} {below}"
    return element("path", d=path, class_="needs", data_from=place.id, data_to=target.id)


def _tile(place: GroupName, content: Sequence[Result], corner: tuple[int, int]) -> Markup:
    tones = Counter(find_tone(result) for result in content)
    verdicts = Counter(result.verdict for result in content)
    told = ", ".join(f"{verdicts[verdict]} {verdict.value}" for verdict in LOOKS if verdicts[verdict])
    worst = min(content, key=lambda r: (find_tone(r), list(LOOKS).index(r.verdict)))
    inside = element(
        "svg",
        element("title", text(f"{place.label}: {told}")),
        element("rect", width=_TILE.width - 2, height=_TILE.height - 2, x=1, y=1, rx=5),
        element("text", text(LOOKS[worst.verdict].sign), x=14, y=22, class_="sign"),
        element("text", text(shorten(place.label, _CHARACTERS)), x=28, y=17, class_="name"),
        element("text", text(shorten(told, _CHARACTERS + 8)), x=28, y=31, class_="kind"),
        *_bar(tones, len(content)),
        **_at(corner, _TILE),
    )
    class_ = f"box {min(tones).css}"
    return element("a", inside, tabindex=-1, class_=class_, href="#resources", data_node=place.id, data_place=place.id)


def _bar(tones: Mapping[Tone, int], count: int) -> Iterator[Markup]:
    """A bar at the foot of a tile, with a part for each tone."""
    left, wide = 10.0, _TILE.width - 20
    for one in sorted(tones):
        part = wide * tones[one] / count
        yield element("rect", x=f"{left:.1f}", y=39, width=f"{part:.1f}", height=5, class_=f"part {one.css}")
        left += part


def _drawing(placed: Placed[Key] | Placed[GroupName], parts: Iterable[Markup], words: str) -> Markup:
    width, height = placed.width + 2 * _MARGIN, placed.height + 2 * _MARGIN
    box = f"{-_MARGIN} {-_MARGIN} {width} {height}"
    inside = (element("title", text(words)), BREAK, joined(parts, BREAK))
    crowded = "crowded" if len(placed.corners) > _MOST_LINES_SEEN else None
    return element("svg", *inside, viewBox=box, width=width, height=height, role="img", class_=crowded)
