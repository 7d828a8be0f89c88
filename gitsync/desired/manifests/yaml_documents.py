"""Reads the documents of one YAML or JSON file as Kubernetes does, with the line of every field.

They are built from the parser's events, not from its node tree: this limits the depth before anything is built, finds
duplicate keys, and reads scalars with `yaml_scalars`. Files are untrusted: aliases, depth, size and problems have
limits.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import yaml

from gitsync.desired.manifests.aso_groups import mentions_aso
from gitsync.desired.manifests.unparsed_text import (
    explain_form,
    explain_inner_mark,
    explain_json_fault,
    explain_yaml_fault,
    has_no_name,
    is_template,
)
from gitsync.desired.manifests.yaml_scalars import TAG, format_key, resolve, resolve_tagged
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.model.lines import Lines, LineTable, Step, WrittenValue
from gitsync.model.problem import Level, Problem, SourceLocation

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 100
MAX_ALIASED = 20_000  # nodes that aliases may expand to in one document; a long text counts as several
MAX_ALIASED_TOGETHER = 500_000  # the same for all documents with one budget
_CHARACTERS = 100  # of a text, which count as one more node
LONGEST_KEY = 100  # characters that messages show
MAX_PROBLEMS = 100  # of one document; each has a path of keys

# As in Kubernetes' own reader, a line of three dashes, with nothing or a comment after them, ends a document. Splitting
# before parsing prevents that a document which does not parse hides the next ones.
SEPARATOR = re.compile(rb"^---[ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)
CONTENT = re.compile(rb"(?:\A|[\r\n])(?:[^\S\r\n]+%|[^\S\r\n]*[^\s#%]|%(?!YAML |TAG ))")
"""The start of a line that is neither blank nor a comment nor a directive: only such a line makes a document."""
_MARK_BEHIND_SEPARATOR = re.compile(rb"---[^\n]*\n\xef\xbb\xbf")
MERGE = "<<"
ENCRYPTED = "sops"  # the member that SOPS adds to a document it encrypts
TEMPLATE = "Template"
"""The code of a manifest from which a tool renders others."""

RENDER = "Render it, and commit the result. If it is not a manifest, add it to .gitsyncignore."

# JSON is YAML, except for characters beyond the basic plane, which it writes as two escapes.
SURROGATES = re.compile(rb"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")

_resolve = lru_cache(maxsize=8192)(resolve)  # most scalars are in many manifests
_MOST_CHANGED_KEYS = 20  # of one document, so that the number of warnings stays readable


@lru_cache(maxsize=1024)
def _read_written(text: str) -> WrittenValue | None:
    """Return the spelling of a number or a boolean, if JSON spells it differently."""
    return None if text == json.dumps(resolve(text)) else WrittenValue(text)


# The C parser is about ten times as fast; PyYAML's wheels have it. A loader would also make a constructor and a
# resolver for each document, which are not used here.
Parser: Any = getattr(getattr(yaml, "cyaml", None), "CParser", yaml.SafeLoader)


_UNPATCHED: Mapping[FieldPath, SourceLocation] = {}


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Document:
    """One document: plain JSON values. Other facts are kept apart from the value, so that a change of the value does
    not lose them.
    """

    path: str
    value: Any
    lines: Lines  # the line of each field, from 1
    problems: tuple[Problem, ...] = ()  # those that leave the document readable
    text: bytes = b""  # what it was read from
    patched: Mapping[FieldPath, SourceLocation] = field(default_factory=lambda: _UNPATCHED)
    """The locations of fields that a patch has set."""

    seal: bytes = b""
    """The text that SOPS encrypted together, from this document and others of its file; b"" for a plain document."""

    original: Document | None = None  # the document in its file, if the value was changed since

    def line(self, *path: Step) -> int:
        """Find the line of a field, or of the document if it does not have the field."""
        if not path:
            return self.lines.find_nearest(())
        line = self.lines.find(path)
        return self.lines.find_nearest(()) if line is None else line


@dataclass(slots=True)
class FileDocuments:
    """The content of one file."""

    documents: list[Document] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unparsed: list[tuple[int, bytes]] = field(default_factory=list)
    """The texts of the problems, with their first line numbers."""


@dataclass(slots=True)
class AliasBudget:
    """The number of nodes that aliases in several documents may expand to. Mutable: it is spent."""

    left: int = MAX_ALIASED_TOGETHER


class QuotedText(str):
    """A text that was quoted or written as a block."""

    __slots__ = ()


class Unreadable(Exception):  # noqa: N818 - it ends the reading of one document, and becomes a problem at once
    """A document that cannot be read. `problems` are those found before the fault."""

    def __init__(self, code: str, message: str, line: int, hint: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.code, self.message, self.line, self.hint, self.problems = code, message, line, hint, problems


def read_documents(
    path: str,
    content: bytes,
    *,
    marks_quotes: bool = False,
    max_bytes: int = MAX_BYTES,
    max_problems: int | None = None,
    aliases: AliasBudget | None = None,
) -> FileDocuments:
    """Read every readable document of a file, and report a problem for each of the others. After more than
    `max_problems`, the rest is not read; None for no limit.

    With `marks_quotes`, a quoted text that may have variables is a `QuotedText`. `aliases` is the budget of several
    files, None for one file.
    """
    aliases = aliases or AliasBudget()
    contents = FileDocuments()
    if len(content) > max_bytes:
        message = f"The file has {len(content)} bytes; the limit is {max_bytes}."
        hint = "Split it, or add it to .gitsyncignore."
        contents.problems.append(Problem(code="FileTooLarge", message=message, hint=hint, path=path, line=1))
        return contents
    if form := explain_form(content):
        contents.problems.append(
            Problem(code=form.code, message=form.message, hint=form.hint, path=path, line=form.line)
        )
        return contents
    # Only JSON writes one character as two escapes; YAML refuses each half.
    text = SURROGATES.sub(_join_surrogates, content) if path.endswith(".json") else content
    for _, line, chunk in split_documents(text):
        if max_problems is not None and len(contents.problems) > max_problems:
            break
        try:
            for document in parse_documents(path, chunk, line, marks_quotes=marks_quotes, aliases=aliases):
                contents.documents.append(document)  # one by one: those before an unreadable one are kept
        except Unreadable as error:
            contents.unparsed.append((line + 1, chunk))
            contents.problems += _explain_unreadable(path, error, chunk)
    # The check value that SOPS writes covers all documents of a file, so one of them alone cannot be opened.
    if any(map(is_encrypted, contents.documents)):
        contents.documents[:] = _seal(contents.documents)
    return contents


def is_encrypted(document: Document) -> bool:
    """Return whether SOPS encrypted a document."""
    return isinstance(document.value, dict) and ENCRYPTED in document.value


def _seal(documents: Sequence[Document]) -> Iterator[Document]:
    """Set the seal of each document of a file. SOPS encrypts all documents of a file together, and writes the same
    member `sops` into each of them.
    """
    seals: list[str] = []
    texts: dict[str, dict[bytes, None]] = {}
    for document in documents:
        seals.append(json.dumps(document.value[ENCRYPTED], sort_keys=True) if is_encrypted(document) else "")
        texts.setdefault(seals[-1], {})[document.text] = None
    joined = {seal: b"".join(parts) for seal, parts in texts.items() if seal}
    for document, seal in zip(documents, seals, strict=True):
        yield replace(document, seal=joined[seal]) if seal else document


def _explain_unreadable(path: str, error: Unreadable, chunk: bytes) -> Sequence[Problem]:
    if is_template(chunk):
        return [_make_template_problem(path, error, chunk)]
    problem = Problem(code=error.code, message=error.message, hint=error.hint, path=path, line=error.line)
    return [*error.problems, problem]


def _make_template_problem(path: str, error: Unreadable, chunk: bytes) -> Problem:
    """Make the problem of a template: an error if it is one manifest with a name, a warning if it may be any number of
    manifests.
    """
    message = "This is not YAML: it has {{ }} of Helm or another template tool."
    level = Level.WARNING if has_no_name(chunk) else Level.ERROR
    return Problem(
        code=TEMPLATE,
        message=message,
        hint=RENDER,
        level=level,
        path=path,
        line=error.line,
        is_unread=mentions_aso([chunk]),
    )


def _join_surrogates(pair: re.Match[bytes]) -> bytes:
    high, low = int(pair[2], 16), int(pair[3], 16)
    return pair[1] + chr(0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF)).encode()


def split_documents(content: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Split a text at its separators. Yield for each part the number of bytes and lines before it, and the part. Parts
    with only comments are left out.
    """
    start = lines = 0
    separators = SEPARATOR.finditer(content) if b"---" in content else ()
    for end in [*(match.start() for match in separators), len(content)]:
        chunk = content[start:end]
        if CONTENT.search(chunk):
            yield start, lines, chunk
        lines += chunk.count(b"\n")
        start = end


