"""Builds the manifests of units: each is built on its own, and one that cannot be built is a problem of its own."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from gitsync.errors import SourceError
from gitsync.manifests.aso_groups import mentions_aso
from gitsync.manifests.origins import list_origins, list_patch_files
from gitsync.manifests.units import ROOT, SUFFIXES, find_parts
from gitsync.manifests.yaml_documents import read_documents
from gitsync.model.problem import Level, Problem
from gitsync.model.unit import Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.units.charts import CHART, list_chart_files
from gitsync.units.empty_builds import find_empty_builds
from gitsync.units.flux_build import lay_out, make_metadata_fields, place_at_object
from gitsync.units.helm import list_chart_inputs, make_chart_job
from gitsync.units.kustomization import (
    Kustomization,
    KustomizationReader,
    MisnamedFileError,
    Reference,
    find_inline_fault,
    find_inputs,
    reach,
    resolve,
    split_pair,
)
from gitsync.units.kustomize import KustomizeJob, has_tool
from gitsync.units.object_reader import may_declare
from gitsync.units.relevance import Relevance
from gitsync.units.sandbox import ApplicationError, BuildJob, Builds, ChartError, UnbuildableError, UnreleasedChartError
from gitsync.units.selection import list_directory, read_directories
from gitsync.units.tree import SourceTree, find_folder, is_below

_REACHED = re.compile(r"recursed accumulation of path '([^']+)'")
_NAMED_FILE = re.compile(r"(?:in File: |from ')([^'\s]+\.(?:ya?ml|json))")


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltUnits:
    """The result of each unit as a file, by a path with the suffix .yaml, and its unit by the same path. `used` are the
    files that they were built of, or would be: `skipped` are the kustomizations that have nothing for gitsync.
    """

    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)  # a Secret may be among them
    units: Mapping[str, Unit] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    used: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()


def build_units(
    units: Sequence[Unit], reader: KustomizationReader, builds: Builds, relevance: Relevance | None = None
) -> BuiltUnits:
    """Build what can be built; every other unit is a problem, and so is a chart that nothing releases. Components are
    skipped, since they are built as parts, and so is what has nothing for gitsync. `relevance` decides about the
    resources outside of the units.

    Raises SourceError if no tool is installed and a unit has ASO manifests.
    """
    by_name = {unit.name: unit for unit in units if not _is_component(unit, reader)}
    refused = {name: _refuse(unit) for name, unit in by_name.items() if unit.refusal or _is_unreleased(unit)}
    accepted = {name: unit for name, unit in by_name.items() if name not in refused}
    directories = read_directories((unit for unit in accepted.values() if unit.selection), reader)
    jobs, errors = _make_jobs({name: unit for name, unit in accepted.items() if not unit.selection}, reader)
    errors |= {**refused, **directories.errors}
    skipped = _find_skipped(jobs, by_name, relevance or Relevance())
    texts, failed = _run_jobs({name: job for name, job in jobs.items() if name not in skipped}, by_name, builds)
    errors |= failed
    # A kustomization that was made for the build has no file.
    made = {name: error for name, error in errors.items() if error.problem.path not in reader.tree.paths}
    errors |= {name: place_at_object(error, by_name[name]) for name, error in made.items()}
    warnings = dict.fromkeys(
        one
        for name, job in jobs.items()
        if name not in errors and isinstance(job, KustomizeJob)
        for one in job.warnings
    )
    return BuiltUnits(
        files={**directories.files, **{_make_result_path(by_name[name]): text for name, text in texts.items()}},
        units={
            **directories.units,
            **{
                _make_result_path(by_name[name]): _add_contents(by_name[name], jobs[name], text, reader.tree)
                for name, text in texts.items()
            },
        },
        problems=(
            *_make_problems({name: (by_name[name], error) for name, error in errors.items()}, reader),
            *warnings,
            *find_empty_builds({name: (by_name[name], text) for name, text in texts.items()}, jobs, reader.tree.paths),
        ),
        used=frozenset(path for name in (*texts, *skipped) for path in jobs[name].files).union(
            *(unit.contents for unit in directories.units.values())
        ),
        skipped=frozenset(by_name[name].file for name in skipped),
    )


def _find_skipped(jobs: Mapping[str, BuildJob], units: Mapping[str, Unit], relevance: Relevance) -> frozenset[str]:
    """Find the units, by name, whose kustomizations are not built, since they have nothing for gitsync. One that
    gitsync.yaml names is built.
    """
    inputs = {name: job.files for name, job in jobs.items()}
    for name in [name for name in inputs if units[name].release or units[name].is_named]:
        relevance.add_texts(inputs.pop(name).values())
    return relevance.find_irrelevant(inputs)


def _run_jobs(
    jobs: Mapping[str, BuildJob], units: Mapping[str, Unit], builds: Builds
) -> tuple[dict[str, bytes], dict[str, UnbuildableError]]:
    """Run jobs by the names of their units; return what each made, and the errors of the others."""
    runnable = jobs
    if not has_tool():  # which is an error of the run if a unit has ASO manifests
        runnable = {name: job for name, job in jobs.items() if units[name].release or mentions_aso(job.files.values())}
    results = dict(zip(runnable, builds.run(tuple(runnable.values())), strict=True))
    texts = {name: text for name, text in results.items() if isinstance(text, bytes)}
    errors = {name: error for name, error in results.items() if isinstance(error, UnbuildableError)}
    for name, job in jobs.items():
        if name not in results:
            message = f"{job.path} was not built: neither kustomize nor kubectl is installed."
            errors[name] = UnbuildableError(message, hint="Install one of them.", path=job.path)
    return texts, errors


def list_inputs(units: Iterable[Unit], reader: KustomizationReader) -> frozenset[str]:
    """List every file that building units may need; of one that cannot be read in full, all files
    of its folder.
    """
    found: set[str] = set()
    for unit in units:
        try:
            found.update(_find_inputs(unit, reader))
        except (UnbuildableError, SourceError):
            found.update(reader.list_below(unit.path))
    return frozenset(found)


def _find_inputs(unit: Unit, reader: KustomizationReader) -> Iterable[str]:
    if unit.refusal or _is_unreleased(unit):
        raise _refuse(unit)
    if unit.selection is not None:
        return list_directory(unit, reader)
    if unit.release is not None:
        return list_chart_inputs(unit, reader)
    return (path for path in find_inputs(*_find_start(unit, reader)) if path in reader.tree.paths)


def _is_unreleased(unit: Unit) -> bool:
    """Return whether a unit is a chart without values: with its defaults, it could declare anything."""
    return unit.kind is UnitKind.CHART and not unit.is_named


def _refuse(unit: Unit) -> UnbuildableError:
    if not unit.refusal:
        message = f"{unit.name} is a Helm chart with ASO kinds that nothing releases, so it is not rendered."
        hint = (
            f"Write `units: [{{path: {unit.name}, values: FILE}}]` in gitsync.yaml to release it. If Flux or Argo CD "
            f"take it from a registry, write `published: true` in place of the values. To leave it out, add it to "
            f".gitsyncignore."
        )
        return UnreleasedChartError(message, hint=hint, path=unit.file)
    message = f"{unit.title} was not built. {unit.refusal}"
    hint = f"Commit what it builds to, or exclude {unit.file} with .gitsyncignore."
    return ApplicationError(message, hint=hint, path=unit.file, line=unit.line)


def _find_start(unit: Unit, reader: KustomizationReader) -> tuple[str, KustomizationReader]:
    """Find the kustomization of a unit, and the source that it is in. Raises UnbuildableError if
    there is none.
    """
    return lay_out(unit, reader) if unit.is_declared else (unit.file, reader)


def _is_component(unit: Unit, reader: KustomizationReader) -> bool:
    try:
        return unit.kind is UnitKind.KUSTOMIZATION and reader.read(unit.file).is_component
    except UnbuildableError:
        return False


def _make_jobs(
    units: Mapping[str, Unit], reader: KustomizationReader
) -> tuple[dict[str, BuildJob], dict[str, UnbuildableError]]:
    """Make the job of each unit by its name, and the errors of those that have none."""
    charts = {name: unit for name, unit in units.items() if unit.release is not None}
    jobs, errors = _make_kustomize_jobs({name: units[name] for name in units.keys() - charts}, reader)
    for name, unit in charts.items():
        try:
            jobs[name] = make_chart_job(unit, reader)
        except UnbuildableError as error:
            errors[name] = error
        except SourceError as error:
            errors[name] = ChartError(error.message, hint=error.hint, path=unit.file, line=unit.line or 1)
    return {name: jobs[name] for name in units if name in jobs}, errors


def _make_kustomize_jobs(
    units: Mapping[str, Unit], reader: KustomizationReader
) -> tuple[dict[str, BuildJob], dict[str, UnbuildableError]]:
    """Make the jobs of units that kustomize builds. Their files are read together."""
    starts: dict[str, tuple[str, KustomizationReader]] = {}
    inputs: dict[str, tuple[str, ...]] = {}
    jobs: dict[str, BuildJob] = {}
    errors: dict[str, UnbuildableError] = {}
    for name, unit in units.items():
        try:
            starts[name] = _find_start(unit, reader)
            inputs[name] = find_inputs(*starts[name])
        except UnbuildableError as error:
            errors[name] = place_at_object(error, unit) if name in starts and starts[name][1] is not reader else error
    with suppress(SourceError):  # too much for one source; perhaps not for one unit
        reader.tree.read(sorted({path for paths in inputs.values() for path in paths if path in reader.tree.paths}))
    for name, paths in inputs.items():
        unit, (start, laid_out) = units[name], starts[name]
        made = "" if laid_out is reader else start
        warnings = tuple(
            # A kustomization that was made for the build has no lines: the object has.
            replace(one, path=unit.file, line=unit.line) if one.path == made else one
            for one in warn_outside_files(unit, start, laid_out)
        )
        try:
            jobs[name] = KustomizeJob(
                path=start,
                files=laid_out.tree.read(paths),
                is_restricted=unit.options.is_restricted is not False and not warnings,
                warnings=warnings,
                more=make_metadata_fields(unit),
            )
        except SourceError as error:
            errors[name] = UnbuildableError(error.message, hint=error.hint, path=unit.file)
    return jobs, errors


def _make_result_path(unit: Unit) -> str:
    """Make the path of the result: that of its kustomization or chart, with a suffix of manifests."""
    path = unit.file if unit.kind in {UnitKind.KUSTOMIZATION, UnitKind.CHART} else unit.name
    return path if path.endswith(SUFFIXES) else f"{path}.yaml"


def _add_contents(unit: Unit, job: BuildJob, built: bytes, tree: SourceTree) -> Unit:
    """Add to a unit the files that its manifests were made of: their origins, and what may have patched them, except
    kustomizations that were made for the build.
    """
    origins = {path: job.files[path] for path in list_origins(built) if path in job.files}
    patches = () if unit.release else sorted(path for path in list_patch_files(job.files) if path in tree.paths)
    return replace(unit, contents={**tree.read(patches), **origins})


def _make_problems(
    failed: Mapping[str, tuple[Unit, UnbuildableError]], reader: KustomizationReader
) -> tuple[Problem, ...]:
    """Make the problems of units that were not built: errors if the unit may have ASO manifests, else warnings."""
    below = {}  # the files that may have manifests of a unit: those below its folder, and those that it names
    for name, (unit, _) in failed.items():
        paths = {*reader.list_below(unit.path), *_list_reachable(unit, reader)}
        below[name] = sorted(path for path in paths if path.endswith((*SUFFIXES, ".tpl")))
    with suppress(SourceError):  # all at once; what is too much for that is read unit by unit
        reader.tree.read(sorted({path for paths in below.values() for path in paths}))
    return tuple(
        replace(
            _locate(error.problem, reader),
            level=_find_level(unit, error, below[name], reader.tree),
            unit=(unit.home or ROOT) if _may_lead_on(unit, below[name], reader.tree) else unit.name,
            parts=find_parts((*_list_reachable(unit, reader), *below[name])),
        )
        for name, (unit, error) in failed.items()
    )


def _may_lead_on(unit: Unit, paths: Sequence[str], tree: SourceTree) -> bool:
    """Return whether a declared unit may declare further ones: all that its cluster has are held then, except those
    that are built. One without any file may have lost them by a slip in its path.
    """
    if not unit.is_declared:
        return False
    try:
        return not paths or may_declare(tree.read(paths).values())
    except SourceError:
        return True


def _list_reachable(unit: Unit, reader: KustomizationReader) -> frozenset[str]:
    """List the files of a unit's kustomization or chart and of all that it is built on, as far as
    they can be read.
    """
    if unit.release is not None:
        return list_chart_files(posixpath.join(unit.path, CHART), reader)
    start = unit.file if unit.kind is UnitKind.KUSTOMIZATION else reader.find_in(unit.path)
    return reader.list_reachable(start) if start else frozenset()


def _find_level(unit: Unit, error: UnbuildableError, paths: Sequence[str], tree: SourceTree) -> Level:
    """Find the level: an error if the files of a unit mention ASO, or there are none, or they are too large to read."""
    # Nothing releases the chart, and the objects of a misnamed file are read as manifests: nothing is missing.
    is_misnamed = isinstance(error, MisnamedFileError) and error.problem.path == unit.file
    if isinstance(error, UnreleasedChartError) or is_misnamed:
        return Level.WARNING
    try:
        return Level.ERROR if not paths or mentions_aso(tree.read(paths).values()) else Level.WARNING
    except SourceError:
        return Level.ERROR


def _locate(problem: Problem, reader: KustomizationReader) -> Problem:
    """Locate a problem at the line of the file that the tool complains of, if that file is not
    YAML. The tool's own number is that of the line before, if a parser and not a scanner found the
    error.
    """
    folders = _REACHED.findall(problem.message)
    folder = folders[-1] if folders else find_folder(problem.path)
    for name in dict.fromkeys(_NAMED_FILE.findall(problem.message)):
        path = resolve("" if folder == "." else folder, name)
        faults = read_documents(path, reader.tree.read([path])[path]).problems if path in reader.tree.paths else []
        if faults:
            return replace(problem, path=path, line=faults[0].line)
    return _locate_inline(problem, folder, reader)


def _locate_inline(problem: Problem, folder: str, reader: KustomizationReader) -> Problem:
    path = reader.find_in("" if folder == "." else folder)
    if "patch" not in problem.message or path is None:
        return problem
    line = find_inline_fault(reader.tree.read([path])[path])
    return replace(problem, path=path, line=line) if line else problem


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
        _make_warning(one, found)
        for _, one in sorted(reach([start], reader).items())
        if (found := list(_list_outside(one, reader)))
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
