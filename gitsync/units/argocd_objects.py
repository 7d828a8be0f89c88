"""Argo CD's Applications in documents: each source in this repository is a unit.

Only what decides where manifests come from, and how they are changed, is read. The fields are those of
argoproj.io/v1alpha1 (https://argo-cd.readthedocs.io/en/stable/user-guide/application-specification/).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from gitsync.manifests.annotations import keeps_resources, read_wave
from gitsync.manifests.yaml_documents import Document
from gitsync.model.unit import Unit, UnitKind
from gitsync.problems.field_path import FieldPath
from gitsync.units.argocd_sources import ApplicationSource, RefusedSourceError, read_form
from gitsync.units.controller import SourceView
from gitsync.units.declarations import THIS_REPOSITORY, Declarations, DeclaredUnit, GitAddress
from gitsync.units.object_fields import (
    InvalidFieldError,
    find_field,
    read_key,
    read_list,
    read_mapping,
    read_optional,
    read_switch,
    read_text,
)
from gitsync.units.published_charts import compare_versions

NAMESPACE: Final = "argocd"
"""The namespace of objects that name none."""

FINALIZER: Final = "resources-finalizer.argocd.argoproj.io"

_SKIPPED: Final = "argocd.argoproj.io/skip-reconcile"


def read_application(document: Document, view: SourceView) -> Declarations:
    """Return the units of an Application: one for each source with manifests. InvalidFieldError if it is none."""
    key = read_key(document, NAMESPACE)
    places = _find_sources(document)
    references = dict(_list_references(document, places))
    built = [where for where in places if _has_manifests(document, where)]
    annotations = read_mapping(document, ("metadata", "annotations"))
    sources = [ApplicationSource(document, where, view, key.name, references) for where in built]
    return Declarations(
        units=tuple(
            DeclaredUnit(
                kind="Application",
                key=key,
                source=THIS_REPOSITORY if one.published else _read_address(document, one.where),
                wave=read_wave(annotations),
                suspended_by=f"the annotation {_SKIPPED}",
                unit=_read_unit(one, f"{key}/{index + 1}" if index else str(key), annotations),
            )
            for index, one in enumerate(sources)
        ),
        problems=tuple(
            problem
            for one in sources
            for problem in compare_versions(document, one.at("targetRevision"), f"Application {key}", one.published)
        ),
    )


def _find_sources(document: Document) -> list[FieldPath]:
    """The fields with sources. Argo CD reads `source` only without `sources`."""
    if several := read_list(document, ("spec", "sources")):
        return [("spec", "sources", index) for index in range(len(several))]
    # What the hydrator writes to the other branch is rendered from the dry source.
    fields: tuple[FieldPath, ...] = (("spec", "source"), ("spec", "sourceHydrator", "drySource"))
    for where in fields:
        if read_mapping(document, where):
            return [where]
    raise InvalidFieldError(("spec", "source"), "The Application has no spec.source.", "Set it.")


def _list_references(document: Document, places: list[FieldPath]) -> Iterator[tuple[str, GitAddress]]:
    """The sources that others call by a name."""
    for where in places:
        if name := read_optional(document, (*where, "ref")):
            yield name, _read_address(document, where)


def _has_manifests(document: Document, where: FieldPath) -> bool:
    """Tell whether a source has manifests, and not only values for others."""
    is_reference = find_field(document, (*where, "ref")) is not None
    return not is_reference or any(find_field(document, (*where, field)) is not None for field in ("path", "chart"))


def _read_address(document: Document, where: FieldPath) -> GitAddress:
    return GitAddress(
        url=read_text(document, (*where, "repoURL")),
        revision=read_optional(document, (*where, "targetRevision")),
        chart=read_optional(document, (*where, "chart")),
    )


def _read_unit(one: ApplicationSource, name: str, annotations: Mapping[str, Any]) -> Unit:
    document = one.document
    unit = Unit(
        name=name,
        path=one.path,
        kind=UnitKind.APPLICATION,
        file=document.path,
        line=document.line(),
        namespace=read_optional(document, ("spec", "destination", "namespace")),
        prunes=_read_prunes(document),
        cascades=_read_cascades(document),
        is_suspended=annotations.get(_SKIPPED) == "true",
    )
    address = _read_address(document, one.where)
    if not one.published and (address.chart or not one.view.repository.has_url(address.url)):
        return unit  # not of this repository, so nothing is known of its files
    try:
        return replace(unit, **read_form(one))
    except RefusedSourceError as refusal:
        return replace(unit, refusal=str(refusal))


def _read_cascades(document: Document) -> bool:
    """Tell whether Argo CD deletes the resources of an Application that is deleted: a finalizer says so."""
    finalizers = read_list(document, ("metadata", "finalizers"))
    return any(isinstance(one, str) and one.partition("/")[0] == FINALIZER for one in finalizers)


def _read_prunes(document: Document) -> bool:
    """Tell whether what is removed from git may be deleted. Who syncs by hand decides then, as with --prune."""
    options = read_list(document, ("spec", "syncPolicy", "syncOptions"))
    if keeps_resources(",".join(one for one in options if isinstance(one, str))):
        return False
    where: FieldPath = ("spec", "syncPolicy", "automated")
    is_automated = isinstance(find_field(document, where), dict)
    if not is_automated or not read_switch(document, (*where, "enabled"), default=True):
        return True
    return read_switch(document, (*where, "prune"))
