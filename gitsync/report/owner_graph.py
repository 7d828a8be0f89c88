"""The graph that `gitsync graph` draws: the owners and references of manifests, as text for Mermaid and for Graphviz.

Separate from the graph of a run, which has only the order: this one has the reason of each edge, and shows missing
targets too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.type_words import format_short_key
from gitsync.desired.validation.references import list_named_references
from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared


class Presence(StrEnum):
    MANIFEST = "manifest"
    INVALID = "invalid"  # a manifest with errors
    MISSING = "missing"  # referenced, but no manifest declares it
    AZURE = "azure"  # referenced by its ARM id


class Relation(StrEnum):
    OWNER = "owner"
    REFERENCE = "reference"
    VALUE = "value"  # an expression computes a field from it
    NAMED = "depends-on"  # its annotation `gitsync/depends-on` names it
    ORDER = "order"  # waits for a value of a Secret, or is below it by ARM id


@dataclass(frozen=True, slots=True, order=True)
class Vertex:
    """One resource."""

    id: str  # its key, or its ARM id if it has no key
    label: str  # what the picture shows
    namespace: str
    presence: Presence


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """That one vertex depends on another."""

    source: str  # the id of the vertex that depends
    target: str  # the id of the vertex that it depends on
    relation: Relation
    fields: tuple[str, ...] = ()  # those that expressions compute from the target

    @property
    def label(self) -> str:
        return ", ".join(self.fields)


@dataclass(frozen=True, slots=True)
class Graph:
    """Sorted vertices, and sorted edges between them: at most one for each pair, the closest relation."""

    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]


def build_owner_graph(prepared: Sequence[Prepared], catalog: Catalog, others: Sequence[Prepared] = ()) -> Graph:
    """Build the graph of these manifests and what they depend on. A duplicate key is one vertex.

    `others` are all manifests, if only some are drawn: a target that is one of them is not missing.
    """
    known_vertices = {}
    for resource in (*others, *prepared):
        presence = Presence.MANIFEST if resource.is_valid else Presence.INVALID
        known_vertices[str(resource.key)] = Vertex(
            str(resource.key), format_short_key(resource.key), resource.key.namespace, presence
        )
    vertices = {str(p.key): known_vertices[str(p.key)] for p in prepared}
    edges: dict[tuple[str, str], Edge] = {}
    for manifest in prepared:
        fields = _collect_computed_fields(manifest)
        for target, relation in _iterate_targets(manifest, catalog):
            vertices.setdefault(target.id, known_vertices.get(target.id, target))
            edge = Edge(str(manifest.key), target.id, relation, tuple(fields.get(target.id, ())))
            edges.setdefault((edge.source, edge.target), edge)
    return Graph(tuple(sorted(vertices.values())), tuple(sorted(edges.values())))


def _iterate_targets(prepared: Prepared, catalog: Catalog) -> Iterator[tuple[Vertex, Relation]]:
    """Return the targets of a manifest, the closest relation first. The caller ignores a vertex that it already has."""
    owner = prepared.relations.owner
    if owner is not None and owner.arm_id is not None:
        yield Vertex(owner.arm_id.key, owner.arm_id, "", Presence.AZURE), Relation.OWNER
    elif owner is not None and owner.key is not None:
        yield _make_missing(owner.key), Relation.OWNER
    kind = catalog.kind_of(prepared.resource)
    if kind is not None:
        for _path, key in list_named_references(kind, prepared.resource.spec, prepared.key.namespace):
            yield _make_missing(key), Relation.REFERENCE
    for value in prepared.relations.computed:
        yield from ((_make_missing(key), Relation.VALUE) for key in value.sources.values())
    for key in prepared.relations.named_first:
        yield _make_missing(key), Relation.NAMED
    for key in prepared.relations.depends_on:
        yield _make_missing(key), Relation.ORDER


def _collect_computed_fields(prepared: Prepared) -> Mapping[str, Sequence[str]]:
    """Collect the fields that expressions compute, by the id of the vertex from which they come."""
    fields: dict[str, list[str]] = defaultdict(list)
    for value in prepared.relations.computed:
        for key in sorted(set(value.sources.values())):
            if value.field not in fields[str(key)]:  # the owner of a credential gives two ids
                fields[str(key)].append(value.field)
    return fields


def _make_missing(key: Key) -> Vertex:
    return Vertex(str(key), format_short_key(key), key.namespace, Presence.MISSING)


# Names come from manifests, which are not trusted: Mermaid gets all but plain characters escaped, so that no label ends
# early.
_PLAIN = re.compile(r"[A-Za-z0-9 ._/-]")

_ARROWS: Final = {
    Relation.OWNER: "-->",
    Relation.REFERENCE: "-.->",
    Relation.VALUE: "==>",
    Relation.NAMED: "-. depends-on .->",
    Relation.ORDER: "-.-o",
}
_STYLES: Final = {
    Relation.OWNER: "",
    Relation.REFERENCE: "style=dashed",
    Relation.VALUE: "style=bold",
    Relation.NAMED: 'style=dotted, label="depends-on"',
    Relation.ORDER: "style=dotted",
}
_MERMAID_CLASSES: Final = {
    Presence.INVALID: "stroke:#c00,stroke-width:2px",
    Presence.MISSING: "stroke:#c00,stroke-dasharray:4",
    Presence.AZURE: "stroke-dasharray:4",
}
_DOT_CLASSES: Final = {
    Presence.MANIFEST: "",
    Presence.INVALID: ', color="#cc0000"',
    Presence.MISSING: ', color="#cc0000", style=dashed',
    Presence.AZURE: ", style=dashed",
}


def draw_mermaid(graph: Graph) -> str:
    """Draw the graph as a Mermaid flowchart: dependents point at owners (solid), references (dashed), the sources of
    their values (thick), others (dotted).
    """
    names = _number_vertices(graph)
    lines = ["flowchart LR"]
    lines += _group_lines(
        graph, lambda v: f'{names[v.id]}["{_escape_mermaid(v.label)}"]', 'subgraph {0}["{1}"]', "end", _escape_mermaid
    )
    for edge in graph.edges:
        label = f'|"{_escape_mermaid(edge.label)}"|' if edge.fields else ""
        lines.append(f"  {names[edge.source]} {_ARROWS[edge.relation]}{label} {names[edge.target]}")
    for presence, style in _MERMAID_CLASSES.items():
        members = [names[v.id] for v in graph.vertices if v.presence is presence]
        if members:
            lines += [f"  classDef {presence.value} {style}", f"  class {','.join(members)} {presence.value}"]
    return "\n".join(lines) + "\n"


def draw_dot(graph: Graph) -> str:
    """Draw the graph for Graphviz: dependents point at owners (solid), references (dashed), the sources of their values
    (bold), others (dotted).
    """
    names = _number_vertices(graph)
    lines = ["digraph gitsync {", "  rankdir=LR;", "  node [shape=box];"]
    lines += _group_lines(
        graph,
        lambda v: f'{names[v.id]} [label="{_escape_dot(v.label)}"{_DOT_CLASSES[v.presence]}];',
        'subgraph "cluster_{0}" {{ label="{1}";',
        "}",
        _escape_dot,
    )
    for edge in graph.edges:
        label = f'label="{_escape_dot(edge.label)}"' if edge.fields else ""
        style = ", ".join(filter(None, (_STYLES[edge.relation], label)))
        lines.append(f"  {names[edge.source]} -> {names[edge.target]}{f' [{style}]' if style else ''};")
    return "\n".join([*lines, "}"]) + "\n"


def build_graph_document(graph: Graph) -> dict[str, list[dict[str, Any]]]:
    """Write the graph as plain JSON values."""
    return {
        "vertices": [
            {"id": v.id, "label": v.label, "namespace": v.namespace, "presence": v.presence.value}
            for v in graph.vertices
        ],
        "edges": [
            {
                "source": e.source,
                "target": e.target,
                "relation": e.relation.value,
                **({"fields": list(e.fields)} if e.fields else {}),
            }
            for e in graph.edges
        ],
    }


def _number_vertices(graph: Graph) -> Mapping[str, str]:
    return {vertex.id: f"n{number}" for number, vertex in enumerate(graph.vertices)}


def _group_lines(
    graph: Graph, line: Callable[[Vertex], str], begin: str, end: str, escape: Callable[[str], str]
) -> Iterator[str]:
    """Write the lines of the vertices, in a box for each namespace if there are several namespaces."""
    # What is only in Azure has no namespace, and is outside of all boxes.
    namespaces = sorted({v.namespace for v in graph.vertices} - {""})
    boxes = namespaces if len(namespaces) > 1 else []
    yield from (f"  {line(v)}" for v in graph.vertices if v.namespace not in boxes)
    for number, namespace in enumerate(boxes):
        # By number: a namespace may be called `end`, which Mermaid takes for the end of a box.
        yield "  " + begin.format(f"g{number}", escape(namespace))
        yield from (f"    {line(v)}" for v in graph.vertices if v.namespace == namespace)
        yield f"  {end}"


def _escape_mermaid(text: str) -> str:
    return "".join(c if _PLAIN.fullmatch(c) else f"#{ord(c)};" for c in text)


def _escape_dot(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text).replace("\\", "\\\\").replace('"', '\\"')
