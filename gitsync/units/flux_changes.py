"""What a Flux Kustomization changes of its folder, as the kustomization that is built instead.

As Flux does: it writes its fields over those of the folder's kustomization.yaml, and makes one that names all manifests
if the folder has none (https://fluxcd.io/flux/components/kustomize/kustomizations/#generating-a-kustomizationyaml-file).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gitsync.model.unit import Unit

_OVERRIDDEN: Final = {"targetNamespace": "namespace", "namePrefix": "namePrefix", "nameSuffix": "nameSuffix"}
_EXTENDED: Final = ("patches", "components")


def lay_over(unit: Unit, kustomization: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kustomization of a unit with the changes of Flux laid over it, but for `commonMetadata`."""
    laid = dict(kustomization)
    for name, field in _OVERRIDDEN.items():
        if name in unit.changes:
            laid[field] = unit.changes[name]
    for name in _EXTENDED:
        if name in unit.changes:
            laid[name] = [*_make_list(laid.get(name)), *_make_list(unit.changes[name])]
    if "images" in unit.changes:
        laid["images"] = _merge_images(_make_list(laid.get("images")), _make_list(unit.changes["images"]))
    return laid


def make_kustomization(resources: Iterable[str]) -> dict[str, Any]:
    """Return a kustomization of files and folders, as Flux makes it for a folder that has none."""
    return {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": sorted(resources),
    }


def make_metadata_fields(unit: Unit) -> dict[str, Any]:
    """Return the fields of a kustomization that give every object the labels and annotations of `commonMetadata`."""
    metadata = unit.changes.get("commonMetadata", {})
    fields: dict[str, Any] = {}
    if metadata.get("labels"):
        fields["labels"] = [{"pairs": metadata["labels"]}]
    if metadata.get("annotations"):
        fields["commonAnnotations"] = metadata["annotations"]
    return fields


def _merge_images(images: list[Any], changes: list[Any]) -> list[Any]:
    """An image of the changes replaces the one of its name."""
    names = {change.get("name") for change in changes}
    return [*(image for image in images if image.get("name") not in names), *changes]


def _make_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
