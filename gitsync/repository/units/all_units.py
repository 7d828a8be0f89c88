"""Builds all units of a source. A folder that an object of a controller builds is not a unit of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gitsync.desired.manifests.unread_documents import collect_templates
from gitsync.model.problem import Problem
from gitsync.model.unit import Unit
from gitsync.repository.units.build_sandbox import UNRELEASED_CHART, Builds
from gitsync.repository.units.chart_values import fill_values
from gitsync.repository.units.controller_objects import follow
from gitsync.repository.units.declarations import Declarations, ThisRepository, join_declarations
from gitsync.repository.units.discovery import FoundUnits
from gitsync.repository.units.flux_variables import FluxVariables
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.object_fields import SourceView, read_published
from gitsync.repository.units.object_reader import CONTROLLERS, read_declarations
from gitsync.repository.units.relevance import Relevance
from gitsync.repository.units.unit_builds import BuiltUnits, build_units
from gitsync.repository.units.unit_files import CoveredFolders

_UNREAD: Final = frozenset({"GeneratorNotFollowed", *(controller.invalid for controller in CONTROLLERS)})
"""The codes of objects of controllers that cannot be read."""


@dataclass(frozen=True, slots=True)
class FollowContext:
    """What following needs next to the files."""

    repository: ThisRepository = field(default_factory=ThisRepository)
    variables: tuple[tuple[str, str], ...] = ()  # those of the operator


@dataclass(frozen=True, kw_only=True)
class AllUnits:
    """Everything that was built."""

    files: Mapping[str, bytes] = field(repr=False)  # manifest files by path; a Secret may be among them
    units: Mapping[str, Unit]  # those of the files that are not plain, by the path of the file
    problems: tuple[Problem, ...]
    used: frozenset[str]  # the files that units were built of
    declared: tuple[Unit, ...] = ()  # the units among it that objects of controllers declare
    covered: CoveredFolders = field(default_factory=CoveredFolders)
    """The folders of such units, whose files are not read in any other way."""

    inputs: frozenset[str] = frozenset()  # further files that define what to build
    skipped: frozenset[str] = frozenset()  # kustomizations that have nothing for gitsync


@dataclass(slots=True)
class _DeclaredBuilds:
    """Builds the units that objects declare. Mutable: it keeps the results."""

    view: SourceView
    builds: Builds
    variables: FluxVariables
    relevance: Relevance  # decides which units have something for gitsync
    done: list[BuiltUnits] = field(default_factory=list)  # one for each round
    results: dict[str, dict[str, tuple[bytes, Unit]]] = field(default_factory=dict)
    """Of each unit by its name, then by the path of the file."""

    def build(self, units: Sequence[Unit]) -> None:
        """Build units together, and keep the ConfigMaps and Secrets that they declare."""
        filled = [fill_values(unit, self.variables) for unit in units]
        built = build_units(filled, self.view.reader, self.builds, self.relevance)
        self.done.append(built)
        self.variables.declare(built.files, built.units)
        for path, unit in built.units.items():
            self.results.setdefault(unit.name, {})[path] = built.files[path], unit

    def read(self, unit: Unit) -> Declarations:
        """Read the objects in what was built of a unit."""
        result = self.results.get(unit.name, {})
        files = {path: content for path, (content, _) in result.items()}
        return read_declarations(
            files, {path: declarer for path, (_, declarer) in result.items()}, self.variables, self.view
        )


def build_all(
    found: FoundUnits,
    plain: Mapping[str, bytes],
    reader: KustomizationReader,
    builds: Builds,
    context: FollowContext,
) -> AllUnits:
    """Build the units that were `found`, and those that they and the `plain` files declare.

    Raises SourceError if no tool is installed that a unit needs.
    """
    relevance = Relevance()
    relevance.add_resources(plain.values())
    built = build_units(found.built, reader, builds, relevance)
    charts, unreadable = read_published(found.published, reader)
    view = SourceView(reader, context.repository, charts=charts)
    declared = _DeclaredBuilds(view, builds, FluxVariables(context.variables), relevance)
    templates = collect_templates(plain)
    sources: tuple[tuple[Mapping[str, bytes], Mapping[str, Unit]], ...] = (
        ({path: text for path, text in plain.items() if path not in templates}, {}),
        (built.files, built.units),
    )
    # All values first: an object may use what a later file declares.
    for files, units in sources:
        declared.variables.declare(files, units)
    start = join_declarations(read_declarations(files, units, declared.variables, view) for files, units in sources)
    followed = follow(start, declared.build, declared.read, context.repository)
    # What an object builds is read from its result, with the changes and variables of the object.
    parts = (*_leave_out_covered(found.built, built, followed.covered, reader, builds, relevance), *declared.done)
    return AllUnits(
        files={path: text for part in parts for path, text in part.files.items()},
        units={path: _add_options(unit, found) for part in parts for path, unit in part.units.items()},
        problems=(
            *_name_releasers((problem for part in parts for problem in part.problems), followed.problems),
            *followed.problems,
            *unreadable,
        ),
        used=frozenset().union(*(part.used for part in parts)),
        declared=followed.units,
        covered=followed.covered,
        inputs=frozenset(view.used),
        skipped=frozenset().union(*(part.skipped for part in parts)),
    )


def _name_releasers(problems: Iterable[Problem], followed: Iterable[Problem]) -> Iterator[Problem]:
    """Name the first object that is not read in the problem of each chart that nothing releases: it may release it."""
    unread = next((candidate for candidate in followed if candidate.code in _UNREAD and not candidate.is_note), None)
    for problem in problems:
        if unread is None or problem.code != UNRELEASED_CHART:
            yield problem
            continue
        yield replace(
            problem,
            message=f"{problem.message.removesuffix('.')}. {unread.location} may release it, but is not read.",
            hint=f"Fix {unread.location} first. If it does not release the chart: {problem.hint}",
        )


def _add_options(unit: Unit, found: FoundUnits) -> Unit:
    """Add to a declared unit the options that gitsync.yaml has for its folder, as far as its object has no field for
    it.
    """
    own = found.find_options(unit.path)
    if unit.traits.takes_options:
        return replace(unit, options=own)
    if not unit.is_declared:
        return unit
    options = replace(
        unit.options,
        waits_for_owners=own.waits_for_owners,
        migrates_versions=own.migrates_versions,
        manages_capz=own.manages_capz,
    )
    return replace(unit, options=options)


def _leave_out_covered(
    roots: Sequence[Unit],
    built: BuiltUnits,
    covered: CoveredFolders,
    reader: KustomizationReader,
    builds: Builds,
    relevance: Relevance,
) -> list[BuiltUnits]:
    """Leave out what was built of the units at `roots` that are in one of these folders."""
    others = [unit for unit in roots if not covered.has(unit.file)]
    if len(others) == len(roots):
        return [built]
    return [build_units(others, reader, builds, relevance)]  # in no time, since the results are kept