def read_fragment(text: str) -> Any:
    """Read the value of an unquoted text in block style. Raises Unreadable if it is not a value."""
    documents = list(parse_documents("", f"{_FRAGMENT}: {text}\n".encode(), 0))
    value = documents[0].value if len(documents) == 1 else None
    if not isinstance(value, dict) or len(value) != 1 or documents[0].problems:
        raise Unreadable("InvalidYaml", "This is not a valid YAML value.", 1, "Quote it.")
    return value[_FRAGMENT]


_FRAGMENT = "value"


def parse_documents(
    path: str, chunk: bytes, before: int, *, marks_quotes: bool = False, aliases: AliasBudget | None = None
) -> Iterator[Document]:
    """Parse the documents in a text. `before` is the number of lines above it. Raises Unreadable for the first document
    that cannot be read.
    """
    # The parser would take this mark for a part of the first key, and the manifest would have no apiVersion.
    if _MARK_BEHIND_SEPARATOR.match(chunk) and (fault := explain_inner_mark(chunk)):
        raise Unreadable(fault.code, fault.message, before + fault.line, fault.hint)
    try:
        parser = Parser(chunk)
        while parser.check_event():
            if isinstance(parser.get_event(), yaml.DocumentStartEvent):
                yield _DocumentBuilder(
                    path, parser, before + 1, marks_quotes=marks_quotes, aliases=aliases
                ).read_document(chunk)
    except yaml.MarkedYAMLError as error:
        # libyaml has a limit of its own, and reports it as a fault of the syntax.
        if error.problem == _NESTED:
            raise _make_too_deep(before + 1 + (error.problem_mark.line if error.problem_mark else 0)) from error
        fault = (explain_json_fault(chunk) if path.endswith(".json") else None) or explain_yaml_fault(error, chunk)
        raise Unreadable(fault.code, fault.message, before + fault.line, fault.hint) from error
    except yaml.reader.ReaderError as error:
        line = before + 1 + chunk.count(b"\n", 0, error.position)
        message = f"The file is not UTF-8 text: {error.reason}."
        raise Unreadable("InvalidText", message, line, "Save it as UTF-8.") from error


