"""Rules for many resources: `ignore` of gitsync.yaml, and the annotation `gitsync/ignore` of a Namespace.

A rule is about the resources of some kinds and namespaces. It applies to those whose kind has the field, so that one
rule can be about several versions of a kind. A field that none of them has is a fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import chain
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.arm_fields import Misfit
from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.kind_names import find_kind
from gitsync.desired.formats.ignored_paths import Paths
from gitsync.desired.formats.list_pairing import TAGS
from gitsync.desired.formats.name_patterns import matches_name
from gitsync.desired.problems.suggest import suggest
from gitsync.desired.validation.annotation_text import locate_in_annotation
from gitsync.desired.validation.annotations import IGNORE
from gitsync.desired.validation.ignore_annotation import describe_expired, read_list
from gitsync.desired.validation.ignore_entries import (
    MOST_ENTRIES,
    OF_NAMESPACE,
    OF_SOURCE,
    IgnoreEntry,
    read_entry,
)
from gitsync.desired.validation.ignored_field import Fault, IgnoredPath, check_existence, end_at_last_name
from gitsync.errors import ConfigError
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK
from gitsync.model.problem import RULE_INVALID, Level, Problem, SourceLocation
from gitsync.model.resource import Resource
from gitsync.model.written_rules import RuleEntries

RULE_UNUSED: Final = "RuleUnused"
NAMESPACE_RULE: Final = "NamespaceRule"


class RuleOrigin(NamedTuple):
    """Where a rule is."""

    source: SourceLocation
    namespace: str = ""  # the Namespace that has it as an annotation, "" for gitsync.yaml
    key: str = "ignore"  # or the annotation

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"{self.key} of the Namespace {self.namespace}" if self.namespace else self.key

    def make_error(self, fault: Fault) -> Problem:
        code = NAMESPACE_RULE if self.namespace else RULE_INVALID
        return self._make_problem(code, fault, Level.ERROR)

    def make_warning(self, code: str, fault: Fault) -> Problem:
        return self._make_problem(code, fault, Level.WARNING)

    def _make_problem(self, code: str, fault: Fault, level: Level) -> Problem:
        message = f"{self.title}: {fault.message}"
        path, line = self.source.path, self.source.line
        return Problem(code=code, message=message, hint=fault.hint, level=level, path=path, line=line)


class KindName(NamedTuple):
    """What the name of a kind in a rule means: a kind, or an ARM type in lower case."""

    group: str = ""
    kind: str = ""
    arm_type: str = ""

    def fits(self, gvk: GVK, kind: Kind) -> bool:
        if self.arm_type:
            return kind.arm_type.casefold() == self.arm_type
        return (self.group, self.kind) == (gvk.group, gvk.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoreRule:
    """One rule without faults of its own."""

    entry: IgnoreEntry
    kinds: tuple[KindName, ...]  # empty for all
    origin: RuleOrigin

    def reaches(self, namespace: str, gvk: GVK, kind: Kind) -> bool:
        """Return whether the rule is about a resource of a kind in a namespace."""
        if self.origin.namespace not in ("", namespace):
            return False
        if self.kinds and not any(name.fits(gvk, kind) for name in self.kinds):
            return False
        names = self.entry.namespaces
        return not names or any(matches_name(name, namespace) for name in names)

    def list_paths(self, kind: Kind) -> Iterator[IgnoredPath]:
        """List the paths that it ignores in resources of a kind, whether the kind has them or not."""
        yield from self.entry.paths
        for name in self.entry.tags:
            if kind.is_any_type:
                yield IgnoredPath(f"tags {name}", self.entry.until, pointer=end_at_last_name([TAGS, name]))
            else:
                yield IgnoredPath(f"tags {name}", self.entry.until, field=("spec", TAGS, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRules:
    """The rules of a source, and what is wrong with others."""

    rules: tuple[IgnoreRule, ...] = ()
    problems: tuple[tuple[str, Problem], ...] = ()  # each with its Namespace, "" for gitsync.yaml


def read_ignore_rules(entries: RuleEntries, catalog: Catalog) -> FieldRules:
    """Read the rules of gitsync.yaml, then those of the Namespaces that have some."""
    rules: list[IgnoreRule] = []
    problems: list[tuple[str, Problem]] = []
    sizes: Counter[str] = Counter()
    written = ((RuleOrigin(entry.source), number, entry.value) for number, entry in enumerate(entries.ignore, start=1))
    for origin, number, value in chain(written, _list_annotated(entries.namespaces)):
        # Each rule is compared with each kind of each namespace, so the number of rules is limited.
        if sizes[origin.namespace] > MOST_ENTRIES:
            continue  # it is reported already
        rule = value if isinstance(value, Fault) else _read_rule(value, number, origin, catalog)
        if isinstance(rule, IgnoreRule):
            sizes[origin.namespace] += len(rule.entry.paths) + len(rule.entry.tags)
            rules.append(rule)
            if sizes[origin.namespace] <= MOST_ENTRIES:
                continue
            rule = Fault(f"The rules have more than {MOST_ENTRIES} paths and tags together.", "Use patterns.")
        faults = rule if isinstance(rule, list) else [rule]
        problems += [(origin.namespace, origin.make_error(fault)) for fault in faults]
    return FieldRules(rules=tuple(rules), problems=tuple(problems))


def _read_rule(value: Any, number: int, origin: RuleOrigin, catalog: Catalog) -> IgnoreRule | list[Fault]:
    entry = read_entry(value, f"Entry {number}", OF_NAMESPACE if origin.namespace else OF_SOURCE)
    if isinstance(entry, list):
        return entry
    names = [_find_name(text, catalog) for text in entry.kinds]
    if faults := [name for name in names if isinstance(name, Fault)]:
        return faults
    return IgnoreRule(entry=entry, kinds=tuple(name for name in names if isinstance(name, KindName)), origin=origin)


def _list_annotated(namespaces: Mapping[str, Resource]) -> Iterator[tuple[RuleOrigin, int, object]]:
    """List the entries of the annotations of Namespaces, unchecked, each with its origin and its number."""
    for name, namespace in sorted(namespaces.items()):
        values = read_list(namespace.annotations.get(IGNORE, ""), OF_NAMESPACE)
        for index, value in enumerate([values] if isinstance(values, Fault) else values):
            path = () if isinstance(value, Fault) else (index,)
            source = locate_in_annotation(IGNORE, path, namespace)
            yield RuleOrigin(source, name, IGNORE), index + 1, value


def _find_name(text: str, catalog: Catalog) -> KindName | Fault:
    # `group/version/Kind` has slashes too, so a text that is not a type may be a kind.
    if "/" in text and (arm_type := open_arm_types().find_type(text)) is not None:
        return KindName(arm_type=arm_type.name.casefold())
    try:
        found = find_kind(text, catalog)
    except ConfigError as error:
        return Fault(error.message, error.hint)
    if found.fields:
        return Fault(f"kind {text} names a field.", "Write the field as path.")
    return KindName(found.kind.gvk.group, found.kind.gvk.kind)


FindPaths = Callable[[Resource, Kind], Paths]
"""Finds the paths of the body that rules ignore in a resource."""


def make_path_finder(rules: Iterable[IgnoreRule], today: date | None) -> FindPaths:
    """Make the function that finds the paths of a resource on a day. Those of a kind in a namespace are found once."""
    rules = tuple(rules)

    @cache
    def find(namespace: str, gvk: GVK, kind: Kind) -> Paths:
        reaching = (rule for rule in rules if kind.can_get and rule.reaches(namespace, gvk, kind))
        paths = chain.from_iterable(rule.list_paths(kind) for rule in reaching)
        there = (path for path in paths if not path.has_expired(today) and check_existence(path, kind) is None)
        found = {path.find_path(kind) for path in there}
        return tuple(sorted(steps for steps in found if not isinstance(steps, Misfit)))

    return lambda resource, kind: find(resource.key.namespace, resource.gvk, kind) if rules else ()


class Reached(NamedTuple):
    """A kind in a namespace of the source."""

    namespace: str
    gvk: GVK
    kind: Kind


def list_reached(resources: Iterable[Resource], catalog: Catalog) -> frozenset[Reached]:
    """List the kinds of resources by namespace, as far as Azure returns them."""
    pairs = ((resource, catalog.kind_of(resource)) for resource in resources)
    return frozenset(
        Reached(resource.key.namespace, resource.gvk, kind) for resource, kind in pairs if kind and kind.can_get
    )


def check_fields(
    rules: Iterable[IgnoreRule], found: Iterable[Reached], catalog: Catalog
) -> Iterator[tuple[str, Problem]]:
    """Yield an error for each path that no kind of its rule has, with the Namespace of the rule."""
    found = sorted(found, key=lambda reached: (reached.gvk, reached.namespace))
    for rule in rules:
        kinds = {reached.kind: None for reached in found if rule.reaches(*reached)}
        # Without a resource of its kinds, a rule is checked against their newest version: it may be written before
        # them.
        kinds = kinds or {kind: None for name in rule.kinds if (kind := catalog.newest(name.group, name.kind))}
        # Each kind gives as many paths: one for each path and tag of the rule.
        for paths in zip(*(rule.list_paths(kind) for kind in kinds), strict=True):
            faults = [check_existence(path, kind) for path, kind in zip(paths, kinds, strict=True)]
            # One kind that has the path is enough: a rule may be about several kinds or versions.
            if faults and all(faults) and faults[0]:
                fault = faults[0] if paths[0] in rule.entry.paths else _explain_untagged(next(iter(kinds)))
                yield rule.origin.namespace, rule.origin.make_error(fault)


def _explain_untagged(kind: Kind) -> Fault:
    return Fault(f"{kind.gvk.kind} cannot have tags.", "Remove the kind from the rule.")


def warn_of_rules(
    rules: Iterable[IgnoreRule], found: Iterable[Reached], today: date | None, *, is_complete: bool
) -> Iterator[Problem]:
    """Warn of rules that have expired and, if the source is read completely, of those that are about no resource."""
    found = tuple(found)
    known = {reached.namespace for reached in found}
    for rule in rules:
        if rule.entry.until and (paths := _list_texts(rule)) and paths[0].has_expired(today):
            origin = "the annotation" if rule.origin.namespace else "gitsync.yaml"
            yield rule.origin.make_warning("IgnoreExpired", describe_expired(paths[0], origin))
        # In a part of the source, the resources of a rule may just not have been read.
        if is_complete and not any(rule.reaches(*reached) for reached in found):
            yield rule.origin.make_warning(RULE_UNUSED, _explain_unused(rule, known))


def _list_texts(rule: IgnoreRule) -> list[IgnoredPath]:
    until = rule.entry.until
    return [*rule.entry.paths, *(IgnoredPath(f"tags {name}", until) for name in rule.entry.tags)]


def _explain_unused(rule: IgnoreRule, known: Iterable[str]) -> Fault:
    entry = rule.entry
    scope = (("kind", entry.kinds), ("namespace", entry.namespaces))
    parts = " and ".join(f"{key} {', '.join(names)}" for key, names in scope if names)
    of = f" has {parts}" if parts else ""
    close = next((near for name in entry.namespaces if (near := suggest(name, known))), None)
    hint = f"Did you mean the namespace {close}?" if close else "Remove the rule, or correct its kind and namespace."
    return Fault(f"The rule ignores nothing: no resource{of}.", hint)
