"""ASO objects in objects of CAPZ, the Cluster API provider for Azure, which applies them in its own cluster.

CAPZ gives them the namespace of the wrapping object, and values of Cluster API objects. Values that are not known here
are left out. Except for the namespace, nothing that the author wrote is changed.

Source: pkg/mutators and internal/controllers of kubernetes-sigs/cluster-api-provider-azure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitsync.desired.manifests.document_forms import split_items
from gitsync.desired.manifests.headers import is_object
from gitsync.desired.manifests.yaml_documents import Document
from gitsync.desired.problems.field_path import FieldPath, find_member
from gitsync.model.resource import Wrapper
from gitsync.model.unit import Unit

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
    """An ASO object as CAPZ would apply it, with its wrapper and the unit of both."""

    document: Document
    wrapper: Wrapper
    unit: Unit | None


@dataclass(slots=True)
class CapzObjects:
    """Collects CAPZ and Cluster API objects. Mutable: values for one may be in a file that is read later."""

    namespace: str  # of objects without one
    _wrappers: list[tuple[Document, Unit | None]] = field(default_factory=list)
    _neighbours: dict[tuple[str, str], list[Mapping[str, Any]]] = field(default_factory=dict)

    def take(self, document: Document, unit: Unit | None) -> bool:
        """Note a document if it matters for CAPZ objects. Return whether it wraps objects."""
        value = document.value
        if not is_object(value) or not isinstance(value.get("metadata"), dict):
            return False
        # Cluster API objects are kept too: CAPZ objects take values from them.
        wraps = bool(_list_objects(value))
        if wraps:
            self._wrappers.append((document, unit))
        if wraps or value["apiVersion"].partition("/")[0] == _CLUSTER_API:
            self._neighbours.setdefault(self._find_cluster(value, unit), []).append(value)
        return wraps

    def unwrap(self) -> Iterator[WrappedDocument]:
        """Yield the ASO objects of all wrappers, in the order of the files."""
        for document, unit in self._wrappers:
            value = document.value
            cluster = self._find_cluster(value, unit)
            wrapper = Wrapper(kind=value["kind"], is_template=value["kind"].endswith(_TEMPLATE))
            neighbours = _Neighbours(value, self._neighbours[cluster])
            for wrapped in split_items(document, _find_path(value)):
                if isinstance(wrapped.value, dict):
                    filled = _fill_in(wrapped.value, cluster[1], neighbours)
                    yield WrappedDocument(document=replace(wrapped, value=filled), wrapper=wrapper, unit=unit)

    def _find_cluster(self, value: Mapping[str, Any], unit: Unit | None) -> tuple[str, str]:
        """Find the unit and the namespace of an object. Objects of other units and namespaces do not belong to it."""
        return unit.name if unit else "", str(value["metadata"].get("namespace") or self.namespace)


def _find_path(value: Mapping[str, Any]) -> FieldPath:
    return ("spec", "template", "spec", "resources") if value["kind"].endswith(_TEMPLATE) else ("spec", "resources")


def _list_objects(value: Mapping[str, Any]) -> list[Any]:
    """List the objects in a wrapper; none if a document is not a wrapper."""
    is_capz = value["apiVersion"].partition("/")[0] == _CAPZ
    if not is_capz or value["kind"].removesuffix(_TEMPLATE) not in _WRAPPERS:
        return []
    objects = find_member(value, *_find_path(value))
    return objects if isinstance(objects, list) else []


class _Neighbours:
    """The Cluster API objects of the same cluster as a wrapper, as far as they can be found."""

    def __init__(self, wrapper: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> None:
        self.wrapper = wrapper
        self.machine_pool = next((other for other in others if _refers(other, wrapper, *_OF_POOL)), {})
        name = find_member(self.machine_pool, "spec", "clusterName") or find_member(
            wrapper, "metadata", "labels", _CLUSTER_LABEL
        )
        # A reference to the wrapper is more reliable than a name in a label or a machine pool.
        clusters = [other for other in others if other["kind"] == "Cluster"]
        refers = [cluster for cluster in clusters if any(_refers(cluster, wrapper, "spec", ref) for ref in _OF_CLUSTER)]
        called = [cluster for cluster in clusters if name and find_member(cluster, "metadata", "name") == name]
        self.cluster = next(iter((*refers, *called)), {})
        self._others = others

    def find_only(self, kind: str) -> str | None:
        """Find the name of the cluster's only object of a kind; None if it has none or several."""
        wrappers = [other for other in self._others if _list_objects(other)]
        own = [
            wrapper for wrapper in wrappers if any(_refers(self.cluster, wrapper, "spec", ref) for ref in _OF_CLUSTER)
        ]
        names = {find_member(named, "metadata", "name") for named in _list_kind(own or wrappers, kind)}
        name = names.pop() if len(names) == 1 else None  # which of several is meant is not known
        return name if isinstance(name, str) else None


