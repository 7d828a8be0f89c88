"""Finds where the manifests of a build come from: the file and the lines that a person edits.

kustomize writes the file of each object into an annotation, which is not part of the manifest. For a chart, a comment
at the start of each document names the template. A field that a kustomization's patch has set has the line of the
patch; any other field that is not in the file has the line of its nearest parent.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Final

import yaml

from gitsync.desired.manifests.document_forms import read_values, split_list
from gitsync.desired.manifests.units import KUSTOMIZATIONS, SUFFIXES
from gitsync.desired.manifests.yaml_documents import CONTENT, Document, read_documents
from gitsync.desired.problems.field_path import FieldPath, find_member
from gitsync.model.lines import Lines, make_lines
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.unit import Unit

ORIGIN_ANNOTATION = "config.kubernetes.io/origin"
ORIGIN_PREFIX = "../source/"
"""The prefix of paths in that annotation: builds run in a folder next to the copy of the source."""

SOURCE_COMMENT = b"# Source: "
"""The start of the first line of a rendered document, before the path of its template."""

_TEMPLATED = b"---\n" + SOURCE_COMMENT
_ORIGIN_LINE = re.compile(rb"^(?: +(?:path|configuredIn): \.\./source/|---\n# Source: )([^\n]+)$", re.MULTILINE)


@dataclass(slots=True)
class Origins:
    """Finds the origin of documents. Mutable: it reads each file once."""

    _documents: dict[str, tuple[Document, ...]] = field(default_factory=dict)
    _patches: dict[str, tuple[Patch, ...]] = field(default_factory=dict)

    def locate(self, document: Document, unit: Unit) -> Document:
        """Return the document with the path and the lines of its origin, without the annotation."""
        if document.text.startswith(_TEMPLATED):  # helm names the template in a comment, and has no annotation
            return _locate_template(document, unit)
        value, origin = _take_annotation(document.value)
        path, original = self._find_original(document, value, origin, unit)
        # A file of a chart is a template and has no equal document, so lines are matched instead.
        if original is None and unit.is_chart and path in unit.contents:
            lines = _follow(document, unit.contents[path])
        else:
            lines = original.lines if original else make_lines(1)
        patched = collect_patched(value, original.value, self._read_patches(unit)) if original else {}
        seal = original.seal if original and document.seal else document.seal  # it covers the order of the fields
        located = replace(
            document, path=path, value=value, lines=lines, problems=(), patched=patched, seal=seal, original=original
        )
        problems = [replace(problem, path=path, line=located.line()) for problem in document.problems]
        # No document of a file has these values, so they cannot be decrypted.
        if document.seal and original is None:
            problems.append(_make_resealed(located))
        return replace(located, problems=tuple(problems))

    def _find_original(self, document: Document, value: Any, origin: Any, unit: Unit) -> tuple[str, Document | None]:
        """Find the file of a document, and the document there; if there is none, the file that declares its generator
        or its unit.
        """
        named = origin if isinstance(origin, dict) else {}
        path = _strip(named.get("path"))
        if path in unit.contents:
            originals = self._read(path, unit)
            if document.seal:  # it is decrypted from that document, so its values are the same
                originals = tuple(
                    original
                    for original in originals
                    if original.seal and read_values(original.value) == read_values(value)
                )
            return path, _find_same(originals, value)
        generator = _strip(named.get("configuredIn"))
        return (generator if generator in unit.contents else unit.file), None

    def _read_patches(self, unit: Unit) -> tuple[Patch, ...]:
        if unit.name not in self._patches:
            self._patches[unit.name] = read_patches(unit.contents)
        return self._patches[unit.name]

    def _read(self, path: str, unit: Unit) -> tuple[Document, ...]:
        if path not in self._documents:
            documents = read_documents(path, unit.contents[path]).documents
            self._documents[path] = tuple(chain.from_iterable(map(split_list, documents)))
        return self._documents[path]


def _locate_template(document: Document, unit: Unit) -> Document:
    """Locate a document in its template, with the most likely lines."""
    path = document.text.splitlines()[1].removeprefix(SOURCE_COMMENT).decode("utf-8", "replace")
    template = unit.contents.get(path)
    path, lines = (unit.file, make_lines(1)) if template is None else (path, _follow(document, template))
    located = replace(document, path=path, lines=lines, problems=())
    problems = tuple(replace(problem, path=path, line=located.line()) for problem in document.problems)
    return replace(located, problems=problems)


def _follow(document: Document, template: bytes) -> Lines:
    """Find the lines of a document in its template. The first line with content is where the value starts."""
    followed = follow_lines(document.text, template)
    begin = CONTENT.search(document.text, document.text.find(b"\n") if document.text.startswith(b"---") else 0)
    before = document.line() - document.text.count(b"\n", 0, begin.end() if begin else 0)
    return document.lines.renumber(lambda line: followed[min(max(line - before, 0), len(followed) - 1)])


def _take_annotation(value: Any) -> tuple[Any, Any]:
    """Remove the origin annotation from a document, and read it."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not (isinstance(metadata, dict) and isinstance(annotations, dict) and ORIGIN_ANNOTATION in annotations):
        return value, None
    others = {key: text for key, text in annotations.items() if key != ORIGIN_ANNOTATION}
    kept = {key: member for key, member in metadata.items() if key != "annotations"}
    stripped = {**value, "metadata": {**kept, "annotations": others} if others else kept}
    text = annotations[ORIGIN_ANNOTATION]
    try:
        return stripped, yaml.safe_load(text) if isinstance(text, str) else None
    except (yaml.YAMLError, ValueError):  # the annotation is text from the repository, so it may be anything
        return stripped, None


