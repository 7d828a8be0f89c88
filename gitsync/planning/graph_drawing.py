"""A graph as text that other tools draw: Mermaid and Graphviz's dot.

Names come from manifests, which are not trusted: all other than plain characters are escaped, so that no label ends
early.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gitsync.planning.owner_graph import Graph, Presence, Relation, Vertex

_PLAIN = re.compile(r"[A-Za-z0-9 ._/-]")

_ARROWS: Final = {Relation.OWNER: "-->", Relation.REFERENCE: "-.->", Relation.ORDER: "-.-o"}
_STYLES: Final = {Relation.OWNER: "", Relation.REFERENCE: " [style=dashed]", Relation.ORDER: " [style=dotted]"}
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
    """The graph as a Mermaid flowchart: dependents point at owners (solid), references (dashed), others (dotted)."""
    names = _number_vertices(graph)
    lines = ["flowchart LR"]
    lines += _group_lines(
        graph, lambda v: f'{names[v.id]}["{_escape_mermaid(v.label)}"]', 'subgraph {0}["{1}"]', "end", _escape_mermaid
    )
    lines += [f"  {names[e.source]} {_ARROWS[e.relation]} {names[e.target]}" for e in graph.edges]
    for presence, style in _MERMAID_CLASSES.items():
        members = [names[v.id] for v in graph.vertices if v.presence is presence]
        if members:
            lines += [f"  classDef {presence.value} {style}", f"  class {','.join(members)} {presence.value}"]
    return "\n".join(lines) + "\n"


def draw_dot(graph: Graph) -> str:
    """The graph for Graphviz: dependents point at owners (solid), references (dashed), others (dotted)."""
    names = _number_vertices(graph)
    lines = ["digraph gitsync {", "  rankdir=LR;", "  node [shape=box];"]
    lines += _group_lines(
        graph,
        lambda v: f'{names[v.id]} [label="{_escape_dot(v.label)}"{_DOT_CLASSES[v.presence]}];',
        'subgraph "cluster_{0}" {{ label="{1}";',
        "}",
        _escape_dot,
    )
    lines += [f"  {names[e.source]} -> {names[e.target]}{_STYLES[e.relation]};" for e in graph.edges]
    return "\n".join([*lines, "}"]) + "\n"


def build_graph_document(graph: Graph) -> dict[str, list[dict[str, str]]]:
    """The graph as plain JSON values."""
    return {
        "vertices": [
            {"id": v.id, "label": v.label, "namespace": v.namespace, "presence": v.presence.value}
            for v in graph.vertices
        ],
        "edges": [{"source": e.source, "target": e.target, "relation": e.relation.value} for e in graph.edges],
    }


def _number_vertices(graph: Graph) -> Mapping[str, str]:
    return {vertex.id: f"n{number}" for number, vertex in enumerate(graph.vertices)}


def _group_lines(
    graph: Graph, line: Callable[[Vertex], str], begin: str, end: str, escape: Callable[[str], str]
) -> Iterator[str]:
    """The lines of the vertices, in a box for each namespace if there are several namespaces."""
    namespaces = sorted({v.namespace for v in graph.vertices} - {""})
    boxes = namespaces if len(namespaces) > 1 else []
    yield from (f"  {line(v)}" for v in graph.vertices if v.namespace not in boxes)
    for number, namespace in enumerate(boxes):
        yield "  " + begin.format(f"g{number}", escape(namespace))
        yield from (f"    {line(v)}" for v in graph.vertices if v.namespace == namespace)
        yield f"  {end}"


def _escape_mermaid(text: str) -> str:
    return "".join(c if _PLAIN.fullmatch(c) else f"#{ord(c)};" for c in text)


def _escape_dot(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text).replace("\\", "\\\\").replace('"', '\\"')
