"""Finds the ConfigMaps, Secrets and Namespaces that resources or units use.

A problem of any other is only counted, and does not fail a run. Several clusters may each declare a ConfigMap with the
same name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from gitsync.desired.manifests.credential_secret import OF_NAMESPACE
from gitsync.desired.manifests.recognition import FEEDING
from gitsync.desired.manifests.units import find_unit, is_inside
from gitsync.desired.manifests.yaml_documents import Document
from gitsync.model.export import Address
from gitsync.model.manifests import ConfigMapVersion
from gitsync.model.resource import Resource
from gitsync.model.unit import Unit, ValuesKey, ValuesReference


class FeedingObject(NamedTuple):
    """An object that resources may use. A name or a namespace that cannot be read is None."""

    kind: str
    namespace: str | None
    name: str | None


def is_feeding(value: Mapping[str, Any]) -> bool:
    """Return whether a document has a Kubernetes kind that resources use. ASO has a Namespace too."""
    return value["kind"] in FEEDING and value["apiVersion"] == "v1"


def read_feeding_object(value: Mapping[str, Any], namespace: str) -> FeedingObject:
    """Find the object that a document declares, as far as its name and namespace can be read. `namespace` is the
    default.
    """
    metadata = value.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    return FeedingObject(value["kind"], _read_name(named.get("namespace") or namespace), _read_name(named.get("name")))


def _read_name(text: Any) -> str | None:
    # A variable may become any name.
    return text if isinstance(text, str) and "$" not in text else None


@dataclass(frozen=True)
class UsedObjects:
    """The objects that the resources and units of a source use."""

    resources: Collection[Resource]
    units: Collection[Unit]

    def has(self, used: FeedingObject) -> bool:
        """Return whether an object is used. An object with an unknown namespace may be in any. An object without a name
        is never used.
        """
        if used.kind == "Namespace":
            return used.name in self._texts
        namespaces = self._texts if used.namespace is None else [used.namespace]
        return used.name is not None and (
            any(used.name in self._texts.get(namespace, ()) for namespace in namespaces)
            or any(
                (reference.kind, reference.name) == (used.kind, used.name)
                and used.namespace in {None, reference.namespace}
                for reference in self._references
            )
        )

    def are_named_in(self, text: bytes) -> bool:
        """Return whether a text that does not parse names an object that is used."""
        return any(re.search(rb"(?<![\w-])" + re.escape(name.encode()) + rb"(?![\w-])", text) for name in self._names)

    @cached_property
    def _texts(self) -> Mapping[str, Collection[str]]:
        """All texts in the resources of each namespace: a used name is one of them, in any field."""
        by_namespace: dict[str, set[str]] = {}
        for resource in self.resources:
            # Every resource of a namespace uses its credential Secret, even if no text names it.
            texts = by_namespace.setdefault(resource.key.namespace, {OF_NAMESPACE})
            texts.update(_list_texts(resource.spec))
            # An annotation may name a Secret of another namespace, such as the credential: `namespace/name`.
            texts.update(text.rpartition("/")[2] for text in resource.annotations.values())
        return by_namespace

    @cached_property
    def _references(self) -> Collection[ValuesReference]:
        """The Secrets and ConfigMaps from which units take variables and chart values."""
        references = set[ValuesReference]()
        for unit in self.units:
            references.update(unit.options.substitution.references if unit.options.substitution else ())
            values = unit.release.values if unit.release else ()
            references.update(value.reference for value in values if isinstance(value, ValuesKey))
        return references

    @cached_property
    def _names(self) -> Collection[str]:
        """Only the names in references: a text that does not parse may contain any other word by chance."""
        names = {name for resource in self.resources for name in _list_referenced(resource.spec)}
        annotated = {text.rpartition("/")[2] for resource in self.resources for text in resource.annotations.values()}
        namespaces = self._texts.keys() - {"default"}  # a common word
        return {
            name
            for name in {*names, *annotated, *namespaces, *(reference.name for reference in self._references)}
            if name
        }


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for member in _list_members(value):
        yield from _list_texts(member)


def _list_referenced(value: Any) -> Iterator[str]:
    """List the names in references to a Secret or a ConfigMap, or to a key of one."""
    if isinstance(value, dict) and value.keys() in ({"name", "key"}, {"name"}) and isinstance(value["name"], str):
        yield value["name"]
    for key, member in value.items() if isinstance(value, dict) else enumerate(_list_members(value)):
        if key != "owner":  # it has only a name too, but that of a resource
            yield from _list_referenced(member)


def _list_members(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


# ConfigMaps with the same name in several clusters: each cluster has its own, as in Flux repositories.
#
# A cluster is a folder from which controller objects are followed. Resources refer to a ConfigMap only by its name, so
# a namespace with resources can have only one.


@dataclass(frozen=True, slots=True)
class ConflictingConfigMap:
    """The document of a ConfigMap that differs from another cluster's, and its unit."""

    address: Address
    document: Document
    unit: Unit | None


@dataclass(slots=True)
class ConfigMapVersions:
    """Collects the ConfigMaps of a source. Mutable: it is filled document by document."""

    clusters: frozenset[str] = frozenset()  # the folders of clusters
    by_address: dict[Address, list[ConfigMapVersion]] = field(default_factory=dict)
    aside: list[ConflictingConfigMap] = field(default_factory=list)

    def add(self, address: Address, document: Document, unit: Unit | None, data: Mapping[str, str]) -> bool:
        """Add a ConfigMap. Return whether all others with its name belong to other clusters."""
        cluster_folder = find_cluster_folder(document.path, unit)
        others = tuple(self.by_address.get(address, ()))
        self.by_address.setdefault(address, []).append(ConfigMapVersion(cluster_folder, data, document.path))
        cluster = self._find_cluster(cluster_folder)
        is_apart = bool(others and cluster) and all(
            self._find_cluster(other.cluster_folder) not in {"", cluster} for other in others
        )
        if is_apart and any(other.data != data for other in others):
            self.aside.append(ConflictingConfigMap(address, document, unit))
        return is_apart

    def _find_cluster(self, cluster_folder: str) -> str:
        """Find the innermost cluster that contains a folder, "" for none."""
        return max(
            (cluster for cluster in self.clusters if cluster and is_inside(cluster_folder, cluster)),
            key=len,
            default="",
        )

    def list_repeated(self, namespaces: Iterable[str]) -> Iterator[ConflictingConfigMap]:
        """List the conflicting ConfigMaps in namespaces that have resources."""
        taken = frozenset(namespaces)
        return (version for version in self.aside if version.address.namespace in taken)


def find_cluster_folder(path: str, unit: Unit | None) -> str:
    """Find the folder that identifies the cluster of a document: where following started, else that of its unit or
    file.
    """
    if unit is None:
        return find_unit(path)
    return unit.settings.cluster_folder if unit.is_declared else unit.name


def find_in_cluster(versions: Iterable[ConfigMapVersion], cluster: str) -> Mapping[str, str] | None:
    """Find the ConfigMap of a cluster; None if it declares none, or several that differ."""
    own = [version.data for version in versions if is_inside(version.cluster_folder, cluster)]
    return own[0] if own and all(data == own[0] for data in own) else None