def _strip(path: Any) -> str:
    return posixpath.normpath(path.removeprefix(ORIGIN_PREFIX)) if isinstance(path, str) and path else ""


def _find_same(documents: Sequence[Document], value: Any) -> Document | None:
    """Find the document of a file from which a built one was made: of the same kind, with the longest name that is part
    of the built name.
    """
    name = _find_name(value)
    same_kind = [
        document for document in documents if find_member(document.value, "kind") == find_member(value, "kind")
    ]
    named = [document for document in same_kind if _find_name(document.value) in name]
    return max(named, key=lambda document: len(_find_name(document.value)), default=same_kind[0] if same_kind else None)


def _make_resealed(document: Document) -> Problem:
    return Problem(
        code="EncryptedManifest",
        level=Level.WARNING,
        message="The build changes values that SOPS encrypted, so they cannot be decrypted.",
        hint="Write them into the encrypted file with `sops edit`, and remove the patch.",
        path=document.path,
        line=document.line(),
    )


def _find_name(value: Any) -> str:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def list_origins(built: bytes) -> frozenset[str]:
    """List the files in the origin annotations of a built text, by their paths from the root of the source."""
    return frozenset(posixpath.normpath(match[1].decode("utf-8", "replace")) for match in _ORIGIN_LINE.finditer(built))


# The template line that a line of the result likely comes from: helm does not report it.
#
# Lines are compared by their keys: inserted text follows the key, or has lines of its own. A line that is not in the
# template gets the line of the previous one, or that of the first included template.


_SEPARATOR: Final = re.compile(rb"^[^\S\n]*---")
_INCLUDE: Final = re.compile(rb"\{\{-?\s*(?:include|template)\b")
_KEY: Final = re.compile(rb"[\s\"'-]*+([^\s:\"'{][^:{\"']*)[\"']?:(?:\s|\Z)")


def follow_lines(result: bytes, template: bytes) -> tuple[int, ...]:
    """Return the line of the template, from 1, for each line of one document of its result."""
    lines = result.splitlines()
    first, section = _find_section(lines, template.splitlines())
    indices: dict[bytes, list[int]] = {}
    for index, line in enumerate(section):
        indices.setdefault(_find_key(line), []).append(index)
    numbers = []
    # Keys are searched from the last match on: a template has the order of its result, except in loops.
    begin, last = _find_include(section) or 0, -1
    for line in lines:
        if (key := _find_key(line)) and (candidates := indices.get(key, [])):
            begin = last = candidates[min(bisect_right(candidates, last), len(candidates) - 1)]
        numbers.append(first + begin + 1)
    return tuple(numbers)


