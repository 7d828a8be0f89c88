"""Which resources a run is about: all, those of some namespaces, or those that --only names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final

from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.policy import Policy
from gitsync.model.resource import Prepared


@dataclass(frozen=True, slots=True)
class Selection:
    """Names of resources and namespaces; empty means all.

    A name is `Kind.group/namespace/name`, `Kind/name`, or a pattern of either with * and ?.
    """

    only: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()

    def has(self, key: Key) -> bool:
        """Tell whether the run is about a resource."""
        if self.namespaces and key.namespace not in self.namespaces:
            return False
        spellings = (str(key), f"{key.kind}/{key.name}")
        return not self.only or any(fnmatchcase(text, pattern) for pattern in self.only for text in spellings)


EVERYTHING: Final = Selection()


def select_namespaces(manifests: Manifests, namespaces: Collection[str]) -> Manifests:
    """Return the manifests with the resources of other namespaces set apart; none named means all.

    Set apart before anything is judged: nothing refers across namespaces, and each may be another subscription's.
    """
    if not namespaces:
        return manifests
    kept = tuple(one for one in manifests.resources if one.key.namespace in namespaces)
    rest = tuple(one for one in manifests.resources if one.key.namespace not in namespaces)
    return replace(manifests, resources=kept, elsewhere=rest)


def select_prepared(prepared: Sequence[Prepared], choice: Selection) -> tuple[Prepared, ...]:
    """Return what the run is about, and what that depends on: the latter to be looked at alone.

    What is only looked at has policy skip and waits for nothing; what it exports feeds the others, and is not written.
    """
    wanted = [one for one in prepared if choice.has(one.key)]
    needed = {key for one in wanted for key in one.depends_on}
    watched = (one for one in prepared if one.key in needed and not choice.has(one.key))
    return (*wanted, *(replace(one, policy=Policy.SKIP, depends_on=(), is_watched=True) for one in watched))


def find_unmatched(keys: Iterable[Key], choice: Selection) -> tuple[str, ...]:
    """Return the names of --only that no resource has."""
    known = list(keys)
    return tuple(name for name in choice.only if not any(Selection(only=(name,)).has(key) for key in known))
