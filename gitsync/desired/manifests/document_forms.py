"""Documents in another form than one plain object: lists of manifests, and documents that SOPS encrypted.

Each item of a list becomes a document of its own, with its own lines and problems.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitsync.desired.manifests.headers import is_object
from gitsync.desired.manifests.yaml_documents import ENCRYPTED, Document, is_encrypted
from gitsync.desired.problems.field_path import FieldPath, find_member, format_field
from gitsync.model.manifests import Encrypted
from gitsync.model.problem import Problem, SourceLocation

MAX_LISTS = 10  # lists in lists


def is_list(value: Any) -> bool:
    """Return whether a document is a Kubernetes List."""
    return is_object(value) and value["kind"].endswith("List") and isinstance(value.get("items"), list)


def split_list(document: Document, depth: int = MAX_LISTS) -> Iterator[Document]:
    """Yield a document or, if it is a list, its items as documents."""
    value = document.value
    # A list that is nested deeper stays a document, which is rejected with a problem and not lost.
    if not is_list(value) or not depth:
        yield document
        return
    # The items of a `ResourceGroupList` may omit apiVersion and kind.
    inherited = {} if value["kind"] == "List" else {"apiVersion": value["apiVersion"], "kind": value["kind"][:-4]}
    for item in split_items(document, ("items",)):
        if item.value is not None:
            inner = {**inherited, **item.value} if isinstance(item.value, dict) else item.value
            # SOPS encrypts a list as one file, so each item is decrypted from the complete text.
            seal = item.seal or (item.text if is_encrypted(item) else b"")
            yield from split_list(replace(item, value=inner, seal=seal), depth - 1)


def split_items(document: Document, path: FieldPath) -> Iterator[Document]:
    """Yield each item of the list at a path as a document, with its own lines and problems."""
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
            # Most items have none, and a list may have many thousand: they share the empty mapping.
            patched=document.patched
            and {
                at[len(entry_path) :]: source
                for at, source in document.patched.items()
                if at[: len(entry_path)] == entry_path
            },
        )


def _group_problems(problems: Iterable[Problem], path: FieldPath) -> Mapping[int, tuple[Problem, ...]]:
    """Group the problems by item, with their fields relative to it."""
    entry = re.compile(re.escape(format_field(path)) + r"\[(\d+)\](?=[.\[]|\Z)")
    by_index: dict[int, tuple[Problem, ...]] = {}
    for problem in problems:
        if match := entry.match(problem.field):
            inside = replace(problem, field=problem.field[match.end() :].lstrip("."))
            by_index[int(match[1])] = (*by_index.get(int(match[1]), ()), inside)
    return by_index


# The readable parts of a document that SOPS encrypted: its keys, and its name, by which its decrypted text is found.


CIPHERTEXT = re.compile(r"ENC\[AES256_GCM,")


def is_one_cipher(document: Document) -> bool:
    """Return whether SOPS encrypted a file as one value, without its keys, as with `--input-type binary`."""
    return is_encrypted(document) and document.value.keys() == {"data", ENCRYPTED}


def make_encrypted(document: Document) -> Encrypted:
    """Make the encrypted Secret or ConfigMap of a document."""
    return Encrypted(
        source=SourceLocation(document.path, document.line()),
        text=document.seal,
        name=find_written_name((document.original or document).value),
        values=read_values(document.value),
    )


def find_written_name(value: Any) -> tuple[str, str, str]:
    """Return kind, namespace and name of an object as its file has them, "" if absent."""
    kind, namespace, name = (
        find_member(value, *path) for path in (("kind",), ("metadata", "namespace"), ("metadata", "name"))
    )
    return str(kind or ""), str(namespace or ""), str(name or "")


def read_values(value: Any) -> dict[str, str]:
    """Return the encrypted values of an object, which can only be compared."""
    members = [find_member(value, member) for member in ("data", "stringData")]
    pairs = [pair for member in members if isinstance(member, dict) for pair in member.items()]
    return {key: value for key, value in pairs if isinstance(value, str)}
