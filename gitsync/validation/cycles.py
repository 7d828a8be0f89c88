"""Which manifests depend on each other: a cycle of owners, references and values.

No member of a cycle can be first. Separate from the order of a run, which requires a graph without cycles.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from gitsync.catalog.type_words import format_short_key
from gitsync.model.gvk import Key
from gitsync.problems.finding import Finding
from gitsync.validation.member import Member

Adjacency = Mapping[Key, Sequence[Key]]

_MOST_TOLD = 10


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
            message = f"Dependency cycle: {_told(ring)}."
            yield member, Finding(code="Cycle", path=path, message=message, hint="Remove one of these references.")


def _told(ring: Sequence[Key]) -> str:
    names = [format_short_key(key) for key in ring[:_MOST_TOLD]]
    if len(ring) > _MOST_TOLD:
        names.append(f"… ({len(ring)} in all)")
    return " → ".join([*names, format_short_key(ring[0])])


def find_cycles(edges: Adjacency) -> Mapping[Key, tuple[Key, ...]]:
    """A cycle through each key that is in one, rotated so that its smallest key comes first: the shortest through
    the first of its keys for which none was known.
    """
    found: dict[Key, tuple[Key, ...]] = {}
    for key in _may_be_in_cycles(edges):
        ring = () if key in found else _shortest(key, edges)
        if ring:
            least = ring.index(min(ring))
            turned = ring[least:] + ring[:least]
            found.update({each: turned for each in ring if each not in found})
    return found


def _may_be_in_cycles(edges: Adjacency) -> list[Key]:
    """What is left when all that waits for nothing, and all that nothing waits for, is taken away again and again."""
    left = _peel(edges)
    reverse: dict[Key, list[Key]] = {key: [] for key in left}
    for key in left:
        for target in edges[key]:
            if target in left:
                reverse[target].append(key)
    return sorted(_peel(reverse))


def _peel(edges: Adjacency) -> set[Key]:
    left = set(edges)
    waiting = {key: sum(target in left for target in edges[key]) for key in left}
    waited_for: dict[Key, list[Key]] = {}
    for key in left:
        for target in edges[key]:
            waited_for.setdefault(target, []).append(key)
    free = deque(key for key, count in waiting.items() if count == 0)
    while free:
        done = free.popleft()
        left.discard(done)
        for key in waited_for.get(done, ()):
            waiting[key] -= 1
            if waiting[key] == 0:
                free.append(key)
    return left


def _shortest(start: Key, edges: Adjacency) -> tuple[Key, ...]:
    """The keys of the shortest way from `start` back to itself; () where there is none. Ties go to smaller keys."""
    came_from: dict[Key, Key] = {}
    ahead = deque([start])
    while ahead:
        key = ahead.popleft()
        for target in edges.get(key, ()):
            if target == start:
                return _way(start, key, came_from)
            if target not in came_from:
                came_from[target] = key
                ahead.append(target)
    return ()


def _way(start: Key, last: Key, came_from: Mapping[Key, Key]) -> tuple[Key, ...]:
    way = [last]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return tuple(reversed(way))
