"""Finds the text of each node of a document: where it starts and ends in its file, so that it can be replaced.

Uses the parser's events, not PyYAML's nodes, which have no positions of aliases. All positions count characters of the
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import yaml

from gitsync.desired.manifests.yaml_documents import Parser
from gitsync.desired.manifests.yaml_scalars import format_key, resolve, resolve_tagged

BLOCK_MAPPING, BLOCK_LIST, FLOW_MAPPING, FLOW_LIST, ALIAS, PLAIN = "mapping", "list", "{", "[", "*", ""
"""Styles of nodes. The style of any other scalar is its first character."""

BLOCKS = frozenset({BLOCK_MAPPING, BLOCK_LIST})
FLOWS = frozenset({FLOW_MAPPING, FLOW_LIST})
TEXT_BLOCKS = frozenset("|>")

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]+|(?<!\S)#[^\n]*)*")
_PROPERTY = re.compile(r"[&!][^\s,\[\]{}]*")


@dataclass(slots=True, eq=False)
class TextNode:
    """A value and its text, without a tag or an anchor. The text of a collection in block style is from its first entry
    to the last character of its last value.
    """

    style: str  # how it is written: block, flow, alias, or as a scalar
    head: int  # where its text may start: after the colon or the dash, the tag and the anchor
    start: int  # where its text starts
    end: int  # where its text ends
    text: str = ""  # of a scalar, or the name of an alias
    anchor: str = ""
    tag: str = ""
    target: TextNode | None = None  # the node of the alias
    entries: list[TextEntry] = field(default_factory=list)

    @property
    def is_blank(self) -> bool:
        """Return whether it is a null without a text."""
        return self.style == PLAIN and self.start == self.end


@dataclass(slots=True, eq=False)
class TextEntry:
    """A key and its value, or an item of a list."""

    key: TextNode | None  # None for an item of a list
    value: TextNode
    start: int  # of its key or its dash
    end: int  # of its value
    has_sign: bool  # it has a colon or a dash

    @property
    def name(self) -> str | None:
        """The key in JSON; None for an item, or for a key that is not valid in JSON."""
        if self.key is None or self.key.style in FLOWS | BLOCKS | {ALIAS}:
            return None
        if self.key.tag:
            with suppress(KeyError, ValueError):  # an unknown tag, or one of another value: then the text counts
                return format_key(resolve_tagged(self.key.tag, self.key.text))
            return self.key.text
        return format_key(resolve(self.key.text)) if self.key.style == PLAIN else self.key.text

    @property
    def merges(self) -> bool:
        """Return whether it merges the members of another mapping."""
        return self.key is not None and self.key.style == PLAIN and self.key.text == "<<"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedDocument:
    """A document of a text."""

    root: TextNode
    start: int  # of its three dashes, if it has them


def mark_documents(text: str) -> Iterator[MarkedDocument]:
    """Find the nodes of each document in a text. Raises yaml.YAMLError where the text cannot be parsed."""
    parser = Parser(text)
    while parser.check_event():
        event = parser.get_event()
        start, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, yaml.DocumentStartEvent):
            yield MarkedDocument(root=_Marker(text, parser).read(parser.get_event(), end), start=start)


def skip_blank(text: str, at: int) -> int:
    """Find the next character that is neither blank nor part of a comment."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def find_line_start(text: str, at: int) -> int:
    """Find where the line starts."""
    return text.rfind("\n", 0, at) + 1


def find_line_end(text: str, at: int) -> int:
    """Find where the line ends, before its break."""
    end = text.find("\n", at)
    if end < 0:
        return len(text)
    return end - 1 if end > at and text[end - 1] == "\r" else end


