"""Split lists of manifests: each item becomes a document of its own, with its own lines and problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitsync.manifests.metadata import is_object
from gitsync.manifests.sops_documents import ENCRYPTED
from gitsync.manifests.yaml_documents import Document

MAX_LISTS = 10  # lists in lists


def is_list(value: Any) -> bool:
    """Tell whether a document is a list of documents, as Kubernetes writes it."""
    return is_object(value) and value["kind"].endswith("List") and isinstance(value.get("items"), list)


def split_list(document: Document, depth: int = MAX_LISTS) -> Iterator[Document]:
    """Yield a document or, if it is a list of documents, those."""
    value = document.value
    if not is_list(value) or not depth:
        yield document
        return
    inherited = {} if value["kind"] == "List" else {"apiVersion": value["apiVersion"], "kind": value["kind"][:-4]}
    inherited |= {ENCRYPTED: value[ENCRYPTED]} if ENCRYPTED in value else {}
    for index, item in enumerate(value["items"]):
        if item is not None:
            yield from split_list(_make_document(document, item, index, inherited), depth - 1)


def _make_document(document: Document, item: Any, index: int, inherited: Mapping[str, Any]) -> Document:
    """Make an item a document of its own; it inherits apiVersion and kind from a typed list."""
    prefix = f"items[{index}]"
    lines = {p[len(prefix) :].lstrip("."): line for p, line in document.lines.items() if _is_below(p, prefix)}
    problems = tuple(
        replace(p, field=p.field[len(prefix) :].lstrip(".")) for p in document.problems if _is_below(p.field, prefix)
    )
    lines.setdefault("", document.line("items"))  # an item of an aliased list has no line of its own
    value = {**inherited, **item} if isinstance(item, dict) else item
    return replace(document, value=value, lines=lines, problems=problems)


def _is_below(path: str, prefix: str) -> bool:
    return path.startswith(prefix) and path[len(prefix) : len(prefix) + 1] in {"", ".", "["}
