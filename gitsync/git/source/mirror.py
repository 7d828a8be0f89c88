"""A temporary git directory with the objects and refs of another one, but none of its settings and hooks.

git reads and writes the repository of a user only through a mirror, so that no setting in the files of the repository
can run a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitsync.errors import SourceError
from gitsync.git.access import GitSettings
from gitsync.git.source.git_directory import GitDirectory
from gitsync.processes.temporary_folders import make_temporary_folder, remove_temporary_folder

_LINKED_NAMES = ("objects", "refs", "packed-refs", "reftable", "shallow")
_ALWAYS: GitSettings = (("core.bare", "false"), ("receive.denyCurrentBranch", "refuse"))
_KEY = re.compile(r"(?P<section>[A-Za-z0-9-]+)(?:\.(?P<name>.*))?\.(?P<key>[A-Za-z][A-Za-z0-9-]*)", re.DOTALL)
_LONGEST_HEAD = 4096


def make_mirror(git_directory: GitDirectory, settings: GitSettings) -> Path:
    """Make a mirror in a temporary folder, which the caller removes (`remove_temporary_folder`). It has only
    these `settings`.

    SourceError if the git directory cannot be read.
    """
    if git_directory.path != git_directory.common and any(key == "extensions.refstorage" for key, _ in settings):
        raise SourceError(
            f"{git_directory.top} is a linked working tree of a repository with a ref format other than files.",
            hint="Use a clone of the repository, or its URL.",
        )
    folder = make_temporary_folder()
    with _remove_on_failure(folder, git_directory):
        for name in _LINKED_NAMES:
            (folder / name).symlink_to(git_directory.common / name)
        _copy_head(git_directory.path, folder)
        _link_work_trees(git_directory, folder)
        text = "".join(_format_settings((*settings, *_ALWAYS)))
        (folder / "config").write_text(text, encoding="utf-8", errors="surrogateescape")
    return folder


@contextmanager
def _remove_on_failure(folder: Path, git_directory: GitDirectory) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        remove_temporary_folder(folder)
        raise SourceError(f"Cannot read {error.filename or git_directory.path}: {error.strerror}.") from error
    except BaseException:
        remove_temporary_folder(folder)
        raise


def _copy_head(source: Path, target: Path) -> None:
    with (source / "HEAD").open("rb") as stream:
        (target / "HEAD").write_bytes(stream.read(_LONGEST_HEAD))


def _link_work_trees(git_directory: GitDirectory, folder: Path) -> None:
    """Show git the branches that are checked out elsewhere, so that it does not move them."""
    links_folder = folder / "worktrees"
    links_folder.mkdir()
    work_trees = git_directory.common / "worktrees"
    for work_tree in work_trees.iterdir() if work_trees.is_dir() else ():
        (links_folder / work_tree.name).symlink_to(work_tree)
    if git_directory.path != git_directory.common:
        main = links_folder / f"{folder.name}-main"
        main.mkdir()
        _copy_head(git_directory.common, main)
        (main / "commondir").write_text("../..\n", encoding="utf-8")
        (main / "gitdir").write_text(f"{git_directory.common}\n", encoding="utf-8", errors="surrogateescape")


def _format_settings(settings: GitSettings) -> Iterator[str]:
    """The settings as git writes them."""
    for name, value in settings:
        if parts := _KEY.fullmatch(name):
            section = f"{parts['section']} {_quote(parts['name'])}" if parts["name"] is not None else parts["section"]
            yield f"[{section}]\n\t{parts['key']} = {_quote(value)}\n"


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
