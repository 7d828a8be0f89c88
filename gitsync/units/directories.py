"""Units whose files are manifests as they are, as in Argo CD: no tool builds them.

Each file of such a unit has the path of the unit before its own: several units may have one folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from gitsync.errors import SourceError
from gitsync.manifests.units import SUFFIXES
from gitsync.model.unit import Unit
from gitsync.units.closure import KustomizationReader
from gitsync.units.selection import selects
from gitsync.units.unbuildable import ApplicationError, UnbuildableError

_JSONNET: Final = ".jsonnet"
_SKIPPED: Final = re.compile(rb"^# \+argocd:skip-file-rendering\b", re.MULTILINE)


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
    """The files that a unit selects. ApplicationError if there are none, or some are in another language."""
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
