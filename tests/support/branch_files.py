"""The files of a branch in a folder, to be changed as anybody does who can push, without a clone and a push: those are
ten programs.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from tests.support.git_repositories import AUTHOR, make_commit, read_object, write_object

_FILE, _FOLDER = "100644", "40000"


def check_out(top: Path, branch: str, folder: Path) -> None:
    """Have a folder with just the files of a branch. `top` is a git directory whose objects are not packed."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, content in read_branch(top, branch).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def read_branch(top: Path, branch: str) -> Mapping[str, bytes]:
    """Read the contents of the files of a branch by their paths."""
    return dict(_list_files(top, _read_lines(top, _find_tip(top, branch).read_text().strip())["tree"]))


def commit_folder(top: Path, branch: str, folder: Path) -> str:
    """Commit the plain files of a folder on a branch, and return the id of the commit."""
    tip = _find_tip(top, branch)
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    contents = {path: (_FILE, file.read_bytes()) for path, file in files.items()}
    commit, _ = make_commit(contents, tip.read_text().strip(), "Change", partial(write_object, top))
    tip.write_text(f"{commit}\n")
    return commit


def push_commits(folder: Path, remote: Path, refs: Mapping[str, str]) -> None:
    """Leave a bare repository as a push of commits by force does, to refs by their names."""
    shutil.copytree(folder / ".git" / "objects", remote / "objects", dirs_exist_ok=True)
    for ref, commit in refs.items():
        (remote / ref).parent.mkdir(parents=True, exist_ok=True)
        (remote / ref).write_text(f"{commit}\n")


def write_merge(top: Path, target: str, tip: str) -> str:
    """Write the commit that merges a commit into one of those before it, and return its id."""
    tree = _read_lines(top, tip)["tree"]
    moment = f"{AUTHOR} {int(time.time())} +0000"
    content = f"tree {tree}\nparent {target}\nparent {tip}\nauthor {moment}\ncommitter {moment}\n\nMerge\n"
    return write_object(top, "commit", content.encode()).hex()


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
