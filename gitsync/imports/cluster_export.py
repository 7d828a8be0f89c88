"""Manifests from the objects of a cluster that runs ASO, as `kubectl get -o yaml` or `-o json` prints them.

An object has more than its manifest: status, finalizers, owner references, and the notes of every tool that touched it.
What a person wrote stays: names, labels, annotations and spec.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from gitsync.catalog.catalog import NOT_ARM, Catalog
from gitsync.catalog.later_versions import find_lacking, find_later_version, is_same_version
from gitsync.catalog.unknown_kind import explain_unknown_kind
from gitsync.imports.object_metadata import clean_metadata
from gitsync.manifests.list_items import split_list
from gitsync.manifests.metadata import Header, is_object, read_header
from gitsync.manifests.recognition import is_ours
from gitsync.manifests.yaml_documents import Document, read_documents
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK, Key
from gitsync.model.policy import RECONCILE_POLICY
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.problems.field_path import FieldPath, format_field
from gitsync.problems.finding import Finding
from gitsync.validation.annotations import ASO_PREFIX
from gitsync.validation.name_rules import is_uuid_named

MAX_BYTES = 128 * 1024 * 1024
"""Of one file: an object with its status has some 10 KB, and a cluster has thousands."""

RESOURCE_ID = f"{ASO_PREFIX}resource-id"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_STORAGE = "storage"  # ends the versions in which ASO stores its objects
_ORIGINAL, _BAG = "originalVersion", "$propertyBag"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedManifest:
    """The manifest of one object, of a kind at the version that it was written in. `arm_id` is what ASO recorded, "" for
    none.
    """

    key: Key
    kind: Kind
    document: Mapping[str, Any]
    source: SourceLocation
    arm_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterExport:
    """The content of an export: manifests by key, sorted. `left_out` counts other objects by kind, `problems` are in the
    order of the files. An object with an error has no manifest.
    """

    manifests: Mapping[Key, ExportedManifest] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def read_cluster_export(files: Mapping[str, bytes], catalog: Catalog) -> ClusterExport:
    """Read the objects in the files of an export, by their names: lists, several documents, YAML or JSON.

    Values of Secrets are not looked at.
    """
    reader = _Reader(catalog)
    for name in sorted(files):
        contents = read_documents(name, files[name], max_bytes=MAX_BYTES)
        reader.problems += contents.problems
        for document in chain.from_iterable(map(split_list, contents.documents)):
            reader.add(document)
    return ClusterExport(
        manifests={key: reader.inherit_policy(one) for key, one in sorted(reader.manifests.items())},
        left_out=dict(sorted(reader.left_out.items())),
        problems=tuple(sorted({*reader.problems, *reader.warn_of_versions()}, key=lambda one: one.order)),
    )


class _Reader:
    """Sorts objects one by one."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._unproven: dict[GVK, SourceLocation] = {}
        self.manifests: dict[Key, ExportedManifest] = {}
        self._policies: dict[str, str] = {}
        self.left_out: Counter[str] = Counter()
        self.problems: list[Problem] = []

    def add(self, document: Document) -> None:
        value = document.value
        if value is None:
            return
        if not is_object(value):
            text = "The document is no object of Kubernetes: it has no apiVersion and kind."
            self.report(document, (), "NotAnObject", text, "Export objects with `kubectl get -o yaml`.")
        elif (value["apiVersion"], value["kind"]) == ("v1", "Namespace"):
            self.add_namespace(document)
        elif not is_ours(value["apiVersion"]) or _make_group_kind(value) in NOT_ARM:
            self.left_out[value["kind"]] += 1
        else:
            self.add_resource(document)

    def add_namespace(self, document: Document) -> None:
        """Note the policy of a Namespace."""
        self.left_out["Namespace"] += 1
        header = read_header(document, "default")
        if isinstance(header, Header) and RECONCILE_POLICY in header.annotations:
            self._policies[header.name] = header.annotations[RECONCILE_POLICY]

    def inherit_policy(self, manifest: ExportedManifest) -> ExportedManifest:
        """A manifest with the policy of its Namespace, if it has none itself: the Namespace stays in the cluster."""
        metadata = manifest.document["metadata"]
        annotations = metadata.get("annotations", {})
        policy = annotations.get(RECONCILE_POLICY) or self._policies.get(manifest.key.namespace)
        if not policy:
            return manifest
        metadata = {**metadata, "annotations": dict(sorted({**annotations, RECONCILE_POLICY: policy}.items()))}
        return replace(manifest, document={**manifest.document, "metadata": metadata})

    def add_resource(self, document: Document) -> None:
        header = read_header(document, "default")
        if isinstance(header, Problem):
            self.problems.append(header)
            return
        errors = [*document.problems, *header.problems]
        if document.value["metadata"].get("deletionTimestamp"):
            text = f"{_name(header)} is being deleted in the cluster, so it is left out."
            self.problems.append(_locate(document, _make_warning("BeingDeleted", text)))
            return
        chosen = _choose_version(header, document.value.get("spec") or {}, self._catalog)
        if isinstance(chosen, Finding):
            errors.append(_locate(document, chosen))
        self.problems += errors
        if isinstance(chosen, Finding) or any(one.is_error for one in errors):
            return
        if not chosen.is_proven:
            self._unproven.setdefault(header.gvk, SourceLocation(document.path, document.line()))
        self.keep(document, header, chosen)

    def keep(self, document: Document, header: Header, chosen: _Version) -> None:
        key = Key(header.gvk.group, header.gvk.kind, header.namespace, header.name)
        manifest = ExportedManifest(
            key=key,
            kind=chosen.kind,
            document={
                "apiVersion": chosen.kind.gvk.api_version,
                "kind": key.kind,
                "metadata": clean_metadata(header),
                "spec": _clean_spec(document.value.get("spec") or {}, chosen.kind, header.name),
            },
            source=SourceLocation(document.path, document.line()),
            arm_id=header.annotations.get(RESOURCE_ID, ""),
        )
        other = self.manifests.setdefault(key, manifest)
        if other.document != manifest.document:
            text = f"{_name(header)} is also at {other.source}, with other content."
            self.report(document, ("metadata", "name"), "DuplicateManifest", text, "Keep the newer export.")

    def warn_of_versions(self) -> Iterator[Problem]:
        """One warning for each version that may lack fields."""
        for gvk, source in sorted(self._unproven.items()):
            newest = self._catalog.versions(gvk.group, gvk.kind)[-1]
            yield Problem(
                code="OlderVersion",
                message=(
                    f"The export shows {gvk.kind} of {gvk.group} at {gvk.version}, and not at which version it was "
                    "applied. Fields that only a later version has are missing."
                ),
                hint=f"Run `kubectl get {gvk._replace(version=newest)} --all-namespaces -o yaml`, and import that.",
                level=Level.WARNING,
                path=source.path,
                line=source.line,
                field="apiVersion",
            )

    def report(self, document: Document, path: FieldPath, code: str, message: str, hint: str) -> None:
        self.problems.append(_locate(document, Finding(code=code, path=path, message=message, hint=hint)))


