"""Searches what a run does not read for the resources that were removed from git.

`planning.moved_manifests` decides; this module reads files, and lists those of earlier revisions. It runs only if
something was removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from gitsync.desired.manifests.named_objects import NamedObject, list_named_objects
from gitsync.desired.manifests.units import SUFFIXES, UNKNOWN, find_unit, is_inside
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Problem
from gitsync.planning.moved_manifests import (
    Blobs,
    Counts,
    LastDeclared,
    UnreadFolder,
    UnreadParts,
    UnusedFile,
    index_unread,
)
from gitsync.repository.git.source.checkout import is_content_of
from gitsync.repository.git.source.contents import ExplainUnreadable
from gitsync.repository.git.source.listing import EntryKind, Revision, SourceEntry
from gitsync.repository.git.source.unread_paths import UnreadPaths, may_have_manifests
from gitsync.repository.units.tree import list_folders

_UNRELEASED: Final = "HelmChart"
_LEFT_OUT: Final = "UnitLeftOut"
_NO_TEXT: Final = "InvalidText"
"""The code of a file without text of its own: a pointer, an encrypted file, an archive."""


def list_blobs(tree: Revision | None) -> Blobs | None:
    """List the files of a revision with the ids of their content; None if they are not known."""
    return None if tree is None else {entry.path: entry.id for entry in tree.entries("")}


@dataclass(kw_only=True)
class UnreadSource:
    """What was read of a source, and how to look into the rest."""

    unread: UnreadPaths  # what was not read
    tree: Revision | None  # the commit that it is at, None if there is none
    is_dirty: bool  # files differ from that commit
    left_out: frozenset[str] = frozenset()  # the files of the commit that a sparse checkout leaves out
    files: Mapping[str, bytes] = field(repr=False)  # those that were read, by path
    manifests: Manifests = field(repr=False)
    problems: tuple[Problem, ...]  # those of the source and of its manifests
    explain: ExplainUnreadable

    def search(self, removed: Collection[LastDeclared]) -> UnreadParts:
        """Search what was not read, for the manifests of these resources."""
        bases = tuple({id(last.blobs): last.blobs for last in removed if last.blobs is not None}.values())
        elsewhere = self._collect_elsewhere(bases)
        wanted = [entry for path, entry in elsewhere.items() if may_have_manifests(path)]
        contents = self.tree.read_present(wanted) if self.tree else {}
        files = (
            *self._look_into_unused(),
            *self._look_into_rejected(),
            *self._look_elsewhere(elsewhere, contents),
            *self._look_into_environments(),
        )
        closed = (
            *self._list_missing({entry.path: entry.id for entry in wanted if entry.path not in contents}),
            *self._list_closed(),
            *self._list_unbuilt(),
            *self._list_unreadable(bases),
        )
        return index_unread(files, closed)

    @cached_property
    def committed(self) -> Blobs:
        return list_blobs(self.tree) or {}

    @cached_property
    def entries(self) -> Mapping[str, SourceEntry]:
        return {entry.path: entry for entry in self.tree.entries("")} if self.tree else {}

    @cached_property
    def unused(self) -> Mapping[str, bytes]:
        """The contents of the files that nothing uses, as far as they are here."""
        return self.unread.read(filter(may_have_manifests, sorted(self.unread.unused)))

    @cached_property
    def blobs(self) -> Blobs:
        """The ids of what the files have now; "" for what no commit has."""
        return {path: self._find_blob(path) for path in (*self.committed, *self.unread.files)}

    def _find_blob(self, path: str) -> str:
        blob = self.committed.get(path, "")
        if blob and self.is_dirty and path in self.unread.files and may_have_manifests(path):
            content = self.files[path] if path in self.unread.plain else self.unused.get(path)
            return blob if content is None or is_content_of(blob, content) else ""
        return blob

    # ---- files that can be searched ----

    def _look_into_unused(self) -> Iterator[UnusedFile]:
        for path in self.unread.unused:
            content = self.unused.get(path)
            if content is not None or not may_have_manifests(path):
                named = list_named_objects(path, content) if content is not None else frozenset[NamedObject]()
                yield UnusedFile(path, self._explain_unused(path), self.blobs[path], named)

    def _explain_unused(self, path: str) -> str:
        if not path.endswith((*SUFFIXES, ".tpl")):
            return "its name does not end in .yaml, .yml or .json"
        for problem in self.problems:
            if problem.code == _UNRELEASED and is_inside(find_unit(path), find_unit(problem.path)):
                return f"no release uses the chart of {problem.path}"
            if problem.code in UNKNOWN and find_unit(path) in problem.parts:
                return f"the unit of {problem.location} is not built"
        return "no kustomization or other unit uses it"

    def _look_into_rejected(self) -> Iterator[UnusedFile]:
        """Search files that are read but have a document that is not."""
        rejected = {document.source.path for document in self.manifests.unread if document.is_rejected}
        for path in sorted(rejected & self.unread.plain):
            yield UnusedFile(
                path, "a document in it is rejected", self.blobs[path], list_named_objects(path, self.files[path])
            )

    def _collect_elsewhere(self, bases: tuple[Blobs, ...]) -> Mapping[str, SourceEntry]:
        """Find the files of the commit that came or changed and are not below the path, and those not checked out."""
        return {
            path: entry
            for path, entry in self.entries.items()
            if entry.kind is EntryKind.FILE and path not in self.unread.files and path not in self.unread.used
            if any(base.get(path) != entry.id for base in bases) or self._is_missing(path)
            if not self.unread.ignores(path)
        }

    def _is_missing(self, path: str) -> bool:
        """Return whether a file that the run is about is not checked out."""
        return path in self.left_out and self.unread.covers(path)

    def _look_elsewhere(
        self, elsewhere: Mapping[str, SourceEntry], contents: Mapping[str, bytes]
    ) -> Iterator[UnusedFile]:
        for path, entry in elsewhere.items():
            named = list_named_objects(path, contents[path]) if path in contents else frozenset[NamedObject]()
            why = "it is not checked out" if self.unread.covers(path) else f"it is not in --path {self.unread.path}"
            yield UnusedFile(path, why, entry.id, named, Counts.ALWAYS if self._is_missing(path) else Counts.IF_IT_CAME)

    def _look_into_environments(self) -> Iterator[UnusedFile]:
        """Search units that are left out, since gitsync.yaml names another one for their resources."""
        for unit in (problem.unit for problem in self.problems if problem.code == _LEFT_OUT):
            paths = [path for path in self.unread.files if may_have_manifests(path) and is_inside(path, unit)]
            for path, content in self.unread.read(paths).items():
                named = list_named_objects(path, content)
                yield UnusedFile(path, f"the unit {unit} is left out", self.blobs[path], named, Counts.IF_IT_CAME)

    # ---- what cannot be read ----

    def _list_missing(self, missing: Blobs) -> Iterator[UnreadFolder]:
        """List the files that are not here: those that a partial clone lacks, and those that are too large."""
        unread = {path: self.blobs[path] for path in self.unread.unused - self.unused.keys()}
        for path, blob in {**unread, **missing}.items():
            if may_have_manifests(path):
                why = "is not in this clone" if path in missing else "is not in this clone, or is too large to read,"
                yield UnreadFolder(path, why, {path: blob})

    def _list_closed(self) -> Iterator[UnreadFolder]:
        """List links, submodules and other entries that are not files."""
        found = {entry.path: entry for entry in self.unread.closed}
        for path, entry in self.entries.items():
            if entry.kind is not EntryKind.FILE and not self.unread.ignores(path):
                found.setdefault(path, entry)
        filled = {folder for path in self.unread.files for folder in (path, *list_folders(path))}
        for path, entry in found.items():
            # Uncommitted entries are not part of a revision.
            if path not in filled and (self.tree is None or path in self.committed):
                yield UnreadFolder(
                    path, f"is a {entry.kind.value}, which is not read,", {path: self.blobs.get(path, "")}
                )

    def _list_unbuilt(self) -> Iterator[UnreadFolder]:
        """List the units that were not built, with the files that they alone may be built of."""
        read = self.unread.plain | self.unread.used
        for problem in self.problems:
            if problem.code in UNKNOWN:
                blobs = {
                    path: blob
                    for path, blob in self.blobs.items()
                    if path == problem.path or (find_unit(path) in problem.parts and path not in read)
                }
                yield UnreadFolder(f"the unit of {problem.location}", "is not built", blobs, problem.message)

    def _list_unreadable(self, bases: tuple[Blobs, ...]) -> Iterator[UnreadFolder]:
        """List the files that were added or changed, and are not text: pointers, encrypted files, archives."""
        declaring = {resource.source.path for resource in self.manifests.resources}
        changed = [
            path
            for path in self.unread.plain - declaring
            if not bases or any(base.get(path) != self.blobs[path] for base in bases)
        ]
        for path, problem in self.explain(changed).items():
            if problem.code == _NO_TEXT:
                yield UnreadFolder(path, "cannot be read", {path: self.blobs[path]}, problem.message)
