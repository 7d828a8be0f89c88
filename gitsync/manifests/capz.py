"""ASO objects inside objects of CAPZ, the provider of Cluster API for Azure, which applies them in its own cluster.

CAPZ gives them the namespace of the object that wraps them, and values that the objects of Cluster API have. What
cannot be known here is left out. Nothing that the author wrote is changed, except the namespace.

Source: pkg/mutators and internal/controllers of kubernetes-sigs/cluster-api-provider-azure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitsync.manifests.document_forms import split_items
from gitsync.manifests.headers import is_object
from gitsync.manifests.yaml_documents import Document
from gitsync.model.resource import Wrapper
from gitsync.model.unit import Unit
from gitsync.problems.field_path import FieldPath, find_member

_CAPZ: Final = "infrastructure.cluster.x-k8s.io"
_CLUSTER_API: Final = "cluster.x-k8s.io"
_TEMPLATE: Final = "Template"
_CLUSTER_LABEL: Final = "cluster.x-k8s.io/cluster-name"
_REPLICAS_OF_OTHERS: Final = "cluster.x-k8s.io/replicas-managed-by"

_WRAPPERS: Final = frozenset(
    {
        "AzureASOManagedCluster",
        "AzureASOManagedControlPlane",
        "AzureASOManagedMachinePool",
        "AROCluster",
        "AROControlPlane",
        "AROMachinePool",
    }
)
_OWNERS: Final = {"ManagedCluster": "ResourceGroup", "ManagedClustersAgentPool": "ManagedCluster"}
_VARIABLE: Final = re.compile(r"\$\{([_a-zA-Z][_a-zA-Z0-9]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrappedDocument:
    """An ASO object as CAPZ would apply it, with its wrapper, and the unit of both."""

    document: Document
    wrapper: Wrapper
    unit: Unit | None


@dataclass(slots=True)
class CapzObjects:
    """Collects objects of CAPZ and of Cluster API. Mutable: values for one may be in a file that is read later.

    `namespace` is that of objects which name none.
    """

    namespace: str
    _wrappers: list[tuple[Document, Unit | None]] = field(default_factory=list)
    _neighbours: dict[tuple[str, str], list[Mapping[str, Any]]] = field(default_factory=dict)

    def take(self, document: Document, unit: Unit | None) -> bool:
        """Note a document if it reports anything about objects of CAPZ. Return whether it wraps objects."""
        value = document.value
        if not is_object(value) or not isinstance(value.get("metadata"), dict):
            return False
        # Objects of Cluster API are kept too: those of CAPZ take their values from them.
        wraps = bool(_find_objects(value))
        if wraps:
            self._wrappers.append((document, unit))
        if wraps or value["apiVersion"].partition("/")[0] == _CLUSTER_API:
            self._neighbours.setdefault(self._find_home(value, unit), []).append(value)
        return wraps

    def unwrap(self) -> Iterator[WrappedDocument]:
        """Yield the ASO objects of all wrappers, in the order of the files."""
        for document, unit in self._wrappers:
            value = document.value
            home = self._find_home(value, unit)
            wrapper = Wrapper(kind=value["kind"], is_template=value["kind"].endswith(_TEMPLATE))
            neighbours = _Neighbours(value, self._neighbours[home])
            for wrapped in split_items(document, _find_path(value)):
                if isinstance(wrapped.value, dict):
                    filled = _fill_in(wrapped.value, home[1], neighbours)
                    yield WrappedDocument(document=replace(wrapped, value=filled), wrapper=wrapper, unit=unit)

    def _find_home(self, value: Mapping[str, Any], unit: Unit | None) -> tuple[str, str]:
        """Find the unit and the namespace of an object. Objects of other units and namespaces do not
        belong to it.
        """
        return unit.name if unit else "", str(value["metadata"].get("namespace") or self.namespace)


def _find_path(value: Mapping[str, Any]) -> FieldPath:
    return ("spec", "template", "spec", "resources") if value["kind"].endswith(_TEMPLATE) else ("spec", "resources")


def _find_objects(value: Mapping[str, Any]) -> list[Any]:
    """Find the objects that a wrapper has; none if a document is not one."""
    is_capz = value["apiVersion"].partition("/")[0] == _CAPZ
    if not is_capz or value["kind"].removesuffix(_TEMPLATE) not in _WRAPPERS:
        return []
    objects = find_member(value, *_find_path(value))
    return objects if isinstance(objects, list) else []


class _Neighbours:
    """The objects of Cluster API that belong to the same cluster as a wrapper, as far as they define so."""

    def __init__(self, wrapper: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> None:
        self.wrapper = wrapper
        self.machine_pool = next((other for other in others if _refers(other, wrapper, *_OF_POOL)), {})
        name = find_member(self.machine_pool, "spec", "clusterName") or find_member(
            wrapper, "metadata", "labels", _CLUSTER_LABEL
        )
        # A reference to the wrapper is surer than a name, which a label or a machine pool gives.
        clusters = [other for other in others if other["kind"] == "Cluster"]
        refers = [cluster for cluster in clusters if any(_refers(cluster, wrapper, "spec", ref) for ref in _OF_CLUSTER)]
        called = [cluster for cluster in clusters if name and find_member(cluster, "metadata", "name") == name]
        self.cluster = next(iter((*refers, *called)), {})
        self._others = others

    def find_only(self, kind: str) -> str | None:
        """Find the name of the object of a kind that the cluster has; None if it has none or
        several.
        """
        wrappers = [other for other in self._others if _find_objects(other)]
        own = [
            wrapper for wrapper in wrappers if any(_refers(self.cluster, wrapper, "spec", ref) for ref in _OF_CLUSTER)
        ]
        names = {find_member(named, "metadata", "name") for named in _list_kind(own or wrappers, kind)}
        name = names.pop() if len(names) == 1 else None  # no file shows which of several
        return name if isinstance(name, str) else None


_OF_CLUSTER: Final = ("controlPlaneRef", "infrastructureRef")
_OF_POOL: Final = ("spec", "template", "spec", "infrastructureRef")


def _refers(value: Mapping[str, Any], wrapper: Mapping[str, Any], *path: str) -> bool:
    """Return whether a reference in an object of Cluster API names a wrapper."""
    reference = find_member(value, *path)
    named = (reference.get("kind"), reference.get("name")) if isinstance(reference, dict) else None
    return named == (wrapper["kind"], wrapper["metadata"].get("name"))


def _list_kind(wrappers: Iterable[Mapping[str, Any]], kind: str) -> Iterator[Mapping[str, Any]]:
    for wrapper in wrappers:
        name = wrapper["metadata"].get("name")
        for wrapped in _find_objects(wrapper):
            if isinstance(wrapped, dict) and wrapped.get("kind") == kind:
                yield {"metadata": {"name": find_member(wrapped, "metadata", "name") or name}}


def _fill_in(value: Mapping[str, Any], namespace: str, neighbours: _Neighbours) -> Mapping[str, Any]:
    """Fill in an ASO object as CAPZ would apply it. One without a name gets that of its wrapper."""
    metadata = value.get("metadata")
    if isinstance(metadata, dict | None):
        own, name = metadata or {}, neighbours.wrapper["metadata"].get("name")
        value = {**value, "metadata": {**own, "name": own.get("name") or name, "namespace": namespace}}
    # What the author wrote wins, as in CAPZ, which sets only what is absent.
    for path, known in _list_defaults(value.get("kind"), value.get("spec"), neighbours):
        if known not in (None, "") and find_member(value, *path) is None:
            value = _set(value, path, known)
    return value


def _list_defaults(kind: Any, spec: Any, neighbours: _Neighbours) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield what CAPZ sets in an object of a kind, by its path."""
    if kind in _OWNERS and (owner := neighbours.find_only(_OWNERS[kind])):
        yield ("spec", "owner"), {"name": owner}
    if kind == "ManagedCluster":
        network = find_member(neighbours.cluster, "spec", "clusterNetwork")
        yield ("spec", "kubernetesVersion"), _strip_version(find_member(neighbours.wrapper, "spec", "version"))
        yield ("spec", "networkProfile", "serviceCidr"), _find_first(find_member(network, "services", "cidrBlocks"))
        yield ("spec", "networkProfile", "podCidr"), _find_first(find_member(network, "pods", "cidrBlocks"))
    if kind == "ManagedClustersAgentPool":
        pool = neighbours.machine_pool
        version = find_member(pool, "spec", "template", "spec", "version")
        yield ("spec", "orchestratorVersion"), _strip_version(version)
        is_scaled = find_member(spec, "enableAutoScaling") or find_member(
            pool, "metadata", "annotations", _REPLICAS_OF_OTHERS
        )
        # An autoscaler moves the count, so the number of the manifest would undo its work.
        yield ("spec", "count"), None if is_scaled else find_member(pool, "spec", "replicas")


def _strip_version(version: Any) -> str | None:
    """Write a version as Azure does, without the v. One with a variable is left out unless it is
    nothing else.
    """
    if not isinstance(version, str):
        return None
    if whole := _VARIABLE.fullmatch(version):
        return f"${{{whole[1]}#v}}"  # the variable is replaced later, and its v removed then
    return None if version.startswith("$") else version.removeprefix("v")


def _find_first(values: Any) -> Any:
    return values[0] if isinstance(values, list) and values else None


def _set(value: Any, path: Sequence[str], member: Any) -> Any:
    """Copy a mapping with a member set at a path of keys. Where the path meets something other than a
    mapping, nothing changes.
    """
    if not path:
        return member
    if not isinstance(value, dict | None):
        return value
    key, *rest = path
    inside = value or {}
    return {**inside, key: _set(inside.get(key), rest, member)}
