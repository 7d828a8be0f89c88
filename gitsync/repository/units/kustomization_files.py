"""Reads the file of a kustomization: what it refers to, with its lines.

kustomize downloads what looks like a URL and has no flag to disable that, and without its load restrictor it reads any
file of the machine. So gitsync checks each text that may be a path before kustomize gets the file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import yaml

from gitsync.desired.catalog.type_words import add_article
from gitsync.desired.problems.suggest import suggest
from gitsync.repository.units.build_sandbox import KustomizationError
from gitsync.repository.units.tree import find_folder

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


class MisnamedFileError(KustomizationError):
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
    """Read a kustomization, without a check of what it names. Raises KustomizationError if it is not one, or if its
    name is none that kustomize reads.
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
    except KustomizationError:
        return False
    group, kind = _read_header(fields)
    if kind:
        return kind in _KINDS and group in ("", _GROUP)
    return "apiVersion" not in fields and not _OWN_FIELDS.isdisjoint(fields)


def _check_name(path: str) -> None:
    if posixpath.basename(path) in NAMES:
        return
    raise KustomizationError(
        f"{path} is a kustomization, and kustomize reads no file of this name. The files of its folder are not read "
        "either, since they may need its changes.",
        hint=f"Rename it to {posixpath.join(find_folder(path), NAMES[0])}. To read the files as they are, add it to "
        ".gitsyncignore.",
        path=path,
    )


def _check_header(path: str, fields: Mapping[str, Any]) -> None:
    """Check that the content is kustomize's, as the name is."""
    group, kind = _read_header(fields)
    if not kind or (kind in _KINDS and group in ("", _GROUP)):
        return
    # kustomize refuses any other header, with a poorer message.
    content = f"{add_article(kind[:_LONGEST_WORD])}{f' of {group[:_LONGEST_WORD]}' if group else ''}"
    if _is_misnamed(fields):
        raise _make_misnamed(path, content)
    raise KustomizationError(
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
    """Return whether an object is of another tool."""
    group, kind = _read_header(fields)
    # An object with a field that has files for kustomize, or with a header like kustomize's, is a kustomization with a
    # mistake.
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
            # A text of one line is the path of a file, and no object.
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
        raise KustomizationError(f"{path} is too large for a kustomization ({len(content)} bytes).", path=path)
    try:
        root: Any = yaml.compose(content, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        if _are_misnamed(content):
            raise _make_misnamed(path, "several objects of other tools") from error
        mark = error.problem_mark or error.context_mark
        reason = ", ".join(part for part in (error.context, error.problem) if part)
        line = min(mark.line + 1, max(1, len(content.splitlines()))) if mark else 1
        raise KustomizationError(f"{path} is not valid YAML: {reason}.", path=path, line=line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise KustomizationError(f"{path} is not valid YAML: {' '.join(str(error).split())}.", path=path) from error
    if root is None or root.id != "mapping":
        raise KustomizationError(f"{path} is not a kustomization: it must be a mapping.", path=path)
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
    """Raise KustomizationError for a reference that leads out of the source. `path` is the file that has them; they are
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
        raise KustomizationError(
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
        raise KustomizationError(message, hint=hint, path=path, line=reference.line)
    if resolve(folder, part).partition("/")[0] == "..":
        message = f"{path} names {reference.text[:200]!r}, which is outside this source."
        hint = "Set SOURCE to the folder that contains both, and --path to the one to build."
        raise KustomizationError(message, hint=hint, path=path, line=reference.line)
