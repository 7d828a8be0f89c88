"""Units that stand for the same resources: left out of a run, and one by one for offline commands.

The files are read again without the others, so that a ConfigMap of dev is not used for prod.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from gitsync.catalog.catalog import Catalog
from gitsync.manifests.units import find_unit_name, is_built, is_built_unit, remove_repeats
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.resource import Prepared
from gitsync.model.unit import Unit
from gitsync.request.build import prepare
from gitsync.request.credential_choice import choose_offline
from gitsync.request.environments import find_environments

PLACEHOLDER_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
"""Stands for the subscription of the run, which does not matter here."""

Read = Callable[[Collection[str]], Manifests]
"""Reads the manifests of a source without those of some units, by their names."""

Prepare = Callable[[Manifests], tuple[Prepared, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentSet:
    """Manifests without a conflict between units, and what they are prepared to."""

    manifests: Manifests
    prepared: tuple[Prepared, ...]


def drop_units(files: Mapping[str, bytes], units: Mapping[str, Unit], names: Collection[str]) -> dict[str, bytes]:
    """The files without those of some built units."""
    return {
        path: content
        for path, content in files.items()
        if path not in units or units[path].name not in names or not is_built_unit(units[path])
    }


def read_unambiguous(read: Read, catalog: Catalog) -> Manifests:
    """Everything but the units that stand for the same resources as others, each of which is a problem."""
    manifests = read(())
    if len({find_unit_name(one) for one in manifests.resources if is_built(one)}) < 2:
        return manifests
    subscription = choose_offline(manifests.secrets, PLACEHOLDER_SUBSCRIPTION)
    prepared = prepare(
        replace(manifests, resources=remove_repeats(manifests.resources)), catalog=catalog, subscription=subscription
    )
    found = find_environments(prepared, manifests.resources)
    if not found.refused:
        return manifests
    rest = read(found.refused)
    return replace(rest, problems=tuple(sorted((*rest.problems, *found.problems), key=lambda problem: problem.order)))


def prepare_separately(read: Read, prepare_all: Prepare) -> tuple[EnvironmentSet, ...]:
    """Everything, in sets of units that do not conflict: each root is valid by itself."""
    manifests = read(())
    prepared = prepare_all(manifests)
    found = find_environments(prepared, manifests.resources)
    if not found.groups:
        return (EnvironmentSet(manifests=manifests, prepared=prepared),)
    rivals = frozenset[str]().union(*found.groups)
    parts = (read(rivals - group) for group in found.groups)
    return tuple(EnvironmentSet(manifests=part, prepared=prepare_all(part)) for part in parts)


def join_sets(sets: Iterable[EnvironmentSet]) -> EnvironmentSet:
    """One set for a report on all of them: every resource, problem and document once. The first set has the values."""
    sets = tuple(sets)
    if len(sets) == 1:
        return sets[0]
    prepared = tuple(_iterate_once(sets))
    problems = {problem for one in sets for problem in one.manifests.problems}
    unread = {document for one in sets for document in one.manifests.unread}
    manifests = replace(
        sets[0].manifests,
        resources=tuple(one.resource for one in prepared),
        problems=tuple(sorted(problems, key=lambda problem: problem.order)),
        unread=tuple(sorted(unread, key=lambda document: document.source)),
    )
    return EnvironmentSet(manifests=manifests, prepared=prepared)


def _iterate_once(sets: Iterable[EnvironmentSet]) -> Iterator[Prepared]:
    """Every resource as it is in the first set that has it."""
    known: set[tuple[Key, str]] = set()
    for one in sets:
        new = [each for each in one.prepared if (each.key, find_unit_name(each.resource)) not in known]
        known |= {(each.key, find_unit_name(each.resource)) for each in new}
        yield from new
