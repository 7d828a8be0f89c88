"""Split lists of manifests: each item becomes a document of its own, with its own lines and problems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitsync.manifests.metadata import is_object
from gitsync.manifests.sops_documents import ENCRYPTED
from gitsync.manifests.yaml_documents import Document
from gitsync.model.problem import Problem

MAX_LISTS = 10  # lists in lists
_ITEM = re.compile(r"items\[(\d+)\](?=[.\[]|\Z)")


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
    problems = _problems_by_item(document.problems)
    for index, item in enumerate(value["items"]):
        if item is not None:
            one = replace(
                document,
                value={**inherited, **item} if isinstance(item, dict) else item,
                lines=document.lines.below(("items", index)),
                problems=problems.get(index, ()),
            )
            yield from split_list(one, depth - 1)


def _problems_by_item(problems: Iterable[Problem]) -> Mapping[int, tuple[Problem, ...]]:
    """The problems of each item, with their fields inside it."""
    found: dict[int, tuple[Problem, ...]] = {}
    for problem in problems:
        if place := _ITEM.match(problem.field):
            inside = replace(problem, field=problem.field[place.end() :].lstrip("."))
            found[int(place[1])] = (*found.get(int(place[1]), ()), inside)
    return found
