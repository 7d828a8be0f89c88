"""The resources that a run covers: all, those of some namespaces, or those that --only names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final

from gitsync.config.config import Config
from gitsync.manifests.key_names import find_keys, make_ambiguous_error, make_unknown_error
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.policy import Policy
from gitsync.model.resource import Prepared


@dataclass(frozen=True, slots=True)
class Selection:
    """Names of resources and namespaces; empty means all.

    A name is `Kind.group/namespace/name`, `Kind/name`, or a pattern of either with * and ?. Other names are spelled out
    first (`spell_out`).
    """

    only: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()

    def has(self, key: Key) -> bool:
        """Tell whether the run covers a resource."""
        if self.namespaces and key.namespace not in self.namespaces:
            return False
        if not self.only:
            return True
        spellings = (str(key), f"{key.kind}/{key.name}")
        return any(fnmatchcase(text, pattern) for pattern in self.only for text in spellings)


def make_selection(config: Config) -> Selection:
    """The selection of the settings."""
    return Selection(only=config.only, namespaces=config.target_namespaces)


EVERYTHING: Final = Selection()

_WILDCARDS: Final = frozenset("*?[")


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


def spell_out(selection: Selection, keys: Iterable[Key]) -> Selection:
    """Return the selection with the names of --only in full.

    Raises ConfigError for a name that no resource has, or that is short for several.
    """
    selected = [key for key in keys if not selection.namespaces or key.namespace in selection.namespaces]
    return replace(selection, only=tuple(_spell_name(name, selected) for name in selection.only))


def spell_selection(config: Config, keys: Iterable[Key]) -> Config:
    """Return the settings with the names of --only in full. Raises ConfigError as `spell_out` does."""
    return replace(config, only=spell_out(make_selection(config), keys).only)


def _spell_name(name: str, keys: Sequence[Key]) -> str:
    if any(map(Selection(only=(name,)).has, keys)):
        return name  # a name in full, in any number of namespaces, or a pattern
    found = () if _WILDCARDS.intersection(name) else find_keys(name, keys)
    if not found:
        raise make_unknown_error(name, keys, hint="--only takes Kind/name, or a pattern with * and ?.")
    if len(found) > 1:
        raise make_ambiguous_error(name, found)
    return str(found[0])
