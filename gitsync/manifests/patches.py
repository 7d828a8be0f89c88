"""The patches of kustomizations: which of them likely set a field of a built manifest, and in which line.

kustomize does not tell. A patch is taken for the origin of a field if it is for that manifest, and has the value that
the field has in the result and not in the file before.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from gitsync.manifests.units import KUSTOMIZATIONS, SUFFIXES
from gitsync.manifests.yaml_documents import Document, read_documents
from gitsync.model.lines import Lines
from gitsync.model.problem import SourceLocation
from gitsync.problems.field_path import FieldPath, find_member

_LONGEST_INDEX: Final = 10  # digits
_MOST_PATCHES: Final = 100  # of one manifest
_FIELDS: Final = ("patches", "patchesStrategicMerge", "patchesJson6902")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """What a patch puts at a field: `value`, with its lines in the file at `path`. It is for manifests of this kind and
    name; "" is any.
    """

    path: str
    kind: str
    name: str
    at: FieldPath
    value: Any
    lines: Lines

    def is_for(self, manifest: Any) -> bool:
        """Tell whether the patch may be for a manifest."""
        own = (find_member(manifest, "kind"), find_member(manifest, "metadata", "name"))
        return self.kind in ("", own[0]) and self.name in ("", own[1])

    def find_place(self, path: FieldPath, value: Any) -> SourceLocation | None:
        """Where the patch sets a field to a value, or a part of it; None if it does not."""
        inside = path[len(self.at) :]
        if path[: len(self.at)] != self.at:
            return None
        own = find_member(self.value, *inside)
        is_set = type(own) is type(value) if isinstance(value, dict | list) else own == value
        return SourceLocation(self.path, self.lines.find_nearest(inside)) if own is not None and is_set else None


def list_patch_files(files: Mapping[str, bytes]) -> frozenset[str]:
    """The files of a build that may be patches, and the kustomizations; none if no kustomization has patches."""
    kustomizations = frozenset(path for path in files if posixpath.basename(path) in KUSTOMIZATIONS)
    if not any(b"patch" in files[path] for path in kustomizations):
        return frozenset()
    return kustomizations | {path for path in files if path.endswith(SUFFIXES)}


def read_patches(contents: Mapping[str, bytes]) -> tuple[Patch, ...]:
    """The patches of all kustomizations among some files, in the order of these."""
    return tuple(
        patch
        for path in sorted(contents)
        if posixpath.basename(path) in KUSTOMIZATIONS
        for document in read_documents(path, contents[path]).documents
        for patch in _read_kustomization(document, contents)
    )


def find_patched(built: Any, original: Any, patches: Iterable[Patch]) -> Mapping[FieldPath, SourceLocation]:
    """The places of the fields of a manifest that patches have set. `original` is the manifest before them."""
    applied = list(islice((patch for patch in patches if patch.is_for(original)), _MOST_PATCHES))
    return dict(_find_changes(built, original, (), applied)) if applied else {}


def _find_changes(
    built: Any, original: Any, path: FieldPath, patches: list[Patch]
) -> Iterator[tuple[FieldPath, SourceLocation]]:
    for step, value in _list_members(built):
        before, field = find_member(original, step), (*path, step)
        if value == before:
            continue
        if before is None or not isinstance(value, dict | list):
            places = [place for patch in patches if (place := patch.find_place(field, value))]
            yield from [(field, places[-1])] if places else []
        yield from _find_changes(value, before, field, patches)


def _read_kustomization(document: Document, contents: Mapping[str, bytes]) -> Iterator[Patch]:
    for field in _FIELDS:
        entries = find_member(document.value, field)
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            place = (field, index) if isinstance(entry, str) else (field, index, "patch")
            text = entry if isinstance(entry, str) else find_member(entry, "patch") or find_member(entry, "path")
            if isinstance(text, str):
                for one in _read_text(text, document, place, contents):
                    yield from _make_patches(one, find_member(entry, "target"))


def _read_text(text: str, document: Document, place: FieldPath, contents: Mapping[str, bytes]) -> Iterator[Document]:
    """The documents of a patch: of a file, or of a text in the kustomization, which begins below its key."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(document.path), text))
    if path in contents:
        yield from read_documents(path, contents[path]).documents
        return
    before = document.line(*place)
    for one in read_documents(document.path, text.encode()).documents:
        yield replace(one, lines=one.lines.renumber(lambda line: line + before))


def _make_patches(document: Document, target: Any) -> Iterator[Patch]:
    """The patches of a document: itself, or each operation of a list."""
    value = document.value
    kind, name = (find_member(target, "kind"), find_member(target, "name"))
    if isinstance(value, dict):
        own = (find_member(value, "kind"), find_member(value, "metadata", "name"))
        kind, name = (kind, name) if isinstance(target, dict) else own
    whole = Patch(path=document.path, kind=kind or "", name=name or "", at=(), value=value, lines=document.lines)
    if isinstance(value, dict):
        yield whole
    for index, operation in enumerate(value if isinstance(value, list) else []):
        pointer = find_member(operation, "path")
        if isinstance(pointer, str) and find_member(operation, "value") is not None:
            lines = document.lines.below((index, "value"))
            yield replace(whole, at=_read_pointer(pointer), value=operation["value"], lines=lines)


def _read_pointer(pointer: str) -> FieldPath:
    """The field of a JSON pointer (RFC 6901)."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    return tuple(int(step) if step.isdecimal() and len(step) < _LONGEST_INDEX else step for step in steps)


def _list_members(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()
