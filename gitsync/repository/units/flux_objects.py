"""Reads Flux's objects in documents: Kustomizations, HelmReleases, and the sources that they are built from.

Only what decides where manifests come from, and how they are changed, is read. The fields are those of
kustomize.toolkit.fluxcd.io, source.toolkit.fluxcd.io (https://fluxcd.io/flux/components/kustomize/kustomizations/) and
helm.toolkit.fluxcd.io (https://fluxcd.io/flux/components/helm/helmreleases/).

A chart at a path of a GitRepository is rendered if that is this repository; a HelmChart may stand for it. One of a
HelmRepository or a registry is rendered if gitsync.yaml states that a chart of the same name in this repository is
published.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gitsync.desired.manifests.yaml_documents import Document
from gitsync.desired.problems.field_path import FieldPath
from gitsync.model.unit import (
    ChartRelease,
    ChartValues,
    ObjectSettings,
    Substitution,
    Unit,
    UnitOptions,
    ValuesKey,
    ValuesReference,
)
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.charts import Chart
from gitsync.repository.units.declarations import (
    THIS_REPOSITORY,
    ChartSource,
    Declarations,
    DeclaredUnit,
    ObjectName,
    SourceName,
)
from gitsync.repository.units.flux_variables import CHANGES
from gitsync.repository.units.object_fields import (
    Controller,
    InvalidFieldError,
    SourceView,
    attribute_errors_to,
    compare_versions,
    find_field,
    read_key,
    read_list,
    read_mapping,
    read_path,
    read_switch,
    read_text,
    read_texts,
)

HELM_GROUP: Final = "helm.toolkit.fluxcd.io"
KUSTOMIZE_GROUP: Final = "kustomize.toolkit.fluxcd.io"
SOURCE_GROUP: Final = "source.toolkit.fluxcd.io"
BOOTSTRAP_FILE: Final = "gotk-sync.yaml"
"""The file that `flux bootstrap` writes: its GitRepository is the repository that the file is in."""

KIND: Final = "HelmRelease"
NAMESPACE: Final = "flux-system"
"""The namespace of Flux objects that name none: that of `flux bootstrap`."""

_CHART: Final[FieldPath] = ("spec", "chart", "spec")
_LONGEST_NAME: Final = 53
_DIGEST: Final = 12
_HOLDERS: Final = frozenset({"ConfigMap", "Secret"})

_CHANGE_READERS: Final[Mapping[str, Callable[[Document, FieldPath], Any]]] = {
    "patches": read_list,
    "images": read_list,
    "components": read_list,
    "commonMetadata": read_mapping,
}
"""How the fields of `CHANGES` are checked; the others are texts."""


def _read_repository(document: Document, _: SourceView) -> Declarations:
    name = SourceName("GitRepository", *read_key(document, NAMESPACE))
    is_bootstrapped = posixpath.basename(document.path) == BOOTSTRAP_FILE
    return Declarations(
        repositories={name: read_text(document, ("spec", "url"))},
        bootstrapped=frozenset([name] if is_bootstrapped else []),
    )


def _read_kustomization(document: Document, _: SourceView) -> Declarations:
    key = read_key(document, NAMESPACE)
    source = _read_kustomization_source(document, key.namespace)
    with attribute_errors_to(source):
        unit = Unit(
            name=str(key),
            path=read_path(document, ("spec", "path")),
            kind=UnitKind.FLUX,
            file=document.path,
            line=document.line(),
            # Flux builds without kustomize's restriction to files below a kustomization.
            options=UnitOptions(is_restricted=False, substitution=_read_substitution(document, key.namespace)),
            settings=ObjectSettings(
                changes=_read_kustomization_changes(document),
                depends_on=tuple(map(str, _read_dependencies(document, key.namespace))),
                prunes=read_switch(document, ("spec", "prune")),
                is_suspended=read_switch(document, ("spec", "suspend")),
            ),
        )
    return Declarations(units=(DeclaredUnit(key=key, source=source, unit=unit),))


def _read_kustomization_source(document: Document, namespace: str) -> SourceName:
    where: FieldPath = ("spec", "sourceRef")
    return SourceName(
        read_text(document, (*where, "kind")),
        read_text(document, (*where, "namespace"), default=namespace),
        read_text(document, (*where, "name")),
    )


def _read_kustomization_changes(document: Document) -> dict[str, Any]:
    """Read the fields of `CHANGES` that are set, each of its type."""
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


def read_helm_release(document: Document, view: SourceView) -> Declarations:
    """Return the unit of a HelmRelease. Raises InvalidFieldError if it cannot be read."""
    key = read_key(document, NAMESPACE)
    namespace = _read_optional(document, "targetNamespace") or key.namespace
    source = _read_chart_source(document, key.namespace)
    published = _find_published(document, _CHART, source, view)
    with attribute_errors_to(THIS_REPOSITORY if published else source):
        chart = _read_chart(document, _CHART, source, published, view)
        declared = DeclaredUnit(
            kind=KIND,
            key=key,
            source=chart.source,
            unit=Unit(
                name=_name_unit(key),
                path=chart.path,
                kind=UnitKind.HELM_RELEASE,
                file=document.path,
                line=document.line(),
                namespace=namespace,
                release=ChartRelease(
                    name=_read_name(document, key),
                    namespace=namespace,
                    values=(*chart.values, *_read_values(document, key.namespace)),
                    changes=_read_release_changes(document),
                ),
                settings=ObjectSettings(
                    depends_on=tuple(map(_name_unit, _read_dependencies(document, key.namespace))),
                    is_suspended=read_switch(document, ("spec", "suspend")),
                ),
            ),
        )
    versions = compare_versions(document, (*_CHART, "version"), f"{KIND} {key}", published)
    return Declarations(units=(declared,), problems=tuple(versions))


def read_helm_chart(document: Document, view: SourceView) -> Declarations:
    """Return the chart of a HelmChart, which a HelmRelease may refer to. Raises InvalidFieldError if it cannot be
    read.
    """
    key, where = read_key(document, NAMESPACE), ("spec",)
    source = SourceName(
        read_text(document, (*where, "sourceRef", "kind")),
        key.namespace,
        read_text(document, (*where, "sourceRef", "name")),
    )
    published = _find_published(document, where, source, view)
    return Declarations(
        charts={SourceName("HelmChart", *key): _read_chart(document, where, source, published, view)},
        problems=tuple(compare_versions(document, (*where, "version"), f"HelmChart {key}", published)),
    )


def read_oci_repository(document: Document, view: SourceView) -> Declarations:
    """Return the published chart that an OCIRepository has, which a HelmRelease may refer to."""
    url = find_field(document, ("spec", "url"))
    published = view.charts.get(posixpath.basename(url.rstrip("/"))) if isinstance(url, str) else None
    if published is None:
        return Declarations()
    name = SourceName("OCIRepository", *read_key(document, NAMESPACE))
    return Declarations(
        charts={name: ChartSource(THIS_REPOSITORY, published.folder)},
        problems=tuple(compare_versions(document, ("spec", "ref", "tag"), str(name), published)),
    )


def _name_unit(key: ObjectName) -> str:
    """Make the name of a unit: with its kind, for a Kustomization may have the same name."""
    return f"{key.namespace}/{KIND}-{key.name}"


def _read_optional(document: Document, name: str) -> str:
    is_set = read_mapping(document, ("spec",)).get(name) is not None
    return read_text(document, ("spec", name)) if is_set else ""


def _find_published(document: Document, where: FieldPath, source: SourceName, view: SourceView) -> Chart | None:
    """Find the chart of this repository that is published under the name in an object. In git it has a path."""
    name = find_field(document, (*where, "chart"))
    return view.charts.get(name) if isinstance(name, str) and source.kind != "GitRepository" else None


def _read_chart(
    document: Document, where: FieldPath, source: SourceName, published: Chart | None, view: SourceView
) -> ChartSource:
    """Read the source of a chart, its folder there, and its values files; of a published chart, those that it has."""
    if published:
        source, folder, root = THIS_REPOSITORY, published.folder, published.folder
    elif source.kind == "GitRepository":
        read_text(document, (*where, "chart"))
        folder, root = read_path(document, (*where, "chart")), ""
    else:
        folder = root = ""
    return ChartSource(source, folder, tuple(_list_values_files(document, where, view, root)))


def _read_chart_source(document: Document, namespace: str) -> SourceName:
    where: FieldPath = (*_CHART, "sourceRef") if read_mapping(document, ("spec", "chart")) else ("spec", "chartRef")
    return SourceName(
        read_text(document, (*where, "kind")),
        read_text(document, (*where, "namespace"), default=namespace),
        read_text(document, (*where, "name")),
    )


def _read_name(document: Document, key: ObjectName) -> str:
    """Read the name of the release: by default, that of the object, with its namespace before it if it is another
    one.
    """
    if name := _read_optional(document, "releaseName"):
        return name
    target = _read_optional(document, "targetNamespace")
    name = f"{target}-{key.name}" if target else key.name
    # Flux shortens longer names in the same way, and a chart may use the name.
    if len(name) <= _LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    return f"{name[: _LONGEST_NAME - _DIGEST - 1]}-{digest}"


def _read_values(document: Document, namespace: str) -> Iterator[ChartValues]:
    """Read the values over those of files, the strongest last: objects, and those of the HelmRelease itself."""
    where: FieldPath = ("spec", "valuesFrom")
    for index in range(len(read_list(document, where))):
        yield _read_values_key(document, (*where, index), namespace)
    yield read_mapping(document, ("spec", "values"))


def _list_values_files(document: Document, where: FieldPath, view: SourceView, root: str) -> Iterator[str]:
    """List the values files of a chart, by their paths in this repository. What they are relative to is at `root`."""
    ignores = read_switch(document, (*where, "ignoreMissingValuesFiles"))
    for index in range(len(read_list(document, (*where, "valuesFiles")))):
        path = posixpath.join(root, read_path(document, (*where, "valuesFiles", index)))
        if not ignores or path in view.reader.tree.paths:
            yield path


def _read_values_key(document: Document, where: FieldPath, namespace: str) -> ValuesKey:
    kind = read_text(document, (*where, "kind"))
    if kind not in _HOLDERS:
        raise InvalidFieldError((*where, "kind"), f"{kind!r} is neither ConfigMap nor Secret.")
    has_path = read_mapping(document, where).get("targetPath") is not None
    return ValuesKey(
        reference=ValuesReference(
            kind=kind,
            namespace=namespace,
            name=read_text(document, (*where, "name")),
            optional=read_switch(document, (*where, "optional")),
        ),
        key=read_text(document, (*where, "valuesKey"), default="values.yaml"),
        path=read_text(document, (*where, "targetPath")) if has_path else "",
    )


def _read_release_changes(document: Document) -> dict[str, Any]:
    """Read fields of a kustomization: what the post-renderers and the common metadata change."""
    changes: dict[str, Any] = {}
    for index in range(len(read_list(document, ("spec", "postRenderers")))):
        where: FieldPath = ("spec", "postRenderers", index, "kustomize")
        for name in read_mapping(document, where):
            changes.setdefault(name, []).extend(_read_post_renderer(document, (*where, name)))
    if labels := read_texts(document, ("spec", "commonMetadata", "labels")):
        changes["labels"] = [{"pairs": dict(labels)}]
    if annotations := read_texts(document, ("spec", "commonMetadata", "annotations")):
        changes["commonAnnotations"] = dict(annotations)
    return changes


def _read_post_renderer(document: Document, where: FieldPath) -> Iterator[Any]:
    """Read the patches or images of a post-renderer."""
    name, entries = where[-1], read_list(document, where)
    if name not in {"patches", "images"}:
        raise InvalidFieldError(where, f"gitsync does not apply {name}.", "Write them as `patches`.")
    for index in range(len(entries)):
        if name == "images":
            yield read_mapping(document, (*where, index))
            continue
        target = read_mapping(document, (*where, index, "target"))
        # Each patch is written out, so none names a file.
        patch = read_text(document, (*where, index, "patch"))
        yield {"patch": patch, "target": dict(target)} if target else {"patch": patch}


def _read_dependencies(document: Document, namespace: str) -> Iterator[ObjectName]:
    where: FieldPath = ("spec", "dependsOn")
    for index in range(len(read_list(document, where))):
        name = read_text(document, (*where, index, "name"))
        yield ObjectName(read_text(document, (*where, index, "namespace"), default=namespace), name)


FLUX: Final = Controller(
    name="Flux",
    word=b"toolkit.fluxcd.io/",
    pattern=re.compile(rb"(?:kustomize|source|helm)\.toolkit\.fluxcd\.io/"),
    readers={
        (KUSTOMIZE_GROUP, "Kustomization"): _read_kustomization,
        (SOURCE_GROUP, "GitRepository"): _read_repository,
        (HELM_GROUP, KIND): read_helm_release,
        (SOURCE_GROUP, "HelmChart"): read_helm_chart,
        (SOURCE_GROUP, "OCIRepository"): read_oci_repository,
    },
    invalid="InvalidFluxObject",
    as_written=frozenset({(SOURCE_GROUP, "OCIRepository")}),  # only the name of a chart is read
)
