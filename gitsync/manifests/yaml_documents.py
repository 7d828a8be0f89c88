"""The documents of one YAML or JSON file, as Kubernetes reads them, with the line of every field.

Built from the parser's events, not from its node tree: this limits the depth before anything is built, finds duplicate
keys, and reads scalars as `yaml_scalars` does. Files are untrusted: aliases, depth and size have limits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from gitsync.manifests.yaml_scalars import TAG, format_key, resolve, resolve_tagged
from gitsync.model.problem import Problem

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 100
MAX_ALIASED = 100_000  # nodes that aliases may stand for in one document

# As Kubernetes' own reader: a line of three dashes, with nothing or a comment behind, ends a document. Splitting before
# parsing keeps a document that does not parse from hiding those after it.
SEPARATOR = re.compile(rb"^---[ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)
CONTENT = re.compile(rb"(?:\A|[\r\n])(?:[^\S\r\n]+%|[^\S\r\n]*[^\s#%])")
"""Begins a line that is neither blank nor a comment nor a directive; those cannot stand alone."""
MERGE = "<<"

# JSON is YAML, with one exception: characters beyond the basic plane, written as two escapes.
SURROGATES = re.compile(rb"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")

# The C parser is some ten times as fast; wheels of PyYAML have it.
Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document: plain JSON values. `lines` maps a field's path, as fieldpath spells it ("" for the whole), to its
    line, from 1; `problems` are those that leave the document readable. `text` is what it was read from.
    """

    path: str
    value: Any
    lines: dict[str, int]
    problems: tuple[Problem, ...] = ()
    text: bytes = b""

    def line(self, where: str) -> int:
        """The line of a field, or of the document if it has no such field."""
        return self.lines.get(where, self.lines[""])


@dataclass(slots=True)
class FileDocuments:
    """The content of one file."""

    documents: list[Document] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


class Unreadable(Exception):  # noqa: N818 - it ends the reading of one document, and becomes a problem at once
    def __init__(self, code: str, message: str, line: int, hint: str) -> None:
        super().__init__(message)
        self.code, self.message, self.line, self.hint = code, message, line, hint


def read_documents(path: str, content: bytes) -> FileDocuments:
    """Every document of a file that can be read, and a problem for each that cannot."""
    contents = FileDocuments()
    if len(content) > MAX_BYTES:
        message = f"The file has {len(content)} bytes; more than {MAX_BYTES} are not read."
        hint = "Split it, or add it to .gitsyncignore."
        contents.problems.append(Problem(code="FileTooLarge", message=message, hint=hint, path=path, line=1))
        return contents
    text = SURROGATES.sub(_join_surrogates, content) if path.endswith(".json") else content
    for line, chunk in _split(text):
        try:
            for document in _parse(path, chunk, line):
                contents.documents.append(document)  # one by one: those before a bad one count
        except Unreadable as error:
            contents.problems.append(_make_problem(path, error))
    return contents


def _make_problem(path: str, error: Unreadable) -> Problem:
    return Problem(code=error.code, message=error.message, hint=error.hint, path=path, line=error.line)


def _join_surrogates(pair: re.Match[bytes]) -> bytes:
    high, low = int(pair[2], 16), int(pair[3], 16)
    return pair[1] + chr(0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF)).encode()


def _split(content: bytes) -> Iterator[tuple[int, bytes]]:
    """(number of lines before it, text) of each part between separators."""
    start = lines = 0
    for end in [*(match.start() for match in SEPARATOR.finditer(content)), len(content)]:
        chunk = content[start:end]
        if CONTENT.search(chunk):
            yield lines, chunk
        lines += chunk.count(b"\n")
        start = end


def _parse(path: str, chunk: bytes, before: int) -> Iterator[Document]:
    try:
        parser = Parser(chunk)
        while parser.check_event():
            if isinstance(parser.get_event(), yaml.DocumentStartEvent):
                yield _Builder(path, parser, before + 1).document(chunk)
    except yaml.MarkedYAMLError as error:
        raise _make_syntax_error(error, before) from error
    except yaml.reader.ReaderError as error:
        line = before + 1 + chunk.count(b"\n", 0, error.position)
        message = f"The file is not text in UTF-8: {error.reason}."
        raise Unreadable("InvalidText", message, line, "Save it as UTF-8.") from error


def _make_syntax_error(error: yaml.MarkedYAMLError, before: int) -> Unreadable:
    mark = error.problem_mark or error.context_mark
    line = before + 1 + (mark.line if mark else 0)
    reason = ", ".join(part for part in (error.context, error.problem) if part)
    hint = "If the file is not a manifest, add it to .gitsyncignore."
    return Unreadable("InvalidYaml", f"This is not YAML: {reason}.", line, hint)


def _make_too_deep(line: int) -> Unreadable:
    message = f"The document is nested more than {MAX_DEPTH} levels deep."
    return Unreadable("TooDeep", message, line, "Check for unclosed brackets; no kind is nested that deep.")


