"""Counts ASO objects in files that are not read: those that a build left out, or that no kustomization names."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from gitsync.desired.manifests.aso_groups import is_ours, mentions_aso
from gitsync.desired.manifests.document_forms import split_list
from gitsync.desired.manifests.headers import is_object
from gitsync.desired.manifests.yaml_documents import read_documents


def count_aso_objects(files: Mapping[str, bytes]) -> dict[str, int]:
    """Count the ASO objects in each file that has any. An unreadable file has none."""
    counts = {path: _count(path, content) for path, content in files.items() if mentions_aso([content])}
    return {path: count for path, count in counts.items() if count}


def _count(path: str, content: bytes) -> int:
    documents = chain.from_iterable(map(split_list, read_documents(path, content).documents))
    return sum(is_object(document.value) and is_ours(document.value["apiVersion"]) for document in documents)
