"""Order and concurrency: run each node as soon as everything that it depends on has a result.

What is limited is requests, not nodes: a node that waits for Azure holds nothing that another needs.
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
    held_back: Callable[[Node], Result],
    stop: asyncio.Event,
    known: Mapping[Key, Result] | None = None,
) -> dict[Key, Result]:
    """Return one result a node, in the order of their ends.

    Every key of `depends_on` must be a node or have a `known` result, and there are no circles. Once `stop` is set, no
    further node begins: those that had no attempt get `held_back`, and those under way are waited for.
    """
    results = dict(known or {})
    order = TopologicalSorter({key: [k for k in node.depends_on if k in nodes] for key, node in nodes.items()})
    order.prepare()
    running: dict[asyncio.Task[Result], Key] = {}
    ended: asyncio.Queue[asyncio.Task[Result]] = asyncio.Queue()
    while order.is_active():
        for key in sorted(order.get_ready()):
            before = {other: results[other] for other in nodes[key].depends_on if other in results}
            attempt = _now(held_back(nodes[key])) if stop.is_set() else run(nodes[key], before)
            task = asyncio.ensure_future(attempt)
            task.add_done_callback(ended.put_nowait)
            running[task] = key
        for task in sorted(await _all_of(ended), key=lambda task: running[task]):
            key = running.pop(task)
            results[key] = task.result()
            order.done(key)
    return {key: results[key] for key in results if key in nodes}


async def _all_of(ended: asyncio.Queue[asyncio.Task[Result]]) -> list[asyncio.Task[Result]]:
    """The tasks that ended, at least one. asyncio.wait would look at all that run, each time that one ends."""
    found = [await ended.get()]
    while not ended.empty():
        found.append(ended.get_nowait())
    return found


async def _now(result: Result) -> Result:
    return result