def _make_duplicate(path: str, key: str, where: str, line: int) -> Problem:
    message = f"The key {key!r} is duplicated in one mapping."
    hint = "Keep one of them; Kubernetes refuses both."
    return Problem(code="DuplicateKey", message=message, hint=hint, path=path, line=line, field=where)


class _Builder:
    """Builds one document from the parser's events. Mutable: it holds the document so far."""

    def __init__(self, path: str, parser: Any, first_line: int) -> None:
        self.path = path
        self.next_event = parser.get_event
        self.first_line = first_line
        self.lines: dict[str, int] = {}
        self.problems: list[Problem] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.nodes = 0
        self.aliased = 0

    def document(self, text: bytes) -> Document:
        event = self.next_event()
        line = event.start_mark.line + self.first_line
        value = self.value(event, "", line, 0)
        return Document(path=self.path, value=value, lines=self.lines, problems=tuple(self.problems), text=text)

    def value(self, event: Any, where: str, line: int, depth: int) -> Any:
        self.lines[where] = line
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, line)
        before = self.nodes
        self.nodes += 1
        if isinstance(event, yaml.ScalarEvent):
            value = self.scalar(event, where, line)
        elif depth >= MAX_DEPTH:
            raise _make_too_deep(line)
        elif isinstance(event, yaml.MappingStartEvent):
            self.check_tag(event, "map", where, line)
            value = self.mapping(where, depth + 1)
        else:
            self.check_tag(event, "seq", where, line)
            value = self.sequence(where, depth + 1)
        if event.anchor:
            self.anchors[event.anchor] = (value, self.nodes - before)
        return value

    def alias(self, event: Any, line: int) -> Any:
        if event.anchor not in self.anchors:
            hint = "Define its anchor before it, or quote it if the * is part of a text."
            raise Unreadable("UnknownAlias", "The alias has no anchor before it.", line, hint)
        value, size = self.anchors[event.anchor]
        self.aliased += size
        self.nodes += size
        if self.aliased > MAX_ALIASED:
            message = f"Aliases expand to more than {MAX_ALIASED} values."
            raise Unreadable("TooManyAliases", message, line, "Write the values out, or split the file.")
        return value

    def scalar(self, event: Any, where: str, line: int) -> Any:
        if event.tag:
            return self.tagged(event, where, line)
        if not event.implicit[0]:
            return event.value
        value = resolve(event.value)
        if isinstance(value, float) and not math.isfinite(value):
            self.add("NotANumber", f"{event.value} is not a number in JSON.", where, line, "Quote it if it is text.")
        return value

    def tagged(self, event: Any, where: str, line: int) -> Any:
        try:
            return resolve_tagged(event.tag, event.value)
        except KeyError:
            self.unknown_tag(where, line)
        except ValueError:
            message = f"The value is not of its tag !!{event.tag.removeprefix(TAG)}."
            self.add("InvalidTag", message, where, line, "Remove the tag.")
        return event.value

    def check_tag(self, event: Any, expected: str, where: str, line: int) -> None:
        if event.tag and event.tag not in {TAG + expected, "!"}:
            self.unknown_tag(where, line)

    def unknown_tag(self, where: str, line: int) -> None:
        """The tag is not shown: it may be a password that begins with an exclamation mark."""
        message = "The value has a tag that Kubernetes does not support."
        self.add("UnknownTag", message, where, line, "Remove it, or quote the value if the ! is part of it.")

    def mapping(self, where: str, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        while not isinstance(event := self.next_event(), yaml.MappingEndEvent):
            line = event.start_mark.line + self.first_line
            is_merge = isinstance(event, yaml.ScalarEvent) and event.value == MERGE and event.implicit[0]
            key = self.key(event, where, line)
            path = f"{where}.{key}" if where else key
            value = self.value(self.next_event(), path, line, depth)
            if is_merge:
                merged = self.merge(value, path, line) | merged
                continue
            if key in members:
                self.problems.append(_make_duplicate(self.path, key, path, line))
            members[key] = value
        return {**merged, **members} if merged else members

    def key(self, event: Any, where: str, line: int) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise Unreadable(
                "InvalidKey", "A key of a mapping is itself a mapping or a list.", line, "Use text as keys."
            )
        key = format_key(self.scalar(event, where, line))
        if key is None:
            raise Unreadable("InvalidKey", "A key of a mapping is null.", line, "Quote it if it is text.")
        if event.anchor:
            self.anchors[event.anchor] = (key, 1)
        return key

    def merge(self, value: Any, where: str, line: int) -> dict[str, Any]:
        """The members of `<<`. If several mappings have a key, the first one counts."""
        members: dict[str, Any] = {}
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                members = part | members
            else:
                self.add("InvalidMerge", "The value of << is not a mapping.", where, line, "Use an alias of a mapping.")
        return members

    def sequence(self, where: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := self.next_event(), yaml.SequenceEndEvent):
            line = event.start_mark.line + self.first_line
            items.append(self.value(event, f"{where}[{len(items)}]", line, depth))
        return items

    def add(self, code: str, message: str, where: str, line: int, hint: str) -> None:
        self.problems.append(Problem(code=code, message=message, hint=hint, path=self.path, line=line, field=where))
