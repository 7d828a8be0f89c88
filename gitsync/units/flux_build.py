"""What is built for a Flux Kustomization: the kustomization of its folder, with the changes of Flux.

As Flux does: it writes its fields over those of the folder's kustomization.yaml, and makes one that names all manifests
if the folder has none (https://fluxcd.io/flux/components/kustomize/kustomizations/#generating-a-kustomizationyaml-file).
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from gitsync.model.unit import Unit
from gitsync.units.closure import KustomizationReader
from gitsync.units.tree import SourceTree, list_folders
from gitsync.units.unbuildable import UnbuildableError

GENERATED: Final = "kustomization.yaml"

_OBJECT: Final = re.compile(rb"^[\"']?(?:apiVersion|kind)[\"']?:", re.MULTILINE)
_SUFFIXES: Final = (".yaml", ".yml")
_OVERRIDDEN: Final = {"targetNamespace": "namespace", "namePrefix": "namePrefix", "nameSuffix": "nameSuffix"}
_EXTENDED: Final = ("patches", "components")


@dataclass(frozen=True, slots=True)
class OverlaidTree:
    """A source with one file more, or with another content of one."""

    tree: SourceTree
    path: str
    content: bytes

    @property
    def paths(self) -> Collection[str]:
        return {*self.tree.paths, self.path}

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        contents = dict(self.tree.read([path for path in paths if path != self.path]))
        return contents | ({self.path: self.content} if self.path in paths else {})


def lay_out(unit: Unit, reader: KustomizationReader) -> tuple[str, KustomizationReader]:
    """Return the kustomization to build for a unit of Flux, and the source with it.

    UnbuildableError if the folder has no files, or its kustomization cannot be read.
    """
    own = reader.find_in(unit.path)
    if own is not None and not unit.changes:
        return own, reader
    if own is not None:
        reader.read(own)  # checks it
        kustomization = yaml.load(reader.tree.read([own])[own], Loader=yaml.CSafeLoader) or {}
    else:
        kustomization = {"resources": sorted(_list_resources(unit, reader))}
    path = own or posixpath.join(unit.path, GENERATED)
    content = json.dumps(lay_over(unit.changes, kustomization)).encode()
    return path, KustomizationReader(OverlaidTree(reader.tree, path, content))


def lay_over(changes: Mapping[str, Any], kustomization: Mapping[str, Any]) -> dict[str, Any]:
    """Return a kustomization with the changes of Flux laid over it, but for `commonMetadata`."""
    laid = dict(kustomization)
    for name, field in _OVERRIDDEN.items():
        if name in changes:
            laid[field] = changes[name]
    for name in _EXTENDED:
        if name in changes:
            laid[name] = [*_make_list(laid.get(name)), *_make_list(changes[name])]
    if "images" in changes:
        laid["images"] = _merge_images(_make_list(laid.get("images")), _make_list(changes["images"]))
    return laid


def make_metadata_fields(unit: Unit) -> dict[str, Any]:
    """Return the fields of a kustomization that give every object the labels and annotations of `commonMetadata`."""
    metadata = unit.changes.get("commonMetadata", {})
    fields: dict[str, Any] = {}
    if metadata.get("labels"):
        fields["labels"] = [{"pairs": metadata["labels"]}]
    if metadata.get("annotations"):
        fields["commonAnnotations"] = metadata["annotations"]
    return fields


def _list_resources(unit: Unit, reader: KustomizationReader) -> Iterator[str]:
    """The manifests below the folder of a unit, and the nearest folders with a kustomization, by their relative paths.

    UnbuildableError if the folder has no files.
    """
    below = reader.list_below(unit.path)
    if not below:
        message = f"{unit.path or '.'} has no files: Kustomization {unit.name} builds this folder."
        raise UnbuildableError(message, hint="Fix spec.path.", path=unit.file, line=unit.line)
    folders = set[str]()
    for path in below:
        between = [folder for folder in list_folders(path) if len(folder) > len(unit.path)]
        built = [folder for folder in between if reader.find_in(folder) is not None]
        if built:
            folders.add(built[-1])
        elif path.endswith(_SUFFIXES) and _OBJECT.search(reader.tree.read([path])[path]):
            yield posixpath.relpath(path, unit.path or ".")
    yield from (posixpath.relpath(folder, unit.path or ".") for folder in folders)


def _merge_images(images: list[Any], changes: list[Any]) -> list[Any]:
    """An image of the changes replaces the one of its name."""
    names = {change.get("name") for change in changes if isinstance(change, Mapping)}
    return [*(one for one in images if not (isinstance(one, Mapping) and one.get("name") in names)), *changes]


def _make_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
