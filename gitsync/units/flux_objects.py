"""Flux's objects in documents: its Kustomizations, and the sources that they are built from.

Only what decides where manifests come from, and how they are changed, is read. The fields are those of
kustomize.toolkit.fluxcd.io and source.toolkit.fluxcd.io (https://fluxcd.io/flux/components/kustomize/kustomizations/).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gitsync.manifests.yaml_documents import Document
from gitsync.model.unit import Substitution, Unit, UnitKind, UnitOptions, ValuesReference
from gitsync.problems.field_path import FieldPath
from gitsync.units.controller import Controller, SourceView
from gitsync.units.declarations import Declarations, DeclaredUnit, ObjectName, SourceName
from gitsync.units.flux_variables import CHANGES
from gitsync.units.helm_releases import GROUP, KIND, NAMESPACE, read_helm_chart, read_helm_release, read_oci_repository
from gitsync.units.object_fields import (
    InvalidFieldError,
    built_from,
    read_key,
    read_list,
    read_mapping,
    read_path,
    read_switch,
    read_text,
    read_texts,
)

KUSTOMIZE_GROUP: Final = "kustomize.toolkit.fluxcd.io"
SOURCE_GROUP: Final = "source.toolkit.fluxcd.io"
BOOTSTRAP_FILE: Final = "gotk-sync.yaml"
"""The file that `flux bootstrap` writes: its GitRepository is the repository that the file is in."""

_HOLDERS: Final = frozenset({"ConfigMap", "Secret"})


def _read_repository(document: Document, _: SourceView) -> Declarations:
    name = SourceName("GitRepository", *read_key(document, NAMESPACE))
    is_bootstrapped = posixpath.basename(document.path) == BOOTSTRAP_FILE
    return Declarations(
        repositories={name: read_text(document, ("spec", "url"))},
        bootstrapped=frozenset([name] if is_bootstrapped else []),
    )


def _read_kustomization(document: Document, _: SourceView) -> Declarations:
    key = read_key(document, NAMESPACE)
    source = _read_source(document, key.namespace)
    with built_from(source):
        unit = Unit(
            name=str(key),
            path=read_path(document, ("spec", "path")),
            kind=UnitKind.FLUX,
            file=document.path,
            line=document.line(),
            # Flux builds without kustomize's restriction to files below a kustomization.
            options=UnitOptions(is_restricted=False, substitution=_read_substitution(document, key.namespace)),
            changes=_read_changes(document),
            depends_on=tuple(map(str, _read_dependencies(document, key.namespace))),
            prunes=read_switch(document, ("spec", "prune")),
            is_suspended=read_switch(document, ("spec", "suspend")),
        )
    return Declarations(units=(DeclaredUnit(key=key, source=source, unit=unit),))


def _read_source(document: Document, namespace: str) -> SourceName:
    where: FieldPath = ("spec", "sourceRef")
    return SourceName(
        read_text(document, (*where, "kind")),
        read_text(document, (*where, "namespace"), default=namespace),
        read_text(document, (*where, "name")),
    )


def _read_changes(document: Document) -> dict[str, Any]:
    """The fields of `CHANGES` that are set, each of its type."""
    spec = read_mapping(document, ("spec",))
    found = {name: spec[name] for name in CHANGES if spec.get(name) is not None}
    for name in found:
        _CHANGE_READERS.get(name, read_text)(document, ("spec", name))
    for name in read_mapping(document, ("spec", "commonMetadata")):
        read_texts(document, ("spec", "commonMetadata", name))
    return {name: value for name, value in found.items() if value}


def _read_substitution(document: Document, namespace: str) -> Substitution | None:
    if not read_mapping(document, ("spec", "postBuild")):
        return None
    values = read_texts(document, ("spec", "postBuild", "substitute"))
    return Substitution(values=values, references=tuple(_read_references(document, namespace)))


def _read_references(document: Document, namespace: str) -> Iterator[ValuesReference]:
    where: FieldPath = ("spec", "postBuild", "substituteFrom")
    for index in range(len(read_list(document, where))):
        kind = read_text(document, (*where, index, "kind"))
        if kind not in _HOLDERS:
            raise InvalidFieldError((*where, index, "kind"), f"{kind!r} is neither ConfigMap nor Secret.")
        yield ValuesReference(
            kind=kind,
            namespace=namespace,
            name=read_text(document, (*where, index, "name")),
            optional=read_switch(document, (*where, index, "optional")),
        )


def _read_dependencies(document: Document, namespace: str) -> Iterator[ObjectName]:
    where: FieldPath = ("spec", "dependsOn")
    for index in range(len(read_list(document, where))):
        name = read_text(document, (*where, index, "name"))
        yield ObjectName(read_text(document, (*where, index, "namespace"), default=namespace), name)


_CHANGE_READERS: Final[Mapping[str, Callable[[Document, FieldPath], Any]]] = {
    "patches": read_list,
    "images": read_list,
    "components": read_list,
    "commonMetadata": read_mapping,
}
"""How the fields of `CHANGES` are checked; the others are texts."""


FLUX: Final = Controller(
    name="Flux",
    word=b"toolkit.fluxcd.io/",
    pattern=re.compile(rb"(?:kustomize|source|helm)\.toolkit\.fluxcd\.io/"),
    readers={
        (KUSTOMIZE_GROUP, "Kustomization"): _read_kustomization,
        (SOURCE_GROUP, "GitRepository"): _read_repository,
        (GROUP, KIND): read_helm_release,
        (SOURCE_GROUP, "HelmChart"): read_helm_chart,
        (SOURCE_GROUP, "OCIRepository"): read_oci_repository,
    },
    invalid="InvalidFluxObject",
    as_written=frozenset({(SOURCE_GROUP, "OCIRepository")}),  # only the name of a chart is read
)
