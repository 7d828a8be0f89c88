"""ConfigMaps of one name that several clusters declare: each cluster has its own, as in the trees of Flux.

A cluster is a folder where following the objects of a controller began. Resources refer to a ConfigMap by its name
alone, so in a namespace with resources there can be one only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gitsync.manifests.units import find_unit, is_inside
from gitsync.manifests.yaml_documents import Document
from gitsync.model.export import Address
from gitsync.model.manifests import ConfigMapVersion
from gitsync.model.unit import Unit


@dataclass(frozen=True, slots=True)
class SetAside:
    """The document of a ConfigMap that differs from one of another cluster, and its unit."""

    address: Address
    document: Document
    unit: Unit | None


@dataclass(slots=True)
class ConfigMapVersions:
    """Collects the ConfigMaps of a source. Mutable: it is filled document by document. `clusters` are the folders of
    the clusters.
    """

    clusters: frozenset[str] = frozenset()
    found: dict[Address, list[ConfigMapVersion]] = field(default_factory=dict)
    aside: list[SetAside] = field(default_factory=list)

    def add(self, address: Address, document: Document, unit: Unit | None, data: Mapping[str, str]) -> bool:
        """Add a ConfigMap. Return whether others of its name are all of other clusters."""
        home = find_home(document.path, unit)
        others = tuple(self.found.get(address, ()))
        self.found.setdefault(address, []).append(ConfigMapVersion(home, data, document.path))
        cluster = self._find_cluster(home)
        is_apart = bool(others and cluster) and all(self._find_cluster(one.home) not in {"", cluster} for one in others)
        if is_apart and any(one.data != data for one in others):
            self.aside.append(SetAside(address, document, unit))
        return is_apart

    def _find_cluster(self, home: str) -> str:
        """The innermost cluster that a folder is in, "" for none."""
        return max((one for one in self.clusters if one and is_inside(home, one)), key=len, default="")

    def list_repeated(self, namespaces: Iterable[str]) -> Iterator[SetAside]:
        """Those that were set aside in a namespace that has resources."""
        taken = frozenset(namespaces)
        return (one for one in self.aside if one.address.namespace in taken)


def find_home(path: str, unit: Unit | None) -> str:
    """The folder that says which cluster a document is of: where following began, else that of its unit or file."""
    if unit is None:
        return find_unit(path)
    return unit.home if unit.is_declared else unit.name


def find_in_cluster(versions: Iterable[ConfigMapVersion], cluster: str) -> Mapping[str, str] | None:
    """The ConfigMap that a cluster declares; None if it declares none, or several that differ."""
    own = [one.data for one in versions if is_inside(one.home, cluster)]
    return own[0] if own and all(one == own[0] for one in own) else None
