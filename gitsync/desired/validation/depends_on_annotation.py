"""The annotation `gitsync/depends-on`, which orders resources between which no value flows (docs/manifests.md#order):
names of other manifests, separated by commas. The resource is created after them, and deleted before them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from gitsync.desired.catalog.type_words import quote_scalar
from gitsync.desired.manifests.written_names import WrittenNames
from gitsync.desired.problems.finding import Finding
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.problem import SourceLocation
from gitsync.model.resource import Resource

DEPENDS_ON: Final = "gitsync/depends-on"
DEPENDS_ON_PATH: Final = ("metadata", "annotations", DEPENDS_ON)
CODE: Final = "DependsOnAnnotation"


class NamedDependencies:
    """Finds what the annotations of one set of manifests name."""

    def __init__(self, manifests: Manifests) -> None:
        unusable = manifests.unusable
        everywhere = (*manifests.resources, *manifests.elsewhere)
        is_used = any(DEPENDS_ON in resource.annotations for resource in manifests.resources)
        # Few sources have the annotation, and the index of a large estate takes time.
        self._names = WrittenNames(
            (*(r.key for r in everywhere), *manifests.known) if is_used else (), unusable.unbuilt
        )
        self._unusable = {
            **{key: (source, "its kustomization leaves that file out") for key, source in unusable.left_out.items()},
            **{key: (source, "that document cannot be used") for key, source in unusable.rejected.items()},
        }

    def of(self, resource: Resource) -> tuple[tuple[Key, ...], tuple[Finding, ...]]:
        """Return the resources that a manifest names, sorted, and what is wrong with the annotation."""
        keys, findings = set[Key](), list[Finding]()
        for text in _split(resource.annotations):
            found = self._names.find(text, resource.key.namespace, code=CODE, path=DEPENDS_ON_PATH)
            if isinstance(found, Finding):
                findings.append(self._explain_unusable(found, text))
            # A cycle of one: the run would wait for itself.
            elif found == resource.key:
                message = f"{quote_scalar(text)} is the resource itself, which cannot come before itself."
                findings.append(
                    Finding(code=CODE, path=DEPENDS_ON_PATH, message=message, hint=f"Remove {quote_scalar(text)}.")
                )
            else:
                keys.add(found)
        return tuple(sorted(keys)), tuple(findings)

    def _explain_unusable(self, finding: Finding, text: str) -> Finding:
        """Name the document that declares an unknown resource, if gitsync cannot use it."""
        source, why = next(self._list_unusable(text), (None, ""))
        return replace(finding, hint=f"{source} declares it, but {why}. Fix that first.") if source else finding

    def _list_unusable(self, text: str) -> Iterator[tuple[SourceLocation, str]]:
        kind, _, name = text.rpartition("/")
        kinds = {kind, kind.partition("/")[2]}
        for key, found in self._unusable.items():
            if key.name == name and not kinds.isdisjoint({key.kind, f"{key.kind}.{key.group}"}):
                yield found


def _split(annotations: Mapping[str, str]) -> list[str]:
    """List the entries of the annotation; an empty text counts as absent."""
    text = annotations.get(DEPENDS_ON, "")
    return [entry.strip() for entry in text.split(",")] if text.strip() else []
