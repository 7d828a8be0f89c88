"""Builds the manifests of units: each is built on its own, and one that cannot be built is a problem of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from gitsync.desired.manifests.aso_groups import mentions_aso
from gitsync.desired.manifests.origins import list_origins, list_patch_files
from gitsync.desired.manifests.units import ROOT, SUFFIXES, list_parts
from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.errors import SourceError
from gitsync.model.problem import Level, Problem
from gitsync.model.unit import Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.build_sandbox import (
    BuildJob,
    Builds,
    KustomizationError,
    UnbuildableError,
    UnreleasedChartError,
)
from gitsync.repository.units.empty_builds import warn_empty_builds
from gitsync.repository.units.flux_build import place_at_object
from gitsync.repository.units.kinds.builder import find_builder
from gitsync.repository.units.kustomization_files import MisnamedFileError, find_inline_fault, resolve
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.kustomize import KustomizeJob, has_tool
from gitsync.repository.units.object_reader import may_declare
from gitsync.repository.units.relevance import Relevance
from gitsync.repository.units.tree import SourceTree, find_folder
from gitsync.repository.units.unit_files import read_directories

_REACHED = re.compile(r"recursed accumulation of path '([^']+)'")
_NAMED_FILE = re.compile(r"(?:in File: |from ')([^'\s]+\.(?:ya?ml|json))")


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltUnits:
    """The results of units."""

    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """The result of each unit as a file, by a path with the suffix .yaml; a Secret may be among them."""

    units: Mapping[str, Unit] = field(default_factory=dict)  # of each file, by the same path
    problems: tuple[Problem, ...] = ()
    used: frozenset[str] = frozenset()  # the files that they were built of, or would be
    skipped: frozenset[str] = frozenset()  # the kustomizations that have nothing for gitsync


def build_units(
    units: Sequence[Unit], reader: KustomizationReader, builds: Builds, relevance: Relevance | None = None
) -> BuiltUnits:
    """Build what can be built; every other unit is a problem, and so is a chart that nothing releases. Components are
    skipped, since they are built as parts, and so is what has nothing for gitsync. `relevance` decides about the
    resources outside of the units.

    Raises SourceError if no tool is installed and a unit has ASO manifests.
    """
    by_name = {unit.name: unit for unit in units if not find_builder(unit.kind).is_part(unit, reader)}
    refused = {name: error for name, unit in by_name.items() if (error := find_builder(unit.kind).refuse(unit))}
    accepted = {name: unit for name, unit in by_name.items() if name not in refused}
    directories = read_directories((unit for unit in accepted.values() if unit.settings.selection), reader)
    jobs, errors = _make_jobs({name: unit for name, unit in accepted.items() if not unit.settings.selection}, reader)
    errors |= {**refused, **directories.errors}
    skipped = _list_skipped(jobs, by_name, relevance or Relevance())
    texts, failed = _run_jobs({name: job for name, job in jobs.items() if name not in skipped}, builds)
    errors |= failed
    errors |= _locate_made(errors, by_name, reader.tree)
    warnings = dict.fromkeys(
        problem
        for name, job in jobs.items()
        if name not in errors and isinstance(job, KustomizeJob)
        for problem in job.warnings
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
            *warn_empty_builds({name: (by_name[name], text) for name, text in texts.items()}, jobs, reader.tree),
        ),
        used=frozenset(path for name in (*texts, *skipped) for path in jobs[name].files).union(
            *(unit.contents for unit in directories.units.values())
        ),
        skipped=frozenset(by_name[name].file for name in skipped),
    )


def _locate_made(
    errors: Mapping[str, UnbuildableError], units: Mapping[str, Unit], tree: SourceTree
) -> dict[str, UnbuildableError]:
    """Locate the error of a kustomization that was made for the build, so without a file, at the object of its unit."""
    return {
        name: place_at_object(error, units[name])
        for name, error in errors.items()
        if isinstance(error, KustomizationError) and error.problem.path not in tree.paths
    }


def _list_skipped(jobs: Mapping[str, BuildJob], units: Mapping[str, Unit], relevance: Relevance) -> frozenset[str]:
    """List the units, by name, whose kustomizations are not built, since they have nothing for gitsync."""
    inputs = {name: job.files for name, job in jobs.items()}
    # A kustomization that gitsync.yaml names is built.
    for name in [name for name in inputs if units[name].is_named or not isinstance(jobs[name], KustomizeJob)]:
        relevance.add_texts(inputs.pop(name).values())
    return relevance.list_irrelevant(inputs)


def _run_jobs(jobs: Mapping[str, BuildJob], builds: Builds) -> tuple[dict[str, bytes], dict[str, UnbuildableError]]:
    """Run jobs by the names of their units; return what each made, and the errors of the others."""
    if not jobs:
        return {}, {}  # as most sources have none: no tool is looked for
    runnable = jobs
    if not has_tool():  # which is an error of the run if a unit has ASO manifests
        runnable = {
            name: job
            for name, job in jobs.items()
            if not isinstance(job, KustomizeJob) or mentions_aso(job.files.values())
        }
    results = dict(zip(runnable, builds.run(tuple(runnable.values())), strict=True))
    texts = {name: text for name, text in results.items() if isinstance(text, bytes)}
    errors = {name: error for name, error in results.items() if isinstance(error, UnbuildableError)}
    for name, job in jobs.items():
        if name not in results:
            message = f"{job.path} was not built: neither kustomize nor kubectl is installed."
            errors[name] = KustomizationError(message, hint="Install one of them.", path=job.path)
    return texts, errors


def list_inputs(units: Iterable[Unit], reader: KustomizationReader) -> frozenset[str]:
    """List every file that building units may need; of one that cannot be read in full, all files of its folder."""
    found: set[str] = set()
    for unit in units:
        try:
            found.update(_list_inputs(unit, reader))
        except (UnbuildableError, SourceError):
            found.update(reader.list_below(unit.path))
    return frozenset(found)


def _list_inputs(unit: Unit, reader: KustomizationReader) -> Iterable[str]:
    builder = find_builder(unit.kind)
    if refusal := builder.refuse(unit):
        raise refusal
    return builder.list_inputs(unit, reader)


def _make_jobs(
    units: Mapping[str, Unit], reader: KustomizationReader
) -> tuple[dict[str, BuildJob], dict[str, UnbuildableError]]:
    """Make the job of each unit by its name, and the errors of those that have none."""
    jobs: dict[str, BuildJob] = {}
    errors: dict[str, UnbuildableError] = {}
    for kind in UnitKind:
        if of_kind := {name: unit for name, unit in units.items() if unit.kind is kind}:
            made = find_builder(kind).make_jobs(of_kind, reader)
            jobs |= made.jobs
            errors |= made.errors
    return {name: jobs[name] for name in units if name in jobs}, errors


def _make_result_path(unit: Unit) -> str:
    """Make the path of the result: that of its kustomization or chart, with a suffix of manifests."""
    path = unit.name if unit.is_declared else unit.file
    return path if path.endswith(SUFFIXES) else f"{path}.yaml"


def _add_contents(unit: Unit, job: BuildJob, built: bytes, tree: SourceTree) -> Unit:
    """Add to a unit the files that its manifests were made of: their origins, and what may have patched them, except
    kustomizations that were made for the build.
    """
    origins = {path: job.files[path] for path in list_origins(built) if path in job.files}
    named = list_patch_files(job.files) if isinstance(job, KustomizeJob) else ()
    patches = sorted(path for path in named if path in tree.paths)
    return replace(unit, contents={**tree.read(patches), **origins})


def _make_problems(
    failed: Mapping[str, tuple[Unit, UnbuildableError]], reader: KustomizationReader
) -> tuple[Problem, ...]:
    """Make the problems of units that were not built: errors if the unit may have ASO manifests, else warnings."""
    below = {}  # the files that may have manifests of a unit: those below its folder, and those that it names
    for name, (unit, _) in failed.items():
        builder = find_builder(unit.kind)
        # What cannot be built may still be known by its files: they decide whether gitsync lacks anything.
        paths = {*reader.list_below(unit.path), *builder.list_reachable(unit, reader)}
        below[name] = sorted(path for path in paths if path.endswith((*SUFFIXES, ".tpl", *builder.suffixes)))
    with suppress(SourceError):  # all at once; what is too much for that is read unit by unit
        reader.tree.read(sorted({path for paths in below.values() for path in paths}))
    return tuple(
        replace(
            _locate(error.problem, reader),
            level=_decide_level(unit, error, below[name], reader.tree),
            unit=(unit.settings.cluster_folder or ROOT) if _may_lead_on(unit, below[name], reader.tree) else unit.name,
            parts=list_parts((*find_builder(unit.kind).list_reachable(unit, reader), *below[name])),
        )
        for name, (unit, error) in failed.items()
    )


def _may_lead_on(unit: Unit, paths: Sequence[str], tree: SourceTree) -> bool:
    """Return whether a declared unit may declare further ones: all that its cluster has are held then, except those
    that are built.
    """
    # A folder of the source declares only itself.
    if not unit.is_declared:
        return False
    try:
        # A unit without any file may have lost them by a slip in its path.
        return not paths or may_declare(tree.read(paths).values())
    except SourceError:
        return True


def _decide_level(unit: Unit, error: UnbuildableError, paths: Sequence[str], tree: SourceTree) -> Level:
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
    """Locate a problem at the line of the file that the tool complains of, if that file is not YAML. The tool's own
    number is that of the line before, if a parser and not a scanner found the error.
    """
    folders = _REACHED.findall(problem.message)
    folder = folders[-1] if folders else find_folder(problem.path)
    for name in dict.fromkeys(_NAMED_FILE.findall(problem.message)):
        path = resolve("" if folder == "." else folder, name)
        faults = read_documents(path, reader.tree.read([path])[path]).problems if path in reader.tree.paths else []
        # The parser of gitsync names the line of the mistake, where the tool names the one before.
        if faults:
            return replace(problem, path=path, line=faults[0].line)
    return _locate_inline(problem, folder, reader)


def _locate_inline(problem: Problem, folder: str, reader: KustomizationReader) -> Problem:
    path = reader.find_in("" if folder == "." else folder)
    if "patch" not in problem.message or path is None:
        return problem
    line = find_inline_fault(reader.tree.read([path])[path])
    return replace(problem, path=path, line=line) if line else problem
