"""Makes the jobs of units that kustomize builds, and warns of files outside of their folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from gitsync.errors import SourceError
from gitsync.model.problem import Level, Problem
from gitsync.model.unit import Unit
from gitsync.repository.units.build_sandbox import BuildJob, KustomizationError, UnbuildableError
from gitsync.repository.units.flux_build import make_metadata_fields, place_at_object
from gitsync.repository.units.kinds.builder import MadeJobs
from gitsync.repository.units.kustomization_files import Kustomization, Reference, resolve, split_pair
from gitsync.repository.units.kustomization_reader import KustomizationReader, list_all_inputs, reach
from gitsync.repository.units.kustomize import KustomizeJob
from gitsync.repository.units.tree import is_below

FindStart = Callable[[Unit, KustomizationReader], tuple[str, KustomizationReader]]
"""Finds the kustomization of a unit, and the source that it is in. Raises UnbuildableError if there is none."""


def make_kustomize_jobs(units: Mapping[str, Unit], find_start: FindStart, reader: KustomizationReader) -> MadeJobs:
    """Make the jobs of units that kustomize builds. Their files are read together."""
    starts: dict[str, tuple[str, KustomizationReader]] = {}
    inputs: dict[str, tuple[str, ...]] = {}
    jobs: dict[str, BuildJob] = {}
    errors: dict[str, UnbuildableError] = {}
    for name, unit in units.items():
        try:
            starts[name] = find_start(unit, reader)
            inputs[name] = list_all_inputs(*starts[name])
        except UnbuildableError as error:
            errors[name] = place_at_object(error, unit) if name in starts and starts[name][1] is not reader else error
    with suppress(SourceError):  # too much for one source; perhaps not for one unit
        reader.tree.read(sorted({path for paths in inputs.values() for path in paths if path in reader.tree.paths}))
    for name, paths in inputs.items():
        unit, (start, laid_out) = units[name], starts[name]
        made = "" if laid_out is reader else start
        warnings = tuple(
            # A kustomization that was made for the build has no lines: the object has.
            replace(problem, path=unit.file, line=unit.line) if problem.path == made else problem
            for problem in warn_outside_files(unit, start, laid_out)
        )
        try:
            # A file that is outside is read in spite of the warning, as Flux reads it.
            jobs[name] = KustomizeJob(
                path=start,
                files=laid_out.tree.read(paths),
                is_restricted=unit.options.is_restricted is not False and not warnings,
                warnings=warnings,
                more=make_metadata_fields(unit),
            )
        except SourceError as error:
            errors[name] = KustomizationError(error.message, hint=error.hint, path=unit.file)
    return MadeJobs(jobs, errors)


def list_build_inputs(start: str, laid_out: KustomizationReader, reader: KustomizationReader) -> Iterator[str]:
    """List the files of the source that the kustomization at `start` needs. Raises UnbuildableError if one of its bases
    cannot be read.
    """
    return (path for path in list_all_inputs(start, laid_out) if path in reader.tree.paths)


# Files that kustomizations name outside of their own folders: Flux reads those, and `kustomize build` alone refuses.
#
# All of them are inside of the source, for every path is checked before a build.


def warn_outside_files(unit: Unit, start: str, reader: KustomizationReader) -> tuple[Problem, ...]:
    """Return a warning for each kustomization that the one at `start` is built on and that names a file outside of its
    folder. None, if gitsync.yaml or the object of the unit decides whether it may.

    Raises UnbuildableError if a kustomization cannot be read.
    """
    if unit.options.is_restricted is not None:
        return ()
    return tuple(
        _make_warning(kustomization, found)
        for _, kustomization in sorted(reach([start], reader).items())
        if (found := list(_list_outside(kustomization, reader)))
    )


def _list_outside(kustomization: Kustomization, reader: KustomizationReader) -> Iterator[tuple[Reference, str]]:
    for reference in kustomization.references:
        for text in split_pair(reference.text):
            path = resolve(kustomization.folder, text)
            if path in reader.tree.paths and not is_below(path, kustomization.folder):
                yield reference, path


def _make_warning(kustomization: Kustomization, found: list[tuple[Reference, str]]) -> Problem:
    reference, path = found[0]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return Problem(
        code="OutsideFolder",
        level=Level.WARNING,
        message=f"{kustomization.path} names {path}{more} outside of its folder; kustomize rejects that by default.",
        hint="Set loadRestrictor: none for the unit in gitsync.yaml, or move the file.",
        path=kustomization.path,
        line=reference.line,
    )
