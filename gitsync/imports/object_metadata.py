"""The metadata that a person wrote, of an object of a cluster: without the notes of API server, ASO and other tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.manifests.metadata import Header
from gitsync.validation.annotations import OPERATOR_ANNOTATIONS, OPERATOR_LABELS

_TOOL_ANNOTATIONS = frozenset(
    {
        "argocd.argoproj.io/tracking-id",
        "kubectl.kubernetes.io/last-applied-configuration",
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


def _drop(texts: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    return {name: text for name, text in sorted(texts.items()) if name not in names}
