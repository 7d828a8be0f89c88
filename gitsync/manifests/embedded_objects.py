"""ASO objects inside documents of other tools, such as kro, Crossplane, Argo Workflows and the templates of a
ClusterClass, and in the texts of ConfigMaps and Secrets: they are counted and named, and not applied.

What those tools make of them depends on values that are in no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitsync.catalog.type_words import format_count
from gitsync.manifests.metadata import is_object
from gitsync.manifests.recognition import is_ours
from gitsync.manifests.yaml_documents import Document
from gitsync.model.gvk import GVK
from gitsync.model.problem import Level, Problem

_FOLLOWED: Final = frozenset(
    {
        "kustomize.config.k8s.io",
        "kustomize.toolkit.fluxcd.io",
        "helm.toolkit.fluxcd.io",
        "apiextensions.k8s.io",
    }
)
"""Groups whose documents have parts of manifests: patches, values, examples."""

_ARGO_CD: Final = frozenset({"Application", "ApplicationSet", "AppProject"})
"""The kinds of argoproj.io that have such parts; a Workflow applies whole manifests."""

_IN_TEXT: Final = re.compile(r"""(?:^|[\s{,\\])["']?apiVersion["']?: *["']?([a-z0-9.]+/[a-z0-9]+)""", re.MULTILINE)


def find_embedded(document: Document) -> tuple[Problem, ...]:
    """A warning that says how many ASO objects a document has inside that is none itself; nothing if it has none."""
    value = document.value
    if not is_object(value):
        return ()
    gvk = GVK.parse(value["apiVersion"], value["kind"])
    has_parts = gvk.group in _FOLLOWED or (gvk.group == "argoproj.io" and gvk.kind in _ARGO_CD)
    count = 0 if has_parts else sum(_count(value[key]) for key in value if key != "metadata")
    if not count:
        return ()
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    objects = format_count(count, "ASO object")
    problem = Problem(
        code="EmbeddedObjects",
        message=f"{gvk.kind}{f' {name}' if name else ''} has {objects} inside, which gitsync does not apply.",
        hint="Write them as manifests of their own. To leave them to another tool, add the file to .gitsyncignore.",
        level=Level.WARNING,
        path=document.path,
        line=document.line(),
    )
    return (problem,)


def _count(value: Any) -> int:
    """How many ASO objects a part of a document has, also in its texts."""
    if isinstance(value, str):
        return sum(is_ours(match[1]) for match in _IN_TEXT.finditer(value))
    is_one = is_object(value) and is_ours(value["apiVersion"]) and bool({"metadata", "spec"} & value.keys())
    return is_one + sum(map(_count, _list_members(value)))


def _list_members(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list):
        yield from value
