"""Read `apiVersion`, `kind` and `metadata` of a document.

`read_header` applies the rules of the Kubernetes API server: a document with an invalid identity cannot be a resource,
since its key would be neither unique nor safe as a path. `Likeness` is the header as its author probably meant it. It
only describes documents that fail those rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from gitsync.desired.catalog.braced_text import find_braced_text
from gitsync.desired.catalog.type_words import add_article, quote_scalar
from gitsync.desired.catalog.unknown_kind import suggest_spelling
from gitsync.desired.manifests.aso_groups import load_catalog
from gitsync.desired.manifests.written_values import suggest_quotes
from gitsync.desired.manifests.yaml_documents import ENCRYPTED, RENDER, TEMPLATE, Document
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.suggest import measure_distance
from gitsync.model.gvk import GVK
from gitsync.model.manifests import UnreadDocument
from gitsync.model.problem import Level, Problem, SourceLocation

LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
GROUP = re.compile(rf"{LABEL}(\.{LABEL})*")
KIND = re.compile(r"[A-Za-z][A-Za-z0-9]*")
VERSION = re.compile(r"[a-z][a-z0-9]*")

NAME = re.compile(r"[^/\x00-\x20\x7f.][^/\x00-\x20\x7f]*")
"""The characters of a key. Validation checks Kubernetes' stricter rules."""

_READ = frozenset({"apiVersion", "kind", "metadata", "spec", "status", ENCRYPTED})
_READ_OF_METADATA = frozenset({"name", "namespace", "annotations", "labels"})
_NOTHING: Mapping[str, Any] = {}  # what most documents have next to their specs, shared by all of them
PLACEHOLDER = re.compile(r"\{\{|\}\}|\[\[|<[^<>]*>|#\{|@@|%\w+%|\$\(|(?<!\$)\{\w[\w ,.-]*\}|__\w+__")
"""Texts that template tools replace. A Kubernetes name never has one."""

NAME_RULE = "Use lower-case letters, digits, '-' and '.', and at most 253 of them."


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Header:
    """The identity of a document."""

    gvk: GVK
    namespace: str  # the default if the document has none
    name: str
    annotations: Mapping[str, str]
    labels: Mapping[str, str]
    others: Mapping[str, Any]  # those next to the spec that are not read: those that clusters write, and misplaced ones
    problems: tuple[Problem, ...]  # those of annotations and labels, which do not affect the identity


def is_object(value: Any) -> bool:
    """Return whether a document has apiVersion and kind, as text."""
    if not isinstance(value, dict):
        return False
    api_version, kind = value.get("apiVersion"), value.get("kind")
    return isinstance(api_version, str) and isinstance(kind, str) and bool(api_version and kind)


def read_header(document: Document, namespace: str) -> Header | Problem:
    """Read the identity of a document with apiVersion and kind, or why it has none. `namespace` is the default."""
    value = document.value
    gvk = _parse_gvk(value["apiVersion"], value["kind"])
    metadata = value.get("metadata")
    # Before any other check: a placeholder is the cause of other problems.
    if template := find_placeholder(document):
        return template
    if gvk is None:
        return _make_invalid_kind(document, value["apiVersion"], value["kind"])
    if not isinstance(metadata, dict):
        return _make_problem(
            document, "InvalidMetadata", ("metadata",), f"{gvk.kind} has no metadata.", "Add metadata.name."
        )
    name, object_namespace = metadata.get("name"), metadata.get("namespace")
    # Kubernetes takes an empty namespace for an absent one.
    if object_namespace in (None, ""):
        object_namespace = namespace
    if name in (None, ""):
        return _make_no_name(document, gvk.kind)
    for member, text in (("name", name), ("namespace", object_namespace)):
        # A name becomes a part of paths of records, so it must not lead out of their folder.
        if not _matches(NAME, text, 253):
            message = (
                f"metadata.{member} of {add_article(gvk.kind)} is {quote_scalar(text)}, which is not a valid name."
            )
            where = ("metadata", member)
            is_retyped = isinstance(text, bool | int | float)
            hint = suggest_quotes(text, document.lines, where) if is_retyped else NAME_RULE
            return _make_problem(document, "InvalidName", where, message, hint)
    problems: list[Problem] = []
    annotations = _read_strings(document, "annotations", problems)
    labels = _read_strings(document, "labels", problems)
    return Header(
        gvk=gvk,
        namespace=object_namespace,
        name=name,
        annotations=annotations,
        labels=labels,
        others=_list_others(value),
        problems=tuple(problems),
    )


