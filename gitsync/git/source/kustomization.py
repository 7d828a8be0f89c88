"""What a kustomization references: the folders it is built from, and whether all of them are in the source.

Separate from building, because it checks the text of a kustomization before kustomize gets it: kustomize downloads
bases and files that look like URLs, and has no flag to disable that.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import yaml

from gitsync.errors import SourceError

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")

Read = Callable[[Sequence[str]], Mapping[str, bytes]]
"""Returns the contents of files of the source by their paths."""

_FOLDERS_OR_FILES = ("resources", "bases", "components", "generators", "transformers", "validators")
_ADDRESS = re.compile(r"(?:^|=)\s*(?:[A-Za-z][\w+.-]*://|[A-Za-z]+::|[\w.-]+@[\w.-]+:)")
_NO_PATHS = frozenset({"annotations", "commonAnnotations", "commonLabels", "images", "labels", "literals", "patch"})
_LARGEST = 1_000_000


def find_folder(path: str) -> str:
    """The folder of a file, "" for the top."""
    return path.rpartition("/")[0]


def is_below(path: str, folder: str) -> bool:
    """Tell whether a path is in a folder of the source, at any depth."""
    return not folder or path.startswith(folder + "/")


def find_kustomizations(paths: Collection[str], path: str = "") -> tuple[str, ...]:
    """The kustomizations to build below `path`, sorted: only the one at `path` if there is one, else the topmost
    of every branch of folders. They own all other files of their folders.
    """
    kustomizations = sorted(
        kustomization
        for kustomization in paths
        if kustomization.rpartition("/")[2] in NAMES and is_below(kustomization, path)
    )
    units: list[str] = []
    for kustomization in sorted(kustomizations, key=lambda entry: (entry.count("/"), entry)):
        if not any(is_below(kustomization, find_folder(unit)) for unit in units):
            units.append(kustomization)
    return tuple(sorted(units))


def is_component(content: bytes) -> bool:
    """A component is a part of other kustomizations and cannot be built by itself."""
    return re.search(rb"^kind:\s*[\"']?Component[\"']?\s*$", content, re.MULTILINE) is not None


def find_inputs(unit: str, paths: Collection[str], read: Read) -> tuple[str, ...]:
    """Every file that building a kustomization may need, sorted: all below its folder and below those of its bases.

    SourceError if it names a base that is not in the source, or an address: nothing is fetched.
    """
    present = frozenset(paths)
    pending, folders = [unit], set[str]()
    while pending:
        each = pending.pop()
        if find_folder(each) in folders:
            continue
        folders.add(find_folder(each))
        pending.extend(_list_bases(each, _parse(each, read), present))
    return tuple(sorted(p for p in present if any(is_below(p, folder) for folder in folders)))


def _parse(path: str, read: Read) -> Mapping[str, Any]:
    content = read([path])[path]
    if len(content) > _LARGEST:
        raise SourceError(f"{path} is too large for a kustomization ({len(content)} bytes).")
    try:
        document = yaml.load(content, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        raise SourceError(f"{path} is not valid YAML: {_join_lines(error)}.") from error
    if not isinstance(document, Mapping):
        raise SourceError(f"{path} is not a kustomization: it must be a mapping.")
    return document


def _list_bases(path: str, document: Mapping[str, Any], present: frozenset[str]) -> Iterator[str]:
    for text in _list_paths(document):
        if _ADDRESS.search(text):
            raise _make_address_error(path, text)
    for field in _FOLDERS_OR_FILES:
        entries = document.get(field)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, str) and "\n" not in entry:
                yield from _find_base(path, entry, present)


def _find_base(path: str, entry: str, present: frozenset[str]) -> Iterator[str]:
    """The kustomization that an entry leads to; none for a file."""
    target = posixpath.normpath(posixpath.join(find_folder(path), entry))
    target = "" if target == "." else target
    if target in present:
        return
    kustomization_names = [name for name in NAMES if posixpath.join(target, name) in present]
    if target.partition("/")[0] == "..":
        raise SourceError(
            f"{path} names {entry!r}, which is outside this source.",
            hint="Set SOURCE to the folder that contains both, and --path to the one to build.",
        )
    if entry.startswith("/") or not kustomization_names:
        raise SourceError(
            f"{path} names {entry!r}, which is neither a file nor a kustomization of this source.",
            hint="Keep a copy in the source: gitsync does not fetch remote bases.",
        )
    yield posixpath.join(target, kustomization_names[0])


def _list_paths(node: Any) -> Iterator[str]:
    """Every text of a kustomization that may be a path; a text of several lines is none but an inline patch."""
    if isinstance(node, str) and "\n" not in node:
        yield node
    elif isinstance(node, Mapping):
        for key in node:
            if key not in _NO_PATHS:
                yield from _list_paths(node[key])
    elif isinstance(node, list):
        for each in node:
            yield from _list_paths(each)


def _make_address_error(path: str, text: str) -> SourceError:
    return SourceError(
        f"{path} names {text[:200]!r}: gitsync does not fetch remote files when it builds a kustomization.",
        hint="Keep a copy in the source and use its path.",
    )


def _join_lines(error: Exception) -> str:
    return " ".join(str(error).split())
