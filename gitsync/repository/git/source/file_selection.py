"""Select the manifests of a source by name and `.gitsyncignore`, and limit how much is read
(docs/reference/design.md#manifest-files).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gitsync.errors import SourceError
from gitsync.model.problem import Level, Problem
from gitsync.repository.git.source.listing import EntryKind, SourceEntry

_SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """The most that is read of a source; bytes. A source is untrusted, and a run has one machine's memory."""

    file: int = 5_000_000
    total: int = 200_000_000
    files: int = 100_000


def select_visible(
    entries: Iterable[SourceEntry], rules: IgnoreRules, without: Sequence[str] = ()
) -> tuple[SourceEntry, ...]:
    """Select every entry that is neither hidden, nor ignored, nor below a folder in `without`."""
    folders = tuple(folder + "/" for folder in without)
    return tuple(
        entry
        for entry in entries
        if not (is_hidden(entry.path) or entry.path.startswith(folders) or rules.ignores(entry.path))
    )


def is_hidden(path: str) -> bool:
    """Return whether a path is below a dot folder, or is a dot file: `*.yaml` does not mean `.pre-commit-config.yaml`
    to a shell either.
    """
    return path.startswith(".") or "/." in path


def is_in_dot_folder(path: str) -> bool:
    """Return whether a path leads through a folder whose name begins with a dot."""
    return is_hidden(path.rpartition("/")[0])


def select_manifests(entries: Iterable[SourceEntry]) -> tuple[SourceEntry, ...]:
    """Select the files that may hold manifests, by their suffix."""
    return tuple(entry for entry in entries if entry.kind is EntryKind.FILE and entry.path.endswith(_SUFFIXES))


def list_ignored(
    entries: Sequence[SourceEntry], visible: Sequence[SourceEntry], without: Sequence[str] = ()
) -> tuple[str, ...]:
    """List the manifest files that are not visible, except those below dot folders and folders in `without`."""
    if len(visible) == len(entries):
        return ()
    visible_paths, folders = {entry.path for entry in visible}, tuple(folder + "/" for folder in without)
    return tuple(
        entry.path
        for entry in select_manifests(entries)
        if entry.path not in visible_paths and not (is_in_dot_folder(entry.path) or entry.path.startswith(folders))
    )


def warn_skipped(entries: Iterable[SourceEntry]) -> tuple[Problem, ...]:
    """Warn of every skipped entry that could have led to manifests."""
    return tuple(
        Problem(
            code="PassedOver",
            level=Level.WARNING,
            message=f"{entry.path} is a {entry.kind.value}; gitsync does not read it.",
            hint=f"Replace it with the manifests, or add it to .gitsyncignore: {entry.path}",
            path=entry.path,
        )
        for entry in entries
        if entry.kind is not EntryKind.FILE
    )


def warn_too_large(entries: Iterable[SourceEntry], budget: ReadLimits) -> tuple[Problem, ...]:
    """Report every manifest file that is too large to be read: it may not be a manifest, so the others are read."""
    return tuple(
        Problem(
            code="FileTooLarge",
            message=f"{entry.path} has {entry.size} bytes; the limit is {budget.file}, so it is not read.",
            hint=f"Split it; if it is not a manifest, add it to .gitsyncignore: {entry.path}",
            path=entry.path,
        )
        for entry in entries
        if entry.size > budget.file
    )


def check_budget(entries: Sequence[SourceEntry], budget: ReadLimits) -> None:
    """Raise SourceError if one file, all of them together, or their number is too much."""
    hint = "Set --path to the folder of the manifests, or add the other files to .gitsyncignore."
    if len(entries) > budget.files:
        raise SourceError(f"{len(entries)} files exceed the limit of {budget.files}.", hint=hint)
    for entry in entries:
        if entry.size > budget.file:
            raise SourceError(f"{entry.path} has {entry.size} bytes; the limit is {budget.file}.", hint=hint)
    if (total := sum(entry.size for entry in entries)) > budget.total:
        raise SourceError(f"The manifests have {total} bytes in total; the limit is {budget.total}.", hint=hint)


# `.gitsyncignore`: names that are not read, in the language of `.gitignore` (gitignore(5)).
#
# A file applies to the folder that it is in, and everything below; the nearest file with a matching pattern decides.
# git could match them too, but only in a working tree.


