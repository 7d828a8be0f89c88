"""Answers of git about small repositories, from their files: git itself takes a process for each, which is a fifth of
what tests of runs take. git answers what is not in these files: packs, merges, a shallow history, missing objects.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from gitsync.repository.git.git_access import GitAccess, make_local_environment
from gitsync.repository.git.git_command import Repository
from tests.support.git_repositories import read_object

_ID = re.compile(r"[0-9a-f]{40}")
_TREE = "040000"
_COMMIT = "^{commit}"
_BRANCH = "ref: refs/heads/"
_HEAD = ("HEAD^{commit}", "--symbolic-full-name", "HEAD")
_VERIFY = ("--verify", "--quiet", "--end-of-options")
_BEFORE_HEAD = re.compile(r"HEAD(?:~(?P<steps>\d+))?\^{commit}")
_STATES = ("--first-parent", "--format=%P")
_LAST_COMMITS = ("--stdin", "-z", "--name-only")
_LINES = {"tree", "parent", "author", "committer"}
_LIST_SETTINGS = ("--no-includes", "--null", "--list")
_SECTION = re.compile(r"\[(?P<name>[A-Za-z]+)(?: \"(?P<part>[\w.-]+)\")?\]")
_SETTING = re.compile(r"\t(?P<name>[A-Za-z]+) = (?P<quote>\"?)(?P<value>[\w/+:*@.-]+(?: [\w/+:*@.-]+)*)(?P=quote)")


class LooseAccess(GitAccess):
    """Access to git for runs of tests that are not about git."""

    __slots__ = ()

    def open_local(self, folder: Path) -> Repository:
        return LooseRepository(
            folder=folder, environment=make_local_environment(), timeout=self.timeout, grace=self.grace
        )


class LeftToGitError(Exception):
    """Only git can answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LooseRepository(Repository):
    """A repository that reads what runs need from objects in files of their own."""

    def run(self, *arguments: str, stdin: Sequence[bytes] = ()) -> bytes:
        try:
            return answer(LooseObjects(self.folder), arguments, b"".join(stdin))
        except LeftToGitError:
            return Repository.run(self, *arguments, stdin=stdin)

    def confirms(self, *arguments: str) -> bool:
        try:
            return confirm(LooseObjects(self.folder), arguments)
        except LeftToGitError:
            return Repository.confirms(self, *arguments)


def answer(objects: Objects, arguments: Sequence[str], stdin: bytes) -> bytes:
    """Answer a command as git does. Raises LeftToGitError if that is left to git."""
    command, *rest = arguments
    find = _ANSWERS.get(command)
    if find is None or objects.is_shallow:
        raise LeftToGitError
    return find(objects, tuple(rest), stdin)


def confirm(objects: Objects, arguments: Sequence[str]) -> bool:
    """Return whether a check of git succeeds. Raises LeftToGitError if that is left to git."""
    command, option, *names = arguments
    ids = [name.removesuffix(_COMMIT) for name in names]
    if objects.is_shallow or not all(map(_ID.fullmatch, ids)):
        raise LeftToGitError
    if (command, option) == ("merge-base", "--is-ancestor"):
        earlier, later = ids
        return any(commit.id == earlier for commit in objects.line(later))
    if (command, option) == ("cat-file", "-e"):
        return objects.has_commit(*ids)
    raise LeftToGitError


class _Commit(NamedTuple):
    id: str
    tree: str
    parents: tuple[str, ...]
    author: str  # without the address
    subject: str


class _Entry(NamedTuple):
    """What a tree has at a path."""

    mode: str
    id: str
    path: str


