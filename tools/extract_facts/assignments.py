"""What a statement of Go writes: assignments to a path, and what local names stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from extract_facts.go_source import read_selectors, read_text, walk

_EMPTY = re.compile(r"make\(.*|&?(arm\.|\[\]|map\[string\])?\w+\{\}", re.DOTALL)
"""The right side of an assignment that makes room for what follows, and copies nothing."""


class Write(NamedTuple):
    """One assignment."""

    path: tuple[str, ...]  # below the root
    value: Node
    has_key: bool  # it is to an entry of a map or list


def find_writes(statement: Node, root: str) -> Iterator[Write]:
    """The assignments below a statement to a path of `root` that copy something."""
    for node in walk(statement):
        if node.type != "assignment_statement":
            continue
        left, value = (node.child_by_field_name(side).named_children[0] for side in ("left", "right"))
        if has_key := left.type == "index_expression":
            left = left.child_by_field_name("operand")
        names = next(iter(read_selectors(left)), ()) if left.type == "selector_expression" else ()
        if names[:1] == (root,) and (has_key or not _EMPTY.fullmatch(read_text(value).strip())):
            yield Write(names[1:], value, has_key)


class Locals:
    """The paths of `root` that local names were made from."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._paths: dict[str, list[tuple[str, ...]]] = {}

    def find_reads(self, node: Node) -> list[tuple[str, ...]]:
        """The paths that a node reads, else those that the local names in it stand for."""
        if paths := self._find_direct(node):
            return paths
        return [path for name in _list_names(node) for path in self._paths.get(name, ())]

    def add(self, statement: Node) -> None:
        """Note the local names that a statement sets. Within a loop, they stand for what it goes over as well."""
        set_here: dict[str, list[tuple[str, ...]]] = {}
        for node in walk(statement):
            if node.type in {"assignment_statement", "short_var_declaration", "range_clause"}:
                left = node.child_by_field_name("left")
                reads = self.find_reads(node.child_by_field_name("right"))
                for target in left.named_children if left and reads else ():
                    if target.type == "identifier":
                        paths = set_here.setdefault(read_text(target), [])
                        paths.extend(reads)
                        self._paths[read_text(target)] = paths  # a name such as temp is set again and again

    def _find_direct(self, node: Node) -> list[tuple[str, ...]]:
        return [names[1:] for names in read_selectors(node) if names[0] == self._root and len(names) > 1]


def _list_names(node: Node) -> list[str]:
    return [read_text(inner) for inner in walk(node) if inner.type == "identifier"]
