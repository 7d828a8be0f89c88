"""The picture: where boxes stand, what lines there are, and when groups are drawn in the place of resources."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.arm_id import ArmId
from gitsync.model.verdict import Verdict
from gitsync.report.html.picture import render_picture
from gitsync.report.html.picture_layout import Size, draw_path, place_forest, place_layers, route_references
from gitsync.report.ordering import NO_GROUP, GroupName, group_results
from tests.report.large_reports import A_GROUP, landing_zone
from tests.report.report_builders import IN_SYNC, NET, key, result
from tests.support.parts import change

SIZE = Size(width=10, height=5, step_x=15, step_y=8)


@st.composite
def forests(draw):
    """Numbers, each owned by a smaller one or by none."""
    owners = [draw(st.sampled_from([None, *range(number)])) for number in range(draw(st.integers(1, 120)))]
    children = {number: [n for n, owner in enumerate(owners) if owner == number] for number in range(len(owners))}
    return owners, children


@given(forests())
def test_every_tree_is_placed_and_no_boxes_meet(drawn):
    owners, children = drawn
    placed = place_forest(children, [number for number, owner in enumerate(owners) if owner is None], SIZE)
    assert set(placed.corners) == set(range(len(owners)))
    assert len(set(placed.corners.values())) == len(owners), "a cell each"
    for number, (x, y) in placed.corners.items():
        assert x % SIZE.step_x == y % SIZE.step_y == 0
        assert 0 <= x <= placed.width - SIZE.step_x
        assert 0 <= y <= placed.height - SIZE.step_y
        owner = owners[number]
        if owner is not None:
            assert placed.corners[owner][0] == x - SIZE.step_x, "a step to the right of its owner"
            assert placed.corners[owner][1] <= y, "and not above it"


@given(st.dictionaries(st.integers(0, 40), st.frozensets(st.integers(0, 40), max_size=4), max_size=40))
def test_groups_are_below_what_they_need_where_that_can_be(found):
    names = sorted(found)
    targets = {name: found[name] & set(names) for name in names}
    placed = place_layers(targets, names, SIZE, 4)
    assert len(set(placed.corners.values())) == len(names)
    downwards = {name: {t for t in targets[name] if t < name} for name in names}
    in_order = place_layers(downwards, names, SIZE, 4).corners
    assert all(in_order[target][1] < in_order[name][1] for name in names for target in downwards[name])
    assert all(x < 4 * SIZE.step_x for x, _ in placed.corners.values())


def test_a_wide_forest_has_columns_as_a_newspaper():
    single = place_forest({}, list(range(30)), SIZE)
    several = place_forest({}, list(range(90)), SIZE)
    assert single.width == SIZE.step_x
    assert several.width == 3 * SIZE.step_x
    assert several.height == 30 * SIZE.step_y


def test_deep_trees_are_below_each_other():
    children = {number: [number + 1] for number in range(400) if number % 4 < 3}
    deep = place_forest(children, [number for number in range(400) if number % 4 == 0], SIZE)
    assert deep.width == 4 * SIZE.step_x, "twice as much would not fit a page"
    assert deep.height == 100 * SIZE.step_y


GROUP, NETWORK = key("ResourceGroup", "core"), key("VirtualNetwork", "hub", NET)
OWNED = result(NETWORK, owner=GROUP, depends_on=(GROUP,))


def lines(markup, kind):
    return re.findall(rf'<path [^>]*class="{kind}"', markup[markup.index('class="scroller"') :])


CASES = [
    ([IN_SYNC, OWNED], 1, 0, "an owner, which what it owns depends on too"),
    ([OWNED], 0, 0, "an owner that is not in the report"),
    ([IN_SYNC, OWNED, result(key("A", "b"), depends_on=(NETWORK,))], 1, 1, "what is needed besides an owner"),
    (
        [IN_SYNC, OWNED, result(key("A", "b"), owner=NETWORK, depends_on=(NETWORK, GROUP))],
        2,
        0,
        "the owner of an owner is no line of its own",
    ),
    ([change(IN_SYNC, owner=NETWORK), OWNED], 1, 0, "owners in a circle, which is cut"),
    ([change(IN_SYNC, owner=GROUP, depends_on=(GROUP,))], 0, 0, "what names itself"),
]


@pytest.mark.parametrize(("results", "owns", "needs", "why"), CASES, ids=[c[-1] for c in CASES])
def test_lines_are_drawn_for(results, owns, needs, why):
    drawn = render_picture(results)
    assert (len(lines(drawn, "owns")), len(lines(drawn, "needs"))) == (owns, needs), why
    assert drawn.count('class="box ') == len(results)


def test_a_box_shows_its_text_in_full():
    kind = "FlexibleServersAdvancedThreatProtectionSettings"
    long = result(key(kind, "a-name-that-is-longer-than-any-box-has-room-for", NET), Verdict.DRIFTED)
    drawn = render_picture([long])
    assert (
        f"<title>{kind}/a-name-that-is-longer-than-any-box-has-room-for in default: drifted, changed in Azure" in drawn
    )
    assert ">a-name-that-is-longer-than-any-b…<" in drawn
    assert f">{kind}</text>" in drawn, "kinds are never cut"


@given(forests(), st.data())
def test_references_keep_clear_of_boxes(drawn, data):
    """Every part of a way is horizontal or vertical, and touches no box but the two that it joins."""
    owners, children = drawn
    placed = place_forest(children, [number for number, owner in enumerate(owners) if owner is None], ROOMY)
    two = st.tuples(st.integers(0, len(owners) - 1), st.integers(0, len(owners) - 1)).filter(lambda p: p[0] != p[1])
    references = data.draw(st.lists(two, max_size=20, unique=True)) if len(owners) > 1 else []
    ways = route_references(placed.corners, references, ROOMY)
    assert len(ways) == len(references)
    for (start, end), points in zip(references, ways, strict=True):
        assert _touches(placed.corners[start], points[0])
        assert _touches(placed.corners[end], points[-1])
        for one, other in pairwise(points):
            assert one[0] == other[0] or one[1] == other[1]
            assert not any(_crosses(corner, one, other) for corner in placed.corners.values())


ROOMY = Size(width=100, height=34, step_x=154, step_y=46)


def _touches(corner, point):
    return point[0] in {corner[0], corner[0] + ROOMY.width} and corner[1] <= point[1] <= corner[1] + ROOMY.height


def _crosses(corner, one, other):
    """Whether a part of a way goes through the inside of a box."""
    left, right = sorted((one[0], other[0]))
    top, bottom = sorted((one[1], other[1]))
    x, y = corner
    return left < x + ROOMY.width and right > x and top < y + ROOMY.height and bottom > y


def test_ways_to_different_boxes_have_lanes_of_their_own():
    corners = {name: (0, row * ROOMY.step_y) for row, name in enumerate("abcd")}
    ways = route_references(corners, [("a", "c"), ("b", "d"), ("a", "d")], ROOMY)
    lanes = [points[1][0] for points in ways]
    assert lanes[0] != lanes[1] == lanes[2]


PATHS = [
    ([(0, 0), (10, 0), (10, 10)], "M0 0L6 0Q10 0 10 4L10 10", "a round corner"),
    ([(0, 0), (2, 0), (2, 10)], "M0 0L1 0Q2 0 2 1L2 10", "a smaller one where there is little room"),
    ([(0, 0), (0, 0), (5, 0)], "M0 0L0 0Q0 0 0 0L5 0", "none where two points are one"),
]


@pytest.mark.parametrize(("points", "path", "why"), PATHS, ids=[p[-1] for p in PATHS])
def test_a_path_is_drawn_with(points, path, why):
    assert draw_path(points) == path, why


@pytest.mark.parametrize(("count", "opened"), [(30, True), (31, False)])
def test_the_graph_is_folded_above_thirty_resources(count, opened):
    drawn = render_picture([replace(IN_SYNC, key=key("A", f"b{number}")) for number in range(count)])
    assert ('<details class="fold" open>' in drawn) is opened


def test_the_legend_names_each_line_and_each_look():
    drawn = render_picture([IN_SYNC, result(key("A", "b"), Verdict.DRIFTED)])
    legend = drawn[drawn.index('class="legend"') : drawn.index('class="scroller"')]
    assert all(word in legend for word in ("owner", "refers to", "drifted", "in-sync"))
    assert "pending" not in legend


def test_a_large_run_is_drawn_by_resource_groups():
    drawn = render_picture(landing_zone(groups=30, every=17).results)
    assert drawn.count('class="box ') == 31
    assert len(lines(drawn, "needs")) == 30, "each needs the hub"
    assert f"{A_GROUP} in-sync" in drawn
    assert render_picture(landing_zone(groups=20, every=17).results).count('class="box ') == 2 + 20 * A_GROUP


def test_the_most_urgent_groups_are_drawn_where_there_are_very_many():
    quiet = [
        replace(IN_SYNC, key=key("A", f"b{n}"), arm_id=ArmId(f"/subscriptions/s/resourceGroups/g{n}"))
        for n in range(400)
    ]
    bad = result(key("A", "z"), Verdict.DRIFTED, arm_id="/subscriptions/s/resourceGroups/zz")
    drawn = render_picture([*quiet, bad])
    assert drawn.count('class="box ') == 300
    assert ">zz<" in drawn
    assert "… and 101 more resource groups, not drawn" in drawn


GROUPS = [
    ({"arm_id": ArmId("/subscriptions/S/resourceGroups/Core/providers/P/t/n")}, GroupName("s", "core"), "by the id"),
    (
        {"arm_id": ArmId("/subscriptions/S/resourcegroups/CORE")},
        GroupName("s", "core"),
        "of the group itself, in any letter case",
    ),
    ({"arm_id": None, "owner": GROUP}, GroupName("0000", "core"), "by the owner where there is no id"),
    ({"arm_id": ArmId("/subscriptions/S")}, NO_GROUP, "of a subscription"),
    ({"arm_id": None, "owner": NETWORK}, NO_GROUP, "of what is its own owner"),
]


@pytest.mark.parametrize(("more", "location", "why"), GROUPS, ids=[g[-1] for g in GROUPS])
def test_the_resource_group_is_known(more, location, why):
    group = replace(IN_SYNC, arm_id=ArmId("/subscriptions/0000/resourceGroups/core"))
    assert group_results([group, result(NETWORK, **more)])[NETWORK] == location, why
