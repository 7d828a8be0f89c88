"""Repositories with no settings of this machine, and commits in them: written as git writes them, since a git process
for each step would be a quarter of all that the tests start.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import struct
import subprocess
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

SETTINGS = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[user]
\tname = Somebody
\temail = somebody@example.com
[maintenance]
\tauto = false
"""
"""The last is a process for every commit."""

BARE_SETTINGS = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[receive]
\tautogc = false
"""
"""The last is a process for every push."""

AUTHOR = "Somebody <somebody@example.com>"
_FOLDER = "40000"
OF_GIT = frozenset({".git", ".gitignore", ".gitattributes", ".gitmodules"})
"""Names that change what git does with a folder."""


def init_repository(folder: Path) -> None:
    """Make a folder a repository without commits, on the branch main, with an author and no hooks."""
    for name in ("objects", "refs/heads"):
        (folder / ".git" / name).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text(SETTINGS)


def init_bare(folder: Path) -> None:
    """Make a folder a bare repository to push to, without commits, whose HEAD is the branch main."""
    for name in ("objects", "refs/heads"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(BARE_SETTINGS)


def add_remote(folder: Path, url: Path | str, name: str = "origin") -> None:
    """Do as `git remote add` does. A URL that git's settings would have to quote is not for this."""
    with (folder / ".git" / "config").open("a") as config:
        config.write(f'[remote "{name}"]\n\turl = {url}\n\tfetch = +refs/heads/*:refs/remotes/{name}/*\n')


def push_commits(folder: Path, remote: Path, refs: Mapping[str, str]) -> None:
    """Leave a bare repository as a push of commits by force does, to refs by their names, without programs."""
    shutil.copytree(folder / ".git" / "objects", remote / "objects", dirs_exist_ok=True)
    for ref, commit in refs.items():
        (remote / ref).parent.mkdir(parents=True, exist_ok=True)
        (remote / ref).write_text(f"{commit}\n")


def push_main(folder: Path, remote: Path) -> None:
    """Leave a bare repository as a push of the branch main does."""
    main = "refs/heads/main"
    push_commits(folder, remote, {main: (folder / ".git" / main).read_text().strip()})


def commit_all(folder: Path, message: str = "Change") -> str:
    """Commit all that a folder has, as `git add -A` and `git commit --allow-empty` do, and give the id of the commit.
    Special cases are left to git: ignored files but those of a status, other settings, a detached HEAD.
    """
    if commit := commit_plain_files(folder, message, without=_list_ignored(folder)):
        return commit
    for command in (["add", "-A"], ["commit", "-q", "--allow-empty", "-m", message], ["rev-parse", "HEAD"]):
        done = subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def amend(folder: Path, author: str, message: str) -> str:
    """Give the last commit of a plain repository another author, an ordinary name, and message; return its id."""
    branch = _find_plain_branch(folder)
    assert branch is not None, f"{folder} needs git itself"
    top = folder / ".git"
    _, content = read_object(top, branch.read_text().strip())
    tree, *lines = content.decode().partition("\n\n")[0].splitlines()
    own = [line.replace(AUTHOR, f"{author} <x@example.com>") if line.startswith("author ") else line for line in lines]
    commit = write_object(top, "commit", "\n".join([tree, *own, "", message, ""]).encode()).hex()
    branch.write_text(f"{commit}\n")
    return commit


def commit_plain_files(
    folder: Path, message: str, *, without: Collection[str] = (), ignores: bool = True
) -> str | None:
    """Commit all that a folder has without git, and give the id of the commit; None in a special case. `without` are
    names at its top. Files that git would ignore are a special case, or with `ignores=False` files like others.
    """
    special = OF_GIT if ignores else OF_GIT - {".gitignore"}
    if (branch := _find_plain_branch(folder)) and (files := _read_plain_files(folder, without, special)) is not None:
        return _commit(folder / ".git", branch, files, message)
    return None


def _list_ignored(folder: Path) -> list[str]:
    """The folder of a status, if gitsync made it in a repository: it ignores itself."""
    ignores = folder / ".gitsync" / ".gitignore"
    return [".gitsync"] if ignores.exists() and ignores.read_text() == "*\n" else []


def _find_plain_branch(folder: Path) -> Path | None:
    """The file of the branch that is checked out, if the repository is as `init_repository` makes it, and had no
    packing since. Remotes may follow.
    """
    top = folder / ".git"
    hooks = top / "hooks"
    if not top.is_dir() or (top / "packed-refs").exists() or (hooks.exists() and any(hooks.iterdir())):
        return None
    settings = (top / "config").read_text()
    kind, _, ref = (top / "HEAD").read_text().strip().partition(" ")
    more = settings.removeprefix(SETTINGS)
    is_plain = settings.startswith(SETTINGS) and (not more or more.startswith("[remote "))
    return top / ref if kind == "ref:" and is_plain else None


def _read_plain_files(
    folder: Path, without: Collection[str], special: Collection[str]
) -> dict[str, tuple[os.stat_result, bytes]] | None:
    """The facts and contents of all files by path; None if git would do anything but take them."""
    found: dict[str, tuple[os.stat_result, bytes]] = {}
    for parent, folders, names in os.walk(folder):
        if Path(parent) == folder:
            folders[:] = [name for name in folders if name != ".git" and name not in without]
        for path in (Path(parent, name) for name in (*folders, *names)):
            facts = path.lstat()
            is_file, is_link = stat.S_ISREG(facts.st_mode), stat.S_ISLNK(facts.st_mode)
            if path.name in special or not (is_file or is_link or stat.S_ISDIR(facts.st_mode)):
                return None
            if is_link:
                found[path.relative_to(folder).as_posix()] = (facts, os.fsencode(path.readlink()))
            elif is_file:
                found[path.relative_to(folder).as_posix()] = (facts, path.read_bytes())
    return found