_NESTED = "exceeded maximum nesting depth"
"""The message of libyaml 0.2.6 and later: its scanner is ahead of the events, and may reach the limit first."""


def _make_too_deep(line: int) -> Unreadable:
    message = f"The document is nested more than {MAX_DEPTH} levels deep."
    return Unreadable("TooDeep", message, line, "Check for unclosed brackets; no kind is nested that deep.")


class _DocumentBuilder:
    """Builds one document from the parser's events. Mutable: it holds the document so far."""

    def __init__(
        self,
        path: str,
        parser: Any,
        first_line: int,
        *,
        marks_quotes: bool = False,
        aliases: AliasBudget | None = None,
    ) -> None:
        self.path = path
        self.aliases = aliases or AliasBudget()
        self.marks_quotes = marks_quotes
        self.next_event = parser.get_event
        self.first_line = first_line
        self.lines = LineTable()
        self.where: list[Step] = []
        self.problems: list[Problem] = []
        self.changed_keys: list[Problem] = []
        self.anchors: dict[str, tuple[Any, int, str]] = {}  # the value, its number of nodes, and the text of a scalar
        self.nodes = 0
        self.aliased = 0

    def read_document(self, text: bytes) -> Document:
        event = self.next_event()
        value = self.read_value(event, None, event.start_mark.line + self.first_line)
        problems = (*(_explain_lost_separator(self.problems) if self.problems else ()), *self.changed_keys)
        return Document(path=self.path, value=value, lines=Lines(self.lines.share()), problems=problems, text=text)

    def read_value(self, event: Any, step: str | None, line: int) -> Any:
        """Read the value that starts with an event, below `step` (None in a list)."""
        node = self.lines.begin(step, line)
        if isinstance(event, yaml.ScalarEvent):  # most nodes
            value = self.read_scalar(event, line)
            size = 1 + len(event.value) // _CHARACTERS
            self.nodes += size
            if event.anchor:
                self.anchors[event.anchor] = (value, size, event.value)
            if not isinstance(value, str):
                self.note_written(node, value, event.value)
            return value
        if isinstance(event, yaml.AliasEvent):
            value, text = self.read_alias(event, line)
            self.note_written(node, value, text)
        else:
            value = self.read_collection(event, line)
        self.lines.end(node)
        return value

    def read_collection(self, event: Any, line: int) -> Any:
        before = self.nodes
        self.nodes += 1
        # Checked before anything is built: deep values would end the recursive readers behind this one.
        if len(self.where) >= MAX_DEPTH:
            raise _make_too_deep(line)
        if isinstance(event, yaml.MappingStartEvent):
            self.check_tag(event, "map", line)
            value: Any = self.read_mapping()
        else:
            self.check_tag(event, "seq", line)
            value = self.read_sequence()
        if event.anchor:
            self.anchors[event.anchor] = (value, self.nodes - before, "")
        return value

    def note_written(self, node: int, value: Any, text: str) -> None:
        """Note the text of a number or a boolean, so that a hint can quote the file."""
        if isinstance(value, bool | int | float) and (written := _read_written(text)):
            self.lines.write(node, written)

    def read_alias(self, event: Any, line: int) -> tuple[Any, str]:
        """Read the value of an alias, and its text if it is a scalar."""
        if event.anchor not in self.anchors:
            hint = "Define its anchor before it, or quote it if the * is part of a text."
            raise Unreadable("UnknownAlias", "The alias has no anchor before it.", line, hint)
        # Nested aliases grow exponentially, so their values are counted, not the aliases.
        value, size, text = self.anchors[event.anchor]
        self.aliased += size
        self.aliases.left -= size
        self.nodes += size
        if self.aliased > MAX_ALIASED or self.aliases.left < 0:
            most = f"{MAX_ALIASED_TOGETHER} values together" if self.aliases.left < 0 else f"{MAX_ALIASED} values"
            message = f"Aliases expand to more than {most}; long text counts as one for each {_CHARACTERS} characters."
            raise Unreadable("TooManyAliases", message, line, "Write the values out, or split the file.")
        return value, text

    def read_scalar(self, event: Any, line: int) -> Any:
        if event.tag:
            return self.read_tagged(event, line)
        if not event.implicit[0]:  # quoted, or a block
            return QuotedText(event.value) if self.marks_quotes and "$" in event.value else event.value
        value = _resolve(event.value)
        if isinstance(value, float) and not math.isfinite(value):
            self.add("NotANumber", f"{event.value} is not a number in JSON.", line, "Quote it if it is text.")
        return value

    def read_tagged(self, event: Any, line: int) -> Any:
        try:
            return resolve_tagged(event.tag, event.value)
        # Both faults leave the text as the value, so that the checks of other fields go on.
        except KeyError:
            self.report_unknown_tag(line)
        except ValueError:
            message = f"The value does not match its tag !!{event.tag.removeprefix(TAG)}."
            self.add("InvalidTag", message, line, "Remove the tag.")
        return event.value

    def check_tag(self, event: Any, expected: str, line: int) -> None:
        if event.tag and event.tag not in {TAG + expected, "!"}:
            self.report_unknown_tag(line)

    def report_unknown_tag(self, line: int) -> None:
        """Report a tag without showing it: it may be a password that starts with an exclamation mark."""
        message = "The value has a tag that Kubernetes does not support."
        self.add("UnknownTag", message, line, "Remove it, or quote the value if the ! is part of it.")

    def read_mapping(self) -> dict[str, Any]:
        members: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        while not isinstance(event := self.next_event(), yaml.MappingEndEvent):
            line = event.start_mark.line + self.first_line
            key = self.read_key(event, line)
            self.where.append(key)
            value = self.read_value(self.next_event(), key, line)
            if key == MERGE and event.implicit[0]:  # a quoted "<<" is a key like any other
                self.merge_members(merged, value, line)
            else:
                if key in members:
                    self.add_duplicate(key, line)
                members[key] = value
            self.where.pop()
        return {**merged, **members} if merged else members  # the mapping's own members win

    def add_duplicate(self, key: str, line: int) -> None:
        shown = key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}…"
        hint = "Keep one of them; Kubernetes refuses both."
        self.add("DuplicateKey", f"The key {shown!r} is duplicated in one mapping.", line, hint)

    def read_key(self, event: Any, line: int) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise Unreadable(
                "InvalidKey", "A key of a mapping is itself a mapping or a list.", line, "Use text as keys."
            )
        scalar = self.read_scalar(event, line)
        key = scalar if isinstance(scalar, str) else format_key(scalar)
        if key is None:
            raise Unreadable("InvalidKey", "A key of a mapping is null.", line, "Quote it if it is text.")
        # Kubernetes accepts such a key, but `on` or `1.0` becomes a name that its author did not write.
        if key != event.value and not event.tag and len(self.changed_keys) < _MOST_CHANGED_KEYS:
            self.changed_keys.append(self.make_changed_key(event.value, key, line))
        self.nodes += len(key) // _CHARACTERS
        if event.anchor:
            self.anchors[event.anchor] = (key, 1 + len(key) // _CHARACTERS, key)
        return key

    def make_changed_key(self, text: str, key: str, line: int) -> Problem:
        return Problem(
            code="ChangedKey",
            message=f'YAML reads the key {text[:LONGEST_KEY]} as "{key[:LONGEST_KEY]}".',
            hint=f'Put it in quotes: "{text[:LONGEST_KEY]}".',
            level=Level.WARNING,
            path=self.path,
            line=line,
            field=format_field((*self.where, key)),
        )

    def merge_members(self, merged: dict[str, Any], value: Any, line: int) -> None:
        """Add the members that `<<` merges: of several mappings, the first with a key counts."""
        # YAML's merge key takes one mapping or a list of them.
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                merged.update((key, part[key]) for key in part if key not in merged)
            else:
                self.add("InvalidMerge", "The value of << is not a mapping.", line, "Use an alias of a mapping.")

    def read_sequence(self) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := self.next_event(), yaml.SequenceEndEvent):
            self.where.append(len(items))
            items.append(self.read_value(event, None, event.start_mark.line + self.first_line))
            self.where.pop()
        return items

    def add(self, code: str, message: str, line: int, hint: str) -> None:
        """Add a problem of the current value."""
        # Each problem has a path of keys, and a hostile file could have millions of both.
        if len(self.problems) == MAX_PROBLEMS:
            said = f"The document has more than {MAX_PROBLEMS} problems; the rest is not read."
            raise Unreadable("TooManyProblems", said, line, "Fix the problems before this line.", self.problems)
        where = format_field(tuple(self.where))
        self.problems.append(Problem(code=code, message=message, hint=hint, path=self.path, line=line, field=where))


def _explain_lost_separator(problems: list[Problem]) -> tuple[Problem, ...]:
    """Return the problems. If apiVersion and kind occur twice, `---` is missing, and one problem replaces them all."""
    again = [problem for problem in problems if problem.code == "DuplicateKey" and "." not in problem.field]
    if not {"apiVersion", "kind"} <= {problem.field for problem in again}:
        return tuple(problems)
    second = min(
        (problem for problem in again if problem.field in {"apiVersion", "kind"}), key=lambda problem: problem.line
    )
    message = f"A second manifest starts on line {second.line}, and no --- separates it from the first."
    lost = replace(second, message=message, hint=f"Add a line with --- before line {second.line}.")
    return tuple(
        lost if problem is second else problem for problem in problems if problem is second or problem not in again
    )
