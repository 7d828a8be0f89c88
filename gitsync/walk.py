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


async def walk(
    nodes: Mapping[Key, Node],
    run: RunNode,
    held_back: Callable[[Node], Result],
    stop: asyncio.Event,
    known: Mapping[Key, Result] | None = None,
) -> dict[Key, Result]:
    """Return one result a node, in the order of their ends.

    Every key of `depends_on` must be a node or have a `known` result, and there are no circles. Once `stop` is set, no
    further node begins: those that had no turn get `held_back`, and those under way are waited for.
    """
    results = dict(known or {})
    order = TopologicalSorter({key: [k for k in node.depends_on if k in nodes] for key, node in nodes.items()})
    order.prepare()
    running: dict[asyncio.Task[Result], Key] = {}
    while order.is_active():
        for key in sorted(order.get_ready()):
            before = {other: results[other] for other in nodes[key].depends_on if other in results}
            turn = _now(held_back(nodes[key])) if stop.is_set() else run(nodes[key], before)
            running[asyncio.ensure_future(turn)] = key
        done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for task in sorted(done, key=lambda task: running[task]):
            key = running.pop(task)
            results[key] = task.result()
            order.done(key)
    return {key: results[key] for key in results if key in nodes}


async def _now(result: Result) -> Result:
    return result
