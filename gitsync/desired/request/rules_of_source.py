"""Applies the rules of gitsync.yaml and of Namespaces to the manifests of a source, and reports their faults.

A fault of gitsync.yaml is one of the source: a sync is refused, since it would write what the rule protects. A fault of
a Namespace makes the resources in it invalid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.tag_fields import DEFAULT_TAGS
from gitsync.desired.catalog.type_words import join_with_or
from gitsync.desired.problems.finding import Finding, locate_finding
from gitsync.desired.problems.suggest import suggest
from gitsync.desired.request.default_tags import DefaultTags, add_default_tags, read_default_tags, warn_of_tags
from gitsync.desired.validation.annotations import IGNORE, OUR_PREFIX
from gitsync.desired.validation.field_rules import (
    FieldRules,
    FindPaths,
    Reached,
    check_fields,
    list_reached,
    make_path_finder,
    read_ignore_rules,
    warn_of_rules,
)
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Resource
from gitsync.model.written_rules import RuleEntries

_OF_NAMESPACES: Final = (IGNORE, DEFAULT_TAGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledEstate:
    """What rules make of the manifests of a source."""

    resources: tuple[Resource, ...]  # with default tags
    find_ignored: FindPaths
    faults: Mapping[str, tuple[Problem, ...]]  # of Namespaces, by name


def apply_rules(manifests: Manifests, catalog: Catalog, today: date | None) -> RuledEstate:
    """Apply the rules that have no faults. `today` decides which have expired; without it, none has."""
    if not manifests.rules:  # as most sources
        return RuledEstate(resources=manifests.resources, find_ignored=make_path_finder((), today), faults={})
    rules, tags = read_ignore_rules(manifests.rules, catalog), read_default_tags(manifests.rules)
    faults: dict[str, tuple[Problem, ...]] = {}
    for namespace, problem in _list_faults(rules, tags, list_reached(manifests.resources, catalog), catalog):
        faults[namespace] = (*faults.get(namespace, ()), problem)
    return RuledEstate(
        resources=add_default_tags(manifests.resources, tags, catalog),
        find_ignored=make_path_finder(rules.rules, today),
        faults=faults,
    )


def check_rules(manifests: Manifests, catalog: Catalog, today: date | None, *, is_complete: bool) -> Iterator[Problem]:
    """Yield the faults of the rules of gitsync.yaml, and warnings about all rules. `manifests` are prepared, and
    `is_complete` if they are all of the source: only then it is known that a rule is about no resource.
    """
    if not manifests.rules:
        return
    entries = manifests.rules.select({resource.key.namespace for resource in manifests.resources})
    rules, tags = read_ignore_rules(entries, catalog), read_default_tags(entries)
    reached = list_reached(manifests.resources, catalog)
    faults = _list_faults(rules, tags, reached, catalog)
    yield from (problem for namespace, problem in faults if not namespace)
    yield from _warn_of_annotations(entries)
    yield from warn_of_rules(rules.rules, reached, today, is_complete=is_complete)
    if is_complete:
        yield from warn_of_tags(tags, manifests.resources, catalog)


def _warn_of_annotations(entries: RuleEntries) -> Iterator[Problem]:
    """Warn of gitsync's annotations that have no effect on a Namespace."""
    for namespace in entries.namespaces.values():
        for key in namespace.annotations:
            if key.startswith(OUR_PREFIX) and key not in _OF_NAMESPACES:
                close = suggest(key, _OF_NAMESPACES)
                finding = Finding(
                    code="UnknownAnnotation",
                    path=("metadata", "annotations", key),
                    message=f"{key} has no effect on a Namespace.",
                    hint=f"Did you mean {close}?" if close else f"Use {join_with_or(_OF_NAMESPACES)}, or remove it.",
                    level=Level.WARNING,
                )
                yield locate_finding(finding, namespace)


def _list_faults(
    rules: FieldRules, tags: DefaultTags, reached: Iterable[Reached], catalog: Catalog
) -> Iterator[tuple[str, Problem]]:
    yield from rules.problems
    yield from tags.problems
    yield from check_fields(rules.rules, reached, catalog)