def _find_section(lines: Sequence[bytes], template: Sequence[bytes]) -> tuple[int, Sequence[bytes]]:
    """Find the document of a template that has most of these lines, and the number of lines before it."""
    texts = {line.strip() for line in lines} - {b"", b"---"}
    starts = [0, *(index + 1 for index, line in enumerate(template) if _SEPARATOR.match(line))]
    sections = [(start, template[start:end]) for start, end in zip(starts, [*starts[1:], len(template)], strict=True)]
    return max(
        sections,
        key=lambda section: (
            len(texts.intersection(map(bytes.strip, section[1]))),
            _find_include(section[1]) is not None,
        ),
    )


def _find_include(section: Sequence[bytes]) -> int | None:
    """Find the index of the first line that includes a template; None without one."""
    return next((index for index, line in enumerate(section) if _INCLUDE.search(line)), None)


def _find_key(line: bytes) -> bytes:
    """Find the key of a line; b"" if it has none."""
    match = _KEY.match(line)
    return match[1].strip() if match else b""


# The patch of a kustomization that likely set a field of a built manifest, and its line.
#
# kustomize does not report it. A patch counts as the origin of a field if it is for that manifest, and has the value
# that the field has in the result but not in the file.


_LONGEST_INDEX: Final = 10  # digits
_MOST_PATCHES: Final = 100  # of one manifest
_END: Final = "-"  # of a list, in a JSON pointer
_FIELDS: Final = ("patches", "patchesStrategicMerge", "patchesJson6902")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A value that a patch sets."""

    path: str  # its file
    kind: str  # of the manifests that it is for; "" is any
    name: str  # of the manifests that it is for; "" is any
    at: FieldPath  # where it sets the value
    value: Any
    lines: Lines  # of the value, in its file

    def is_for(self, manifest: Any) -> bool:
        """Return whether the patch may be for a manifest."""
        own = (find_member(manifest, "kind"), find_member(manifest, "metadata", "name"))
        return self.kind in ("", own[0]) and self.name in ("", own[1])

    def has_added(self, path: FieldPath, value: Any) -> bool:
        """Return whether the patch is an operation that sets the complete value at a path."""
        return bool(self.at) and len(self.at) == len(path) and self._reaches(path) and bool(self.value == value)

    def find_location(self, path: FieldPath, value: Any) -> SourceLocation | None:
        """Find where the patch sets a field to a value, or to a part of it; None if it does not."""
        inside = path[len(self.at) :]
        if not self._reaches(path):
            return None
        own = find_member(self.value, *inside)
        is_set = type(own) is type(value) if isinstance(value, dict | list) else own == value
        if own is None or not is_set:
            return None
        # An object that an operation adds starts below the key `value`.
        first = next(iter(own)) if self.at and not inside and isinstance(own, dict) and own else None
        return SourceLocation(self.path, self.lines.find_nearest(inside if first is None else (first,)))

    def _reaches(self, path: FieldPath) -> bool:
        """Return whether a path is the patch's or below it. `-` is the end of a list."""
        steps = zip(self.at, path, strict=False)
        return len(self.at) <= len(path) and all(
            at == step or (at == _END and isinstance(step, int)) for at, step in steps
        )


def list_patch_files(files: Mapping[str, bytes]) -> frozenset[str]:
    """List the files of a build that may be patches, and the kustomizations; none if no kustomization has patches."""
    kustomizations = frozenset(path for path in files if posixpath.basename(path) in KUSTOMIZATIONS)
    if not any(b"patch" in files[path] for path in kustomizations):  # most builds, without parsing a file twice
        return frozenset()
    return kustomizations | {path for path in files if path.endswith(SUFFIXES)}