def _make_invalid_kind(document: Document, api_version: str, kind: str) -> Problem:
    message = f"{quote_scalar(api_version)} and {quote_scalar(kind)} are not a valid apiVersion and kind."
    hint = suggest_spelling(GVK.parse(api_version, kind), load_catalog()) or "Write apiVersion as group/version."
    return _make_problem(document, "InvalidKind", ("apiVersion",), message, hint)


def _list_others(value: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = value["metadata"]
    if value.keys() <= _READ and metadata.keys() <= _READ_OF_METADATA:
        return _NOTHING  # most documents: no mapping is made
    others = {key: member for key, member in value.items() if key not in _READ}
    of_metadata = {key: member for key, member in metadata.items() if key not in _READ_OF_METADATA}
    return {**others, "metadata": of_metadata} if of_metadata else others


def find_placeholder(document: Document) -> Problem | None:
    """Return a warning if a document is a template: its identity has a placeholder of the tool that renders it."""
    value = document.value
    metadata = value.get("metadata")
    names = metadata if isinstance(metadata, dict) else {}
    identity: dict[FieldPath, Any] = {
        ("apiVersion",): value.get("apiVersion"),
        ("kind",): value.get("kind"),
        ("metadata", "name"): names.get("name"),
        ("metadata", "namespace"): names.get("namespace"),
    }
    for path, written in identity.items():
        braced = find_braced_text(written)
        if braced or (isinstance(written, str) and _has_placeholder(written)):
            text = braced or written
            message = f"{format_field(path)} is {quote_scalar(text)}, with a placeholder: this is a template."
            problem = _make_problem(document, TEMPLATE, path, message, RENDER)
            return replace(problem, level=Level.WARNING)
    return None


@lru_cache(maxsize=4096)  # most texts are in many manifests
def _has_placeholder(text: str) -> bool:
    return PLACEHOLDER.search(text) is not None


def _make_no_name(document: Document, kind: str) -> Problem:
    key = find_key_like("name", document.value["metadata"])
    if key not in {None, "name"}:  # the author has to fix `Name` or `nmae`, not add a name
        where = ("metadata", str(key))
        message = f"{format_field(where)} is not a field of a manifest."
        return _make_problem(document, "MisspeltField", where, message, "Did you mean name?")
    hint = "generateName is not supported. Set metadata.name."
    return _make_problem(document, "MissingName", ("metadata", "name"), f"{kind} has no metadata.name.", hint)


@lru_cache(maxsize=1024)
def _parse_gvk(api_version: str, kind: str) -> GVK | None:
    """Parse apiVersion and kind, once for all manifests of a kind; None if they are not valid."""
    gvk = GVK.parse(api_version, kind)
    is_group = not gvk.group or _matches(GROUP, gvk.group, 253)
    return gvk if is_group and _matches(VERSION, gvk.version, 63) and _matches(KIND, gvk.kind, 63) else None


def _matches(pattern: re.Pattern[str], text: Any, most: int) -> bool:
    return isinstance(text, str) and len(text) <= most and pattern.fullmatch(text) is not None


def _read_strings(document: Document, member: str, problems: list[Problem]) -> Mapping[str, str]:
    """Read annotations or labels. Null is an empty text; a value that is not text is reported and left out."""
    mapping = document.value["metadata"].get(member)
    field_path = f"metadata.{member}"
    if mapping is None:
        return _NOTHING
    if not isinstance(mapping, dict):
        message, hint = f"{field_path} is not a mapping.", "Write one `key: value` per line."
        problems.append(_make_problem(document, "InvalidMetadata", ("metadata", member), message, hint))
        return {}
    texts = {key: "" if value is None else value for key, value in mapping.items()}
    for key, value in texts.items():
        if not isinstance(value, str):
            message = f"The value of {key} under {field_path} is not text."
            where = ("metadata", member, key)
            hint = suggest_quotes(value, document.lines, where)
            problems.append(_make_problem(document, "InvalidMetadata", where, message, hint))
    return {key: value for key, value in texts.items() if isinstance(value, str)}


def _make_problem(document: Document, code: str, where: FieldPath, message: str, hint: str) -> Problem:
    line, field = document.line(*where), format_field(where)
    return Problem(code=code, message=message, hint=hint, path=document.path, line=line, field=field)


# The header as its author probably meant it: keys in another case, or within two letters, count too.

HEADER = ("apiVersion", "kind", "metadata", "spec")
"""The top fields of a manifest that a person writes."""

LETTERS = 2  # that may be wrong
MOST_KEYS = 200  # a mapping with more is not part of a manifest, and comparing every key would take long
_ARM_TYPE = re.compile(r"[A-Za-z]+(?:\.[A-Za-z]+)+/[A-Za-z]")
_OTHERS = frozenset({*HEADER, "id", "data", "items", "namespace", "status", "type", "uid"})
"""Keys with a meaning of their own, even if they resemble a key of the header."""


def find_key_like(word: str, mapping: Mapping[str, Any]) -> str | None:
    """Find the key that was meant as `word`: the same text, else in another case, else the nearest within two letters;
    or None.

    In a mapping with more than `MOST_KEYS` keys, only the same text counts.
    """
    if word in mapping:
        return word
    if len(mapping) > MOST_KEYS:
        return None
    # By distance, then by name, so that the order in the file does not matter.
    ranked = sorted(
        (edits, key) for key in mapping if key not in _OTHERS and (edits := _measure(key, word)) is not None
    )
    return ranked[0][1] if ranked else None


def find_within_two_letters(word: str, choices: Iterable[str]) -> str | None:
    """Find the nearest choice that differs from `word` only in case or in at most two letters; None without one."""
    ranked = sorted((edits, choice) for choice in choices if (edits := _measure(word, choice)) is not None)
    return ranked[0][1] if ranked else None


def _measure(text: str, other: str) -> int | None:
    """Measure the distance of two texts, ignoring case."""
    if abs(len(text) - len(other)) > LETTERS:
        return None  # most keys, without the cost of folding them
    return measure_distance(text.casefold(), other.casefold(), LETTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """The header of a mapping; texts are as written, "" if absent."""

    keys: Mapping[str, str]  # those of the mapping, by the part of the header that they stand for
    api_version: str = ""  # with group and version
    kind: str = ""
    name: str = ""
    azure_name: str = ""  # of the spec
    has_azure_name: bool = False  # the spec has this name in ASO's form
    has_owner: bool = False  # the spec has an owner in ASO's form
    has_arm_type: bool = False  # the spec has an ARM type in the form of an AzureResource

    @classmethod
    def read(cls, value: Any) -> Likeness:
        """Read the fields that can be recognized. A value that is not a mapping has none."""
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
            has_arm_type=_ARM_TYPE.match(_read_text(_find_member(spec, "type"))) is not None,
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

    def make_unread(self, source: SourceLocation, *, is_rejected: bool, form: str = "") -> UnreadDocument:
        """Make the unread document; `form` describes it if it has no kind."""
        return UnreadDocument(
            source=source,
            api_version=self.api_version,
            kind=self.kind,
            name=self.name,
            azure_name=self.azure_name,
            is_rejected=is_rejected,
            form=form,
        )


def _find_member(mapping: Any, word: str) -> Any:
    key = find_key_like(word, mapping) if isinstance(mapping, Mapping) else None
    return mapping[key] if key is not None and isinstance(mapping, Mapping) else None


def _read_text(value: Any) -> str:
    return value if isinstance(value, str) else ""