class _Marker:
    """Reads the nodes of one document. Mutable: it keeps the anchors so far."""

    def __init__(self, text: str, parser: Any) -> None:
        self.text = text
        self.next_event = parser.get_event
        self.anchors: dict[str, TextNode] = {}

    def read(self, event: Any, head: int) -> TextNode:
        """Read the node that starts with an event. `head` is where the sign before it ends."""
        start, end, name = event.start_mark.index, event.end_mark.index, event.anchor
        if isinstance(event, yaml.AliasEvent):
            return TextNode(ALIAS, head, start, end, text=name, target=self.anchors.get(name))
        head, start = self.skip_properties(event, head)
        if isinstance(event, yaml.ScalarEvent):
            node = self.read_scalar(event, head, start)
        elif isinstance(event, yaml.MappingStartEvent):
            node = self.read_mapping(event, head, start)
        else:
            node = self.read_list(event, head, start)
        node.anchor, node.tag = event.anchor or "", event.tag or ""
        if node.anchor:
            self.anchors[node.anchor] = node
        return node

    def skip_properties(self, event: Any, head: int) -> tuple[int, int]:
        """Find where the anchor and the tag end, and where the text after them starts."""
        at = event.start_mark.index
        for each in (event.anchor, event.tag):
            match = _PROPERTY.match(self.text, skip_blank(self.text, at)) if each is not None else None
            if match:
                head = at = match.end()
        return head, skip_blank(self.text, at)

    def read_scalar(self, event: Any, head: int, start: int) -> TextNode:
        style, end = event.style or PLAIN, event.end_mark.index
        # The parser puts an empty value at the next token, which may be lines below; its text belongs after its sign.
        if style == PLAIN and not event.value:
            return TextNode(PLAIN, head, head, head)
        if style in TEXT_BLOCKS:
            end = _find_block_end(self.text, start, end)
        return TextNode(style, head, start, end, text=event.value)

    def read_mapping(self, event: Any, head: int, start: int) -> TextNode:
        node = TextNode(FLOW_MAPPING if event.flow_style else BLOCK_MAPPING, head, start, start)
        while not isinstance(event := self.next_event(), yaml.MappingEndEvent):
            begin = event.start_mark.index
            mark = begin
            # A key may have a `?` before it, which goes with the entry.
            while self.text.endswith((" ", "\t"), 0, mark):
                mark -= 1
            key = self.read(event, begin)
            colon = skip_blank(self.text, key.end)
            has_sign = self.text.startswith(":", colon)
            value = self.read(self.next_event(), colon + 1 if has_sign else key.end)
            entry_start = mark - 1 if self.text.endswith("?", 0, mark) else begin
            end = max(value.end, colon + 1 if has_sign else key.end)
            node.entries.append(TextEntry(key, value, entry_start, end, has_sign))
        return self.close(node, event)

    def read_list(self, event: Any, head: int, start: int) -> TextNode:
        node = TextNode(FLOW_LIST if event.flow_style else BLOCK_LIST, head, start, start)
        at, is_block = start, not event.flow_style
        while not isinstance(event := self.next_event(), yaml.SequenceEndEvent):
            dash = skip_blank(self.text, at) if is_block else event.start_mark.index
            value = self.read(event, dash + 1 if is_block else dash)
            at = max(value.end, dash + 1 if is_block else dash)
            node.entries.append(TextEntry(None, value, dash, at, is_block))
        return self.close(node, event)

    def close(self, node: TextNode, event: Any) -> TextNode:
        # The parser ends a block only at the next token, after the comments that belong to what follows.
        node.end = node.entries[-1].end if node.style in BLOCKS else event.end_mark.index
        if node.style in BLOCKS:
            node.start = node.entries[0].start
        return node


def _find_block_end(text: str, start: int, end: int) -> int:
    """Find the end of a text block, without the break after it. Blank lines count only if the block keeps them."""
    header = text[start : find_line_end(text, start)].partition("#")[0]
    if text.endswith("\n", 0, end):
        end -= 2 if text.endswith("\r\n", 0, end) else 1
    while "+" not in header:
        line = find_line_start(text, end)
        if line <= start or text[line:end].strip(" \t\r"):
            break
        end = find_line_end(text, find_line_start(text, line - 1))
    return end
