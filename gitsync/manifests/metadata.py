"""Read `apiVersion`, `kind` and `metadata` of a document, by the rules of the Kubernetes API server.

Apart from sorting the documents, because every kind of document has them, and because a document whose identity is not
valid is no resource at all: its key would be neither unique nor safe as a path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitsync.catalog.type_words import quote_scalar
from gitsync.manifests.header_likeness import find_key_like
from gitsync.manifests.yaml_documents import Document
from gitsync.model.gvk import GVK
from gitsync.model.problem import Problem
from gitsync.problems.field_path import format_field

LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
GROUP = re.compile(rf"{LABEL}(\.{LABEL})*")
KIND = re.compile(r"[A-Za-z][A-Za-z0-9]*")
VERSION = re.compile(r"[a-z][a-z0-9]*")

NAME = re.compile(r"[^/\x00-\x20\x7f.][^/\x00-\x20\x7f]*")
"""What a key can hold. The stricter rules of Kubernetes are a matter of validation, which says more of a resource."""

NAME_RULE = "Use lower-case letters, digits, '-' and '.', and at most 253 of them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Identity of a document. `problems` are those of annotations and labels, which leave the identity usable."""

    gvk: GVK
    namespace: str
    name: str
    annotations: Mapping[str, str]
    labels: Mapping[str, str]
    problems: tuple[Problem, ...]


def is_object(value: Any) -> bool:
    """Whether a document says what kind it is, as text."""
    return isinstance(value, dict) and all(isinstance(value.get(k), str) and value[k] for k in ("apiVersion", "kind"))


def read_header(document: Document, namespace: str) -> Header | Problem:
    """Identity of a document with apiVersion and kind, or why it has none. `namespace` serves where it names none."""
    value = document.value
    gvk = GVK.parse(value["apiVersion"], value["kind"])
    metadata = value.get("metadata")
    if not _is_gvk(gvk):
        message = f"{quote_scalar(value['apiVersion'])} and {quote_scalar(value['kind'])} are no apiVersion and kind."
        return _problem(document, "InvalidKind", "apiVersion", message, "Write apiVersion as group/version.")
    if not isinstance(metadata, dict):
        return _problem(document, "InvalidMetadata", "metadata", f"{gvk.kind} has no metadata.", "Add metadata.name.")
    name, space = metadata.get("name"), metadata.get("namespace") or namespace
    if name in (None, ""):
        return _no_name(document, gvk.kind)
    for member, text in (("name", name), ("namespace", space)):
        if not _matches(NAME, text, 253):
            message = f"metadata.{member} of a {gvk.kind} is {quote_scalar(text)}."
            return _problem(document, "InvalidName", f"metadata.{member}", message, NAME_RULE)
    problems: list[Problem] = []
    annotations = _strings(document, "annotations", problems)
    labels = _strings(document, "labels", problems)
    return Header(gvk=gvk, namespace=space, name=name, annotations=annotations, labels=labels, problems=tuple(problems))


def _no_name(document: Document, kind: str) -> Problem:
    key = find_key_like("name", document.value["metadata"])
    if key not in {None, "name"}:
        where = format_field(("metadata", str(key)))
        return _problem(
            document, "MisspeltField", where, f"{where} is not a field of a manifest.", "Did you mean name?"
        )
    hint = "generateName is not supported. Set metadata.name."
    return _problem(document, "MissingName", "metadata.name", f"{kind} has no metadata.name.", hint)


def _is_gvk(gvk: GVK) -> bool:
    is_group = not gvk.group or _matches(GROUP, gvk.group, 253)
    return is_group and _matches(VERSION, gvk.version, 63) and _matches(KIND, gvk.kind, 63)


def _matches(pattern: re.Pattern[str], text: Any, most: int) -> bool:
    return isinstance(text, str) and len(text) <= most and pattern.fullmatch(text) is not None


def _strings(document: Document, member: str, problems: list[Problem]) -> dict[str, str]:
    """Annotations or labels; a value that is not text is reported and left out."""
    found = document.value["metadata"].get(member)
    where = f"metadata.{member}"
    if found is None:
        return {}
    if not isinstance(found, dict):
        message = f"{where} is not a mapping."
        problems.append(_problem(document, "InvalidMetadata", where, message, "Write one `key: value` per line."))
        return {}
    for key, value in found.items():
        if not isinstance(value, str):
            message = f"The value of {key} under {where} is not text."
            path = format_field(("metadata", member, key))
            problems.append(_problem(document, "InvalidMetadata", path, message, "Quote it."))
    return {key: value for key, value in found.items() if isinstance(value, str)}


def _problem(document: Document, code: str, field: str, message: str, hint: str) -> Problem:
    return Problem(code=code, message=message, hint=hint, path=document.path, line=document.line(field), field=field)
