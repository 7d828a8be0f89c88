"""Reads kustomizations: what each refers to, with its lines, and every file that a build needs, with those of its bases
and components.

kustomize downloads what looks like a URL and has no flag to disable that, and without its load restrictor it reads any
file of the machine. So gitsync checks each text that may be a path before kustomize gets the file.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import yaml

from gitsync.desired.problems.suggest import suggest
from gitsync.errors import SourceError
from gitsync.repository.units.build_sandbox import UnbuildableError
from gitsync.repository.units.tree import SourceTree, find_folder

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")

BASES = frozenset({"resources", "bases", "components", "generators", "transformers", "validators"})
"""Fields whose entries are files, or folders with a kustomization."""

PLUGINS = frozenset({"generators", "transformers", "validators"})
"""Fields whose entries are objects that may name further files."""

_ADDRESS = re.compile(r"(?:^|=)\s*(?:[A-Za-z][\w+.-]*://|[A-Za-z]+::|[\w.-]+@[\w.-]+:)")
_REMOTE = re.compile(
    r"(?:\?|&)(?:ref|version|timeout|submodules)=|\.git(?:/|$)|^(?:www\.)?(?:github|gitlab|bitbucket)\.\w+[/:]"
)
_NO_PATHS = frozenset(
    {
        *("apiVersion", "kind", "metadata", "namespace", "namePrefix", "nameSuffix", "replicas", "buildMetadata"),
        *("annotations", "commonAnnotations", "commonLabels", "labels", "images", "literals", "options"),
        *("patch", "target", "targets", "jsonOp", "source", "fieldSpecs", "fieldPath", "fieldPaths", "vars"),
    }
)  # fmt: skip
_LARGEST = 1_000_000
_MOST_GUESSES = 1000  # each is compared with names of folders
_WORD = re.compile(r"""[^\s"'\[\]{},:#]+""")


@dataclass(frozen=True, slots=True)
class Reference:
    """A text that may be a path, the field at the top that has it, and its line."""

    text: str
    field: str
    line: int


_KINDS: Final = frozenset({"Kustomization", "Component"})
_GROUP: Final = "kustomize.config.k8s.io"
_GROUP_OF_FLUX: Final = "kustomize.toolkit.fluxcd.io"  # its objects are Kustomizations too
_LONGEST_WORD: Final = 100  # characters of a kind or a group that are shown


class MisnamedFileError(UnbuildableError):
    """A file with the name of a kustomization that has objects of other tools."""


_OWN_FIELDS: Final = BASES | {
    *("namePrefix", "nameSuffix", "patches", "patchesStrategicMerge", "patchesJson6902", "replacements"),
    *("configMapGenerator", "secretGenerator", "commonLabels", "commonAnnotations"),
}
"""Fields that mark a kustomization without a header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kustomization:
    """A kustomization of a source."""

    path: str  # of its file
    references: tuple[Reference, ...] = ()
    is_component: bool = False  # it is a part of other kustomizations and cannot be built by itself

    @property
    def folder(self) -> str:
        return find_folder(self.path)

    @property
    def has_plugins(self) -> bool:
        """Return whether it names objects that may name further files."""
        return any(reference.field in PLUGINS for reference in self.references)


def read_kustomization(path: str, content: bytes) -> Kustomization:
    """Read a kustomization, without a check of what it names. Raises UnbuildableError if it is not one, or if its name
    is none that kustomize reads.
    """
    _check_name(path)
    root = _compose(path, content)
    fields = _index_fields(root)
    kind = fields.get("kind")
    _check_header(path, fields)
    return Kustomization(
        path=path,
        references=tuple(_list_references(fields)),
        is_component=kind is not None and kind.value == "Component",
    )


def is_kustomization(path: str, content: bytes) -> bool:
    """Return whether a file has the content of a kustomization, whatever its name is."""
    try:
        fields = _index_fields(_compose(path, content))
    except UnbuildableError:
        return False
    group, kind = _read_header(fields)
    if kind:
        return kind in _KINDS and group in ("", _GROUP)
    return "apiVersion" not in fields and not _OWN_FIELDS.isdisjoint(fields)


def _check_name(path: str) -> None:
    if posixpath.basename(path) in NAMES:
        return
    raise UnbuildableError(
        f"{path} is a kustomization, and kustomize reads no file of this name. The files of its folder are not read "
        "either, since they may need its changes.",
        hint=f"Rename it to {posixpath.join(find_folder(path), NAMES[0])}. To read the files as they are, add it to "
        ".gitsyncignore.",
        path=path,
    )


def _check_header(path: str, fields: Mapping[str, Any]) -> None:
    """Check that the content is kustomize's, as the name is. It refuses any other header, with a poorer message."""
    group, kind = _read_header(fields)
    if not kind or (kind in _KINDS and group in ("", _GROUP)):
        return
    content = f"a {kind[:_LONGEST_WORD]}{f' of {group[:_LONGEST_WORD]}' if group else ''}"
    if _is_misnamed(fields):
        raise _make_misnamed(path, content)
    raise UnbuildableError(
        f"{path} cannot be built: kustomize reads files of this name, and the content is {content}.",
        hint=f"Write `kind: Kustomization` and `apiVersion: {_GROUP}/v1beta1`, or rename the file.",
        path=path,
    )


