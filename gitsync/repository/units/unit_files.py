"""Selects the files of a source that belong to a unit which an object of a controller declares: by folder, by globs of
Argo CD, or as the files of a chart.

Globs become patterns that match in linear time, for their texts are not trusted. Units whose files are manifests as
they are, as in Argo CD, are read here: no tool builds them. Each file of such a unit has the path of the unit before
its own, since several units may have one folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from gitsync.desired.manifests.units import SUFFIXES
from gitsync.errors import SourceError
from gitsync.model.unit import Unit
from gitsync.repository.units.build_sandbox import ApplicationError, UnbuildableError
from gitsync.repository.units.charts import is_in_chart
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.tree import find_folder, is_below, list_folders

LONGEST_GLOB: Final = 1000
"""Characters of a glob."""

Matcher = Callable[[str], bool]
"""Returns whether a glob matches a path."""

_TOKEN: Final = re.compile(
    r"\\(?P<escaped>.)|(?P<stars>\*+)|(?P<one>\?)|\[(?P<negated>[!^]?)(?P<set>[^\[\]\\^]+)\]|(?P<brace>[{},])|(?P<text>.)",
    re.DOTALL,
)
_JSONNET: Final = ".jsonnet"
_SKIPPED: Final = re.compile(rb"^# \+argocd:skip-file-rendering\b", re.MULTILINE)


@lru_cache(maxsize=1024)
def compile_glob(glob: str, *, crosses_folders: bool, has_braces: bool = False) -> Matcher:
    """Compile a glob with `*`, `?` and `[…]` to what matches it. A `*` of one that `crosses_folders` matches "/" too,
    and one that `has_braces` may have `{a,b}`. Raises ValueError if it is not a glob.
    """
    import re2  # noqa: PLC0415 - most sources have no globs

    if len(glob) > LONGEST_GLOB:
        raise ValueError(f"it has more than {LONGEST_GLOB} characters")
    parts, depth = [], 0
    for token in _TOKEN.finditer(glob):
        text, is_brace = token["text"], has_braces and token["brace"] is not None
        if text in {"[", "]", "\\"}:
            raise ValueError(f"{text} has no counterpart")
        depth += {"{": 1, "}": -1}.get(token[0], 0) if is_brace else 0
        if depth < 0:
            raise ValueError("} has no counterpart")
        parts.append(
            _translate_token(token, is_grouped=is_brace and (depth > 0 or token[0] == "}"), crosses=crosses_folders)
        )
    if depth:
        raise ValueError("{ has no counterpart")
    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    try:
        pattern = re2.compile("".join(parts), options)
    except re2.error as error:
        raise ValueError("it cannot be read") from error
    return lambda path: pattern.fullmatch(path) is not None


def _translate_token(token: re.Match[str], *, is_grouped: bool, crosses: bool) -> str:
    """Translate one token of a glob to a part of a pattern. `is_grouped`: it is a brace, or a comma inside of them."""
    if is_grouped:
        return {"{": "(?:", ",": "|", "}": ")"}[token[0]]
    if token["stars"]:
        return ".*" if crosses else "[^/]*"
    if token["one"]:
        return "." if crosses else "[^/]"
    if token["set"]:
        return f"[{'^' if token['negated'] else ''}{token['set']}]"
    return re.escape(token["escaped"] or token[0])


def selects(unit: Unit, path: str) -> bool:
    """Return whether a unit may be built of a file: it is below the unit's folder, and selected there."""
    chosen = unit.settings.selection
    if unit.is_chart:
        return is_in_chart(path, {unit.path})
    # A unit of Flux has all that is below its folder.
    if chosen is None:
        return is_below(path, unit.path)
    if not (is_below(path, unit.path) if chosen.recurses else find_folder(path) == unit.path):
        return False
    name = posixpath.relpath(path, unit.path or ".")
    is_excluded = bool(chosen.exclude) and _matches(chosen.exclude, name)
    return not is_excluded and (not chosen.include or _matches(chosen.include, name))


def _matches(glob: str, name: str) -> bool:
    return compile_glob(glob, crosses_folders=True, has_braces=True)(name)


@dataclass(frozen=True, slots=True)
class CoveredFolders:
    """Folders that units are built from."""

    subtrees: frozenset[str] = frozenset()  # those with everything below
    flat: frozenset[str] = frozenset()  # those without their folders
    charts: frozenset[str] = frozenset()  # those of charts

    @classmethod
    def collect(cls, units: Iterable[Unit]) -> CoveredFolders:
        units = tuple(units)
        others = [unit for unit in units if not unit.is_chart]
        return cls(
            subtrees=frozenset(
                unit.path for unit in others if unit.settings.selection is None or unit.settings.selection.recurses
            ),
            flat=frozenset(
                unit.path for unit in others if unit.settings.selection and not unit.settings.selection.recurses
            ),
            charts=frozenset(unit.path for unit in units if unit.is_chart),
        )

    def has(self, path: str) -> bool:
        """Return whether a file is in one of the folders."""
        is_in_folder = find_folder(path) in self.flat or any(folder in self.subtrees for folder in list_folders(path))
        return is_in_folder or is_in_chart(path, self.charts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDirectories:
    """The files of units and their units, by path, and the error of each unit that was not read, by name."""

    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)  # a Secret may be among them
    units: Mapping[str, Unit] = field(default_factory=dict)
    errors: Mapping[str, UnbuildableError] = field(default_factory=dict)


def read_directories(units: Iterable[Unit], reader: KustomizationReader) -> ReadDirectories:
    """Read the files that each unit selects. Their contents are read together."""
    chosen: dict[str, tuple[Unit, list[str]]] = {}
    errors: dict[str, UnbuildableError] = {}
    for unit in units:
        try:
            chosen[unit.name] = unit, list_directory(unit, reader)
        except UnbuildableError as error:
            errors[unit.name] = error
    with suppress(SourceError):  # too much for one source; perhaps not for one unit
        reader.tree.read(sorted({path for _, paths in chosen.values() for path in paths}))
    files, owners = dict[str, bytes](), dict[str, Unit]()
    for unit, paths in chosen.values():
        try:
            contents = {path: text for path, text in reader.tree.read(paths).items() if not _SKIPPED.search(text)}
        except SourceError as error:
            errors[unit.name] = ApplicationError(error.message, hint=error.hint, path=unit.file, line=unit.line)
            continue
        files |= {f"{unit.name}/{path}": text for path, text in contents.items()}
        owners |= dict.fromkeys((f"{unit.name}/{path}" for path in contents), replace(unit, contents=contents))
    return ReadDirectories(files=files, units=owners, errors=errors)


def list_directory(unit: Unit, reader: KustomizationReader) -> list[str]:
    """List the files that a unit selects. Raises ApplicationError if there are none, or some are in another
    language.
    """
    selected = [path for path in reader.list_below(unit.path) if selects(unit, path)]
    if jsonnet := [path for path in selected if path.endswith(_JSONNET)]:
        raise ApplicationError(
            f"{unit.title} was not read: {jsonnet[0]} is Jsonnet, which gitsync does not evaluate.",
            hint="Commit what it evaluates to, or exclude it with spec.source.directory.exclude.",
            path=unit.file,
            line=unit.line,
        )
    paths = [path for path in selected if path.endswith(SUFFIXES)]
    if not paths:
        message = f"{unit.path or '.'} has no manifests that {unit.title} selects."
        raise ApplicationError(message, hint="Fix spec.source.path.", path=unit.file, line=unit.line)
    return paths
