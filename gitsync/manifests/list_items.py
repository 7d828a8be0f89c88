"""Split lists of manifests: each item becomes a document of its own, with its own lines and problems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitsync.manifests.headers import is_object
from gitsync.manifests.yaml_documents import Document, is_encrypted
from gitsync.model.problem import Problem
from gitsync.problems.field_path import FieldPath, format_field

MAX_LISTS = 10  # lists in lists


def is_list(value: Any) -> bool:
    """Tell whether a document is a list of documents, in the form of Kubernetes."""
    return is_object(value) and value["kind"].endswith("List") and isinstance(value.get("items"), list)


def split_list(document: Document, depth: int = MAX_LISTS) -> Iterator[Document]:
    """Yield a document or, if it is a list of documents, those."""
    value = document.value
    if not is_list(value) or not depth:
        yield document
        return
    # The items of a `ResourceGroupList` may leave out what its name says.
    inherited = {} if value["kind"] == "List" else {"apiVersion": value["apiVersion"], "kind": value["kind"][:-4]}
    for item in split_items(document, ("items",)):
        if item.value is not None:
            inner = {**inherited, **item.value} if isinstance(item.value, dict) else item.value
            # SOPS encrypts a list as one file, so each item is decrypted from the text of all.
            seal = item.seal or (item.text if is_encrypted(item) else b"")
            yield from split_list(replace(item, value=inner, seal=seal), depth - 1)


def split_items(document: Document, path: FieldPath) -> Iterator[Document]:
    """Yield each entry of the list at a path as a document, with its own lines and problems."""
    entries: Any = document.value
    for step in path:
        entries = entries[step]
    problems = _group_problems(document.problems, path)
    for index, entry in enumerate(entries):
        entry_path = (*path, index)
        yield replace(
            document,
            value=entry,
            lines=document.lines.below(entry_path),
            problems=problems.get(index, ()),
            original=None,
            # Most have none, and a list may have many thousand items: they share the empty mapping.
            patched=document.patched
            and {
                at[len(entry_path) :]: source
                for at, source in document.patched.items()
                if at[: len(entry_path)] == entry_path
            },
        )


def _group_problems(problems: Iterable[Problem], path: FieldPath) -> Mapping[int, tuple[Problem, ...]]:
    """Group the problems by entry, with their fields inside it."""
    entry = re.compile(re.escape(format_field(path)) + r"\[(\d+)\](?=[.\[]|\Z)")
    by_index: dict[int, tuple[Problem, ...]] = {}
    for problem in problems:
        if match := entry.match(problem.field):
            inside = replace(problem, field=problem.field[match.end() :].lstrip("."))
            by_index[int(match[1])] = (*by_index.get(int(match[1]), ()), inside)
    return by_index
