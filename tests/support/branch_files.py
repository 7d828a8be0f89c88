"""The files of a branch in a folder, to be changed as anybody does who can push, without a clone and a push: those are
ten programs.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from tests.support.git_repositories import AUTHOR, make_commit, write_object
from tests.support.loose_git import LooseObjects

FILE = "100644"
"""The mode of a plain file."""


def check_out(top: Path, branch: str, folder: Path) -> None:
    """Have a folder with just the files of a branch. `top` is a git directory whose objects are not packed."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, content in read_branch_files(top, branch).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def list_branches(top: Path) -> Mapping[str, str]:
    """List the commits of the branches by their names. None is packed."""
    heads = top / "refs" / "heads"
    files = sorted(path for path in heads.rglob("*") if path.is_file())
    return {path.relative_to(heads).as_posix(): path.read_text().strip() for path in files}


def read_branch_files(top: Path, branch: str) -> Mapping[str, bytes]:
    """Read the contents of the files of a branch by their paths."""
    objects = LooseObjects(top)
    files = objects.files(objects.commit(_find_tip(top, branch).read_text().strip()), ["."])
    return {path: objects.read(entry.id)[1] for path, entry in files.items()}


def commit_folder(top: Path, branch: str, folder: Path) -> str:
    """Commit the plain files of a folder on a branch, and return the id of the commit."""
    tip = _find_tip(top, branch)
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    contents = {path: (FILE, file.read_bytes()) for path, file in files.items()}
    commit, _ = make_commit(contents, tip.read_text().strip(), "Change", partial(write_object, top))
    tip.write_text(f"{commit}\n")
    return commit


def write_merge(top: Path, target: str, tip: str) -> str:
    """Write the commit that merges a commit into one of those before it, and return its id."""
    tree = LooseObjects(top).commit(tip).tree
    moment = f"{AUTHOR} {int(time.time())} +0000"
    content = f"tree {tree}\nparent {target}\nparent {tip}\nauthor {moment}\ncommitter {moment}\n\nMerge\n"
    return write_object(top, "commit", content.encode()).hex()


def _find_tip(top: Path, branch: str) -> Path:
    return top / "refs" / "heads" / branch
