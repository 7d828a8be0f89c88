"""Warn of builds without ASO objects that should have some: a chart in gitsync.yaml, and a kustomization that names ASO
objects.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from gitsync.desired.catalog.type_words import format_count
from gitsync.desired.manifests.aso_groups import mentions_aso
from gitsync.desired.manifests.aso_objects import count_aso_objects
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.unit import Unit
from gitsync.repository.units.build_sandbox import BuildJob, UnbuildableError
from gitsync.repository.units.helm import ChartJob
from gitsync.repository.units.kustomization_files import NAMES, read_kustomization, resolve
from gitsync.repository.units.kustomize import KustomizeJob
from gitsync.repository.units.object_reader import may_declare
from gitsync.repository.units.tree import SourceTree

_RESOURCES: Final = frozenset({"resources", "bases", "components"})


class _Cause(NamedTuple):
    """A text that makes kustomize leave out objects, and what to say about it."""

    pattern: re.Pattern[bytes]
    why: str
    hint: str


_LOCAL: Final = "config.kubernetes.io/local-config"
_CAUSES: Final = (
    _Cause(
        re.compile(re.escape(_LOCAL).encode()),
        f": kustomize leaves out what has the annotation {_LOCAL}",
        "Remove the annotation",
    ),
    _Cause(re.compile(rb"\$patch[\"']?:\s*[\"']?delete"), ": patches delete them", "Remove the patches"),
)
# Its pattern matches nothing, so the warning is located at the unit.
_UNKNOWN: Final = _Cause(re.compile(rb"(?!)"), "", "Fix what leaves them out")


def warn_empty_builds(
    built: Mapping[str, tuple[Unit, bytes]], jobs: Mapping[str, BuildJob], tree: SourceTree
) -> Iterator[Problem]:
    """Warn of each unit whose result has no ASO object. `tree` is that of the source: a job may have other files, which
    were made for the build.
    """
    for name, (unit, text) in built.items():
        job = jobs[name]
        if isinstance(job, KustomizeJob):
            yield from _check_kustomization(unit, job, text, tree)
        elif (
            isinstance(job, ChartJob) and not unit.is_declared and not mentions_aso([text]) and not may_declare([text])
        ):
            yield _make_warning_of_chart(unit)


def _make_warning_of_chart(unit: Unit) -> Problem:
    return Problem(
        code="ChartEmpty",
        level=Level.WARNING,
        message=f"{unit.name} renders no ASO resource with its values.",
        hint="Name a file with the values that switch its resources on in `values` of the unit in gitsync.yaml.",
        path=unit.file,
        line=1,
        unit=unit.name,
    )


def _check_kustomization(unit: Unit, job: KustomizeJob, text: bytes, tree: SourceTree) -> Iterator[Problem]:
    if not mentions_aso(job.files.values()) or mentions_aso([text]):
        return
    # A comment or a patch may mention ASO as well, so only objects are counted.
    count = sum(count_aso_objects({path: job.files[path] for path in _list_resources(job)}).values())
    if not count:
        return
    cause = next((cause for cause in _CAUSES if any(map(cause.pattern.search, job.files.values()))), _UNKNOWN)
    name = unit.title if unit.is_declared else unit.file
    location = _find_location(cause, job, tree.paths) or SourceLocation(unit.file, unit.line or 1)
    yield Problem(
        code="KustomizationEmpty",
        level=Level.WARNING,
        message=f"{name} names {format_count(count, 'ASO object')}, but its build has none{cause.why}.",
        hint=f"{cause.hint}. To leave the kustomization out, add it to .gitsyncignore.",
        path=location.path,
        line=location.line,
        unit=unit.name,
    )


def _list_resources(job: KustomizeJob) -> frozenset[str]:
    """List the files that are manifests of a build, and no patches or values."""
    pending, reached, files = [job.path], set[str](), set[str]()
    while pending:
        path = pending.pop()
        if path in reached:
            continue
        reached.add(path)
        for name in _list_names(path, job):
            bases = [base for kind in NAMES if (base := posixpath.join(name, kind)) in job.files]
            files.update([name] if name in job.files else [])
            pending += bases[:1]
    return frozenset(files)


def _list_names(path: str, job: KustomizeJob) -> Iterator[str]:
    try:
        kustomization = read_kustomization(path, job.files[path])
    except UnbuildableError:  # kustomize reads it otherwise
        return
    yield from (
        resolve(kustomization.folder, reference.text)
        for reference in kustomization.references
        if reference.field in _RESOURCES
    )


def _find_location(cause: _Cause, job: KustomizeJob, paths: Collection[str]) -> SourceLocation | None:
    """Find the first place of a cause, in kustomizations before other files."""
    for path in sorted(job.files, key=lambda path: (posixpath.basename(path) not in NAMES, path)):
        if path in paths and (found := cause.pattern.search(job.files[path])):
            return SourceLocation(path, job.files[path].count(b"\n", 0, found.start()) + 1)
    return None