IGNORE_FILE = ".gitsyncignore"


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Patterns by the folder of their file ("" for the root of the source)."""

    by_folder: Mapping[str, IgnorePatterns]

    def ignores(self, path: str) -> bool:
        """Return whether `path` or one of its parent folders is ignored."""
        if not self.by_folder:
            return False
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            patterns = self.by_folder.get(folder)
            verdict = patterns.find_verdict(path[len(folder) :].lstrip("/")) if patterns else None
            if verdict is not None:
                return verdict
        return False


def read_rules(files: Mapping[str, bytes]) -> IgnoreRules:
    """Compile ignore files, given by their path. SourceError (file, line) for an invalid pattern: skipping it would
    read files that should be ignored.
    """
    return IgnoreRules({path.rpartition("/")[0]: _compile_rules(path, content) for path, content in files.items()})


def _compile_rules(path: str, content: bytes) -> IgnorePatterns:
    lines = content.decode("utf-8", "replace").splitlines()
    try:
        return IgnorePatterns(lines)
    except InvalidPatternError as error:
        raise SourceError(
            f"{path}:{error.number}: {lines[error.number - 1][:100]!r} is not a pattern.",
            hint="Write it as in .gitignore: a range is ascending ([a-z]), and ! or \\ needs a name after it.",
        ) from error


# The lines of one `.gitsyncignore`, compiled: which of them match a path, and which of these decides.
#
# What a line means is pathspec's business, which translates it to a regular expression. RE2 matches it, since it does
# not backtrack (`*a*a*a*b`). A file may have many lines: those without special characters are looked up by name, and
# others are compiled only for a path that has their longest literal part.


_SPECIAL = frozenset("*?[]\\!#")
_STARRED = re.compile(r"!?/?[^\[\]\\!#/\s]+(?:/[^\[\]\\!#/\s]+)*/?")
"""Lines that are always valid: steps of *, ? and plain characters."""

_LONGEST = 4096
"""Characters of a line with special ones: no path is longer, and RE2 refuses far longer ones."""

_DIRECTORY = b"ps_d"
"""The group in the expressions of pathspec that matches the / behind a folder."""

_FOLDER, _SUBTREE = 1, 2
"""How a line matches: it names a folder above the path, or the path itself, which weighs more (pathspec's order)."""


class InvalidPatternError(ValueError):
    """A line that is not a pattern. `number` counts from 1."""

    def __init__(self, number: int) -> None:
        super().__init__(f"line {number} is not a pattern")
        self.number = number


class IgnorePatterns:
    """The patterns of one file, in their order."""

    __slots__ = ("_by_name", "_by_path", "_lines", "_special")

    def __init__(self, lines: Sequence[str]) -> None:
        """Compile lines. InvalidPatternError for the first that is none."""
        self._lines = lines
        self._by_name: dict[str, list[int]] = {}
        self._by_path: dict[str, list[int]] = {}
        self._special: list[tuple[str, int]] = []  # with the literal part
        # Of equal lines the last decides.
        last = {line: index for index, line in enumerate(lines) if line.strip() and not line.startswith("#")}
        for index in last.values():
            self._add(index)

    def _add(self, index: int) -> None:
        name = _split(self._lines[index])[1]
        is_plain = bool(name) and _SPECIAL.isdisjoint(name) and all(name.removeprefix("/").split("/"))
        if not is_plain:  # it cannot be looked up: it has special characters or an empty step
            self._check(index)
            self._special.append((_find_literal(name), index))
        elif "/" in name:
            self._by_path.setdefault(name.removeprefix("/"), []).append(index)
        else:
            self._by_name.setdefault(name, []).append(index)

    def _check(self, index: int) -> None:
        """Check a line: only brackets and backslashes, the lack of a name, or its length can make it invalid."""
        line = self._lines[index]
        if len(line) > _LONGEST:
            raise InvalidPatternError(index + 1)
        if _STARRED.fullmatch(line):
            return
        try:
            _compile(line)
        except ValueError as error:
            raise InvalidPatternError(index + 1) from error

    def find_verdict(self, path: str) -> bool | None:
        """Return whether a path is ignored; None if no line matches it or one of its parents."""
        verdict, weighs = None, 0
        for index, weight in sorted((*self._list_plain(path), *self._list_special(path))):
            includes = not self._lines[index].startswith("!")
            # The last line that matches the path itself decides, unless a later one ignores its folder.
            if weight >= weighs or (includes and weight == _FOLDER):
                verdict, weighs = includes, weight
        return verdict

    def _list_plain(self, path: str) -> Iterator[tuple[int, int]]:
        steps = path.split("/")
        above: dict[int, int] = {}
        for depth, step in enumerate(steps, start=1):
            weight = _SUBTREE if depth == len(steps) else _FOLDER
            for index in (*self._by_name.get(step, ()), *self._by_path.get("/".join(steps[:depth]), ())):
                if weight == _FOLDER or not _split(self._lines[index])[2]:
                    above[index] = weight
        yield from above.items()

    def _list_special(self, path: str) -> Iterator[tuple[int, int]]:
        encoded = path.encode("utf-8", "surrogatepass")
        for literal, index in self._special:
            if literal not in path:
                continue
            expression = _compile(self._lines[index])
            if expression is not None and (match := expression.search(encoded)):
                yield index, _FOLDER if match.groupdict().get(_DIRECTORY) else _SUBTREE


def _split(line: str) -> tuple[bool, str, bool]:
    """Split a line: whether it ignores, the name in it, and whether that is a folder's."""
    name = line.removeprefix("!").rstrip()
    return not line.startswith("!"), name.removesuffix("/"), name.endswith("/")


def _find_literal(name: str) -> str:
    """Find a part that a path must have to match; "" if that is not obvious."""
    if not _SPECIAL.isdisjoint(set(name) - {"*", "?"}):
        return ""
    return max(re.split(r"[*?/]+", name), key=len)


@lru_cache(maxsize=4096)
def _compile(line: str) -> Any:
    """Compile a line to an expression; None if it matches nothing. ValueError if it is not a pattern."""
    import re2  # noqa: PLC0415 - most sources have no such file
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415 - as above

    expression, _ = GitIgnoreSpecPattern.pattern_to_regex(line)
    if expression is None:
        return None
    options = re2.Options()
    # RE2 prints errors to stderr by itself, and this one is reported with its file and line.
    options.log_errors = False
    options.dot_nl = True
    try:
        return re2.compile(expression.encode("utf-8", "surrogatepass"), options)
    except re2.error as error:
        raise ValueError(str(error)) from error
    finally:
        re2.purge()  # re2 itself would keep 128 patterns of any size
