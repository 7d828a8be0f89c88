"""When two keys are so similar that one may be a typo of the other.

Separate from `prune_holds`, the rules that hold a delete: this compares words only. Names are indexed by their
variants, so that not every new manifest is compared with every removed one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared
from gitsync.problems.suggest import measure_distance

MOST_LETTERS_OF_KIND = 2  # letters
MOST_LETTERS_OF_NAME = 1


def describe_typo(new: Key, removed: Key) -> str:
    """Return how a new key differs from one that was removed from git; "" if they are not alike.

    Namespace and group are not compared: a mistake in another line can change either.
    """
    if new.kind == removed.kind and new.name == removed.name:
        return "differs only in its namespace or group"
    if new.kind == removed.kind and measure_distance(new.name, removed.name, MOST_LETTERS_OF_NAME) is not None:
        return "its name differs by one letter"
    is_near_kind = (
        new.name == removed.name
        and measure_distance(new.kind.casefold(), removed.kind.casefold(), MOST_LETTERS_OF_KIND) is not None
    )
    return "its kind differs by one or two letters" if is_near_kind else ""


def index_by_variant(manifests: Iterable[Prepared]) -> dict[str, tuple[Prepared, ...]]:
    """Index manifests by the variants of their names."""
    by_variant: dict[str, list[Prepared]] = defaultdict(list)
    for manifest in manifests:
        for variant in _make_variants(manifest.key.name):
            by_variant[variant].append(manifest)
    return {variant: tuple(same) for variant, same in by_variant.items()}


def find_near(name: str, manifests_by_variant: Mapping[str, tuple[Prepared, ...]]) -> list[Prepared]:
    """Return the manifests whose names may be within one letter of this one, in the order of the files."""
    near = {
        (one.resource.source, one.key): one
        for text in _make_variants(name)
        for one in manifests_by_variant.get(text, ())
    }
    return [near[source_and_key] for source_and_key in sorted(near)]


def _make_variants(name: str) -> frozenset[str]:
    """A name, and the name without each of its letters: names within one letter of each other have one in common."""
    return frozenset({name, *(name[:at] + name[at + 1 :] for at in range(len(name)))})