def _commit(top: Path, branch: Path, files: Mapping[str, tuple[os.stat_result, bytes]], message: str) -> str:
    blobs = {path: (_mode_of(facts), content) for path, (facts, content) in files.items()}
    before = branch.read_text().strip() if branch.exists() else None
    commit, ids = make_commit(blobs, before, message, partial(write_object, top))
    (top / "index").write_bytes(_make_index({path: (facts, ids[path]) for path, (facts, _) in files.items()}))
    branch.write_text(f"{commit}\n")
    return commit


WriteObject = Callable[[str, bytes], bytes]
"""Keeps an object, given its type and content, and returns its id."""


def make_commit(
    files: Mapping[str, tuple[str, bytes]], before: str | None, message: str, write: WriteObject, made: str = ""
) -> tuple[str, Mapping[str, bytes]]:
    """Make a commit of files, each a mode and a content, behind another one. Returns its id, and those of the files.
    `made` is the author with the time, as git writes them; by default somebody has made it now.
    """
    ids = {path: write("blob", content) for path, (_, content) in files.items()}
    tree: dict[str, Any] = {}
    for path, (mode, _) in files.items():
        *parents, name = path.split("/")
        location = tree
        for parent in parents:
            location = location.setdefault(parent, {})
        location[name] = (mode, ids[path])
    made = made or f"{AUTHOR} {int(time.time())} +0000"
    parent_line = f"parent {before}\n" if before else ""
    text = f"tree {_make_tree(tree, write).hex()}\n{parent_line}author {made}\ncommitter {made}\n\n{message}\n"
    return write("commit", text.encode()).hex(), ids


def write_repository(
    folder: Path, objects: Mapping[str, tuple[str, bytes]], files: Mapping[str, bytes], commit: str | None
) -> None:
    """Make a folder a repository with these objects, whose branch main is at a commit, and check out its files."""
    init_repository(folder)
    for kind, content in objects.values():
        write_object(folder / ".git", kind, content)
    index: dict[str, tuple[os.stat_result, bytes]] = {}
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        index[path] = (file.stat(), name_object("blob", content))
    if commit is not None:
        (folder / ".git" / "index").write_bytes(_make_index(index))
        (folder / ".git" / "refs/heads/main").write_text(f"{commit}\n")


def _mode_of(facts: os.stat_result) -> str:
    if stat.S_ISLNK(facts.st_mode):
        return "120000"
    return "100755" if facts.st_mode & stat.S_IXUSR else "100644"


def _make_tree(tree: Mapping[str, Any], write: WriteObject) -> bytes:
    def list_entries() -> Iterator[tuple[bytes, str, bytes]]:
        for name, entry in tree.items():
            mode, own = (_FOLDER, _make_tree(entry, write)) if isinstance(entry, dict) else entry
            yield os.fsencode(name), mode, own

    # git sorts a folder as if its name ended with a slash
    ordered = sorted(list_entries(), key=lambda entry: entry[0] + (b"/" if entry[1] == _FOLDER else b""))
    return write("tree", b"".join(b"%s %s\0%s" % (mode.encode(), name, own) for name, mode, own in ordered))


def name_object(kind: str, content: bytes) -> bytes:
    """Return the id of an object."""
    return hashlib.sha1(_add_header(kind, content)).digest()


def _add_header(kind: str, content: bytes) -> bytes:
    return b"%s %d\0%s" % (kind.encode(), len(content), content)


def write_object(top: Path, kind: str, content: bytes) -> bytes:
    """Write an object into a git directory, as a file of its own, and return its id."""
    complete = _add_header(kind, content)
    own = hashlib.sha1(complete).digest()
    file = top / "objects" / own.hex()[:2] / own.hex()[2:]
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(zlib.compress(complete, 1))
        file.chmod(0o444)
    return own


def read_object(top: Path, name: str) -> tuple[str, bytes]:
    """Read the type and the content of an object of a git directory that is in a file of its own."""
    header, _, content = zlib.decompress((top / "objects" / name[:2] / name[2:]).read_bytes()).partition(b"\0")
    return header.split()[0].decode(), content


def _make_index(files: Mapping[str, tuple[os.stat_result, bytes]]) -> bytes:
    """What is checked out, in version 2 of gitformat-index(5): git compares the times and sizes with those of the
    files.
    """
    text = struct.pack(">4sLL", b"DIRC", 2, len(files))
    for name, (facts, own) in sorted((os.fsencode(path), entry) for path, entry in files.items()):
        times = (*divmod(facts.st_ctime_ns, 10**9), *divmod(facts.st_mtime_ns, 10**9))
        others = (facts.st_dev, facts.st_ino, int(_mode_of(facts), 8), facts.st_uid, facts.st_gid, facts.st_size)
        numbers = (number & 0xFFFFFFFF for number in (*times, *others))
        entry = struct.pack(">10L20sH", *numbers, own, min(len(name), 0xFFF)) + name
        text += entry + b"\0" * (8 - len(entry) % 8)
    return text + hashlib.sha1(text).digest()
