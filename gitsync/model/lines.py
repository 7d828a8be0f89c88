"""The line of every field of a document, and the spelling of values that YAML changes.

A node has its line number and the end of its subtree, not its path: in a small file with long nested keys, the size of
all paths is the square of the file's.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

Step = str | int
"""A key of a mapping, or an index in a list."""


_NO_CHILDREN: Mapping[Step, int] = {}
_MOST_SHARED = 200  # nodes of a table that documents share
_MOST_WRITTEN = 1000  # values of a document whose spelling is kept: a file may have a million


class WrittenValue(NamedTuple):
    """The spelling of a value in its file, if it differs from JSON."""

    text: str  # `NO`, `1.30` or `004`, for example
    expression: str = ""  # the text with variables that was replaced, "" if there is none
    keeps_quotes: bool = True  # quotes around it make it text


class LineTable:
    """The nodes of a document in the order of its file. Mutable: the reader fills it."""

    __slots__ = ("_children", "_ends", "_numbers", "_steps", "_written")

    def __init__(
        self,
        steps: Sequence[str | None] = (),
        ends: bytes = b"",
        numbers: bytes = b"",
        written: Iterable[tuple[int, WrittenValue]] = (),
    ) -> None:
        self._numbers = array("I", numbers)
        self._ends = array("I", ends)  # one past the last node below
        self._steps = list(steps)  # None in a list
        self._written = dict(written)
        # Filled on request only, since each of many thousand aliases has a table of its own.
        self._children: dict[int, Mapping[Step, int]] | None = None

    def begin(self, step: str | None, number: int) -> int:
        """Add a node in line `number` (from 1). `step` is its key, None in a list."""
        node = len(self._steps)
        self._numbers.append(number)
        self._ends.append(node + 1)
        self._steps.append(step)
        return node

    def end(self, node: int) -> None:
        """End a node: the nodes added since are below it. A node without any needs no end."""
        self._ends[node] = len(self._steps)

    def write(self, node: int, value: WrittenValue) -> None:
        """Note the spelling of a value, up to a limit for each document."""
        if len(self._written) < _MOST_WRITTEN:
            self._written[node] = value

    def number(self, node: int) -> int:
        """The line of a node."""
        return self._numbers[node]

    def written(self, node: int) -> WrittenValue | None:
        """The spelling of the value of a node; None if it is that of JSON."""
        return self._written.get(node)

    def children(self, node: int) -> Mapping[Step, int]:
        """The nodes directly below a node; for a duplicate key, the last."""
        if self._ends[node] == node + 1:
            return _NO_CHILDREN  # keeps no mapping for each of many thousand aliases
        if self._children is None:
            self._children = {}
        if node not in self._children:
            steps = ((self._steps[each], each) for each in self._below(node))
            self._children[node] = {index if step is None else step: each for index, (step, each) in enumerate(steps)}
        return self._children[node]

    def share(self) -> LineTable:
        """Return one table for all documents with these nodes in these lines. Most manifests of an estate look alike,
        and a table takes as much memory as the values.
        """
        # A large table seldom has an equal, and the cache would keep it after its document is gone.
        if len(self._steps) > _MOST_SHARED:
            return self
        return _find_table(
            tuple(self._steps), self._ends.tobytes(), self._numbers.tobytes(), tuple(self._written.items())
        )

    def rename(self, steps: Mapping[int, str]) -> LineTable:
        """Return a table in which some nodes have other keys."""
        # Both tables share what stays: nothing changes a table once its document is read.
        table = LineTable()
        table._numbers, table._ends, table._written = self._numbers, self._ends, self._written
        table._steps = [steps.get(node, step) for node, step in enumerate(self._steps)]
        return table

    def renumber(self, line: Callable[[int], int]) -> LineTable:
        """Return a table of the same nodes in other lines."""
        table = LineTable()
        table._numbers = array("I", map(line, self._numbers))
        table._ends, table._steps, table._written = self._ends, self._steps, self._written
        return table

    def rewrite(self, written: Mapping[int, WrittenValue]) -> LineTable:
        """Return a table in which some values have another spelling."""
        table = LineTable()
        table._numbers, table._ends, table._steps = self._numbers, self._ends, self._steps
        table._written = {**self._written, **written}
        return table

    def _below(self, node: int) -> Iterator[int]:
        each, end = node + 1, self._ends[node]
        while each < end:
            yield each
            each = self._ends[each]


_find_table = lru_cache(maxsize=1024)(LineTable)


class Lines:
    """The lines of a document, or of the part of it below `node`. Immutable; `table` is shared by all parts."""

    __slots__ = ("_node", "_table")

    def __init__(self, table: LineTable, node: int = 0) -> None:
        self._table = table
        self._node = node

    def find(self, path: Sequence[Step]) -> int | None:
        """The line of a field, None if the document does not have it. () is the document itself."""
        nodes = self._walk(path)
        return self._table.number(nodes[-1]) if len(nodes) > len(path) else None

    def find_nearest(self, path: Sequence[Step]) -> int:
        """The line of a field, or of its nearest parent that exists."""
        return self._table.number(self._walk(path)[-1])

    def below(self, path: Sequence[Step]) -> Lines:
        """The lines of a part. Everything in an alias has the line of the alias."""
        nodes = self._walk(path)
        if len(nodes) > len(path):
            return Lines(self._table, nodes[-1])
        return make_lines(self._table.number(nodes[-1]))

    def rename(self, keys: Mapping[tuple[Step, ...], str]) -> Lines:
        """Return the lines with other keys for some fields. `keys` has them by their old paths."""
        found = {path: self._walk(path) for path in keys}
        nodes = {nodes[-1]: keys[path] for path, nodes in found.items() if len(nodes) > len(path)}
        return Lines(self._table.rename(nodes), self._node)

    def find_written(self, path: Sequence[Step]) -> WrittenValue | None:
        """The spelling of a value; None if it is that of JSON, or if the document does not have the field."""
        nodes = self._walk(path)
        return self._table.written(nodes[-1]) if len(nodes) > len(path) else None

    def rewrite(self, written: Mapping[tuple[Step, ...], WrittenValue]) -> Lines:
        """Return the lines with another spelling for some values."""
        found = {path: self._walk(path) for path in written}
        nodes = {nodes[-1]: written[path] for path, nodes in found.items() if len(nodes) > len(path)}
        return Lines(self._table.rewrite(nodes), self._node)

    def renumber(self, line: Callable[[int], int]) -> Lines:
        """Return the same fields in other lines: `line` returns the new line of an old one."""
        return Lines(self._table.renumber(line), self._node)

    def __contains__(self, path: Sequence[Step]) -> bool:
        return self.find(path) is not None

    def __iter__(self) -> Iterator[tuple[Step, ...]]:
        """The path of every field. The size of all paths may be the square of the file's."""
        pending: list[tuple[tuple[Step, ...], int]] = [((), self._node)]
        while pending:
            path, node = pending.pop()
            yield path
            pending += [((*path, step), child) for step, child in self._table.children(node).items()]

    def _walk(self, path: Sequence[Step]) -> list[int]:
        """The nodes along a path, from the top to the last that exists."""
        nodes = [self._node]
        for step in path:
            child = self._table.children(nodes[-1]).get(step)
            if child is None:
                break
            nodes.append(child)
        return nodes


def make_lines(number: int) -> Lines:
    """Make the lines of a document of which only the first line is known."""
    table = LineTable()
    table.end(table.begin(None, number))
    return Lines(table)
