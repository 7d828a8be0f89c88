"""Splices changes into a document's text.

The rules where a person has a choice:

- A new value keeps the quotes, the block or the braces of the old one where possible. An empty `{}` or `[]` that gets
  members gets lines of its own, but not in braces, nor in JSON.
- A new key or item is the last of its collection, after the comment lines below the previous one.
- A key is removed with the comment on its line, with the comment lines directly above it that have its indentation, and
  with those directly below that are indented deeper. Other comments stay, also those at the top of a document.
- A mapping or a list that loses its last member becomes `{}` or `[]`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gitsync.desired.manifests.yaml_marks import (
    ALIAS,
    BLOCK_LIST,
    BLOCK_MAPPING,
    BLOCKS,
    FLOW_LIST,
    FLOW_MAPPING,
    FLOWS,
    PLAIN,
    TEXT_BLOCKS,
    TextEntry,
    TextNode,
    find_line_end,
    find_line_start,
    skip_blank,
)
from gitsync.desired.manifests.yaml_texts import TextLayout
from gitsync.desired.problems.field_path import FieldPath
from gitsync.model.lines import Step

_BLOCK_HEADER = re.compile(r"[|>][-+0-9]*")
_DIGIT = re.compile(r"[0-9]")
_TEMPLATE = re.compile(r"\$\{|\{\{")


class UnspliceableError(Exception):
    """A text that cannot be changed at a path without changing more. `reason` is a sentence."""

    def __init__(self, reason: str, path: FieldPath) -> None:
        super().__init__(reason)
        self.reason, self.path = reason, path


@dataclass(frozen=True, slots=True)
class TextChange:
    """One change."""

    verb: Literal["set", "add", "remove"]
    """"add" adds a new key to a mapping, or a new item to a list, before the item at this index."""

    path: FieldPath  # of an existing value, except to add
    value: Any = None

    @property
    def scope(self) -> FieldPath:
        """The path of the value that is written, or of the collection whose keys or items change."""
        return self.path if self.verb == "set" else self.path[:-1]


def change_text(
    text: str, root: TextNode, changes: Sequence[TextChange], line_end: str, *, is_json: bool
) -> tuple[str, list[TextChange]]:
    """Write changes into the document `root` of a text: the first change, and all that do not overlap a previous one.
    Return the new text, and the remaining changes, in order.

    The path of a change may depend on all previous changes in the same collection, so a remaining change also holds the
    later ones in its collection.

    Raises UnspliceableError.
    """
    splicer, scopes, left = _Splicer(text, root, line_end, is_json=is_json), _Scopes(), []
    spans: list[tuple[int, int, str]] = []
    for change in changes:
        # The marks are those of the text before all changes, so they are wrong for a value that has already changed.
        span = None if scopes.meet(change.scope) else splicer.write(change)
        scopes.add(change.scope)
        at = bisect_left(spans, span) if span else 0
        if span is None or any(_touch(span, other) for other in spans[max(0, at - 1) : at + 1]):
            left.append(change)
        else:
            spans.insert(at, span)
    return _replace(text, spans, 0, len(text)), left


def _touch(first: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    return first[0] <= other[1] and other[0] <= first[1]


def _replace(text: str, splices: Iterable[tuple[int, int, str]], start: int, end: int) -> str:
    """Return a part of a text with its splices, which are sorted."""
    parts = []
    for begin, stop, new in splices:
        parts += [text[start:begin], new]
        start = stop
    return "".join([*parts, text[start:end]])


class _Scopes:
    """The paths of the changes so far. Mutable."""

    def __init__(self) -> None:
        self.paths: set[FieldPath] = set()
        self.above: set[FieldPath] = set()

    def add(self, path: FieldPath) -> None:
        self.paths.add(path)
        self.above.update(path[:depth] for depth in range(len(path) + 1))

    def meet(self, path: FieldPath) -> bool:
        """Return whether a path is that of a change, or above or below it."""
        return path in self.above or any(path[:depth] in self.paths for depth in range(len(path)))


def has_template(text: str) -> bool:
    """Return whether a text contains a variable or a template."""
    return _TEMPLATE.search(text) is not None


class _Splicer:
    """Writes changes, each by itself. Mutable: `splices` has the starts, ends and texts of the current one."""

    def __init__(self, text: str, root: TextNode, line_end: str, *, is_json: bool) -> None:
        self.text, self.root = text, root
        nodes = list(_walk(root))
        self.layout = _find_layout(text, nodes, line_end, is_json=is_json)
        self.used = {id(node.target) for node in nodes if node.target}
        self.splices: list[tuple[int, int, str]] = []

    def write(self, change: TextChange) -> tuple[int, int, str]:
        """Return one change as the start and the end of a text, and its replacement."""
        self.splices = []
        {"set": self.set_value, "add": self.add, "remove": self.remove}[change.verb](change)
        splices = sorted(self.splices, key=lambda splice: splice[:2])
        start, end = splices[0][0], splices[-1][1]
        return start, end, _replace(self.text, splices, start, end)

    def splice(self, start: int, end: int, text: str) -> None:
        self.splices.append((start, end, text))

    def find(self, path: FieldPath) -> list[tuple[TextNode, TextEntry]]:
        """Find the collections on the path to a value, each with its entry. None of them may be used by aliases."""
        trail: list[tuple[TextNode, TextEntry]] = []
        node = self.root
        for depth, step in enumerate(path):
            self.check_own(node, path[:depth])
            if isinstance(step, int):
                found = [entry for entry in node.entries[step : step + 1] if entry.key is None]
            else:
                found = [entry for entry in node.entries if entry.key is not None and step == entry.name]
            if not found and any(entry.merges for entry in node.entries):
                raise UnspliceableError("The value comes from a merge key (<<).", (*path[:depth], "<<"))
            if not found:
                raise UnspliceableError("The value has no text of its own.", path[: depth + 1])
            # Of a duplicated key, the reader keeps the last one.
            trail.append((node, found[-1]))
            node = found[-1].value
        return trail

    def check_own(self, node: TextNode, path: FieldPath) -> None:
        """Refuse an alias, and a node that aliases use."""
        if node.style == ALIAS:
            raise UnspliceableError(f"The value is an alias of &{node.text}, which is defined elsewhere.", path)
        if id(node) in self.used:
            raise UnspliceableError(f"Aliases of its anchor, &{node.anchor}, are used elsewhere.", path)

    def set_value(self, change: TextChange) -> None:
        """Set an existing value."""
        trail = self.find(change.path)
        old = trail[-1][1].value if trail else self.root
        self.check_own(old, change.path)
        for node in _walk(old):
            if node.style != ALIAS:
                self.check_own(node, change.path)
        # Replacing it would write the value of one environment over the variable of all.
        if old.style not in BLOCKS | FLOWS and has_template(old.text):
            raise UnspliceableError("The value comes from a variable or a template.", change.path)
        if not trail:
            self.splice(old.start, old.end, self.layout.write_flow(change.value))
        elif trail[-1][0].style in FLOWS:
            entry = trail[-1][1]
            sign = "" if not old.is_blank else " " if entry.has_sign else ": "
            end = skip_blank(self.text, old.end) if old.is_blank and entry.has_sign else old.end
            self.splice(old.start, end, sign + self.write_in_flow(trail[-1][0], entry.start, change.value, old))
        else:
            self.set_in_block(trail[-1][1], change.value)

    def write_in_flow(self, container: TextNode, at: int, value: Any, old: TextNode | None = None) -> str:
        """Write a value in braces or brackets. In JSON, it gets lines of its own if the values around it have them."""
        if isinstance(value, dict | list) and value:
            has_lines = self.layout.is_json and "\n" in self.text[container.start : container.end]
            line = self.text[find_line_start(self.text, at) : at]
            return self.layout.write_flow(value, len(line) - len(line.lstrip()) if has_lines else None)
        return self.write_scalar(value, old, in_flow=True)

    def write_scalar(self, value: Any, old: TextNode | None, *, in_flow: bool) -> str:
        if old is None or old.style in BLOCKS | FLOWS | TEXT_BLOCKS:
            return self.layout.write_scalar(value, in_flow=in_flow)
        return self.layout.write_scalar(value, in_flow=in_flow, style=old.style, former=old.text)

    def set_in_block(self, entry: TextEntry, value: Any) -> None:
        """Set a value after its key or dash, which ends its line and may have more lines below."""
        old, layout, column = entry.value, self.layout, self.column(entry.start)
        inline_end, end = self.measure(old)
        line_end = find_line_end(self.text, inline_end)
        lead = self.text[old.head : old.start] if inline_end == old.end else ""
        inline, below = lead or " ", ""
        if isinstance(value, dict | list) and value:
            if old.style in FLOWS and old.entries:
                inline += layout.write_flow(value)
            elif entry.key:
                inline, below = lead.rstrip(), layout.write_behind_key(value, column)
            elif lead.strip() or self.text[inline_end:line_end].strip():  # a comment follows the dash
                inline = lead.rstrip()
                below = f"{layout.line_end}{' ' * (column + 2)}{layout.write_block(value, column + 2)}"
            else:
                inline = layout.write_behind_dash(value, column)
        elif isinstance(value, str) and (block := self.write_text(entry, value)):
            inline, below = f" {block[0]}", block[1]
        else:
            inline += self.write_scalar(value, old, in_flow=False)
        self.splice(old.head, inline_end, inline)
        self.splice(line_end, max(line_end, end), below)

    def measure(self, node: TextNode) -> tuple[int, int]:
        """Find where a value ends in the line of its key or dash, and where its last line ends."""
        if node.style in TEXT_BLOCKS:
            header = _BLOCK_HEADER.match(self.text, node.start)
            return header.end() if header else node.start, node.end
        if node.style in BLOCKS and "\n" in self.text[node.head : node.start]:
            return node.head, self.skip_comments(node.end, self.column(node.start) + 1)
        return node.end, node.end

    def write_text(self, entry: TextEntry, value: str) -> tuple[str, str] | None:
        """Write a text as a block, if the old one is a block, or if it is unquoted and the new one has line breaks."""
        old, column, layout = entry.value, self.column(entry.start), self.layout
        if old.style not in TEXT_BLOCKS:
            indent = column + (layout.step if entry.key else 2)
            is_free = old.style in {PLAIN, *BLOCKS} and "\n" in value
            return layout.write_text("|", value, indent) if is_free else None
        header, _, body = self.text[old.start : old.end].partition("\n")
        token = header[: self.measure(old)[0] - old.start]
        if digit := _DIGIT.search(token):
            return layout.write_text(token, value, column + int(digit[0]), int(digit[0]))
        line = next((line for line in body.split("\n") if line.strip()), " " * (column + 2))
        return layout.write_text(token, value, len(line) - len(line.lstrip(" ")))

    def add(self, change: TextChange) -> None:
        """Add a key or an item."""
        trail, step = self.find(change.path[:-1]), change.path[-1]
        container = trail[-1][1].value if trail else self.root
        self.check_own(container, change.path[:-1])
        index = step if isinstance(step, int) else len(container.entries)
        if not container.entries:
            added: Any = [change.value] if isinstance(step, int) else {step: change.value}
            self.set_value(TextChange("set", change.path[:-1], added))
        elif container.style in FLOWS:
            self.add_in_flow(container, index, step, change.value)
        else:
            column = self.column(container.entries[0].start)
            # Items may have the indentation of their list's key: then a comment there belongs to the next key.
            is_flush = container.style == BLOCK_LIST and bool(trail) and column == self.column(trail[-1][1].start)
            self.add_in_block(container, index, step, change.value, is_flush=is_flush)

    def add_in_block(self, container: TextNode, index: int, step: Step, value: Any, *, is_flush: bool) -> None:
        entries, layout = container.entries, self.layout
        column = self.column(entries[0].start)
        if isinstance(step, int):
            text = f"-{layout.write_behind_dash(value, column)}"
        else:
            text = f"{layout.write_scalar(step, in_flow=False, is_key=True)}:{layout.write_behind_key(value, column)}"
        glue = layout.line_end + " " * column
        if index == 0:
            self.splice(entries[0].start, entries[0].start, text + glue)
            return
        takes_own = index == len(entries) and not is_flush
        at = self.skip_comments(entries[index - 1].end, column if takes_own else column + 1)
        self.splice(at, at, glue + text)

    def add_in_flow(self, container: TextNode, index: int, step: Step, value: Any) -> None:
        entries, text = container.entries, self.text
        near = entries[min(index, len(entries) - 1)]
        part = self.write_in_flow(container, near.start, value)
        if isinstance(step, str):
            part = f"{self.layout.write_scalar(step, in_flow=True, is_key=True)}: {part}"
        line_start = find_line_start(text, near.start)
        has_lines = not text[line_start : near.start].strip() and line_start > container.start
        glue = f"{self.layout.line_end}{text[line_start : near.start]}" if has_lines else " "
        if index < len(entries):
            self.splice(near.start, near.start, f"{part},{glue}")
            return
        comma = skip_blank(text, near.end)
        has_comma = text.startswith(",", comma)
        end = comma + 1 if has_comma else near.end
        line_end = find_line_end(text, end)
        if not has_comma:
            self.splice(end, end, ",")
        if has_lines and skip_blank(text, end) >= line_end:  # a comment follows in the line
            end = line_end
        self.splice(end, end, f"{glue}{part}{',' if has_comma else ''}")

    def remove(self, change: TextChange) -> None:
        """Remove a key or an item."""
        container, entry = self.find(change.path)[-1]
        self.check_removable(entry, change.path)
        if len(container.entries) == 1:
            empty: Any = {} if entry.key else []
            self.set_value(TextChange("set", change.path[:-1], empty))
            return
        index = container.entries.index(entry)
        if container.style in FLOWS:
            self.remove_in_flow(container, index)
        else:
            self.remove_in_block(container, index)

    def check_removable(self, entry: TextEntry, path: FieldPath) -> None:
        # Without its anchor, an alias elsewhere would have no value.
        for node in [*_walk(entry.value), *([entry.key] if entry.key else [])]:
            if id(node) in self.used:
                raise UnspliceableError(f"Aliases of its anchor, &{node.anchor}, are used elsewhere.", path)

    def remove_in_block(self, container: TextNode, index: int) -> None:
        text, entry = self.text, container.entries[index]
        line_end = self.skip_comments(entry.end, self.column(entry.start) + 1)
        if not text[find_line_start(text, entry.start) : entry.start].strip():
            self.remove_lines(self.find_first_line(container, index), line_end)
            return
        # The first entry follows a dash: the next one moves there, unless a comment is in between.
        next_start = container.entries[1].start
        if text[find_line_end(text, entry.end) : next_start].strip():
            start = len(text[: entry.start].rstrip(" "))
            self.splice(start, line_end, "")
        else:
            self.splice(entry.start, next_start, "")

    def remove_in_flow(self, container: TextNode, index: int) -> None:
        text, entries = self.text, container.entries
        entry, is_last = entries[index], index == len(entries) - 1
        comma = skip_blank(text, entry.end)
        has_comma = text.startswith(",", comma)
        end = comma + 1 if has_comma else entry.end
        line_end = find_line_end(text, entry.end)
        line_start = find_line_start(text, entry.start)
        if (
            line_start > container.start
            and not text[line_start : entry.start].strip()
            and skip_blank(text, end) >= line_end >= end
        ):
            self.remove_lines(self.find_first_line(container, index), line_end)
            if is_last and not has_comma:
                comma = skip_blank(text, entries[index - 1].end)
                self.splice(comma, comma + 1, "")
        elif is_last:
            self.splice(entries[index - 1].end, entry.end, "")
        else:
            self.splice(entry.start, entries[index + 1].start, "")

    def remove_lines(self, start: int, end: int) -> None:
        """Remove lines, with the break after the last."""
        # The last line of a file may have no break.
        self.splice(start, self.text.find("\n", end) + 1 or len(self.text), "")

    def find_first_line(self, container: TextNode, index: int) -> int:
        """Find the first line of an entry, with the comment lines directly above it that have its indentation."""
        start = find_line_start(self.text, container.entries[index].start)
        if index == 0 and container is self.root:
            return start
        column = self.column(container.entries[index].start)
        floor = container.entries[index - 1].end if index else container.head
        while start > floor:
            above = find_line_start(self.text, start - 1)
            line = self.text[above:start]
            if above <= floor or not line.lstrip(" ").startswith("#") or len(line) - len(line.lstrip(" ")) != column:
                break
            start = above
        return start

    def skip_comments(self, at: int, column: int) -> int:
        """Find the end of a line, or of the last comment line below it with at least this indentation."""
        end = find_line_end(self.text, at)
        while (start := self.text.find("\n", end) + 1) > 0:
            line_end = find_line_end(self.text, start)
            line = self.text[start:line_end]
            if not line.lstrip(" ").startswith("#") or len(line) - len(line.lstrip(" ")) < column:
                break
            end = line_end
        return end

    def column(self, at: int) -> int:
        return at - find_line_start(self.text, at)


def _walk(node: TextNode) -> Iterator[TextNode]:
    """List a node and everything below it, including keys."""
    pending = [node]
    while pending:
        each = pending.pop()
        yield each
        for entry in reversed(each.entries):
            pending += [entry.value, entry.key] if entry.key else [entry.value]


def _find_layout(text: str, nodes: list[TextNode], line_end: str, *, is_json: bool) -> TextLayout:
    """Find the style of a document, from its first lines that show it."""
    steps: dict[str, int] = {}
    for entry in (entry for node in nodes if node.style in {BLOCK_MAPPING, FLOW_MAPPING} for entry in node.entries):
        below = entry.value
        if not below.entries or "\n" not in text[below.head : below.entries[0].start]:
            continue
        indents = []
        for start in (entry.start, below.entries[0].start):
            line = text[find_line_start(text, start) : start]
            # The text before a key in its line is a dash, or in braces another key.
            indents.append(len(line) if line.strip() in {"", "-"} else len(line) - len(line.lstrip()))
        steps.setdefault(below.style, max(0, indents[1] - indents[0]))
    step = steps.get(BLOCK_MAPPING) or steps.get(FLOW_MAPPING) or steps.get(FLOW_LIST) or 2
    return TextLayout(
        line_end=line_end,
        step=step,
        list_step=steps.get(BLOCK_LIST, step),
        quote=next((node.style for node in nodes if node.style in {'"', "'"}), '"'),
        is_json=is_json,
        is_ended=text.endswith("\n"),
    )
