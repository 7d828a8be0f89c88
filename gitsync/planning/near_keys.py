"""When two keys are so similar that one may be a typo of the other.

Separate from the rules that hold a delete (prune_holds), since this compares words only. Names are indexed by their
variants, so that thousands of new manifests are not compared with everything that was removed from git.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared
from gitsync.problems.suggest import measure_distance

FURTHEST_KIND = 2  # letters
FURTHEST_NAME = 1


def describe_typo(new: Key, gone: Key) -> str:
    """Return how a new key differs from one that was removed from git; "" if they are not alike.

    Namespace and group are not compared: a slip in the line before can take either from a manifest.
    """
    if new.kind == gone.kind and new.name == gone.name:
        return "differs only in its namespace or group"
    if new.kind == gone.kind and measure_distance(new.name, gone.name, FURTHEST_NAME) is not None:
        return "its name differs by one letter"
    alike = (
        new.name == gone.name and measure_distance(new.kind.casefold(), gone.kind.casefold(), FURTHEST_KIND) is not None
    )
    return "its kind differs by one or two letters" if alike else ""


def index_by_variant(manifests: Iterable[Prepared]) -> dict[str, tuple[Prepared, ...]]:
    """Index manifests by the variants of their names."""
    found: dict[str, list[Prepared]] = defaultdict(list)
    for one in manifests:
        for variant in _variants(one.key.name):
            found[variant].append(one)
    return {variant: tuple(same) for variant, same in found.items()}


def find_near(name: str, indexed: Mapping[str, tuple[Prepared, ...]]) -> list[Prepared]:
    """Return the manifests whose names may be within one letter of this one, in the order of the files."""
    found = {(one.resource.source, one.key): one for text in _variants(name) for one in indexed.get(text, ())}
    return [found[place] for place in sorted(found)]


def _variants(name: str) -> frozenset[str]:
    """A name, and the name without each of its letters: names within one letter of each other have one in common."""
    return frozenset({name, *(name[:at] + name[at + 1 :] for at in range(len(name)))})
