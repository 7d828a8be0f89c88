"""The resources that a run covers: all, those of some namespaces, or those that --only names."""

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
        """Tell whether the run covers a resource."""
        if self.namespaces and key.namespace not in self.namespaces:
            return False
        spellings = (str(key), f"{key.kind}/{key.name}")
        return not self.only or any(fnmatchcase(text, pattern) for pattern in self.only for text in spellings)


EVERYTHING: Final = Selection()


def select_namespaces(manifests: Manifests, namespaces: Collection[str]) -> Manifests:
    """Return the manifests with the resources of other namespaces in `elsewhere`. No namespaces means all.

    This comes before validation: references stay in a namespace, and each may be in another subscription.
    """
    if not namespaces:
        return manifests
    selected = tuple(one for one in manifests.resources if one.key.namespace in namespaces)
    others = tuple(one for one in manifests.resources if one.key.namespace not in namespaces)
    return replace(manifests, resources=selected, elsewhere=others)


def select_prepared(prepared: Sequence[Prepared], selection: Selection) -> tuple[Prepared, ...]:
    """Return the selected resources, and their dependencies as watched ones.

    A watched resource has policy skip and waits for nothing. Its exports are read for the others, and not written.
    """
    selected = [one for one in prepared if selection.has(one.key)]
    needed_keys = {key for one in selected for key in one.depends_on}
    watched = (one for one in prepared if one.key in needed_keys and not selection.has(one.key))
    return (*selected, *(replace(one, policy=Policy.SKIP, depends_on=(), is_watched=True) for one in watched))


def find_unmatched(keys: Iterable[Key], selection: Selection) -> tuple[str, ...]:
    """Return the names of --only that no resource has."""
    all_keys = list(keys)
    return tuple(name for name in selection.only if not any(Selection(only=(name,)).has(key) for key in all_keys))
