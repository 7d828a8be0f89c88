"""Files that kustomizations name outside of their own folders: Flux reads those, and `kustomize build` alone refuses.

All of them are inside of the source, for every path is checked before a build.
"""

from __future__ import annotations

from collections.abc import Iterator

from gitsync.model.problem import Level, Problem
from gitsync.model.unit import Unit
from gitsync.units.closure import KustomizationReader, reach
from gitsync.units.kustomization import Kustomization, Reference, resolve, split_pair
from gitsync.units.tree import is_below


def warn_outside_files(unit: Unit, start: str, reader: KustomizationReader) -> tuple[Problem, ...]:
    """Return a warning for each kustomization that the one at `start` is built on and that names a file outside of its
    folder. None, if gitsync.yaml or the object of the unit says whether it may.

    UnbuildableError if a kustomization cannot be read.
    """
    if unit.options.is_restricted is not None:
        return ()
    return tuple(
        _make_warning(one, found)
        for _, one in sorted(reach([start], reader).items())
        if (found := list(_list_outside(one, reader)))
    )


def _list_outside(one: Kustomization, reader: KustomizationReader) -> Iterator[tuple[Reference, str]]:
    for reference in one.references:
        for text in split_pair(reference.text):
            path = resolve(one.folder, text)
            if path in reader.tree.paths and not is_below(path, one.folder):
                yield reference, path


def _make_warning(one: Kustomization, found: list[tuple[Reference, str]]) -> Problem:
    reference, path = found[0]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return Problem(
        code="OutsideFolder",
        level=Level.WARNING,
        message=f"{one.path} names {path}{more} outside of its folder; kustomize build alone refuses that.",
        hint="Set loadRestrictor: none for the unit in gitsync.yaml, or move the file.",
        path=one.path,
        line=reference.line,
    )
