"""Order and concurrency: run each node as soon as everything that it depends on has a result.

Requests are limited, nodes are not: a node that waits for Azure holds nothing that another needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from graphlib import TopologicalSorter

from gitsync.model.gvk import Key
from gitsync.model.plan import Node
from gitsync.model.result import Result

RunNode = Callable[[Node, Mapping[Key, Result]], Awaitable[Result]]


async def run_in_order(
    nodes: Mapping[Key, Node],
    run: RunNode,
    build_unattempted: Callable[[Node], Result],
    stop: asyncio.Event,
    known: Mapping[Key, Result] | None = None,
) -> dict[Key, Result]:
    """Return one result a node, in the order of their ends.

    Every key of `depends_on` must be a node or have a `known` result, without cycles. Once `stop` is set, no further
    node begins: `build_unattempted` makes the results of the rest, and nodes under way are waited for.
    """
    results = dict(known or {})
    sorter = TopologicalSorter({key: [k for k in node.depends_on if k in nodes] for key, node in nodes.items()})
    sorter.prepare()
    running: dict[asyncio.Task[Result], Key] = {}
    ended: asyncio.Queue[asyncio.Task[Result]] = asyncio.Queue()
    while sorter.is_active():
        for key in sorted(sorter.get_ready()):
            before = {other: results[other] for other in nodes[key].depends_on if other in results}
            awaitable = _return_result(build_unattempted(nodes[key])) if stop.is_set() else run(nodes[key], before)
            task = asyncio.ensure_future(awaitable)
            task.add_done_callback(ended.put_nowait)
            running[task] = key
        for task in sorted(await _wait_for_ended(ended), key=lambda task: running[task]):
            key = running.pop(task)
            results[key] = task.result()
            sorter.done(key)
    return {key: results[key] for key in results if key in nodes}


async def _wait_for_ended(ended: asyncio.Queue[asyncio.Task[Result]]) -> list[asyncio.Task[Result]]:
    """Return the tasks that ended, at least one. asyncio.wait would check all running tasks each time."""
    tasks = [await ended.get()]
    while not ended.empty():
        tasks.append(ended.get_nowait())
    return tasks


async def _return_result(result: Result) -> Result:
    return result
