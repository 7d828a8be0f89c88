"""What a person wrote of an object of a cluster: without the notes of the API server, of ASO and of other tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.manifests.headers import Header
from gitsync.model.facts import Kind
from gitsync.validation.annotations import OPERATOR_ANNOTATIONS, OPERATOR_LABELS
from gitsync.validation.name_rules import is_uuid_named

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which `kubectl apply` keeps what it applied."""

ORIGINAL, BAG = "originalVersion", "$propertyBag"
"""What ASO adds to a spec that it stores: the version that was applied, and fields that have no place."""

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
"""What tools write to find their objects again. Orders to them, such as a sync wave, are of people."""


def clean_metadata(header: Header) -> dict[str, Any]:
    """Name and namespace, and the labels and annotations that people write."""
    labels = _drop(header.labels, OPERATOR_LABELS | _TOOL_LABELS)
    annotations = _drop(header.annotations, OPERATOR_ANNOTATIONS | _TOOL_ANNOTATIONS)
    return {
        "name": header.name,
        "namespace": header.namespace,
        **({"labels": labels} if labels else {}),
        **({"annotations": annotations} if annotations else {}),
    }


def clean_spec(spec: Mapping[str, Any], kind: Kind, name: str) -> dict[str, Any]:
    """The spec, without the name in Azure if it is the name of the object anyway."""
    is_default = not is_uuid_named(kind) and spec.get("azureName") == name
    spare = {ORIGINAL, BAG, *(("azureName",) if is_default else ())}
    return {key: _drop_bags(value) for key, value in spec.items() if key not in spare}


def _drop_bags(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _drop_bags(member) for key, member in value.items() if key != BAG}
    return [_drop_bags(member) for member in value] if isinstance(value, list) else value


def _drop(texts: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    return {name: text for name, text in sorted(texts.items()) if name not in names}
