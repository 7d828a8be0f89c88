from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from gitsync.agent.run.walk import run_in_order
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply
from tests.support.builders import prepared, result, rg, subnet, vnet


def nodes(**depends_on):
    return {
        Key("g", "K", "n", name): Apply(
            prepared=prepared(Key("g", "K", "n", name), ""),
            depends_on=tuple(Key("g", "K", "n", other) for other in others),
        )
        for name, others in depends_on.items()
    }


async def walked(graph, run=None, *, stopped=False, known=None):
    stop = asyncio.Event()
    if stopped:
        stop.set()
    return await run_in_order(graph, run or remember([]), lambda node: result(node.key, is_fine=False), stop, known)


def remember(order, stop=None):
    async def run(node, before):
        order.append(("begin", node.key.name, sorted(key.name for key in before)))
        await asyncio.sleep(0)
        order.append(("end", node.key.name, None))
        return result(node.key)

    return run


async def test_owners_come_first_and_their_results_are_handed_on():
    order = []
    await walked(nodes(child=["owner"], owner=[]), remember(order))
    assert order == [
        ("begin", "owner", []),
        ("end", "owner", None),
        ("begin", "child", ["owner"]),
        ("end", "child", None),
    ]


async def test_what_depends_on_nothing_unfinished_runs_side_by_side():
    order = []
    await walked(nodes(a=[], b=[], c=["a"]), remember(order))
    assert [step[:2] for step in order[:2]] == [("begin", "a"), ("begin", "b")]


async def test_nothing_begins_once_the_run_is_told_to_stop():
    order = []
    results = await walked(nodes(a=[], b=["a"]), remember(order), stopped=True)
    assert order == []
    assert [shown.is_fine for shown in results.values()] == [False, False]


async def test_what_is_under_way_at_a_stop_is_waited_for():
    ended = []
    stop = asyncio.Event()

    async def run(node, before):
        stop.set()
        await asyncio.sleep(0)
        ended.append(node.key.name)
        return result(node.key)

    results = await run_in_order(nodes(a=[], b=["a"]), run, lambda node: result(node.key, is_fine=False), stop)
    assert ended == ["a"]
    assert [shown.is_fine for shown in results.values()] == [True, False]


async def test_results_from_elsewhere_count():
    graph = {vnet(): Apply(prepared=prepared(vnet(), ""), depends_on=(rg(),))}
    order = []
    results = await walked(graph, remember(order), known={rg(): result(rg()), subnet(): result(subnet())})
    assert order[0] == ("begin", "hub", ["core"])
    assert list(results) == [vnet()]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
async def test_every_owner_ends_before_its_dependents_begin(edges):
    graph = {str(n): [] for n in range(8)}
    for low, high in edges:
        if low < high:
            graph[str(high)].append(str(low))
    order = []
    await walked(nodes(**graph), remember(order))
    location = {(what, name): index for index, (what, name, _) in enumerate(order)}
    assert all(location["end", other] < location["begin", name] for name, others in graph.items() for other in others)
    assert len(location) == 16
