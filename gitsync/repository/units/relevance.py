"""Decides which kustomizations are built: those whose files may have anything for gitsync.

A tool takes longer to start than a hundred files take to read, and most kustomizations of a large repository are of
applications. A build is made of nothing but the files that it names. If gitsync would skip each document in them, it
would skip what is built of them, so the build is skipped. In doubt, a unit is built: with a field that may make other
objects of these, or with a text that is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from gitsync.desired.manifests.aso_groups import is_ours, mentions_aso
from gitsync.desired.manifests.capz import CapzObjects
from gitsync.desired.manifests.credential_secret import OF_NAMESPACE
from gitsync.desired.manifests.document_forms import split_list
from gitsync.desired.manifests.headers import is_object
from gitsync.desired.manifests.unread_documents import skip
from gitsync.desired.manifests.used_objects import is_feeding
from gitsync.desired.manifests.yaml_documents import Document, read_documents
from gitsync.repository.units.kustomization_files import NAMES, resolve, split_pair
from gitsync.repository.units.object_reader import may_declare
from gitsync.repository.units.tree import find_folder

_OBJECTS: Final = frozenset({"resources", "bases", "components"})
_PATCHES: Final = frozenset({"patches", "patchesJson6902", "patchesStrategicMerge"})
_GENERATORS: Final = frozenset({"configMapGenerator", "secretGenerator"})
_UNDERSTOOD: Final = frozenset(
    {
        *("apiVersion", "kind", "metadata", "namespace", "namePrefix", "nameSuffix", "replicas", "images"),
        *("labels", "commonLabels", "commonAnnotations", "generatorOptions", "sortOptions", "buildMetadata"),
        *_OBJECTS,
        *_PATCHES,
        *_GENERATORS,
    }
)
"""Fields of a kustomization that leave apiVersion and kind of each object as they are, if no patch sets them."""

_IDENTITY: Final = re.compile(
    rb"(?:^|[\s\"':])/(?:kind|apiVersion|metadata(?:/name)?)(?:[\"'\s,}]|\Z)|allow(?:Kind|Name)Change", re.MULTILINE
)
"""What a patch has that sets kind, apiVersion or name."""

_OF_NAMESPACES: Final = re.compile(rb"serviceoperator\.azure\.com/|\bgitsync/")
"""Annotations of a Namespace that count for all resources in it."""

_NAME: Final = re.compile(rb"[A-Za-z0-9][-.\w]*")
_COMPOSED: Final = re.compile(rb"\$\{|\{\{")
"""Texts whose names are known only once variables are replaced, or templates rendered."""


class _DoubtError(Exception):
    """Ends the reading of a unit that has, or may have, something for gitsync."""


@dataclass(slots=True)
class Relevance:
    """Finds the units that have nothing for gitsync. Mutable: it keeps the names in the texts of resources, and what
    each file has, since many units may be built of one. It reads texts only once it has to decide about a unit: many
    sources have none.

    A ConfigMap or a Secret counts if a resource may use it: prefixes, suffixes and hashes only make its name longer, so
    a used one has a name in those texts that contains its own.
    """

    _unread: list[bytes] = field(default_factory=list)  # texts that were noted, and not looked through yet
    _names: set[bytes] = field(default_factory=lambda: {OF_NAMESPACE.encode()})
    """What a resource may use by name: all words in the texts of resources."""

    _is_any_used: bool = False  # some text may use any name
    _feeding: dict[str, frozenset[str] | None] = field(default_factory=dict)
    """What each file has for `_read_objects`, by its path."""

    def add_resources(self, contents: Iterable[bytes]) -> None:
        """Note texts, as far as those have resources or objects that lead on to some."""
        self._unread += contents

    def add_texts(self, contents: Iterable[bytes]) -> None:
        """Note the names in texts of resources and of their patches."""
        for content in contents:
            self._is_any_used = self._is_any_used or _COMPOSED.search(content) is not None or may_declare([content])
            if not self._is_any_used:
                self._names.update(_NAME.findall(content))

    def list_irrelevant(self, inputs: Mapping[str, Mapping[str, bytes]]) -> frozenset[str]:
        """List the units whose builds have nothing for gitsync. `inputs` has all files of each by its name."""
        if not inputs:
            return frozenset()
        self._read_resources()
        feeding = {unit: names for unit, files in inputs.items() if (names := self._read_feeding(files)) is not None}
        for unit, files in inputs.items():
            # The texts of units that are built may use what the others make, so they are noted before the others are
            # decided.
            if unit not in feeding:
                self.add_texts(files.values())
        used = b"\n".join(sorted(self._names))
        return frozenset(
            unit
            for unit, names in feeding.items()
            if not (names and (self._is_any_used or any(name.encode() in used for name in names)))
        )

    def _read_resources(self) -> None:
        for content in self._unread:
            if may_declare([content]):
                self._is_any_used = True
            elif mentions_aso([content]):
                self.add_texts([content])
        self._unread.clear()

    def _read_feeding(self, files: Mapping[str, bytes]) -> frozenset[str] | None:
        """Read the names of the ConfigMaps and Secrets that are built of files; None if anything else may be for
        gitsync.
        """
        try:
            return self._read_unit(files)
        except _DoubtError:
            return None

    def _read_unit(self, files: Mapping[str, bytes]) -> frozenset[str]:
        contents = files.values()
        if mentions_aso(contents) or may_declare(contents):
            raise _DoubtError
        if any(pattern.search(text) for text in contents for pattern in (_IDENTITY, _OF_NAMESPACES)):
            raise _DoubtError
        kustomizations = [path for path in files if path.rpartition("/")[2] in NAMES]
        names = [*chain.from_iterable(self._read_kustomization(path, files) for path in kustomizations)]
        if not names:  # an empty build is an error of the tool
            raise _DoubtError
        return frozenset().union(*names)

    def _read_kustomization(self, path: str, files: Mapping[str, bytes]) -> Iterator[frozenset[str]]:
        (kustomization,) = _read(path, files[path]) or (None,)
        value = kustomization.value if kustomization else None
        if not isinstance(value, dict) or not value.keys() <= _UNDERSTOOD:
            raise _DoubtError
        folder = find_folder(path)
        for name in _OBJECTS:
            for entry in _read_list(value, name):
                resolved = resolve(folder, _read_text(entry))
                yield self._read_objects(resolved, files[resolved]) if resolved in files else frozenset()
        for name in _PATCHES:
            for entry in _read_list(value, name):
                _check_patch(entry, folder, files)
        for name in _GENERATORS:
            for entry in _read_list(value, name):
                yield frozenset([_read_generator(entry, folder, files)])

    def _read_objects(self, path: str, content: bytes) -> frozenset[str]:
        if path not in self._feeding:
            self._feeding[path] = None  # unless all of it is understood
            names = map(_check_object, _read(path, content))
            self._feeding[path] = frozenset(name for name in names if name is not None)
        if (feeding := self._feeding[path]) is None:
            raise _DoubtError
        return feeding


def _read(path: str, content: bytes) -> tuple[Document, ...]:
    """Read the documents of a file; in doubt if one of them has a problem, or there are none."""
    contents = read_documents(path, content)
    documents = tuple(chain.from_iterable(map(split_list, contents.documents)))
    if contents.problems or not documents or any(document.problems for document in documents):
        raise _DoubtError
    return documents


def _check_object(document: Document) -> str | None:
    """Return the name of a ConfigMap or a Secret, None for another object that is not for gitsync."""
    value = document.value
    if value is None:
        return None
    if not is_object(value):
        raise _DoubtError
    if is_feeding(value):
        return None if value["kind"] == "Namespace" else _read_name(value.get("metadata"))
    if is_ours(value["apiVersion"]) or CapzObjects("").take(document, None) or skip(document).problems:
        raise _DoubtError
    return None


def _check_patch(entry: Any, folder: str, files: Mapping[str, bytes]) -> None:
    """Check the fragments of objects in a patch, which is a text or a file."""
    inline = entry.get("patch") if isinstance(entry, dict) else entry if "\n" in _read_text(entry) else None
    path = resolve(folder, _read_text(entry.get("path") if isinstance(entry, dict) else entry)) if not inline else ""
    if not inline and path not in files:
        raise _DoubtError
    for document in _read(path, _read_text(inline).encode() if inline else files[path]):
        if skip(document).problems:
            raise _DoubtError


def _read_generator(entry: Any, folder: str, files: Mapping[str, bytes]) -> str:
    """Return the name of what a generator makes; in doubt if one of its files is not there."""
    if not isinstance(entry, dict):
        raise _DoubtError
    sources = [*_read_list(entry, "files"), *_read_list(entry, "envs"), *filter(None, [entry.get("env")])]
    for source in sources:
        if resolve(folder, split_pair(_read_text(source))[-1]) not in files:
            raise _DoubtError
    return _read_name(entry)


def _read_list(mapping: Mapping[str, Any], name: str) -> list[Any]:
    value = mapping.get(name)
    if not isinstance(value, list | None):
        raise _DoubtError
    return value or []


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise _DoubtError
    return value


def _read_name(metadata: Any) -> str:
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not _NAME.fullmatch(name.encode()):
        raise _DoubtError
    return name
