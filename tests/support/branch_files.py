"""The files of a branch in a folder, to be changed as anybody does who can push, without a clone and a push: those are
ten programs.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.support.git_repositories import make_commit, read_object, write_object

_FILE, _FOLDER = "100644", "40000"


def check_out(top: Path, branch: str, folder: Path) -> None:
    """Have a folder with just the files of a branch. `top` is a git directory whose objects are not packed."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, content in _list_files(top, _read_lines(top, _find_tip(top, branch).read_text().strip())["tree"]):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def commit_folder(top: Path, branch: str, folder: Path) -> str:
    """Commit the plain files of a folder on a branch, and return the id of the commit."""
    tip = _find_tip(top, branch)
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    contents = {path: (_FILE, file.read_bytes()) for path, file in files.items()}
    commit, _ = make_commit(contents, tip.read_text().strip(), "Change", partial(write_object, top))
    tip.write_text(f"{commit}\n")
    return commit


def _find_tip(top: Path, branch: str) -> Path:
    return top / "refs" / "heads" / branch


def _read_lines(top: Path, commit: str) -> dict[str, str]:
    """The values of the first lines of a commit by their names."""
    _, content = read_object(top, commit)
    return dict(line.split(" ", 1) for line in content.decode().partition("\n\n")[0].splitlines())


def _list_files(top: Path, tree: str, parent: str = "") -> Iterator[tuple[str, bytes]]:
    _, content = read_object(top, tree)
    while content:
        head, _, rest = content.partition(b"\0")
        mode, _, name = head.decode().partition(" ")
        own, content = rest[:20].hex(), rest[20:]
        if mode == _FOLDER:
            yield from _list_files(top, own, f"{parent}{name}/")
        else:
            yield f"{parent}{name}", read_object(top, own)[1]