_OF_CLUSTER: Final = ("controlPlaneRef", "infrastructureRef")
_OF_POOL: Final = ("spec", "template", "spec", "infrastructureRef")


def _refers(value: Mapping[str, Any], wrapper: Mapping[str, Any], *path: str) -> bool:
    """Return whether a reference in a Cluster API object names a wrapper."""
    reference = find_member(value, *path)
    named = (reference.get("kind"), reference.get("name")) if isinstance(reference, dict) else None
    return named == (wrapper["kind"], wrapper["metadata"].get("name"))


def _list_kind(wrappers: Iterable[Mapping[str, Any]], kind: str) -> Iterator[Mapping[str, Any]]:
    for wrapper in wrappers:
        name = wrapper["metadata"].get("name")
        for wrapped in _list_objects(wrapper):
            if isinstance(wrapped, dict) and wrapped.get("kind") == kind:
                yield {"metadata": {"name": find_member(wrapped, "metadata", "name") or name}}


def _fill_in(value: Mapping[str, Any], namespace: str, neighbours: _Neighbours) -> Mapping[str, Any]:
    """Complete an ASO object as CAPZ would apply it. An object without a name gets that of its wrapper."""
    metadata = value.get("metadata")
    if isinstance(metadata, dict | None):
        own, name = metadata or {}, neighbours.wrapper["metadata"].get("name")
        value = {**value, "metadata": {**own, "name": own.get("name") or name, "namespace": namespace}}
    # The author's values win, as in CAPZ, which sets only absent fields.
    for path, known in _list_defaults(value.get("kind"), value.get("spec"), neighbours):
        if known not in (None, "") and find_member(value, *path) is None:
            value = _set(value, path, known)
    return value


def _list_defaults(kind: Any, spec: Any, neighbours: _Neighbours) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the fields that CAPZ sets in an object of a kind, as pairs (path, value)."""
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
        # An autoscaler changes the count, so the manifest's number would undo its work.
        yield ("spec", "count"), None if is_scaled else find_member(pool, "spec", "replicas")


def _strip_version(version: Any) -> str | None:
    """Format a version as Azure does, without the v. A text with a variable is left out, unless it is only the
    variable.
    """
    if not isinstance(version, str):
        return None
    if match := _VARIABLE.fullmatch(version):
        return f"${{{match[1]}#v}}"  # the variable is replaced later, and its v removed then
    return None if version.startswith("$") else version.removeprefix("v")


def _find_first(values: Any) -> Any:
    return values[0] if isinstance(values, list) and values else None


def _set(value: Any, path: Sequence[str], member: Any) -> Any:
    """Return a copy of a mapping with a member set at a path of keys. If the path leads through another value than a
    mapping, nothing changes.
    """
    if not path:
        return member
    if not isinstance(value, dict | None):
        return value
    key, *rest = path
    inside = value or {}
    return {**inside, key: _set(inside.get(key), rest, member)}
