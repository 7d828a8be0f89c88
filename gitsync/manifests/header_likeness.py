"""The header of a document as its author probably meant it: keys in another case, or within two letters, count too.

Separate from `metadata`, which reads a header by the rules of Kubernetes: this identifies a document that fails them,
and decides nothing about a resource.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gitsync.model.manifests import UnreadDocument
from gitsync.model.problem import SourceLocation
from gitsync.problems.suggest import measure_distance

HEADER = ("apiVersion", "kind", "metadata", "spec")
"""The top fields of a manifest that a person writes."""

LETTERS = 2  # as many may be wrong
MOST_KEYS = 200  # a mapping with more is no part of a manifest, and comparing every key would take long
_OTHERS = frozenset({*HEADER, "id", "data", "items", "namespace", "status", "type", "uid"})
"""Keys with another meaning, even if they are similar to another key."""


def find_key_like(word: str, mapping: Mapping[str, Any]) -> str | None:
    """The key that stands for `word`: itself, else in another case, else the nearest within two letters; or None.

    Of a mapping with more than `MOST_KEYS` keys only the word itself counts.
    """
    if word in mapping:
        return word
    if len(mapping) > MOST_KEYS:
        return None
    ranked = sorted((edits, key) for key in mapping if (edits := _measure_key(key, word)) is not None)
    return ranked[0][1] if ranked else None


def find_within_two_letters(word: str, choices: Iterable[str]) -> str | None:
    """The nearest choice that differs from `word` in case alone or in at most two letters; None if there is none."""
    ranked = sorted((edits, choice) for choice in choices if (edits := _measure(word, choice)) is not None)
    return ranked[0][1] if ranked else None


def _measure_key(key: str, word: str) -> int | None:
    return None if key in _OTHERS else _measure(key, word)


def _measure(one: str, other: str) -> int | None:
    return _measure_cached(one, other) if abs(len(one) - len(other)) <= LETTERS else None


@lru_cache(maxsize=4096)
def _measure_cached(one: str, other: str) -> int | None:
    """Cached, since the same keys occur in thousands of documents."""
    return measure_distance(one.casefold(), other.casefold(), LETTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """The header of a mapping; texts are as written, "" if absent. `keys` maps each present field of the header to its
    key in the mapping. `has_azure_name` and `has_owner` tell whether the spec has these fields as ASO has them.
    """

    keys: Mapping[str, str]
    api_version: str = ""
    kind: str = ""
    name: str = ""
    azure_name: str = ""
    has_azure_name: bool = False
    has_owner: bool = False

    @classmethod
    def of(cls, value: Any) -> Likeness:
        """Read the recognisable fields. A value that is not a mapping has none."""
        if not isinstance(value, Mapping):
            return cls(keys={})
        keys = {word: key for word in HEADER if (key := find_key_like(word, value)) is not None}
        header = {word: value[key] for word, key in keys.items()}
        spec = header.get("spec")
        owner = _find_member(spec, "owner")
        return cls(
            keys=keys,
            api_version=_read_text(header.get("apiVersion")),
            kind=_read_text(header.get("kind")),
            name=_read_text(_find_member(header.get("metadata"), "name")),
            azure_name=_read_text(_find_member(spec, "azureName")),
            has_azure_name=isinstance(spec, Mapping) and find_key_like("azureName", spec) is not None,
            has_owner=isinstance(owner, Mapping) and bool({"name", "armId"} & owner.keys()),  # others write a text
        )

    @property
    def misspelt(self) -> Mapping[str, str]:
        """The fields whose key is misspelt, with that key."""
        return {word: key for word, key in self.keys.items() if key != word}

    @property
    def group(self) -> str:
        """The group of the apiVersion: the text before the last slash, "" if there is none."""
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    def unread(self, source: SourceLocation, *, is_rejected: bool) -> UnreadDocument:
        """The document as an unread one."""
        return UnreadDocument(
            source=source,
            api_version=self.api_version,
            kind=self.kind,
            name=self.name,
            azure_name=self.azure_name,
            is_rejected=is_rejected,
        )


def _find_member(mapping: Any, word: str) -> Any:
    key = find_key_like(word, mapping) if isinstance(mapping, Mapping) else None
    return mapping[key] if key is not None and isinstance(mapping, Mapping) else None


def _read_text(value: Any) -> str:
    return value if isinstance(value, str) else ""