@dataclass(frozen=True, slots=True)
class _Version:
    """The kind of a manifest at its version. `is_proven` says that the export has all fields that were applied."""

    kind: Kind
    is_proven: bool


def _choose_version(header: Header, spec: Mapping[str, Any], catalog: Catalog) -> _Version | Finding:
    """The version that the object was applied at, as far as the export says it; else the one that is exported.

    kubectl shows an object at the version that its API server prefers, often the oldest one, and leaves out fields
    that this version lacks. In the version of the storage they are all there.
    """
    exported = header.gvk
    if exported.version.endswith(_STORAGE):
        return _choose_original(exported, spec, catalog)
    applied = _read_last_applied(header)
    if applied is None or is_same_version(applied.gvk, exported):
        return _find_known(exported, spec, catalog, is_proven=bool(applied) or _is_newest(exported, catalog))
    shown, meant = catalog.kind(exported), catalog.kind(applied.gvk)
    lacking = find_lacking(shown, applied.spec) if shown else "field that is known"
    if shown is None or lacking:
        return _make_lost(applied.gvk, f"The export shows it at {exported.version}, which has no {lacking}.")
    return _Version(meant if meant and not find_lacking(meant, spec) else shown, is_proven=True)


def _is_newest(gvk: GVK, catalog: Catalog) -> bool:
    versions = catalog.versions(gvk.group, gvk.kind)
    return not versions or is_same_version(gvk._replace(version=versions[-1]), gvk)


