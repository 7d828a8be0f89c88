"""Manifests from the objects of a cluster that runs ASO, as `kubectl get -o yaml` or `-o json` prints them.

An object has more than its manifest: status, finalizers, owner references, and the notes of every tool that touched it.
What a person wrote stays: names, labels, annotations and spec.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.type_words import join_with_or
from gitsync.desired.manifests.aso_groups import is_ours
from gitsync.desired.manifests.document_forms import split_list
from gitsync.desired.manifests.headers import Header, is_object, read_header
from gitsync.desired.manifests.unread_documents import locate_in_document
from gitsync.desired.manifests.yaml_documents import Document, read_documents
from gitsync.desired.problems.field_path import FieldPath
from gitsync.desired.problems.finding import Finding
from gitsync.desired.validation.annotations import ASO_PREFIX, CREDENTIAL_FROM
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK, Key
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.reconcile_policy import RECONCILE_POLICY
from gitsync.workflows.imports.conversion.cluster_objects import (
    ObjectVersion,
    choose_version,
    clean_metadata,
    clean_spec,
)
from gitsync.workflows.imports.conversion.found_resources import FoundResource, ImportedManifest, Omission
from gitsync.workflows.imports.conversion.imported_manifests import list_secrets

MAX_BYTES = 128 * 1024 * 1024
"""Of one file: an object with its status has 10 KB, and a cluster has thousands."""

RESOURCE_ID = f"{ASO_PREFIX}resource-id"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedManifest:
    """The manifest of one object."""

    key: Key
    kind: Kind  # at the version of the manifest
    document: Mapping[str, Any]
    source: SourceLocation
    arm_id: ArmId = NO_ID  # what ASO recorded, "" for none


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterExport:
    """The content of an export. An object with an error has no manifest."""

    manifests: Mapping[Key, ExportedManifest] = field(default_factory=dict)  # sorted
    left_out: Mapping[str, int] = field(default_factory=dict)  # the number of other objects, by kind
    problems: tuple[Problem, ...] = ()  # in the order of the files


def read_cluster_export(files: Mapping[str, bytes], catalog: Catalog) -> ClusterExport:
    """Read the objects in the files of an export, by their names: lists, several documents, YAML or JSON.

    Values of Secrets are not looked at. An export without an ASO object is an error: the command that wrote it selected
    nothing.
    """
    reader = _ObjectReader(catalog)
    for name in sorted(files):
        contents = read_documents(name, files[name], max_bytes=MAX_BYTES)
        reader.problems += contents.problems
        for document in chain.from_iterable(map(split_list, contents.documents)):
            reader.add(document)
    reader.check_content(sorted(files))
    return ClusterExport(
        manifests={key: reader.inherit_policy(manifest) for key, manifest in sorted(reader.manifests.items())},
        left_out=dict(sorted(reader.left_out.items())),
        problems=tuple(sorted({*reader.problems, *reader.warn_of_versions()}, key=lambda problem: problem.order)),
    )


class _ObjectReader:
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
            text = "The document is not a Kubernetes object: it has no apiVersion and kind."
            self.report(document, (), "NotAnObject", text, "Export objects with `kubectl get -o yaml`.")
        elif (value["apiVersion"], value["kind"]) == ("v1", "Namespace"):
            self.add_namespace(document)
        elif is_ours(value["apiVersion"]):
            self.add_resource(document)
        else:
            self.left_out[value["kind"]] += 1

    def add_namespace(self, document: Document) -> None:
        """Note the policy of a Namespace."""
        self.left_out["Namespace"] += 1
        header = read_header(document, "default")
        if isinstance(header, Header) and RECONCILE_POLICY in header.annotations:
            self._policies[header.name] = header.annotations[RECONCILE_POLICY]

    def inherit_policy(self, manifest: ExportedManifest) -> ExportedManifest:
        """Give a manifest the policy of its Namespace, if it has none itself: the Namespace stays in the cluster."""
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
            warning = Finding(code="BeingDeleted", path=("metadata",), message=text, level=Level.WARNING)
            # An import would restore it.
            self.problems.append(locate_in_document(warning, document))
            return
        chosen = choose_version(header, document.value.get("spec") or {}, self._catalog)
        if isinstance(chosen, Finding):
            errors.append(locate_in_document(chosen, document))
        self.problems += errors
        # Half a manifest would reset in Azure what it lacks.
        if isinstance(chosen, Finding) or any(error.is_error for error in errors):
            return
        if not chosen.is_proven:
            self._unproven.setdefault(header.gvk, SourceLocation(document.path, document.line()))
        self.keep(document, header, chosen)

    def keep(self, document: Document, header: Header, chosen: ObjectVersion) -> None:
        key = Key(header.gvk.group, header.gvk.kind, header.namespace, header.name)
        manifest = ExportedManifest(
            key=key,
            kind=chosen.kind,
            document={
                "apiVersion": chosen.kind.gvk.api_version,
                "kind": key.kind,
                "metadata": clean_metadata(header),
                "spec": clean_spec(document.value.get("spec") or {}, chosen.kind, header.name),
            },
            source=SourceLocation(document.path, document.line()),
            arm_id=ArmId(header.annotations.get(RESOURCE_ID, "")),
        )
        # Two exports of one cluster may overlap, and equal objects are one.
        other = self.manifests.setdefault(key, manifest)
        if other.document != manifest.document:
            text = f"{_name(header)} is also at {other.source}, with different content."
            self.report(document, ("metadata", "name"), "DuplicateManifest", text, "Keep the newer export.")

    def warn_of_versions(self) -> Iterator[Problem]:
        """Warn once of each version that may lack fields."""
        for gvk, source in sorted(self._unproven.items()):
            newest = self._catalog.versions(gvk.group, gvk.kind)[-1]
            yield Problem(
                code="OlderVersion",
                message=(
                    f"The export shows {gvk.kind} of {gvk.group} at {gvk.version}, but not the version at which it was "
                    "applied. Fields that only a later version has are missing."
                ),
                hint=f"Run `kubectl get {gvk._replace(version=newest)} --all-namespaces -o yaml`, and import that.",
                level=Level.WARNING,
                path=source.path,
                line=source.line,
                field="apiVersion",
            )

    def check_content(self, names: Sequence[str]) -> None:
        """Note that no file has an ASO object to import, unless an error gives the reason."""
        if self.manifests or any(problem.is_error for problem in self.problems):
            return
        counts = [f"{count} {kind}" for kind, count in sorted(self.left_out.items())]
        content = (
            "" if self.problems else f": there is only {', '.join(counts)}" if counts else ": there is no object at all"
        )
        self.problems.append(
            Problem(
                code="NothingExported",
                message=f"{join_with_or(names)} has no ASO object to import{content}.",
                hint="Export the kinds that `kubectl get crd` lists with groups that end in `.azure.com`.",
                path=next(iter(names), ""),
            )
        )

    def report(self, document: Document, path: FieldPath, code: str, message: str, hint: str) -> None:
        self.problems.append(locate_in_document(Finding(code=code, path=path, message=message, hint=hint), document))


def _name(header: Header) -> str:
    return f"{header.gvk.kind} {header.namespace}/{header.name}"


# What an import takes over from ASO: the manifests of a cluster, in the form of those that an import makes itself.


OTHER_OBJECTS: Final = "objects that are not manifests of Azure resources"


def find_only_subscription(export: ClusterExport) -> str | None:
    """Find the subscription of all resources of an export; None if there are several, or none is recorded."""
    subscriptions = {manifest.arm_id.subscription for manifest in export.manifests.values() if manifest.arm_id}
    return subscriptions.pop() if len(subscriptions) == 1 else None


def take_manifests(export: ClusterExport) -> tuple[ImportedManifest, ...]:
    """Turn the manifests of an export into those that an import writes."""
    return tuple(_take(manifest) for manifest in export.manifests.values())


def _take(exported: ExportedManifest) -> ImportedManifest:
    document, key = exported.document, exported.key
    credential = document["metadata"].get("annotations", {}).get(CREDENTIAL_FROM)
    secrets = list_secrets(exported.kind, document["spec"], key.name, key.namespace)
    return ImportedManifest(
        key=key,
        document=document,
        resource=FoundResource(kind=exported.kind, arm_id=exported.arm_id, owner_id=NO_ID, body={}),
        secrets=(*(((credential, ""),) if credential else ()), *secrets),
    )


def list_left_out(export: ClusterExport) -> tuple[Omission, ...]:
    """List each object without a manifest, by its kind."""
    return tuple(Omission(OTHER_OBJECTS, kind) for kind, count in export.left_out.items() for _ in range(count))