def _make_misnamed(path: str, content: str) -> MisnamedFileError:
    message = f"{path} is not built: kustomize reads files of this name, and the content is {content}."
    return MisnamedFileError(message, hint="Rename the file.", path=path)


def _read_header(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Return the group and the kind of an object, "" for what it does not have."""
    version, kind = (getattr(fields.get(field), "value", "") for field in ("apiVersion", "kind"))
    group = version.rpartition("/")[0] if isinstance(version, str) else ""
    return group, kind if isinstance(kind, str) else ""


def _is_misnamed(fields: Mapping[str, Any]) -> bool:
    """Return whether an object is of another tool. One with a field that has files for kustomize, or with a header like
    kustomize's, is a kustomization with a mistake.
    """
    group, kind = _read_header(fields)
    if not kind or not BASES.isdisjoint(fields) or group == _GROUP or suggest(group, [_GROUP]):
        return False
    return group == _GROUP_OF_FLUX or (kind not in _KINDS and not suggest(kind, _KINDS))


def _are_misnamed(content: bytes) -> bool:
    """Return whether a text has several documents, all of them objects of other tools."""
    try:
        nodes: list[Any] = list(yaml.compose_all(content, Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return False
    roots = [node for node in nodes if node.id != "scalar"]  # an empty document is one
    return len(roots) > 1 and all(root.id == "mapping" and _is_misnamed(_index_fields(root)) for root in roots)


def _index_fields(root: Any) -> Mapping[str, Any]:
    return {key.value: value for key, value in root.value if key.id == "scalar"}


def read_plugins(content: bytes) -> tuple[Reference, ...]:
    """Read what the objects in a file of plugins refer to; nothing if it is not YAML, which kustomize reports."""
    return tuple(_list_inline(content, ""))


def find_inline_fault(content: bytes) -> int | None:
    """Find the line of the first object in a kustomization that is a text there, a patch or a plugin, and is not YAML.
    None if there is none.
    """
    root: Any = yaml.compose(content, Loader=yaml.CSafeLoader)
    for node in _list_scalars(root, set()):
        try:
            list(yaml.parse(node.value, Loader=yaml.CSafeLoader) if "\n" in node.value else ())
        except yaml.MarkedYAMLError as error:
            is_block = node.style in {"|", ">"}  # its text begins in the next line
            last = len(node.value.splitlines()) - 1
            inner = min(error.problem_mark.line, last) if error.problem_mark else 0
            return int(node.start_mark.line) + 1 + is_block + inner
        except yaml.YAMLError:
            return int(node.start_mark.line) + 1
    return None


def _list_scalars(node: Any, visited: set[int]) -> Iterator[Any]:
    if id(node) in visited:
        return
    visited.add(id(node))
    if node.id == "scalar":
        yield node
        return
    for member in node.value:
        yield from _list_scalars(member if node.id == "sequence" else member[1], visited)


def guess_references(content: bytes) -> tuple[str, ...]:
    """Guess what a kustomization that cannot be read refers to: every text in it that may be the path of a base or a
    file.
    """
    words = _WORD.findall(content[:_LARGEST].decode("utf-8", "replace"))
    return tuple(dict.fromkeys(words))[:_MOST_GUESSES]


def resolve(folder: str, text: str) -> str:
    """Resolve a text in a folder to a path from the root of the source; "../…" if it is outside."""
    target = posixpath.normpath(posixpath.join(folder, text))
    return "" if target == "." else target


def split_pair(text: str) -> tuple[str, ...]:
    """Split a text into those that may be paths: an entry of `files` may be `key=path`."""
    _, equals, path = text.partition("=")
    return (text, path) if equals and path else (text,)


def _compose(path: str, content: bytes) -> Any:
    if len(content) > _LARGEST:
        raise UnbuildableError(f"{path} is too large for a kustomization ({len(content)} bytes).", path=path)
    try:
        root: Any = yaml.compose(content, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        if _are_misnamed(content):
            raise _make_misnamed(path, "several objects of other tools") from error
        mark = error.problem_mark or error.context_mark
        reason = ", ".join(part for part in (error.context, error.problem) if part)
        line = min(mark.line + 1, max(1, len(content.splitlines()))) if mark else 1
        raise UnbuildableError(f"{path} is not valid YAML: {reason}.", path=path, line=line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UnbuildableError(f"{path} is not valid YAML: {' '.join(str(error).split())}.", path=path) from error
    if root is None or root.id != "mapping":
        raise UnbuildableError(f"{path} is not a kustomization: it must be a mapping.", path=path)
    return root


def _list_references(fields: Mapping[str, Any]) -> Iterator[Reference]:
    visited: set[int] = set()  # aliases may repeat a node without end
    for name, node in fields.items():
        if name in _NO_PATHS:
            continue
        for text, line in _list_texts(node, visited):
            if "\n" not in text:
                yield Reference(text, name, line)
            elif name in PLUGINS:
                yield from (replace(reference, line=line) for reference in _list_inline(text, f"{name}[]"))


def _list_texts(node: Any, visited: set[int]) -> Iterator[tuple[str, int]]:
    """Yield every text below a node with its line, except those of fields that have no paths."""
    if id(node) in visited:
        return
    visited.add(id(node))
    if node.id == "scalar":
        yield node.value, node.start_mark.line + 1
        return
    for member in node.value:
        if node.id == "sequence":
            yield from _list_texts(member, visited)
        elif not (member[0].id == "scalar" and member[0].value in _NO_PATHS):
            yield from _list_texts(member[1], visited)


def _list_inline(text: str | bytes, field: str) -> Iterator[Reference]:
    """List the references of objects in a text."""
    try:
        nodes = list(yaml.compose_all(text, Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return
    visited: set[int] = set()
    for node in nodes:
        yield from (Reference(inner, field, line) for inner, line in _list_texts(node, visited) if "\n" not in inner)


def check_references(path: str, references: Iterable[Reference], folder: str) -> None:
    """Raise UnbuildableError for a reference that leads out of the source. `path` is the file that has them; they are
    read from `folder`.
    """
    for reference in references:
        _check_remote(path, reference)
        for part in split_pair(reference.text):
            _check_path(path, reference, part, folder)


def _check_remote(path: str, reference: Reference) -> None:
    text = reference.text
    # kustomize would fetch it, and has no flag against that.
    if _ADDRESS.search(text) or (reference.field in BASES and _REMOTE.search(text)):
        raise UnbuildableError(
            f"{path} names {text[:200]!r}: gitsync does not fetch remote files when it builds a kustomization.",
            hint="Keep a copy in the source and use its path, exclude the kustomization with .gitsyncignore, or set "
            "--path to a folder without it.",
            path=path,
            line=reference.line,
        )


def _check_path(path: str, reference: Reference, part: str, folder: str) -> None:
    if part.startswith("/"):
        message = f"{path} names {reference.text[:200]!r}, a path of the machine, not of the source."
        hint = "Write the path from the folder of the kustomization."
        raise UnbuildableError(message, hint=hint, path=path, line=reference.line)
    if resolve(folder, part).partition("/")[0] == "..":
        message = f"{path} names {reference.text[:200]!r}, which is outside this source."
        hint = "Set SOURCE to the folder that contains both, and --path to the one to build."
        raise UnbuildableError(message, hint=hint, path=path, line=reference.line)


def list_kustomizations(paths: Iterable[str]) -> tuple[str, ...]:
    """List the kustomization of each folder that has one, sorted."""
    found: dict[str, str] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if name in NAMES and (folder not in found or _rank(path) < _rank(found[folder])):
            found[folder] = path
    return tuple(sorted(found.values()))


def _rank(path: str) -> int:
    return NAMES.index(path.rpartition("/")[2])


@dataclass(slots=True)
class KustomizationReader:
    """Reads each kustomization of a source once. Mutable: it keeps what it has read."""

    tree: SourceTree
    _sorted: list[str] = field(default_factory=list)  # the paths of all files, once they are needed
    _folders: dict[str, str] = field(default_factory=dict)
    """The folders of kustomizations, each with the path of its file, once they are needed."""

    _known: dict[str, Kustomization | UnbuildableError] = field(default_factory=dict)
    """The kustomizations that were read, by path."""

    def read(self, path: str) -> Kustomization:
        """Read the kustomization at a path. Raises UnbuildableError if it cannot be read."""
        if path not in self._known:
            self._known[path] = self._try_read(path)
        known = self._known[path]
        if isinstance(known, UnbuildableError):
            raise known
        return known

    def is_misnamed(self, path: str) -> bool:
        """Return whether a file has the name of a kustomization and objects of other tools."""
        try:
            self.read(path)
        except UnbuildableError as error:
            return isinstance(error, MisnamedFileError)
        return False

    def find_in(self, folder: str) -> str | None:
        """Find the kustomization in a folder, None if it has none."""
        paths = (posixpath.join(folder, name) for name in NAMES)
        return next((path for path in paths if path in self.tree.paths), None)

    def list_below(self, folder: str) -> list[str]:
        """List the files in a folder, at any depth."""
        if not self._sorted:
            self._sorted = sorted(self.tree.paths)
        if not folder:
            return self._sorted
        return self._sorted[bisect_left(self._sorted, f"{folder}/") : bisect_left(self._sorted, f"{folder}0")]

    def list_files(self, path: str) -> Iterator[str]:
        """List the files of the source that a kustomization names, as far as it can be read."""
        try:
            texts = [text for reference in self.read(path).references for text in split_pair(reference.text)]
        except UnbuildableError:
            texts = [*self.list_names(path)]
        candidates = (resolve(find_folder(path), text) for text in texts)
        return (resolved for resolved in candidates if resolved in self.tree.paths)

    def list_reachable(self, path: str) -> frozenset[str]:
        """List the files of a kustomization and of all that it is built on, as far as they can be read."""
        pending, reached, files = [path], set[str](), set[str]()
        while pending:
            each = pending.pop()
            if each not in reached:
                reached.add(each)
                files |= {each, *self.list_files(each)}
                pending += self.list_likely_bases(each)
        return frozenset(files)

    def list_likely_bases(self, path: str) -> Iterator[str]:
        """List the kustomizations that one is built on, or would be without a slip in their names."""
        for text in self.list_names(path):
            target = resolve(find_folder(path), text)
            base = self.find_in(target)
            if base is not None:
                yield base
            elif target not in self.tree.paths and (near := self._find_near(target)):
                yield near

    def _find_near(self, folder: str) -> str | None:
        if not self._folders:
            self._folders.update({find_folder(path): path for path in list_kustomizations(self.tree.paths)})
        # Beside it are the folders with the same parent or the same name.
        parent, _, name = folder.rpartition("/")
        splits = ((other, other.rpartition("/")) for other in self._folders)
        near = suggest(folder, (other for other, split in splits if split[0] == parent or split[2] == name))
        return None if near is None else self._folders[near]

    def list_names(self, path: str) -> tuple[str, ...]:
        """List what a kustomization names as files and folders to build on; a guess if it cannot be read."""
        try:
            return tuple(reference.text for reference in self.read(path).references if reference.field in BASES)
        except UnbuildableError:
            pass
        try:
            return guess_references(self.tree.read([path])[path])
        except SourceError:
            return ()

    def list_bases(self, kustomization: Kustomization) -> Iterator[str]:
        """List the kustomizations that it is built on. Raises UnbuildableError for one that is not in the source."""
        for reference in kustomization.references:
            if reference.field in BASES and (base := self._find_base(kustomization, reference)):
                yield base

    def _try_read(self, path: str) -> Kustomization | UnbuildableError:
        try:
            return read_kustomization(path, self.tree.read([path])[path])
        except UnbuildableError as error:
            return error
        except SourceError as error:
            return UnbuildableError(error.message, hint=error.hint, path=path)

    def _find_base(self, kustomization: Kustomization, reference: Reference) -> str | None:
        target = resolve(kustomization.folder, reference.text)
        if target in self.tree.paths:
            return None
        base = self.find_in(target)
        if base is None:
            raise UnbuildableError(
                f"{kustomization.path} names {reference.text!r}, which is neither a file nor a kustomization of this "
                "source.",
                hint="Fix the path, or keep a copy in the source: gitsync does not fetch remote bases.",
                path=kustomization.path,
                line=reference.line,
            )
        return base


def list_all_inputs(start: str, reader: KustomizationReader) -> tuple[str, ...]:
    """List every file that building the kustomization at `start` may need, sorted.

    Raises UnbuildableError if it or one of its bases cannot be read, is not in the source, or names what may not be
    read.
    """
    reached = reach([start], reader)
    for kustomization in reached.values():
        _check_plugins(kustomization, reader)
    found = {named for kustomization in reached.values() for named in _list_named(kustomization, reader)}
    if any(kustomization.has_plugins for kustomization in reached.values()):  # files that name further files
        found |= {path for kustomization in reached.values() for path in reader.list_below(kustomization.folder)}
    return tuple(sorted(found))


def reach(start: Sequence[str], reader: KustomizationReader) -> dict[str, Kustomization]:
    """Reach the kustomizations at some paths, and all that they are built on, by path. Raises UnbuildableError if one
    of them cannot be read, is not in the source, or names what may not be read.
    """
    pending, reached = list(start), dict[str, Kustomization]()
    while pending:
        path = pending.pop()
        if path not in reached:
            reached[path] = reader.read(path)
            check_references(path, reached[path].references, reached[path].folder)
            pending.extend(reader.list_bases(reached[path]))
    return reached


def _check_plugins(kustomization: Kustomization, reader: KustomizationReader) -> None:
    """Check the files of objects that name further files: kustomize reads those from the folder of `kustomization`."""
    entries = [reference for reference in kustomization.references if reference.field in PLUGINS]
    candidates = [resolve(kustomization.folder, entry.text) for entry in entries]
    files = {resolved for resolved in candidates if resolved in reader.tree.paths}
    bases = [base for resolved in candidates if resolved not in files and (base := reader.find_in(resolved))]
    for plugins in reach(bases, reader).values():
        files |= {path for path in _list_named(plugins, reader) if path != plugins.path}
    for path in sorted(files):
        check_references(path, read_plugins(reader.tree.read([path])[path]), kustomization.folder)


def _list_named(kustomization: Kustomization, reader: KustomizationReader) -> Iterator[str]:
    """Yield the file itself, and every file of the source that one of its texts is the path of."""
    yield from (path for name in NAMES if (path := posixpath.join(kustomization.folder, name)) in reader.tree.paths)
    for reference in kustomization.references:
        for text in split_pair(reference.text):
            if (path := resolve(kustomization.folder, text)) in reader.tree.paths:
                yield path