class Objects(ABC):
    """The objects of a repository, and what it has checked out."""

    @property
    @abstractmethod
    def is_shallow(self) -> bool:
        """Whether the history is cut off."""

    @abstractmethod
    def read(self, name: str) -> tuple[str, bytes]:
        """Read the type and the content of an object."""

    @abstractmethod
    def read_head(self) -> tuple[str, str]:
        """Read the branch that is checked out, as a ref, and the id of its commit."""

    @abstractmethod
    def has_commit(self, name: str) -> bool:
        """Return whether there is a commit."""

    @abstractmethod
    def list_settings(self) -> list[tuple[str, str]]:
        """List the names and values of the repository's own settings."""

    def commit(self, name: str) -> _Commit:
        kind, content = self.read(name)
        head, _, message = content.decode("utf-8", "surrogateescape").partition("\n\n")
        lines = [line.partition(" ")[::2] for line in head.split("\n")]
        subject, _, more = message.partition("\n")
        if kind != "commit" or any(key not in _LINES for key, _ in lines) or (more and not more.startswith("\n")):
            raise LeftToGitError
        values = dict(lines)
        parents = tuple(value for key, value in lines if key == "parent")
        author = values["author"].partition(" <")[0]
        return _Commit(name, values["tree"], parents, author, subject.strip())

    def line(self, name: str) -> Iterator[_Commit]:
        """Yield a commit and those before it, which have one parent each."""
        while True:
            commit = self.commit(name)
            if len(commit.parents) > 1:
                raise LeftToGitError
            yield commit
            if not commit.parents:
                return
            (name,) = commit.parents

    def entries(self, tree: str, around: str = "") -> Iterator[_Entry]:
        """Yield what a tree itself has."""
        _, content = self.read(tree)
        position = 0
        while position < len(content):
            end = content.index(b"\0", position)
            mode, _, name = content[position:end].partition(b" ")
            position = end + 21
            path = around + name.decode("utf-8", "surrogateescape")
            yield _Entry(mode.decode().zfill(6), content[end + 1 : position].hex(), path)

    def walk(self, tree: str, paths: Sequence[str], *, deep: bool, around: str = "") -> Iterator[_Entry]:
        """Yield the entries at some paths, none for all; with `deep` the files below them instead of folders."""
        for entry in self.entries(tree, around):
            is_wanted = not paths or any(_is_within(entry.path, path) for path in paths)
            leads = any(path.startswith(f"{entry.path}/") for path in paths)
            if entry.mode == _TREE and (leads or (is_wanted and deep)):
                yield from self.walk(entry.id, paths, deep=deep, around=f"{entry.path}/")
            elif is_wanted:
                yield entry

    def files(self, commit: _Commit | None, paths: Sequence[str]) -> Mapping[str, _Entry]:
        """The files of a commit at or below some paths; "." is all of them."""
        inside = () if "." in paths else paths
        return {} if commit is None else {entry.path: entry for entry in self.walk(commit.tree, inside, deep=True)}


@dataclass(frozen=True, slots=True)
class LooseObjects(Objects):
    """The objects of a git directory that are in files of their own."""

    folder: Path

    @property
    def is_shallow(self) -> bool:
        return (self.folder / "shallow").exists()

    def read(self, name: str) -> tuple[str, bytes]:
        if not _ID.fullmatch(name):
            raise LeftToGitError
        try:
            return read_object(self.folder, name)
        except OSError:
            raise LeftToGitError from None

    def read_head(self) -> tuple[str, str]:
        head = (self.folder / "HEAD").read_text()
        if not head.startswith(_BRANCH):
            raise LeftToGitError
        ref = head.removeprefix("ref: ").strip()
        try:
            return ref, (self.folder / ref).read_text().strip()
        except OSError:
            raise LeftToGitError from None

    def has_commit(self, name: str) -> bool:
        # Packs and other repositories may have one that has no file.
        objects = self.folder / "objects"
        try:
            return bool(self.commit(name))
        except LeftToGitError:
            has_file = (objects / name[:2] / name[2:]).exists()
            if has_file or any((objects / "pack").glob("*")) or (objects / "info" / "alternates").exists():
                raise
        return False

    def list_settings(self) -> list[tuple[str, str]]:
        return _read_settings(self.folder / "config")


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _read_revision(objects: Objects, arguments: tuple[str, ...], _: bytes) -> bytes:
    ref, commit = objects.read_head()
    if arguments[:-1] == _VERIFY and (name := _BEFORE_HEAD.fullmatch(arguments[-1])):
        found = next(islice(objects.line(commit), int(name["steps"] or 0), None), None)
        if found is None:
            raise LeftToGitError
        return f"{found.id}\n".encode()
    if arguments != _HEAD:
        raise LeftToGitError
    return f"{objects.commit(commit).id}\n{ref}\n".encode()


def _list_tree(objects: Objects, arguments: tuple[str, ...], _: bytes) -> bytes:
    given, paths = _split(arguments)
    *options, name = given
    flags = {"-z", "--full-tree"}
    if not flags <= set(options) <= flags | {"-r", "--long"} or not all(map(_is_plain, paths)):
        raise LeftToGitError
    entries = objects.walk(objects.commit(name).tree, paths, deep="-r" in options)
    has_sizes = "--long" in options
    return b"".join(_format_entry(objects, entry, has_sizes=has_sizes) for entry in entries)


def _format_entry(objects: Objects, entry: _Entry, *, has_sizes: bool) -> bytes:
    kind = {_TREE: "tree", "160000": "commit"}.get(entry.mode, "blob")
    size = ""
    if has_sizes:
        size = f" {len(objects.read(entry.id)[1]) if kind == 'blob' else '-':>7}"
    return f"{entry.mode} {kind} {entry.id}{size}\t{entry.path}\0".encode("utf-8", "surrogateescape")


