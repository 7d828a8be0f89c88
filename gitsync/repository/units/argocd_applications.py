"""Reads Argo CD's Applications in documents: each source in this repository is a unit, built from a directory, a
kustomization or a Helm chart.

Only what decides where manifests come from, and how they are changed, is read. The fields are those of
argoproj.io/v1alpha1 (https://argo-cd.readthedocs.io/en/stable/user-guide/application-specification/);
https://argo-cd.readthedocs.io/en/stable/user-guide/application_sources/ explains which of them wins.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from gitsync.desired.manifests.policy_annotations import keeps_resources, read_wave
from gitsync.desired.manifests.yaml_documents import Document, read_documents
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.model.unit import ChartRelease, ChartValues, FileSelection, ObjectSettings, SetValue, Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.charts import CHART, Chart
from gitsync.repository.units.declarations import THIS_REPOSITORY, Declarations, DeclaredUnit, GitAddress
from gitsync.repository.units.kustomization_files import resolve
from gitsync.repository.units.object_fields import (
    InvalidFieldError,
    SourceView,
    compare_versions,
    find_field,
    read_key,
    read_list,
    read_mapping,
    read_optional,
    read_path,
    read_switch,
    read_text,
    read_texts,
)
from gitsync.repository.units.unit_files import compile_glob

OVERRIDES: Final = (".argocd-source.yaml", ".argocd-source-{}.yaml")
"""Files in the folder of a source whose values go over those of the Application; `{}` is its name."""

_TEXTS: Final = {"namePrefix": "namePrefix", "nameSuffix": "nameSuffix", "namespace": "targetNamespace"}
_VARIABLE: Final = "ARGOCD_"

NAMESPACE: Final = "argocd"
"""The namespace of objects that name none."""

FINALIZER: Final = UnitKind.APPLICATION.value.finalizer

_SKIPPED: Final = "argocd.argoproj.io/skip-reconcile"


class RefusedSourceError(Exception):
    """A source that gitsync does not build; caught in this module. The message is a sentence with the reason."""


class ApplicationSource(NamedTuple):
    """One source of an Application."""

    document: Document
    where: FieldPath  # its field in the document
    view: SourceView
    name: str  # of its object
    references: Mapping[str, GitAddress]  # the sources that others call by a name

    def locate(self, *fields: str | int) -> FieldPath:
        return (*self.where, *fields)

    @property
    def published(self) -> Chart | None:
        """The chart of this repository that is published under the name in the source."""
        return self.view.charts.get(read_optional(self.document, self.locate("chart")))

    @property
    def path(self) -> str:
        return self.published.folder if self.published else read_path(self.document, self.locate("path"))

    @property
    def paths(self) -> Any:
        """The files of this repository."""
        return self.view.reader.tree.paths


def read_application(document: Document, view: SourceView) -> Declarations:
    """Return the units of an Application: one for each source with manifests. Raises InvalidFieldError if it cannot be
    read.
    """
    key = read_key(document, NAMESPACE)
    locations = _list_sources(document)
    references = dict(_list_references(document, locations))
    # A source with a name has no manifests but values for others, unless it has a path or a chart too.
    built = [
        where
        for where in locations
        if find_field(document, (*where, "ref")) is None
        or any(find_field(document, (*where, field)) is not None for field in ("path", "chart"))
    ]
    annotations = read_mapping(document, ("metadata", "annotations"))
    sources = [ApplicationSource(document, where, view, key.name, references) for where in built]
    return Declarations(
        units=tuple(
            DeclaredUnit(
                kind="Application",
                key=key,
                source=THIS_REPOSITORY if application.published else _read_address(document, application.where),
                wave=read_wave(annotations),
                suspended_by=f"the annotation {_SKIPPED}",
                unit=_read_unit(application, f"{key}/{index + 1}" if index else str(key), annotations),
            )
            for index, application in enumerate(sources)
        ),
        problems=tuple(
            problem
            for application in sources
            for problem in compare_versions(
                document, application.locate("targetRevision"), f"Application {key}", application.published
            )
        ),
    )


def _list_sources(document: Document) -> list[FieldPath]:
    """List the fields with sources."""
    # Argo CD reads `source` only without `sources`.
    if several := read_list(document, ("spec", "sources")):
        return [("spec", "sources", index) for index in range(len(several))]
    # What the hydrator writes to the other branch is rendered from the dry source.
    fields: tuple[FieldPath, ...] = (("spec", "source"), ("spec", "sourceHydrator", "drySource"))
    for where in fields:
        if read_mapping(document, where):
            return [where]
    raise InvalidFieldError(("spec", "source"), "The Application has no spec.source.", "Set it.")


def _list_references(document: Document, locations: list[FieldPath]) -> Iterator[tuple[str, GitAddress]]:
    """List the sources that others call by a name."""
    for where in locations:
        if name := read_optional(document, (*where, "ref")):
            yield name, _read_address(document, where)


def _read_address(document: Document, where: FieldPath) -> GitAddress:
    return GitAddress(
        url=read_text(document, (*where, "repoURL")),
        revision=read_optional(document, (*where, "targetRevision")),
        chart=read_optional(document, (*where, "chart")),
    )


def _read_unit(source: ApplicationSource, name: str, annotations: Mapping[str, Any]) -> Unit:
    document = source.document
    finalizers = read_list(document, ("metadata", "finalizers"))
    settings = ObjectSettings(
        prunes=_read_prunes(document),
        # with a finalizer, Argo CD deletes the resources of an Application that is deleted
        cascades=any(
            isinstance(finalizer, str) and finalizer.partition("/")[0] == FINALIZER for finalizer in finalizers
        ),
        is_suspended=annotations.get(_SKIPPED) == "true",
    )
    unit = Unit(
        name=name,
        path=source.path,
        kind=UnitKind.APPLICATION,
        file=document.path,
        line=document.line(),
        namespace=read_optional(document, ("spec", "destination", "namespace")),
        settings=settings,
    )
    address = _read_address(document, source.where)
    if not source.published and (address.chart or not source.view.repository.has_url(address.url)):
        return unit  # not of this repository, so nothing is known of its files
    try:
        form = read_form(source)
    except RefusedSourceError as refusal:
        return replace(unit, settings=replace(settings, refusal=str(refusal)))
    settings = replace(settings, changes=form.changes, selection=form.selection)
    return replace(unit, release=form.release, settings=settings)


def _read_prunes(document: Document) -> bool:
    """Return whether removed resources may be deleted."""
    options = read_list(document, ("spec", "syncPolicy", "syncOptions"))
    if keeps_resources(",".join(option for option in options if isinstance(option, str))):
        return False
    where: FieldPath = ("spec", "syncPolicy", "automated")
    is_automated = isinstance(find_field(document, where), dict)
    # In a manual sync, its user decides, as with --prune.
    if not is_automated or not read_switch(document, (*where, "enabled"), default=True):
        return True
    return read_switch(document, (*where, "prune"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceForm:
    """How Argo CD builds a source: as a chart, with changes of a kustomization, or from files as they are."""

    release: ChartRelease | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    selection: FileSelection | None = None


def read_form(source: ApplicationSource) -> SourceForm:
    """Return how a source is built. Raises RefusedSourceError if gitsync does not build it, InvalidFieldError if it
    cannot be read.
    """
    overrides = (posixpath.join(source.path, name.format(source.name)) for name in OVERRIDES)
    # Image updaters write these files: the values in the Application would not be the deployed ones.
    if found := next((path for path in overrides if path in source.paths), None):
        raise RefusedSourceError(f"{found} changes its values, but is not read.")
    return _FORMS[_choose_form(source)](source)


def _choose_form(source: ApplicationSource) -> str:
    """Choose how Argo CD builds a source: as its object specifies, or else by the files in its folder."""
    named = [form for form in _FORMS if read_mapping(source.document, source.locate(form))]
    if len(named) > 1:
        raise InvalidFieldError(source.locate(named[1]), f"The source has both {named[0]} and {named[1]}.", "Keep one.")
    if named:
        return named[0]
    if posixpath.join(source.path, CHART) in source.paths:
        return "helm"
    return "directory" if source.view.reader.find_in(source.path) is None else "kustomize"


def _read_plugin(source: ApplicationSource) -> SourceForm:
    del source
    raise RefusedSourceError("It is built with a plugin, which gitsync does not run.")


def _read_directory(source: ApplicationSource) -> SourceForm:
    selection = FileSelection(
        recurses=read_switch(source.document, source.locate("directory", "recurse")),
        include=_read_glob(source, "include"),
        exclude=_read_glob(source, "exclude"),
    )
    return SourceForm(selection=selection)


def _read_glob(source: ApplicationSource, field: str) -> str:
    where = source.locate("directory", field)
    glob = read_optional(source.document, where)
    if glob:
        check_glob(glob, where, has_braces=True)
    return glob


def check_glob(glob: str, where: FieldPath, *, has_braces: bool = False) -> None:
    """Check that a text is a glob. Raises InvalidFieldError if it is not."""
    try:
        compile_glob(glob, crosses_folders=True, has_braces=has_braces)
    except ValueError as error:
        raise InvalidFieldError(where, f"{format_field(where)} is not a glob: {error}.", "Fix it.") from error


def _read_kustomize(source: ApplicationSource) -> SourceForm:
    """Read the changes of a kustomize source, by the names that Flux has for them."""
    document, locate = source.document, source.locate
    if source.view.reader.find_in(source.path) is None:
        raise RefusedSourceError(f"There is no kustomization in {source.path or '.'}.")
    labels = read_texts(document, locate("kustomize", "commonLabels"))
    annotations = read_texts(document, locate("kustomize", "commonAnnotations"))
    if read_switch(document, locate("kustomize", "commonAnnotationsEnvsubst")):
        _refuse_variables(*annotations.values())
    changes: dict[str, Any] = {
        **{change: read_optional(document, locate("kustomize", field)) for field, change in _TEXTS.items()},
        "patches": read_list(document, locate("kustomize", "patches")),
        "components": list(_list_components(source)),
        "images": list(_list_images(source)),
        "commonMetadata": {name: value for name, value in (("labels", labels), ("annotations", annotations)) if value},
    }
    return SourceForm(changes={name: value for name, value in changes.items() if value})


def _list_components(source: ApplicationSource) -> Iterator[str]:
    ignores = read_switch(source.document, source.locate("kustomize", "ignoreMissingComponents"))
    for text in _list_texts(source, "kustomize", "components"):
        if not ignores or source.view.reader.find_in(resolve(source.path, text)) is not None:
            yield text


def _list_images(source: ApplicationSource) -> Iterator[dict[str, str]]:
    """Images such as `name=other:tag`, as `kustomize edit set image` reads them."""
    for text in _list_texts(source, "kustomize", "images"):
        name, is_renamed, other = text.rpartition("=")
        location, _, digest = other.partition("@")
        folder, slash, last = location.rpartition("/")
        last, _, tag = last.partition(":")
        image = f"{folder}{slash}{last}"
        found = {"name": name or image, "newName": image if is_renamed else "", "newTag": tag, "digest": digest}
        yield {field: value for field, value in found.items() if value}


def _list_texts(source: ApplicationSource, *fields: str) -> Iterator[str]:
    where = source.locate(*fields)
    yield from (read_text(source.document, (*where, index)) for index in range(len(read_list(source.document, where))))


def _read_helm(source: ApplicationSource) -> SourceForm:
    document, locate = source.document, source.locate
    if posixpath.join(source.path, CHART) not in source.paths:
        raise RefusedSourceError(f"There is no {CHART} in {source.path or '.'}.")
    namespace = read_optional(document, ("spec", "destination", "namespace"))
    version = read_optional(document, locate("helm", "kubeVersion"))
    release = ChartRelease(
        name=read_optional(document, locate("helm", "releaseName")) or source.name,
        namespace=read_optional(document, locate("helm", "namespace")) or namespace,
        # Later ones win: files, then values, then parameters.
        values=(
            *_list_value_files(source),
            *_list_values(source),
            *_list_parameters(source),
            *_list_file_parameters(source),
        ),
        kubernetes=(*([version] if version else []), *_list_texts(source, "helm", "apiVersions")),
    )
    return SourceForm(release=release)


def _list_value_files(source: ApplicationSource) -> Iterator[str]:
    ignores = read_switch(source.document, source.locate("helm", "ignoreMissingValueFiles"))
    for index, text in enumerate(_list_texts(source, "helm", "valueFiles")):
        path = _find_values_file(source, source.locate("helm", "valueFiles", index), text)
        if not ignores or path in source.paths:
            yield path


def _find_values_file(source: ApplicationSource, where: FieldPath, text: str) -> str:
    """Find the path of a values file from the root of this repository."""
    if "://" in text:
        raise RefusedSourceError(f"Its values are at {text}, and gitsync does not fetch remote files.")
    name, _, inside = text.removeprefix("$").partition("/")
    if text.startswith("$") and name in source.references:
        address, repository = source.references[name], source.view.repository
        if not (repository.has_url(address.url) and repository.has_revision(address.revision)):
            raise RefusedSourceError(f"Its values are in {address} at another revision, or in another repository.")
        return _check_inside(resolve("", inside), where, text)
    _refuse_variables(text)
    return _check_inside(resolve("" if text.startswith("/") else source.path, text.lstrip("/")), where, text)


def _check_inside(path: str, where: FieldPath, text: str) -> str:
    if path.partition("/")[0] == "..":
        raise InvalidFieldError(where, f"The path {text!r} leads out of the repository.", "Fix the path.")
    return path


def _list_values(source: ApplicationSource) -> Iterator[ChartValues]:
    """List the values in the object: those of `values`, a text, count only without `valuesObject`."""
    if values := read_mapping(source.document, source.locate("helm", "valuesObject")):
        yield values
        return
    where = source.locate("helm", "values")
    text = read_optional(source.document, where)
    contents = read_documents(source.document.path, text.encode())
    found = [document.value for document in contents.documents if document.value is not None]
    if contents.problems or len(found) > 1 or not all(isinstance(value, dict) for value in found):
        raise InvalidFieldError(where, f"{format_field(where)} is not a mapping in YAML.", "Fix it.")
    yield from found


def _list_parameters(source: ApplicationSource) -> Iterator[SetValue]:
    where = source.locate("helm", "parameters")
    for index in range(len(read_list(source.document, where))):
        text = read_optional(source.document, (*where, index, "value"))
        _refuse_variables(text)
        yield SetValue(
            path=read_text(source.document, (*where, index, "name")),
            text=text,
            is_text=read_switch(source.document, (*where, index, "forceString")),
        )


def _list_file_parameters(source: ApplicationSource) -> Iterator[SetValue]:
    where = source.locate("helm", "fileParameters")
    for index in range(len(read_list(source.document, where))):
        location = (*where, index, "path")
        path = _find_values_file(source, location, read_text(source.document, location))
        if path not in source.paths:
            raise InvalidFieldError(location, f"{path} is not a file of this repository.", "Fix the path.")
        source.view.used.add(path)
        text = source.view.reader.tree.read([path])[path].decode("utf-8", "replace")
        name = read_text(source.document, (*where, index, "name"))
        # The text of a file is taken as it is, so a backslash in it must not escape what follows.
        yield SetValue(path=name, text=text.replace("\\", "\\\\"), is_text=True)


def _refuse_variables(*texts: str) -> None:
    if any("$" in text and _VARIABLE in text for text in texts):
        raise RefusedSourceError("It has Argo CD variables, which gitsync does not replace.")


_FORMS: Final[Mapping[str, Callable[[ApplicationSource], SourceForm]]] = {
    "directory": _read_directory,
    "kustomize": _read_kustomize,
    "helm": _read_helm,
    "plugin": _read_plugin,
}
