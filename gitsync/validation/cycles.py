"""Cycles of owners, references and values between manifests.

No member of a cycle can be applied first. Separate from the order of a run, which requires a graph without cycles.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from gitsync.catalog.type_words import format_short_key
from gitsync.model.gvk import Key
from gitsync.problems.finding import Finding
from gitsync.validation.member import Member

Adjacency = Mapping[Key, Sequence[Key]]

_MOST_SHOWN = 10


def check_cycles(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """A finding for every member of a cycle; it shows one cycle, in order, from its first key."""
    edges: dict[Key, set[Key]] = {}
    for member in members:
        edges.setdefault(member.key, set()).update(member.depends_on)
    rings = find_cycles({key: sorted(targets) for key, targets in edges.items()})
    for member in members:
        ring = rings.get(member.key)
        if ring is not None:
            owner = member.owner.key if member.owner else None
            path = ("spec", "owner") if owner and rings.get(owner) is ring else ("spec",)
            message = f"Dependency cycle: {_format_ring(ring)}."
            yield member, Finding(code="Cycle", path=path, message=message, hint="Remove one of these references.")


def _format_ring(ring: Sequence[Key]) -> str:
    names = [format_short_key(key) for key in ring[:_MOST_SHOWN]]
    if len(ring) > _MOST_SHOWN:
        names.append(f"… ({len(ring)} in all)")
    return " → ".join([*names, format_short_key(ring[0])])


def find_cycles(edges: Adjacency) -> Mapping[Key, tuple[Key, ...]]:
    """Map each key in a cycle to one, rotated so that its smallest key comes first.

    It is the shortest cycle through the first of its keys that is in no earlier one.
    """
    cycles: dict[Key, tuple[Key, ...]] = {}
    for key in _find_candidates(edges):
        ring = () if key in cycles else _find_shortest(key, edges)
        if ring:
            start = ring.index(min(ring))
            rotated = ring[start:] + ring[:start]
            cycles.update({member: rotated for member in ring if member not in cycles})
    return cycles


def _find_candidates(edges: Adjacency) -> list[Key]:
    """Remove keys without dependencies, and keys without dependents, until only keys that may be in cycles remain."""
    remaining = _peel(edges)
    reverse: dict[Key, list[Key]] = {key: [] for key in remaining}
    for key in remaining:
        for target in edges[key]:
            if target in remaining:
                reverse[target].append(key)
    return sorted(_peel(reverse))


def _peel(edges: Adjacency) -> set[Key]:
    remaining = set(edges)
    waiting = {key: sum(target in remaining for target in edges[key]) for key in remaining}
    dependents: dict[Key, list[Key]] = {}
    for key in remaining:
        for target in edges[key]:
            dependents.setdefault(target, []).append(key)
    ready = deque(key for key, count in waiting.items() if count == 0)
    while ready:
        done = ready.popleft()
        remaining.discard(done)
        for key in dependents.get(done, ()):
            waiting[key] -= 1
            if waiting[key] == 0:
                ready.append(key)
    return remaining


def _find_shortest(start: Key, edges: Adjacency) -> tuple[Key, ...]:
    """The keys of the shortest cycle through `start`; () if there is none. Ties go to smaller keys."""
    came_from: dict[Key, Key] = {}
    queue = deque([start])
    while queue:
        key = queue.popleft()
        for target in edges.get(key, ()):
            if target == start:
                return _trace_back(start, key, came_from)
            if target not in came_from:
                came_from[target] = key
                queue.append(target)
    return ()


def _trace_back(start: Key, last: Key, came_from: Mapping[Key, Key]) -> tuple[Key, ...]:
    keys = [last]
    while keys[-1] != start:
        keys.append(came_from[keys[-1]])
    return tuple(reversed(keys))