def _print_objects(objects: Objects, arguments: tuple[str, ...], stdin: bytes) -> bytes:
    if arguments not in {("--batch", "--buffer"), ("--batch-check",)}:
        raise LeftToGitError
    found = [(name, *objects.read(name)) for name in stdin.decode().splitlines()]
    has_content = "--batch" in arguments
    return b"".join(
        f"{name} {kind} {len(text)}\n".encode() + (text + b"\n" if has_content else b"") for name, kind, text in found
    )


def _log(objects: Objects, arguments: tuple[str, ...], stdin: bytes) -> bytes:
    options, paths = _split(arguments)
    *_, most = (option.partition("=")[2] for option in options if option.startswith("--max-count="))
    if options[:2] == _STATES:
        start, _, end = options[-1].partition("..")
        before = {commit.id for commit in objects.line(start)}
        commits = [commit for commit in objects.line(end) if commit.id not in before]
        changes = (commit for commit in commits if _list_changes(objects, commit, paths, has_deletions=True))
        return b"".join(f"{' '.join(commit.parents)}\n".encode() for commit in islice(changes, int(most)))
    if options[:3] != _LAST_COMMITS:
        raise LeftToGitError
    (revision, _, *paths) = stdin.decode().splitlines()
    commits = list(objects.line(revision))
    if len(commits) > int(most):
        raise LeftToGitError
    return b"".join(_format_change(commit, _list_changes(objects, commit, paths)) for commit in commits)


def _format_change(commit: _Commit, paths: Sequence[str]) -> bytes:
    words = ("", commit.id, " ".join(commit.parents), commit.author, commit.subject, "\n")
    text = "\0".join(words) + "".join(f"{path}\0" for path in paths) if paths else ""
    return text.encode("utf-8", "surrogateescape")


def _list_changes(objects: Objects, commit: _Commit, paths: Sequence[str], *, has_deletions: bool = False) -> list[str]:
    """List the files at or below some paths that a commit added or changed, in the order of trees."""
    if not all(path == "." or _is_plain(path) for path in paths):
        raise LeftToGitError
    parent = objects.commit(commit.parents[0]) if commit.parents else None
    old, new = objects.files(parent, paths), objects.files(commit, paths)
    deleted = [path for path in old if path not in new] if has_deletions else []
    return [path for path, entry in new.items() if old.get(path) != entry] + deleted


def _list_settings(_: Objects, arguments: tuple[str, ...], __: bytes) -> bytes:
    option, file, *options = arguments
    if option != "--file" or tuple(options) != _LIST_SETTINGS:
        raise LeftToGitError
    return "".join(f"{name}\n{value}\0" for name, value in _read_settings(Path(file))).encode()


def _read_remote(objects: Objects, arguments: tuple[str, ...], _: bytes) -> bytes:
    """Read the address of a remote that has one; settings beside those of the repository rewrite none of the tests."""
    *options, name = arguments
    settings = [setting for setting in objects.list_settings() if setting[0].startswith("remote.")]
    urls = [value for key, value in settings if key == f"remote.{name}.url"]
    if options != ["get-url", "--push"] or len(urls) != 1 or any(key.endswith("pushurl") for key, _ in settings):
        raise LeftToGitError
    return f"{urls[0]}\n".encode()


def _read_settings(file: Path) -> list[tuple[str, str]]:
    """Read the names and values of a file of settings in its plainest form."""
    try:
        lines = file.read_text().split("\n")
    except (OSError, UnicodeDecodeError):
        raise LeftToGitError from None
    around, settings = "", []
    for line in filter(None, lines):
        if section := _SECTION.fullmatch(line):
            around = f"{section['name'].lower()}." + (f"{section['part']}." if section["part"] else "")
        elif (setting := _SETTING.fullmatch(line)) and around:
            settings.append((f"{around}{setting['name'].lower()}", setting["value"]))
        else:
            raise LeftToGitError
    return settings


def _split(arguments: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split arguments into those before and behind `--`."""
    if "--" not in arguments:
        return arguments, ()
    end = arguments.index("--")
    return arguments[:end], arguments[end + 1 :]


def _is_plain(path: str) -> bool:
    return all(part not in {"", ".", ".."} for part in path.split("/"))


_ANSWERS: Mapping[str, Callable[[Objects, tuple[str, ...], bytes], bytes]] = {
    "rev-parse": _read_revision,
    "ls-tree": _list_tree,
    "cat-file": _print_objects,
    "log": _log,
    "config": _list_settings,
    "remote": _read_remote,
}