def _choose_original(stored: GVK, spec: Mapping[str, Any], catalog: Catalog) -> _Version | Finding:
    original = spec.get(_ORIGINAL)
    version = original if isinstance(original, str) and original else stored.version.removesuffix(_STORAGE)
    gvk = stored._replace(version=version)
    if bag := next(_find_bags(spec, ("spec",)), None):
        return _make_lost(gvk, f"The export has fields in {format_field(bag)}, which only ASO can read.")
    return _find_known(gvk, spec, catalog, is_proven=True)


def _find_known(gvk: GVK, spec: Mapping[str, Any], catalog: Catalog, *, is_proven: bool) -> _Version | Finding:
    """The version itself or, if ASO has removed it, the nearest later one with all fields."""
    later = find_later_version(gvk, spec, catalog)
    kind = catalog.kind(gvk) or (catalog.kind(later.gvk) if later and not later.lacks else None)
    return _Version(kind, is_proven) if kind else explain_unknown_kind(gvk, spec, catalog)


@dataclass(frozen=True, slots=True)
class _Applied:
    gvk: GVK
    spec: Mapping[str, Any]


def _read_last_applied(header: Header) -> _Applied | None:
    """What `kubectl apply` noted on the object; None if it did not, or if that is of another object."""
    try:
        noted = json.loads(header.annotations.get(_LAST_APPLIED, "null"))
    except (ValueError, RecursionError):
        return None
    if not is_object(noted) or not isinstance(noted.get("spec"), dict):
        return None
    gvk = GVK.parse(noted["apiVersion"], noted["kind"])
    return _Applied(gvk, noted["spec"]) if (gvk.group, gvk.kind) == (header.gvk.group, header.gvk.kind) else None


def _find_bags(value: Any, path: FieldPath) -> Iterator[FieldPath]:
    """The places of fields that the storage version has no place for."""
    members: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for name, member in members:
        if name == _BAG and member:
            yield (*path, name)
        else:
            yield from _find_bags(member, (*path, name))


def _clean_spec(spec: Mapping[str, Any], kind: Kind, name: str) -> dict[str, Any]:
    """The spec without what ASO adds to it: the name in Azure where it is the name of the object anyway, and notes of
    the storage version.
    """
    is_default = not is_uuid_named(kind) and spec.get("azureName") == name
    spare = {_ORIGINAL, *(("azureName",) if is_default else ())}
    return {key: _drop_bags(value) for key, value in spec.items() if key not in spare and key != _BAG}


def _drop_bags(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _drop_bags(member) for key, member in value.items() if key != _BAG}
    return [_drop_bags(member) for member in value] if isinstance(value, list) else value


def _make_group_kind(value: Mapping[str, Any]) -> tuple[str, str]:
    gvk = GVK.parse(value["apiVersion"], value["kind"])
    return gvk.group, gvk.kind


def _name(header: Header) -> str:
    return f"{header.gvk.kind} {header.namespace}/{header.name}"


def _make_lost(written: GVK, reason: str) -> Finding:
    return Finding(
        code="FieldsNotExported",
        path=("apiVersion",),
        message=f"It was applied at {written.version}. {reason}",
        hint=f"Run `kubectl get {written} --all-namespaces -o yaml`, and import that.",
    )


def _make_warning(code: str, message: str) -> Finding:
    return Finding(code=code, path=("metadata",), message=message, level=Level.WARNING)


def _locate(document: Document, finding: Finding) -> Problem:
    return Problem(
        code=finding.code,
        message=finding.message,
        hint=finding.hint,
        level=finding.level,
        path=document.path,
        line=document.line(*finding.path),
        field=format_field(finding.path),
    )
