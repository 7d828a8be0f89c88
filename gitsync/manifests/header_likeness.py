"""The header of a document as its author probably meant it: keys in another case, or within two letters, count too.

Apart from metadata, which reads a header by the rules of Kubernetes: what is found here names a document that
failed these rules, and decides nothing about a resource.
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
"""Keys that say something else, however near they are to another."""


def find_key_like(word: str, mapping: Mapping[str, Any]) -> str | None:
    """The key that stands for `word`: itself, else in another case, else the nearest within two letters; or None.

    Of a mapping with more than `MOST_KEYS` keys only the word itself counts.
    """
    if word in mapping:
        return word
    if len(mapping) > MOST_KEYS:
        return None
    ranked = sorted((edits, key) for key in mapping if (edits := _edits(key, word)) is not None)
    return ranked[0][1] if ranked else None


def find_within_two_letters(word: str, choices: Iterable[str]) -> str | None:
    """The nearest choice that differs from `word` in case alone or in at most two letters; None where there is none."""
    ranked = sorted((edits, choice) for choice in choices if (edits := _distance(word, choice)) is not None)
    return ranked[0][1] if ranked else None


def _edits(key: str, word: str) -> int | None:
    return None if key in _OTHERS else _distance(key, word)


def _distance(one: str, other: str) -> int | None:
    return _compared(one, other) if abs(len(one) - len(other)) <= LETTERS else None


@lru_cache(maxsize=4096)
def _compared(one: str, other: str) -> int | None:
    """Cached, since the same keys occur in thousands of documents."""
    return measure_distance(one.casefold(), other.casefold(), LETTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """What a mapping says of itself; texts are as written, "" where there is none. `keys` has the key that stands for
    each field of the header that is there; `has_azure_name` and `has_owner` say whether its spec has these as ASO has.
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
        """Read what can be recognised; of what is no mapping, nothing."""
        if not isinstance(value, Mapping):
            return cls(keys={})
        found = {word: key for word in HEADER if (key := find_key_like(word, value)) is not None}
        header = {word: value[key] for word, key in found.items()}
        spec = header.get("spec")
        owner = _member(spec, "owner")
        return cls(
            keys=found,
            api_version=_text(header.get("apiVersion")),
            kind=_text(header.get("kind")),
            name=_text(_member(header.get("metadata"), "name")),
            azure_name=_text(_member(spec, "azureName")),
            has_azure_name=isinstance(spec, Mapping) and find_key_like("azureName", spec) is not None,
            has_owner=isinstance(owner, Mapping) and bool({"name", "armId"} & owner.keys()),  # others write a text
        )

    @property
    def misspelt(self) -> Mapping[str, str]:
        """The fields whose key is not as it should be, with that key."""
        return {word: key for word, key in self.keys.items() if key != word}

    @property
    def group(self) -> str:
        """The group of the apiVersion: what stands before the last slash, "" where there is none."""
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    def unread(self, source: SourceLocation, *, is_rejected: bool) -> UnreadDocument:
        """The document as one that did not become a resource."""
        return UnreadDocument(
            source=source,
            api_version=self.api_version,
            kind=self.kind,
            name=self.name,
            azure_name=self.azure_name,
            is_rejected=is_rejected,
        )


def _member(mapping: Any, word: str) -> Any:
    key = find_key_like(word, mapping) if isinstance(mapping, Mapping) else None
    return mapping[key] if key is not None and isinstance(mapping, Mapping) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
