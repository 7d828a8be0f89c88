"""Why a resource is kept whose manifest may have moved to a path that the run does not read.

A file that nothing uses can be searched, so it keeps a resource if it has the earlier text, or names the resource. A
path that cannot be read keeps one if it was added or changed since a revision last declared the resource: a path that
stays as it is would stop all deletes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, TypeVar

from gitsync.desired.manifests.named_objects import NamedObject
from gitsync.desired.manifests.units import KUSTOMIZATIONS, find_unit, is_inside
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.gvk import Key

_CHART: Final = "Chart.yaml"
_Each = TypeVar("_Each", bound=Hashable)

Blobs = Mapping[str, str]
"""The files of a revision: the id of what each has, by path. "" is content that no revision has."""


class Counts(Enum):
    """Whether a file that names a removed resource keeps it."""

    ALWAYS = "always"  # it is not checked out: no one has removed it
    UNLESS_DROPPED = "unless its unit dropped it"
    IF_IT_CAME = "if it is known to have come or changed"  # it may be of another run, or another environment


def advise_release(key: Key) -> str:
    """Return how to delete a resource that is kept."""
    return f"To delete the resource anyway, run `gitsync sync --prune --release {key}`."


class UnusedFile(NamedTuple):
    """A file that is not used, and what it names."""

    path: str
    why: str  # completes "it is not read, since"
    blob: str = ""  # the git id of its content, "" if that is not known
    named: frozenset[NamedObject] = frozenset()
    counts: Counts = Counts.UNLESS_DROPPED  # when it holds the delete of what it names


class UnreadFolder(NamedTuple):
    """A path that cannot be read."""

    name: str
    why: str  # completes a sentence that begins with its name
    blobs: Blobs  # what it is made of now
    detail: str = ""  # a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class LastDeclared:
    """Where a removed resource was declared last."""

    key: Key
    arm_id: ArmId = NO_ID
    path: str = ""
    declared_by: str = ""  # the kind of the object of a controller that declared its unit, "" for none
    revision: str = ""  # the last one with its manifest
    blobs: Blobs | None = None  # the files of that revision, None if they are not known

    def has_come(self, path: str, blob: str) -> bool:
        """Return whether a file was added or changed since; True if that is not known."""
        # An unknown revision counts as changed: what cannot be compared must not let a delete pass.
        return self.blobs is None or not blob or self.blobs.get(path) != blob

    @property
    def names(self) -> Collection[str]:
        """The names that a manifest of it may have: its own, and that in Azure."""
        return {self.key.name.casefold(), self.arm_id.name.casefold()} - {""}

    @property
    def folder(self) -> str | None:
        """The folder of the unit that was built of its file; None if the file was read as it is."""
        # Such a unit is declared by an object and need not have a kustomization file of its own.
        if self.declared_by:
            return find_unit(self.path)
        blobs, folder = self.blobs or {}, self.path
        while folder:
            folder = folder.rpartition("/")[0]
            if any(f"{folder}/{name}".lstrip("/") in blobs for name in (*KUSTOMIZATIONS, _CHART)):
                return folder
        return None


@dataclass(frozen=True, slots=True)
class UnreadParts:
    """The paths of a source that were not read: files by what they name and by their content, and unreadable paths."""

    by_name: Mapping[NamedObject, tuple[UnusedFile, ...]] = field(default_factory=dict)
    by_blob: Mapping[str, tuple[UnusedFile, ...]] = field(default_factory=dict)
    closed: tuple[UnreadFolder, ...] = ()

    def explain(self, last: LastDeclared) -> str:
        """Return why a resource is kept; "" if none of these paths may declare it."""
        why = self._find_path(last)
        return why and f"{why} Fix it, remove it, or name it in .gitsyncignore. {advise_release(last.key)}"

    def _find_path(self, last: LastDeclared) -> str:
        if file := self._find_file(last):
            return f"Held: {file.path} is not read, since {file.why}, and it may declare this resource now."
        folder = next(
            (unread for unread in self.closed if any(last.has_come(*each) for each in unread.blobs.items())), None
        )
        if folder is None:
            return ""
        since = f"has changed since {last.revision[:12]}, which declared it last"
        if last.blobs is None:
            since = "it is not known whether it has changed since (fetch-depth: 0)"
        reason = f"{folder.name} {folder.why} and {since}, so it may declare this resource now."
        return f"Held: {reason} {folder.detail}".rstrip()

    def _find_file(self, last: LastDeclared) -> UnusedFile | None:
        kind = last.key.kind.casefold()
        blob = last.blobs.get(last.path, "") if last.blobs else ""
        # A file that was only moved has the same content, whatever it names.
        candidates = [*self.by_blob.get(blob, ())] if blob else []
        candidates += [file for name in sorted(last.names) for file in self.by_name.get((kind, name), ())]
        # Where a tool fills in the name, any manifest of the kind may be the one, so only a new one counts.
        nameless = (file for file in self.by_name.get((kind, ""), ()) if last.has_come(file.path, file.blob))
        return next((file for file in (*candidates, *nameless) if not _was_left(file, last)), None)


ALL_READ: Final = UnreadParts()


def _was_left(file: UnusedFile, last: LastDeclared) -> bool:
    """Return whether the manifest cannot have moved to a file. A unit that is built may drop a file that stays as it
    is: that is how people remove its resources. The same goes for a release that is removed.
    """
    has_come = last.has_come(file.path, file.blob)
    if file.counts is Counts.IF_IT_CAME:
        # Other environments have the same names, so an unknown revision must not hold every delete here.
        return last.blobs is None or not has_come
    if file.counts is Counts.ALWAYS or last.folder is None:
        return False
    return file.path == last.path or (not has_come and is_inside(file.path, last.folder))


def index_unread(files: Iterable[UnusedFile], closed: Iterable[UnreadFolder]) -> UnreadParts:
    """Index the paths that were not read."""
    files = sorted(files, key=lambda file: file.path)
    by_name = _index(files, lambda file: file.named)
    by_blob = _index(files, lambda file: {file.blob} - {""})
    return UnreadParts(by_name, by_blob, tuple(sorted(closed, key=lambda folder: folder.name)))


def _index(
    files: Iterable[UnusedFile], find: Callable[[UnusedFile], Iterable[_Each]]
) -> dict[_Each, tuple[UnusedFile, ...]]:
    index: defaultdict[_Each, list[UnusedFile]] = defaultdict(list)
    for file in files:
        for each in find(file):
            index[each].append(file)
    return {each: tuple(found) for each, found in index.items()}
