"""Argo CD's Applications in documents: each source in this repository is a unit.

Only what decides where manifests come from, and how they are changed, is read. The fields are those of
argoproj.io/v1alpha1 (https://argo-cd.readthedocs.io/en/stable/user-guide/application-specification/).
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from gitsync.manifests.sync_options import keeps_resources, read_wave
from gitsync.manifests.yaml_documents import Document
from gitsync.model.unit import FileSelection, Unit, UnitKind
from gitsync.problems.field_path import FieldPath, format_field
from gitsync.units.controller import SourceView
from gitsync.units.declarations import Declarations, DeclaredUnit, GitAddress
from gitsync.units.globs import compile_glob
from gitsync.units.object_fields import (
    InvalidFieldError,
    find_field,
    read_key,
    read_list,
    read_mapping,
    read_path,
    read_switch,
    read_text,
    read_texts,
)

NAMESPACE: Final = "argocd"
"""The namespace of objects that name none."""

CHART: Final = "Chart.yaml"
OVERRIDES: Final = (".argocd-source.yaml", ".argocd-source-{}.yaml")
"""Files in the folder of a source whose values go over those of the Application; `{}` is its name."""

_SKIPPED: Final = "argocd.argoproj.io/skip-reconcile"
_FORMS: Final = ("directory", "kustomize", "helm", "plugin")
_TEXTS: Final = {"namePrefix": "namePrefix", "nameSuffix": "nameSuffix", "namespace": "targetNamespace"}


class _Source(NamedTuple):
    """One source of an Application: its document, its field, and the name of its object."""

    document: Document
    where: FieldPath
    view: SourceView
    name: str

    def at(self, *fields: str) -> FieldPath:
        return (*self.where, *fields)

    @property
    def path(self) -> str:
        return read_path(self.document, self.at("path"))


def read_application(document: Document, view: SourceView) -> Declarations:
    """Return the units of an Application: one for each source with manifests. InvalidFieldError if it is none."""
    key = read_key(document, NAMESPACE)
    sources = [_Source(document, where, view, key.name) for where in _find_sources(document)]
    built = [one for one in sources if find_field(document, one.at("ref")) is None or _has_manifests(one)]
    annotations = read_mapping(document, ("metadata", "annotations"))
    return Declarations(
        units=tuple(
            DeclaredUnit(
                kind="Application",
                key=key,
                source=_read_address(one),
                wave=read_wave(annotations),
                suspended_by=f"the annotation {_SKIPPED}",
                unit=_read_unit(one, f"{key}/{index + 1}" if index else str(key), annotations),
            )
            for index, one in enumerate(built)
        )
    )


def _find_sources(document: Document) -> list[FieldPath]:
    """The fields with sources. Argo CD reads `source` only without `sources`."""
    if several := read_list(document, ("spec", "sources")):
        return [("spec", "sources", index) for index in range(len(several))]
    # What is in the other branch, of the hydrator, is rendered from the dry source.
    fields: tuple[FieldPath, ...] = (("spec", "source"), ("spec", "sourceHydrator", "drySource"))
    for where in fields:
        if read_mapping(document, where):
            return [where]
    raise InvalidFieldError(("spec", "source"), "The Application has no spec.source.")


def _has_manifests(one: _Source) -> bool:
    return any(find_field(one.document, one.at(field)) is not None for field in ("path", "chart"))


def _read_address(one: _Source) -> GitAddress:
    return GitAddress(
        url=read_text(one.document, one.at("repoURL")),
        revision=read_optional(one.document, one.at("targetRevision")),
        chart=read_optional(one.document, one.at("chart")),
    )


def read_optional(document: Document, where: FieldPath) -> str:
    """A text, "" if it is not set."""
    return "" if find_field(document, where) in ("", None) else read_text(document, where)


def _read_unit(one: _Source, name: str, annotations: Mapping[str, Any]) -> Unit:
    document = one.document
    form = _find_form(one)
    return Unit(
        name=name,
        path=one.path,
        kind=UnitKind.APPLICATION,
        file=document.path,
        line=document.line(),
        namespace=read_optional(document, ("spec", "destination", "namespace")),
        changes=_read_changes(one) if form == "kustomize" else {},
        selection=_read_selection(one) if form == "directory" else None,
        refusal=next((text for refuse in _REFUSALS if (text := refuse(one, form))), ""),
        prunes=_read_prunes(document),
        is_suspended=annotations.get(_SKIPPED) == "true",
    )


def _find_form(one: _Source) -> str:
    """How Argo CD builds a source: as its object says, or else by the files in its folder."""
    named = [form for form in _FORMS if read_mapping(one.document, one.at(form))]
    if len(named) > 1:
        raise InvalidFieldError(one.at(named[1]), f"The source has both {named[0]} and {named[1]}.", "Keep one.")
    if named:
        return named[0]
    if posixpath.join(one.path, CHART) in one.view.reader.tree.paths:
        return "helm"
    return "directory" if one.view.reader.find_in(one.path) is None else "kustomize"


def _read_selection(one: _Source) -> FileSelection:
    return FileSelection(
        recurses=read_switch(one.document, one.at("directory", "recurse")),
        include=_read_glob(one, "include"),
        exclude=_read_glob(one, "exclude"),
    )


def _read_glob(one: _Source, field: str) -> str:
    where = one.at("directory", field)
    glob = read_optional(one.document, where)
    check_glob(glob, where, has_braces=True)
    return glob


def check_glob(glob: str, where: FieldPath, *, has_braces: bool = False) -> None:
    """InvalidFieldError if a text is no glob."""
    try:
        compile_glob(glob, crosses_folders=True, has_braces=has_braces)
    except ValueError as error:
        raise InvalidFieldError(where, f"{format_field(where)} is not a glob: {error}.", "Fix it.") from error


def _read_changes(one: _Source) -> dict[str, Any]:
    """The changes of a kustomize source, by the names that Flux has for them."""
    document, at = one.document, one.at
    labels = read_texts(document, at("kustomize", "commonLabels"))
    annotations = read_texts(document, at("kustomize", "commonAnnotations"))
    changes: dict[str, Any] = {
        **{change: read_optional(document, at("kustomize", field)) for field, change in _TEXTS.items()},
        "patches": read_list(document, at("kustomize", "patches")),
        "components": list(_list_components(one)),
        "images": list(_list_images(one)),
        "commonMetadata": {name: value for name, value in (("labels", labels), ("annotations", annotations)) if value},
    }
    return {name: value for name, value in changes.items() if value}


def _list_components(one: _Source) -> Iterator[str]:
    where = one.at("kustomize", "components")
    ignores = read_switch(one.document, one.at("kustomize", "ignoreMissingComponents"))
    for index in range(len(read_list(one.document, where))):
        text = read_text(one.document, (*where, index))
        folder = posixpath.normpath(posixpath.join(one.path, text))
        if not ignores or one.view.reader.find_in(folder) is not None:
            yield text


def _list_images(one: _Source) -> Iterator[dict[str, str]]:
    """Images such as `name=other:tag`, as `kustomize edit set image` reads them."""
    where = one.at("kustomize", "images")
    for index in range(len(read_list(one.document, where))):
        name, is_renamed, other = read_text(one.document, (*where, index)).rpartition("=")
        place, is_digest, digest = other.partition("@")
        folder, slash, last = place.rpartition("/")
        last, _, tag = last.partition(":")
        image = f"{folder}{slash}{last}"
        found = {"name": name or image, "newName": image if is_renamed else "", "newTag": tag}
        found["digest"] = digest if is_digest else ""
        yield {field: value for field, value in found.items() if value}


def _read_prunes(document: Document) -> bool:
    """Tell whether what leaves git may be deleted. If somebody syncs by hand, that person decides, as with --prune."""
    options = read_list(document, ("spec", "syncPolicy", "syncOptions"))
    if keeps_resources(",".join(one for one in options if isinstance(one, str))):
        return False
    where: FieldPath = ("spec", "syncPolicy", "automated")
    is_automated = isinstance(find_field(document, where), dict)
    if not is_automated or not read_switch(document, (*where, "enabled"), default=True):
        return True
    return read_switch(document, (*where, "prune"))


def _refuse_form(one: _Source, form: str) -> str:
    del one
    texts = {
        "plugin": "It is built with a plugin, which gitsync does not run.",
        "helm": "It is built from a Helm chart, which gitsync does not render.",
    }
    return texts.get(form, "")


def _refuse_overrides(one: _Source, form: str) -> str:
    del form
    paths = (posixpath.join(one.path, name.format(one.name)) for name in OVERRIDES)
    found = next((path for path in paths if path in one.view.reader.tree.paths), None)
    return f"{found} goes over its values, and is not read." if found else ""


def _refuse_environment(one: _Source, form: str) -> str:
    is_replaced = form == "kustomize" and read_switch(one.document, one.at("kustomize", "commonAnnotationsEnvsubst"))
    annotations = read_texts(one.document, one.at("kustomize", "commonAnnotations")) if is_replaced else {}
    has_variables = any("$" in text for text in annotations.values())
    return "Its commonAnnotations have variables of Argo CD, which gitsync does not replace." if has_variables else ""


_REFUSALS: Final[tuple[Callable[[_Source, str], str], ...]] = (_refuse_form, _refuse_overrides, _refuse_environment)
"""Why a source is not built, as a sentence; "" if it is."""
