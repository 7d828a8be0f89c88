"""The order of results for people: by resource group, and an owner before what it owns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from gitsync.model.gvk import Key
from gitsync.model.result import Result

_GROUP = "resourcegroups"


def order_results(results: Iterable[Result]) -> list[Result]:
    """Results as a tree that is read from top to bottom. Those without a resource group come first, those whose id is
    unknown last; siblings are sorted by namespace and key.
    """
    by_key = {result.key: result for result in sorted(results, key=lambda result: (result.key.namespace, result.key))}
    owned: Mapping[Key | None, list[Result]] = defaultdict(list)
    for result in by_key.values():
        owned[result.owner if result.owner in by_key else None].append(result)
    roots = sorted(owned[None], key=_find_group)
    ordered = list(chain.from_iterable(_walk(root, owned) for root in roots))
    seen = {result.key for result in ordered}
    return [*ordered, *(result for result in by_key.values() if result.key not in seen)]  # owners in a circle


def _walk(root: Result, owned: Mapping[Key | None, Sequence[Result]]) -> Iterator[Result]:
    """A result and everything below it. There may be many levels, so it does not recur."""
    ahead = [root]
    while ahead:
        result = ahead.pop()
        yield result
        ahead.extend(reversed(owned.get(result.key, ())))


def _find_group(result: Result) -> tuple[bool, str]:
    """The resource group of an ARM id, "" if it has none."""
    words = (result.arm_id or "").casefold().split("/")
    name = words[words.index(_GROUP) + 1 : words.index(_GROUP) + 2] if _GROUP in words else []
    return (not result.arm_id, "".join(name))
