"""Rules for many resources of a source, as they are written: `ignore` and `tags` of gitsync.yaml, and the annotations
of Namespaces.

Their parts are checked with the kinds that they are about, by `desired.request.rules_of_source`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitsync.model.problem import SourceLocation
from gitsync.model.resource import Resource


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """One entry of gitsync.yaml: a path or a mapping of `ignore`, or the name and the value of one default tag."""

    value: Any  # as JSON
    source: SourceLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleEntries:
    """All entries of a source, in the order of their file."""

    ignore: tuple[RuleEntry, ...] = ()
    tags: tuple[RuleEntry, ...] = ()  # each value is a pair
    namespaces: Mapping[str, Resource] = field(default_factory=dict)
    """The Namespace manifests with gitsync's annotations, by name."""

    def __bool__(self) -> bool:
        return bool(self.ignore or self.tags or self.namespaces)

    def select(self, names: Collection[str]) -> RuleEntries:
        """Return the entries with those of some Namespaces only."""
        chosen = {name: namespace for name, namespace in self.namespaces.items() if name in names}
        return replace(self, namespaces=chosen)


NO_RULES: Final = RuleEntries()
