"""Lays out what is built for a Flux Kustomization: the kustomization of its folder, with the changes of Flux.

As Flux does: it writes its fields over those of the folder's kustomization.yaml, and makes one that
names all manifests if the folder has none
(https://fluxcd.io/flux/components/kustomize/kustomizations/#generating-a-kustomizationyaml-file).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import yaml

from gitsync.model.unit import Unit
from gitsync.repository.units.build_sandbox import KustomizationError, UnbuildableError
from gitsync.repository.units.kustomization_reader import KustomizationReader, list_all_inputs
from gitsync.repository.units.tree import SourceTree, list_folders

GENERATED: Final = "kustomization.yaml"

# At the start of a line, so not inside the values of a chart; or a document in JSON, but no template.
_OBJECT: Final = re.compile(rb"^[\"']?(?:apiVersion|kind)[\"']?:|\A(?:---)?\s*\{(?!\{)", re.MULTILINE)
_SUFFIXES: Final = (".yaml", ".yml")
_OVERRIDDEN: Final = {"targetNamespace": "namespace", "namePrefix": "namePrefix", "nameSuffix": "nameSuffix"}
_EXTENDED: Final = ("patches", "components")


@dataclass(frozen=True, slots=True)
class _MorePaths(Collection[str]):
    """Some paths, and one more. A copy of them for each unit would be too much."""

    paths: Collection[str]
    more: str

    def __contains__(self, path: object) -> bool:
        return path == self.more or path in self.paths

    def __iter__(self) -> Iterator[str]:
        return chain((path for path in self.paths if path != self.more), (self.more,))

    def __len__(self) -> int:
        return len(self.paths) + (self.more not in self.paths)


@dataclass(frozen=True, slots=True)
class OverlaidTree:
    """A source with one file more, or with another content of one."""

    tree: SourceTree
    path: str
    content: bytes

    @property
    def paths(self) -> Collection[str]:
        return _MorePaths(self.tree.paths, self.path)

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        contents = dict(self.tree.read([path for path in paths if path != self.path]))
        return contents | ({self.path: self.content} if self.path in paths else {})


def lay_out(unit: Unit, reader: KustomizationReader) -> tuple[str, KustomizationReader]:
    """Return the kustomization to build for a unit of Flux, and the source with it.

    Raises KustomizationError if the folder has no files, or its kustomization or a base of that cannot be read. What
    the changes of Flux name is not checked.
    """
    own = reader.find_in(unit.path)
    if own is not None and not unit.settings.changes:
        return own, reader
    if own is not None:
        list_all_inputs(own, reader)  # so that its own faults have their own lines
        kustomization = _load(own, reader)
    else:
        kustomization = {"resources": sorted(_list_resources(unit, reader))}
    path = own or posixpath.join(unit.path, GENERATED)
    # YAML, not JSON, which would write out what a small file repeats with aliases.
    content: bytes = yaml.dump(
        lay_over(unit.settings.changes, kustomization), Dumper=yaml.CSafeDumper, encoding="utf-8"
    )
    return path, KustomizationReader(OverlaidTree(reader.tree, path, content))


def _load(path: str, reader: KustomizationReader) -> Mapping[str, Any]:
    try:
        loaded: Mapping[str, Any] = yaml.load(reader.tree.read([path])[path], Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise KustomizationError(f"{path} is not valid YAML: {' '.join(str(error).split())}.", path=path) from error
    return loaded


def place_at_object(error: UnbuildableError, unit: Unit) -> KustomizationError:
    """Locate an error at the object of a unit: its kustomization is not in the source as it is built."""
    problem = error.problem
    kustomization = posixpath.join(unit.path, GENERATED)
    message = problem.message.replace(f"{kustomization} cannot be built", f"{unit.title} cannot be built")
    hint = problem.hint
    if unit.traits.build_hint and hint.startswith("Run `kustomize"):
        hint = unit.traits.build_hint.format(
            object=posixpath.basename(unit.name), path=unit.path or ".", file=unit.file
        )
    return KustomizationError(message, hint=hint, path=unit.file, line=unit.line)


def lay_over(changes: Mapping[str, Any], kustomization: Mapping[str, Any]) -> dict[str, Any]:
    """Return a kustomization with Flux's changes laid over it, except `commonMetadata`."""
    laid = dict(kustomization)
    for name, field in _OVERRIDDEN.items():
        if name in changes:
            laid[field] = changes[name]
    for name in _EXTENDED:
        if name in changes:
            laid[name] = [*_make_list(laid.get(name)), *_make_list(changes[name])]
    if "images" in changes:
        images = _make_list(changes["images"])
        names = [image.get("name") for image in images if isinstance(image, Mapping)]
        # An image of the changes replaces the one of its name.
        own = (
            image
            for image in _make_list(laid.get("images"))
            if not isinstance(image, Mapping) or image.get("name") not in names
        )
        laid["images"] = [*own, *images]
    return laid


def make_metadata_fields(unit: Unit) -> dict[str, Any]:
    """Return the fields of a kustomization that give every object the labels and annotations of `commonMetadata`."""
    metadata = unit.settings.changes.get("commonMetadata", {})
    fields: dict[str, Any] = {}
    if metadata.get("labels"):
        fields["labels"] = [{"pairs": metadata["labels"]}]
    if metadata.get("annotations"):
        fields["commonAnnotations"] = metadata["annotations"]
    return fields


def _list_resources(unit: Unit, reader: KustomizationReader) -> Iterator[str]:
    """List the manifests below the folder of a unit, and the nearest folders with a kustomization, by their relative
    paths.

    Raises KustomizationError if the folder has no files.
    """
    below = reader.list_below(unit.path)
    if not below:
        message = f"{unit.path or '.'} has no files: Kustomization {unit.name} builds this folder."
        variable = re.search(r"\$\{(\w+)", unit.path)
        hint = (
            f"Use --set {variable[1]}=VALUE, or set --path to where an object that builds {unit.file} is."
            if variable
            else "Fix spec.path."
        )
        raise KustomizationError(message, hint=hint, path=unit.file, line=unit.line)
    folders = set[str]()
    for path in below:
        between = [folder for folder in list_folders(path) if len(folder) > len(unit.path)]
        built = [folder for folder in between if reader.find_in(folder) is not None]
        if built:
            # The outermost kustomization decides what is read below its folder, as in Flux.
            folders.add(built[-1])
        elif path.endswith(_SUFFIXES) and _OBJECT.search(reader.tree.read([path])[path]):
            yield posixpath.relpath(path, unit.path or ".")
    yield from (posixpath.relpath(folder, unit.path or ".") for folder in folders)


def _make_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
