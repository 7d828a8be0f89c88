"""Collects the Secrets, ConfigMaps and Namespaces of a source, and rejects a second declaration of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitsync.desired.manifests.document_forms import make_encrypted
from gitsync.desired.manifests.headers import Header
from gitsync.desired.manifests.units import is_built_unit
from gitsync.desired.manifests.unread_documents import UnreadContent, locate_in_document, reject
from gitsync.desired.manifests.used_objects import ConfigMapVersions
from gitsync.desired.manifests.yaml_documents import Document
from gitsync.desired.problems.finding import Finding
from gitsync.model.export import OWNER, Address, ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.manifests import DeclaredObject, Encrypted, SourceObjects
from gitsync.model.problem import Level, SourceLocation
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret
from gitsync.model.unit import Unit

_KEEP_ONE: Final = "Remove one of them; until then the first is used."
_OUR_PREFIX: Final = "gitsync/"
_KEPT: Final = UnreadContent((), ())
"""Nothing of the document is rejected."""


@dataclass(slots=True)
class ObjectCollector:
    """The objects so far, the first one of each name. Mutable: it is filled document by document.

    A method that adds a document returns what it rejects.
    """

    versions: ConfigMapVersions
    config_maps: dict[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)  # by namespace and name
    secrets: dict[tuple[str, str], Mapping[str, Secret]] = field(default_factory=dict)  # by namespace and name
    encrypted: dict[Address, Encrypted] = field(default_factory=dict)
    """The Secrets and ConfigMaps that are encrypted with SOPS."""

    declared: dict[Address, DeclaredObject] = field(default_factory=dict)
    """All Secrets and ConfigMaps, encrypted or not."""

    ambiguous: set[Address] = field(default_factory=set)
    """ConfigMaps and Secrets that are declared again with other values."""

    namespaces: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """The annotations of Namespace manifests, by name."""

    ruling: dict[str, Resource] = field(default_factory=dict)  # those of them with gitsync's annotations, by name

    keepers: dict[tuple[str, ...], Unit | None] = field(default_factory=dict)
    """The unit that each ConfigMap, Secret and Namespace was read from, by kind and name."""

    def add_config_map(
        self, document: Document, header: Header, unit: Unit | None, data: Mapping[str, str]
    ) -> UnreadContent:
        address = _make_address(header)
        if not self.versions.add(address, document, unit, data):
            return self._keep(self.config_maps, document, header, unit, data)
        if self.config_maps[address.namespace, address.name] != data:
            self.ambiguous.add(address)
        return _KEPT

    def add_secret(
        self, document: Document, header: Header, unit: Unit | None, data: Mapping[str, Secret]
    ) -> UnreadContent:
        return self._keep(self.secrets, document, header, unit, data)

    def add_encrypted(self, document: Document, header: Header) -> UnreadContent:
        address = _make_address(header)
        if self._declare(address, document, header.annotations.get(OWNER, "")):
            self.encrypted[address] = make_encrypted(document)
            return _KEPT
        self.ambiguous.add(address)
        return reject_repeated(str(address), document)

    def add_namespace(self, document: Document, header: Header, unit: Unit | None) -> UnreadContent:
        object_name, kept = ("Namespace", header.name), self.namespaces.get(header.name)
        if kept is None:
            self.namespaces[header.name], self.keepers[object_name] = header.annotations, unit
            if any(key.startswith(_OUR_PREFIX) for key in header.annotations):
                self.ruling[header.name] = _make_ruling(document, header, unit)
            return _KEPT
        # Only annotations of a Namespace have an effect, so two that agree in them do not conflict.
        is_same = kept == header.annotations
        if is_same and self._is_repeat(object_name, unit):
            return _KEPT
        return reject_repeated(f"Namespace {header.name}", document, is_same=is_same)

    def make_objects(self) -> SourceObjects:
        return SourceObjects(
            config_maps=self.config_maps,
            secrets=self.secrets,
            encrypted=self.encrypted,
            declared=self.declared,
            ambiguous=frozenset(self.ambiguous),
            versions={address: tuple(versions) for address, versions in self.versions.by_address.items()},
        )

    def _keep(
        self,
        objects: dict[tuple[str, str], Mapping[str, Any]],
        document: Document,
        header: Header,
        unit: Unit | None,
        data: Mapping[str, Any],
    ) -> UnreadContent:
        address, name = _make_address(header), (header.namespace, header.name)
        object_name, is_same = (header.gvk.kind, *name), objects.get(name) == data
        if is_same and self._is_repeat(object_name, unit):
            return _KEPT
        # The first document stays in use although it is reported: without it, everything that reads the object would
        # fail too.
        if self._declare(address, document):
            objects[name], self.keepers[object_name] = data, unit
            return _KEPT
        if not is_same:
            self.ambiguous.add(address)
        return reject_repeated(str(address), document, is_same=is_same)

    def _is_repeat(self, object_name: tuple[str, ...], unit: Unit | None) -> bool:
        """Return whether another unit built the object: overlays of one base build the same, each for itself."""
        keeper = self.keepers.get(object_name)
        return is_built_unit(keeper) and is_built_unit(unit) and keeper != unit

    def _declare(self, address: Address, document: Document, owner: str = "") -> bool:
        """Note an object; return False if another document declares it already."""
        if address in self.declared:
            return False
        self.declared[address] = DeclaredObject(source=SourceLocation(document.path, document.line()), owner=owner)
        return True


def reject_repeated(title: str, document: Document, *, is_same: bool = False) -> UnreadContent:
    """Reject a document whose object another one declares; only a note if both have the same content."""
    finding = Finding(
        code="DuplicateManifest", path=("metadata", "name"), message=f"{title} is declared twice.", hint=_KEEP_ONE
    )
    problem = locate_in_document(finding, document)
    return reject(document, replace(problem, level=Level.NOTE) if is_same else problem)


def _make_ruling(document: Document, header: Header, unit: Unit | None) -> Resource:
    return Resource(
        key=Key(header.gvk.group, header.gvk.kind, "", header.name),
        gvk=header.gvk,
        spec={},
        source=document.patched.get((), SourceLocation(document.path, document.line())),
        annotations=header.annotations,
        lines=document.lines,
        patched=document.patched,
        unit=unit,
    )


def _make_address(header: Header) -> Address:
    return Address(ObjectKind(header.gvk.kind), header.namespace, header.name)
