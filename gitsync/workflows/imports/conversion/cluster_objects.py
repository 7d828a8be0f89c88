"""Read what a person wrote of an object of a cluster: the version that it was applied at, and its fields without the
notes of the API server, of ASO and of other tools.

kubectl shows an object at the version that its API server prefers, often the oldest one, without the fields that this
version lacks. A manifest made of that would set less than the person who wrote it did.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.later_versions import find_lacking, find_later_version, is_same_version
from gitsync.desired.catalog.unknown_kind import explain_unknown_kind
from gitsync.desired.manifests.headers import Header, is_object
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.validation.annotations import OPERATOR_ANNOTATIONS, OPERATOR_LABELS
from gitsync.desired.validation.name_rules import is_uuid_named
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK

_STORAGE = "storage"  # ends the versions in which ASO stores its objects


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """The kind of a manifest at its version."""

    kind: Kind
    is_proven: bool  # the export has all fields that were applied


def choose_version(header: Header, spec: Mapping[str, Any], catalog: Catalog) -> ObjectVersion | Finding:
    """Return the version that an object was applied at, as far as the export shows it; else the one that is exported. A
    finding if fields are missing in the export, or if the catalog has no such kind.
    """
    exported = header.gvk
    if exported.version.endswith(_STORAGE):
        return _choose_original(header, spec, catalog)
    applied = _read_last_applied(header)
    if applied is None or is_same_version(applied.gvk, exported):
        versions = catalog.versions(exported.group, exported.kind)
        # No later version can have fields that the export lacks.
        is_newest = not versions or is_same_version(exported._replace(version=versions[-1]), exported)
        return _find_known(exported, spec, catalog, is_proven=bool(applied) or is_newest)
    shown, meant = catalog.kind(exported), catalog.kind(applied.gvk)
    # The export is made by the API server, which drops what its version does not have.
    lacking = find_lacking(shown, applied.spec) if shown else "known field"
    if shown is None or lacking:
        return _make_lost(header, applied.gvk, f"The export shows it at {exported.version}, which has no {lacking}.")
    # What was changed in the cluster since then may need the version that is shown.
    return ObjectVersion(meant if meant and not find_lacking(meant, spec) else shown, is_proven=True)


def _choose_original(header: Header, spec: Mapping[str, Any], catalog: Catalog) -> ObjectVersion | Finding:
    original = spec.get(ORIGINAL)
    version = original if isinstance(original, str) and original else header.gvk.version.removesuffix(_STORAGE)
    gvk = header.gvk._replace(version=version)
    # ASO keeps fields there that the storage version lacks, in a form of its own.
    if bag := next(_list_bags(spec, ("spec",)), None):
        return _make_lost(header, gvk, f"The export has fields in {format_field(bag)}, which only ASO can read.")
    return _find_known(gvk, spec, catalog, is_proven=True)


def _find_known(gvk: GVK, spec: Mapping[str, Any], catalog: Catalog, *, is_proven: bool) -> ObjectVersion | Finding:
    """Find the version itself or, if ASO has removed it, the nearest later one with all fields."""
    later = find_later_version(gvk, spec, catalog)
    kind = catalog.kind(gvk) or (catalog.kind(later.gvk) if later and later.has_all else None)
    return ObjectVersion(kind, is_proven) if kind else explain_unknown_kind(gvk, spec, catalog)


@dataclass(frozen=True, slots=True)
class _Applied:
    gvk: GVK
    spec: Mapping[str, Any]


def _read_last_applied(header: Header) -> _Applied | None:
    """Read what `kubectl apply` noted on the object; None if it did not, or if that is of another object."""
    try:
        noted = json.loads(header.annotations.get(LAST_APPLIED, "null"))
    except (ValueError, RecursionError):  # anybody may write the annotation
        return None
    if not is_object(noted) or not isinstance(noted.get("spec"), dict):
        return None
    gvk = GVK.parse(noted["apiVersion"], noted["kind"])
    return _Applied(gvk, noted["spec"]) if (gvk.group, gvk.kind) == (header.gvk.group, header.gvk.kind) else None


def _list_bags(value: Any, path: FieldPath) -> Iterator[FieldPath]:
    """List the paths of fields that the storage version does not have."""
    members: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for name, member in members:
        if name == BAG and member:
            yield (*path, name)
        else:
            yield from _list_bags(member, (*path, name))


def _make_lost(header: Header, applied: GVK, reason: str) -> Finding:
    name = f"{applied.kind} {header.namespace}/{header.name}"
    return Finding(
        code="FieldsNotExported",
        path=("apiVersion",),
        message=f"{name} was applied at {applied.version}. {reason}",
        hint=f"Run `kubectl get {applied} --all-namespaces -o yaml`, and import that.",
    )


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which `kubectl apply` keeps what it applied."""

ORIGINAL, BAG = "originalVersion", "$propertyBag"
"""What ASO adds to a spec that it stores: the version that was applied, and fields that this version does not have."""

_TOOL_ANNOTATIONS = frozenset(
    {
        LAST_APPLIED,
        "argocd.argoproj.io/tracking-id",
        "kustomize.toolkit.fluxcd.io/checksum",
        "meta.helm.sh/release-name",
        "meta.helm.sh/release-namespace",
    }
)
_TOOL_LABELS = frozenset(
    {
        "argocd.argoproj.io/instance",
        "helm.toolkit.fluxcd.io/name",
        "helm.toolkit.fluxcd.io/namespace",
        "kustomize.toolkit.fluxcd.io/name",
        "kustomize.toolkit.fluxcd.io/namespace",
    }
)
"""What tools write to find their objects again. What a person asks of them, such as a sync wave, stays."""


def clean_metadata(header: Header) -> dict[str, Any]:
    """Keep name and namespace, and the labels and annotations that people write."""
    labels = _drop(header.labels, OPERATOR_LABELS | _TOOL_LABELS)
    annotations = _drop(header.annotations, OPERATOR_ANNOTATIONS | _TOOL_ANNOTATIONS)
    return {
        "name": header.name,
        "namespace": header.namespace,
        **({"labels": labels} if labels else {}),
        **({"annotations": annotations} if annotations else {}),
    }


def clean_spec(spec: Mapping[str, Any], kind: Kind, name: str) -> dict[str, Any]:
    """Remove from a spec what ASO adds, and the name in Azure if it is the name of the object anyway."""
    is_default = not is_uuid_named(kind) and spec.get("azureName") == name
    spare = {ORIGINAL, BAG, *(("azureName",) if is_default else ())}
    return {key: _drop_bags(value) for key, value in spec.items() if key not in spare}


def _drop_bags(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _drop_bags(member) for key, member in value.items() if key != BAG}
    return [_drop_bags(member) for member in value] if isinstance(value, list) else value


def _drop(texts: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    return {name: text for name, text in sorted(texts.items()) if name not in names}
