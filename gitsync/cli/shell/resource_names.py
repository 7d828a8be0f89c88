"""Resources to complete: those of the recorded status, and those that the files of a folder seem to declare.

This must be fast, so nothing is read as a run reads it: a record is known by its path, a manifest by a few lines. More
may be offered than a run would have. No request is sent: a status branch is read as last fetched.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from gitsync.errors import GitsyncError
from gitsync.model.gvk import Key
from gitsync.settings.config.config import Config

if TYPE_CHECKING:
    from gitsync.repository.git.source.worktree import WorkTree

_SUFFIXES = ("json", "yaml")  # of records: YAML was written by earlier versions
_MOST_FILES = 2_000
_MOST_BYTES = 200_000  # of a file
_SECONDS = 2.0  # for each git command
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What a shell takes as it is: names come from files that others write, and end on a command line."""

_DOCUMENT = re.compile(r"^---.*$", flags=re.MULTILINE)
_GROUP = re.compile(r"""^apiVersion:\s*["']?([a-z0-9.-]+\.azure\.com)/""", flags=re.MULTILINE)
_KIND = re.compile(r"""^kind:\s*["']?(\w+)""", flags=re.MULTILINE)
_METADATA = re.compile(r"^metadata:((?:.*\n?)(?:[ \t]+.*\n?)*)", flags=re.MULTILINE)
_MEMBER = r"""(?:^\s+|[{{,]\s*){}:\s*["']?([\w.-]+)"""
_NAME = re.compile(_MEMBER.format("name"), flags=re.MULTILINE)
_NAMESPACE = re.compile(_MEMBER.format("namespace"), flags=re.MULTILINE)


def list_recorded(config: Config) -> Iterator[Key]:
    """The keys of the status of SOURCE, if it is a folder on this machine. Nothing, if it cannot be read."""
    folder = Path(config.source)
    if not folder.is_dir():
        return
    status_folder = Path(config.status_dir) if config.status_dir else folder / ".gitsync"
    paths = (
        [] if config.status_branch else [os.path.relpath(path, status_folder) for path in walk_files(status_folder)]
    )  # a folder takes less time than git
    yield from filter(None, map(_parse_path, paths or _list_branch(folder, config.status_branch)))


def list_declared(config: Config) -> Iterator[Key]:
    """The keys of what looks like a manifest in the YAML files of SOURCE, if it is a folder on this machine."""
    top = Path(config.source) / config.path
    files = (path for path in walk_files(top) if path.endswith((".yaml", ".yml")))
    for _, path in zip(range(_MOST_FILES), files, strict=False):
        try:
            with Path(path).open(encoding="utf-8", errors="replace") as file:
                text = file.read(_MOST_BYTES)
        except OSError:
            continue
        # A quick look: the expressions below take far longer, and most files have none of it.
        if ".azure.com/" in text:
            for document in _DOCUMENT.split(text):
                yield from _find_key(document, config.namespace or "default")


def list_refs(config: Config) -> list[str]:
    """The branches and tags of the repository around SOURCE."""
    folder = Path(config.source)
    if not folder.is_dir():
        return []
    with _open_git(folder) as run_git:
        output = run_git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags")
    return [name for name in output if all(map(_PLAIN.fullmatch, name.split("/")))]


def _find_key(document: str, namespace: str) -> Iterator[Key]:
    group, kind, metadata = _GROUP.search(document), _KIND.search(document), _METADATA.search(document)
    name = metadata and _NAME.search(metadata[1])
    if group and kind and metadata and name:
        own = _NAMESPACE.search(metadata[1])
        key = Key(group[1], kind[1], own[1] if own else namespace, name[1])
        yield from [key] if all(map(_PLAIN.fullmatch, key)) else ()


def _list_branch(folder: Path, branch: str | None) -> list[str]:
    """The paths on the status branch, as it was fetched last or is in the repository itself."""
    name = branch or "gitsync/status"
    with _open_git(folder) as run_git:
        refs = run_git("for-each-ref", "--format=%(refname)", f"refs/remotes/*/{name}", f"refs/heads/{name}")
        # Reversed, a remote's branch comes before a local one, which may be older.
        ref = next((ref for ref in sorted(refs, reverse=True) if ref.endswith(f"/{name}")), None)
        return run_git("ls-tree", "-r", "-z", "--name-only", "--full-tree", ref) if ref else []


@contextmanager
def _open_git(folder: Path) -> Iterator[Callable[..., list[str]]]:
    """Run git in the repository around a folder: each call gives the lines that it prints, and none if it fails."""
    from gitsync.repository.git.git_access import GitAccess
    from gitsync.repository.git.source.worktree import find_work_tree

    with ExitStack() as stack:
        try:
            tree = find_work_tree(folder, GitAccess(timeout=_SECONDS))
        except GitsyncError:
            tree = None
        if tree is not None:
            stack.enter_context(tree)
        yield partial(_run_git, tree)


def _run_git(tree: WorkTree | None, *arguments: str) -> list[str]:
    if tree is None:
        return []
    try:
        output = tree.repository.run(*arguments).decode("utf-8", "replace")
    except GitsyncError:
        return []
    return output.split("\0") if "-z" in arguments else output.splitlines()


def walk_files(top: Path) -> Iterator[str]:
    """The files below a folder, in order, without those of hidden folders."""
    for folder, folders, files in os.walk(top):
        # In place: os.walk enters what is left in this list.
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(folder, name) for name in sorted(files))  # noqa: PTH118 - a Path for each takes long


def _parse_path(path: str) -> Key | None:
    """The key of a record's path; None for other files, and for names that a shell would not take as they are."""
    stem, _, suffix = path.rpartition(".")
    parts = stem.split("/")
    names = [unquote(part) for part in parts]
    if len(parts) != len(Key._fields) or suffix not in _SUFFIXES or not all(map(_PLAIN.fullmatch, names)):
        return None
    namespace, group, kind, name = names
    return Key(group, kind, namespace, name)
