"""Owners and references of a set of manifests, as a value that can be drawn.

Separate from the graph of a run, which has only the order: this one has the reason of each edge, and shows missing
targets too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gitsync.catalog.catalog import Catalog
from gitsync.catalog.type_words import format_short_key
from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared
from gitsync.validation.references import find_named_references


class Presence(StrEnum):
    MANIFEST = "manifest"
    INVALID = "invalid"  # a manifest with errors
    MISSING = "missing"  # referenced, but no manifest declares it
    AZURE = "azure"  # referenced by its ARM id


class Relation(StrEnum):
    OWNER = "owner"
    REFERENCE = "reference"
    ORDER = "order"  # waits for a value, or is below it by ARM id


@dataclass(frozen=True, slots=True, order=True)
class Vertex:
    """One resource. `id` is its key, or its ARM id if it has no key."""

    id: str
    label: str
    namespace: str
    presence: Presence


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """`source` depends on `target`; both are ids of vertices."""

    source: str
    target: str
    relation: Relation


@dataclass(frozen=True, slots=True)
class Graph:
    """Sorted vertices, and sorted edges between them: at most one for each pair, the closest relation."""

    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]


def build_owner_graph(prepared: Sequence[Prepared], catalog: Catalog, others: Sequence[Prepared] = ()) -> Graph:
    """The graph of these manifests and what they depend on. A duplicate key is one vertex.

    `others` are all manifests, if only some are drawn: a target that is one of them is not missing.
    """
    known_vertices = {str(p.key): _make_vertex(p) for p in (*others, *prepared)}
    vertices = {str(p.key): known_vertices[str(p.key)] for p in prepared}
    edges: dict[tuple[str, str], Edge] = {}
    for manifest in prepared:
        for target, relation in _iterate_targets(manifest, catalog):
            vertices.setdefault(target.id, known_vertices.get(target.id, target))
            edges.setdefault((str(manifest.key), target.id), Edge(str(manifest.key), target.id, relation))
    return Graph(tuple(sorted(vertices.values())), tuple(sorted(edges.values())))


def _make_vertex(prepared: Prepared) -> Vertex:
    presence = Presence.MANIFEST if prepared.is_valid else Presence.INVALID
    return Vertex(str(prepared.key), format_short_key(prepared.key), prepared.key.namespace, presence)


def _iterate_targets(prepared: Prepared, catalog: Catalog) -> Iterator[tuple[Vertex, Relation]]:
    """Return the targets of a manifest, the closest relation first. The caller ignores a vertex that it already has."""
    owner = prepared.owner
    if owner is not None and owner.arm_id is not None:
        yield Vertex(owner.arm_id.casefold(), owner.arm_id, "", Presence.AZURE), Relation.OWNER
    elif owner is not None and owner.key is not None:
        yield _make_missing(owner.key), Relation.OWNER
    kind = catalog.kind(prepared.resource.gvk)
    if kind is not None:
        for _path, key in find_named_references(kind, prepared.resource.spec, prepared.key.namespace):
            yield _make_missing(key), Relation.REFERENCE
    for key in prepared.depends_on:
        yield _make_missing(key), Relation.ORDER


def _make_missing(key: Key) -> Vertex:
    return Vertex(str(key), format_short_key(key), key.namespace, Presence.MISSING)