def read_patches(contents: Mapping[str, bytes]) -> tuple[Patch, ...]:
    """Read the patches of all kustomizations among these files, sorted by path."""
    return tuple(
        patch
        for path in sorted(contents)
        if posixpath.basename(path) in KUSTOMIZATIONS
        for document in read_documents(path, contents[path]).documents
        for patch in _read_kustomization(document, contents)
    )


def collect_patched(built: Any, original: Any, patches: Iterable[Patch]) -> Mapping[FieldPath, SourceLocation]:
    """Find the locations of the fields of a manifest that patches have set. `original` is the manifest without them."""
    # Each field is compared with each patch, so their number is limited.
    applied = list(islice((patch for patch in patches if patch.is_for(original)), _MOST_PATCHES))
    return dict(_list_changes(built, original, (), applied)) if applied else {}


def _list_changes(
    built: Any, original: Any, path: FieldPath, patches: list[Patch]
) -> Iterator[tuple[FieldPath, SourceLocation]]:
    members: Iterable[tuple[Any, Any]] = ()
    if isinstance(built, dict):
        members = built.items()
    elif isinstance(built, list):
        members = enumerate(built)
    for step, value in members:
        before, inner = find_member(original, step), (*path, step)
        if value == before:
            continue
        # An operation sets the complete value, even if other patches have the same parts.
        added = [patch for patch in patches if patch.has_added(inner, value)][-1:]
        if added:
            before = None
        own = added or patches
        if before is None or not isinstance(value, dict | list):
            sources = [source for patch in own if (source := patch.find_location(inner, value))]
            yield from [(inner, sources[-1])] if sources else []  # the last patch wins, as in kustomize
        yield from _list_changes(value, before, inner, own)


def _read_kustomization(document: Document, contents: Mapping[str, bytes]) -> Iterator[Patch]:
    for member in _FIELDS:
        entries = find_member(document.value, member)
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            patch_path = (member, index) if isinstance(entry, str) else (member, index, "patch")
            text = entry if isinstance(entry, str) else find_member(entry, "patch") or find_member(entry, "path")
            if isinstance(text, str):
                for patch in _read_text(text, document, patch_path, contents):
                    yield from _make_patches(patch, find_member(entry, "target"))


def _read_text(
    text: str, document: Document, patch_path: FieldPath, contents: Mapping[str, bytes]
) -> Iterator[Document]:
    """Read the documents of a patch: a file, or a text in the kustomization, which starts below its key."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(document.path), text))
    # kustomize takes a path or the patch itself: what names no file of the build is a patch.
    if path in contents:
        yield from read_documents(path, contents[path]).documents
        return
    before = document.line(*patch_path)
    for patch in read_documents(document.path, text.encode()).documents:
        yield replace(patch, lines=patch.lines.renumber(lambda line: line + before))


def _make_patches(document: Document, target: Any) -> Iterator[Patch]:
    """Make the patches of a document: one for a mapping, one for each operation of a list."""
    value = document.value
    kind, name = (find_member(target, "kind"), find_member(target, "name"))
    if isinstance(value, dict):
        own = (find_member(value, "kind"), find_member(value, "metadata", "name"))
        kind, name = (kind, name) if isinstance(target, dict) else own
    patch = Patch(path=document.path, kind=kind or "", name=name or "", at=(), value=value, lines=document.lines)
    if isinstance(value, dict):
        yield patch
    for index, operation in enumerate(value if isinstance(value, list) else []):
        pointer = find_member(operation, "path")
        if isinstance(pointer, str) and find_member(operation, "value") is not None:
            lines = document.lines.below((index, "value"))
            yield replace(patch, at=_read_pointer(pointer), value=operation["value"], lines=lines)


def _read_pointer(pointer: str) -> FieldPath:
    """Parse a JSON pointer (RFC 6901) into the path of a field."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    return tuple(int(step) if step.isdecimal() and len(step) < _LONGEST_INDEX else step for step in steps)
