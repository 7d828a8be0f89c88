"""A temporary git directory with the objects and refs of another one, but none of its settings and hooks.

git reads and writes the repository of a user only through a mirror, so that no setting in the files of the repository
can run a program.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitsync.errors import SourceError
from gitsync.git.access import GitSettings
from gitsync.git.source.git_directory import GitDirectory

_SHOWN = ("objects", "refs", "packed-refs", "reftable", "shallow")
_ALWAYS: GitSettings = (("core.bare", "false"), ("receive.denyCurrentBranch", "refuse"))
_KEY = re.compile(r"(?P<section>[A-Za-z0-9-]+)(?:\.(?P<name>.*))?\.(?P<key>[A-Za-z][A-Za-z0-9-]*)", re.DOTALL)
_LONGEST_HEAD = 4096


def make_mirror(found: GitDirectory, settings: GitSettings) -> Path:
    """Make one in a temporary folder, which is the caller's to remove. `settings` are all that it has.

    SourceError where the git directory cannot be read.
    """
    if found.path != found.common and any(key == "extensions.refstorage" for key, _ in settings):
        raise SourceError(
            f"{found.top} is a linked working tree of a repository with a ref format other than files.",
            hint="Use a clone of the repository, or its URL.",
        )
    folder = Path(tempfile.mkdtemp(prefix="gitsync-"))
    with _removed_on_failure(folder, found):
        for name in _SHOWN:
            (folder / name).symlink_to(found.common / name)
        _copy_head(found.path, folder)
        _show_work_trees(found, folder)
        text = "".join(_lines((*settings, *_ALWAYS)))
        (folder / "config").write_text(text, encoding="utf-8", errors="surrogateescape")
    return folder


@contextmanager
def _removed_on_failure(folder: Path, found: GitDirectory) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise SourceError(f"Cannot read {error.filename or found.path}: {error.strerror}.") from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _copy_head(source: Path, target: Path) -> None:
    with (source / "HEAD").open("rb") as stream:
        (target / "HEAD").write_bytes(stream.read(_LONGEST_HEAD))


def _show_work_trees(found: GitDirectory, folder: Path) -> None:
    """Have git know which branches are checked out elsewhere: it does not move them."""
    shown = folder / "worktrees"
    shown.mkdir()
    linked = found.common / "worktrees"
    for each in linked.iterdir() if linked.is_dir() else ():
        (shown / each.name).symlink_to(each)
    if found.path != found.common:
        main = shown / f"{folder.name}-main"
        main.mkdir()
        _copy_head(found.common, main)
        (main / "commondir").write_text("../..\n", encoding="utf-8")
        (main / "gitdir").write_text(f"{found.common}\n", encoding="utf-8", errors="surrogateescape")


def _lines(settings: GitSettings) -> Iterator[str]:
    """The settings as git writes them."""
    for name, value in settings:
        if parts := _KEY.fullmatch(name):
            section = f"{parts['section']} {_quoted(parts['name'])}" if parts["name"] is not None else parts["section"]
            yield f"[{section}]\n\t{parts['key']} = {_quoted(value)}\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
