"""Follow the objects of controllers from the files of a cluster to the folders that they name.

An object is followed if its source is this repository. What it builds may declare further ones, which are followed too.
Flux itself applies them one after another (https://fluxcd.io/flux/components/kustomize/kustomizations/).
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from gitsync.desired.formats.name_list import name_first
from gitsync.desired.manifests.units import ROOT
from gitsync.model.problem import Level, Problem
from gitsync.model.unit import FileSelection, Substitution, Unit
from gitsync.model.variables import MARK
from gitsync.repository.units.declarations import (
    THIS_REPOSITORY,
    BrokenObject,
    ChartSource,
    Declarations,
    DeclaredUnit,
    GitAddress,
    SourceName,
    ThisRepository,
    resolve_chart,
)
from gitsync.repository.units.tree import find_folder, list_folders
from gitsync.repository.units.unit_files import CoveredFolders, selects

MOST: Final = 2000
"""The most objects that are followed."""

DEEPEST: Final = 20
"""How deep they may declare each other."""

MOST_NAMED: Final = 3
"""The most charts of other sources that one problem names."""

BuildUnits = Callable[[Sequence[Unit]], None]
"""Builds units."""

ReadObjects = Callable[[Unit], Declarations]
"""Returns the objects in what was built of a unit, as far as their variables are known by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """The units of the objects that were followed, in their order."""

    units: tuple[Unit, ...] = ()
    problems: tuple[Problem, ...] = ()  # what was not followed
    covered: CoveredFolders = field(default_factory=CoveredFolders)
    """Files in these folders are not read in any other way."""


@dataclass(frozen=True, slots=True)
class _FoundObject:
    """An object that was found."""

    declared: DeclaredUnit
    cluster_folder: str  # the folder where following began
    waves: tuple[tuple[str, int], ...] = ()  # the units that led to it, each with the wave of the object there

    @property
    def name(self) -> str:
        return _make_name(self.cluster_folder, self.declared.unit.name)


@dataclass(slots=True)
class _Follower:
    """Follows objects, round by round. Mutable: it is filled object by object."""

    build: BuildUnits
    read: ReadObjects  # reads the objects in the result of a unit
    repository: ThisRepository
    repositories: dict[SourceName, str]  # the URL of each GitRepository, those of results as well
    bootstrapped: set[SourceName]  # those of `repositories` in files that `flux bootstrap` wrote
    charts: dict[SourceName, ChartSource]  # what each HelmChart is made of
    units: dict[str, Unit] = field(default_factory=dict)  # those that were built, by the name of their object
    found: dict[str, _FoundObject] = field(default_factory=dict)  # all objects that were followed, by their name
    inside: dict[str, Declarations] = field(default_factory=dict)  # what the result of each unit declares, by its name
    waiting: list[_FoundObject] = field(default_factory=list)  # objects whose source is not known yet
    problems: list[Problem] = field(default_factory=list)  # what was not followed

    def follow(self, found: Iterable[_FoundObject]) -> None:
        pending = list(found)
        while pending:
            ready, later = _split_ready(pending)
            units = [unit for found_object in ready if (unit := self.take(found_object)) is not None]
            self.build(units)
            # Only when nothing else is left: by then, all values are known that ever will be.
            pending = [*later, *self.look_inside(units), *self.release()] or self.look_again()

    def take(self, found: _FoundObject) -> Unit | None:
        """Take up an object, and return its unit if it is followed from now on."""
        known = self.found.get(found.name)
        # Several units may contain one object.
        if known is not None:
            if not known.declared.says_the_same(found.declared):
                problem = _make_problem(
                    found, "DuplicateUnit", f"{known.declared.declared_at} declares it differently."
                )
                self.problems.append(replace(problem, hint="Keep one of them, or point --path to one cluster."))
            return None
        # An object that is found later may declare the source, so this is decided at the end.
        if not self.is_here(found.declared.source):
            self.waiting.append(found)
            return None
        self.found[found.name] = found
        # It counts as found before this check, so that it is reported once.
        if (refusal := self.find_limit(found)) is not None:
            self.problems.append(refusal)
            return None
        self.units[found.name] = _make_unit(found)
        self.problems += (replace(note, unit=found.name) for note in found.declared.notes)
        return self.units[found.name]

    def look_inside(self, units: Iterable[Unit]) -> list[_FoundObject]:
        """Find the objects in what was built of units."""
        found: list[_FoundObject] = []
        for unit in units:
            parent, objects = self.found[unit.name], self.read(unit)
            self.inside[unit.name] = objects
            self.repositories.update(objects.repositories)
            self.bootstrapped.update(objects.bootstrapped)
            self.charts.update(objects.charts)
            has_waves = unit.traits.has_waves
            found += [
                _FoundObject(
                    resolve_chart(inner, self.charts),
                    parent.cluster_folder,
                    (*parent.waves, (unit.name, inner.wave if has_waves else 0)),
                )
                for inner in objects.units
            ]
        return found

    def list_inside(self) -> Iterator[Problem]:
        """List the problems of the objects in what was built."""
        for name, objects in self.inside.items():
            found = (*objects.problems, *self.grade(objects.broken))
            yield from (_widen(problem, self.found[name].cluster_folder) for problem in found)

    def grade(self, broken: Iterable[BrokenObject]) -> Iterator[Problem]:
        """Set the level of the problems of objects that cannot be read: they are notes, if nothing of this repository
        is built from them.
        """
        built_from = {waiting.declared.source for waiting in self.waiting}
        for unread in broken:
            sources = {self.charts[each].source if each in self.charts else each for each in unread.sources}
            matters = bool(built_from & sources) if unread.is_source else any(map(self.may_be_here, sources))
            for problem in unread.problems:
                yield problem if matters or not problem.is_error else replace(problem, level=Level.NOTE)

    def may_be_here(self, source: SourceName | GitAddress) -> bool:
        """Return whether a source is this repository, or a variable without a value may make it so."""
        if self.is_here(source) or isinstance(source, GitAddress):
            return self.is_here(source)
        is_git = source.kind == THIS_REPOSITORY.kind or MARK in source.kind
        return is_git and any(MARK in part or "$" in part for part in source)

    def look_again(self) -> list[_FoundObject]:
        """Find the objects whose variables are known by now, since a later unit declared the values."""
        unknown = [self.units[name] for name, objects in self.inside.items() if objects.is_unknown]
        return [each for each in self.look_inside(unknown) if each.name not in self.found and each not in self.waiting]

    def release(self) -> list[_FoundObject]:
        """Release the objects that waited for a source which is known by now."""
        self.waiting = [
            replace(waiting, declared=resolve_chart(waiting.declared, self.charts)) for waiting in self.waiting
        ]
        released = [waiting for waiting in self.waiting if self.is_here(waiting.declared.source)]
        if released:
            self.waiting = [waiting for waiting in self.waiting if not self.is_here(waiting.declared.source)]
        return released

    def find_limit(self, found: _FoundObject) -> Problem | None:
        if len(found.waves) > DEEPEST:
            return _make_problem(found, "TooDeep", f"It is nested more than {DEEPEST} levels deep.")
        if len(self.units) >= MOST:
            return _make_problem(found, "TooManyUnits", f"The limit is {MOST} objects.")
        return None

    def find_cluster_folder(self, declared: DeclaredUnit) -> str:
        """Find the folder of an object; for one that applies the folder it is in, that folder."""
        # An object that applies its own folder, as `flux bootstrap` writes it, stands for that folder.
        is_inside = self.is_here(declared.source) and selects(declared.unit, declared.paths)
        return declared.unit.path if is_inside else find_folder(declared.paths)

    def is_here(self, source: SourceName | GitAddress) -> bool:
        """Return whether a source is this repository, at the revision that is read."""
        if isinstance(source, GitAddress):
            return self.has_files(source) and self.repository.has_revision(source.revision)
        if source == THIS_REPOSITORY or source in self.bootstrapped or source in self.repository.sources:
            return True
        url = self.repositories.get(source)
        return url is not None and self.repository.has_url(url)

    def has_files(self, source: SourceName | GitAddress) -> bool:
        """Return whether a source is this repository at any revision. Flux's revision is not compared."""
        return isinstance(source, GitAddress) and not source.chart and self.repository.has_url(source.url)

    def collect_covered(self) -> CoveredFolders:
        """Find the folders of all objects, also of those that are built from another revision."""
        others: list[Unit] = []
        for waiting in self.waiting:
            unit, source = waiting.declared.unit, waiting.declared.source
            is_git = isinstance(source, SourceName) and source.kind == THIS_REPOSITORY.kind
            # A chart of a repository that is not known may be in this one, and its values are in the object.
            if self.has_files(source) or (is_git and unit.is_chart):
                others.append(unit)
        return CoveredFolders.collect((*self.units.values(), *others))


def follow(start: Declarations, build: BuildUnits, read: ReadObjects, repository: ThisRepository) -> Followed:
    """Return the units of all objects that lead from `start`. What is built from another source than `repository`, or
    declared more than `DEEPEST` deep, is a problem.
    """
    follower = _Follower(build, read, repository, dict(start.repositories), set(start.bootstrapped), dict(start.charts))
    declared = [resolve_chart(declared_unit, start.charts) for declared_unit in start.units]
    here = [declared_unit for declared_unit in declared if follower.is_here(declared_unit.source)]
    outermost = _select_outermost(declared, here)
    follower.follow(
        _FoundObject(declared_unit, follower.find_cluster_folder(declared_unit)) for declared_unit in outermost
    )
    units, covered = follower.units, follower.collect_covered()
    # The files of folders that are built are read from what is built of them.
    begun: list[Problem] = []
    for problem in (*start.problems, *follower.grade(start.broken)):
        path = problem.unit or problem.path
        folder = find_folder(path)
        # `flux bootstrap` writes its own files one level below the folder of the cluster.
        cluster_folder = find_folder(folder) if posixpath.basename(folder) == THIS_REPOSITORY.name else folder
        if not covered.has(path):
            begun.append(_widen(problem, cluster_folder))
    return Followed(
        units=tuple(units.values()),
        covered=covered,
        # Each once: several units may contain one object.
        problems=tuple(
            dict.fromkeys(
                (
                    *begun,
                    *follower.list_inside(),
                    *follower.problems,
                    *_skip_all(follower),
                    *(
                        _warn_suspended(follower.found[name])
                        for name, unit in units.items()
                        if unit.settings.is_suspended
                    ),
                    *_list_circles(units),
                )
            )
        ),
    )


def _split_ready(found: Sequence[_FoundObject]) -> tuple[Sequence[_FoundObject], Sequence[_FoundObject]]:
    """Split objects into those to build now, and the rest: charts come last, for their values may be in ConfigMaps of
    the others.
    """
    charts = [each for each in found if each.declared.unit.is_chart]
    others = [each for each in found if not each.declared.unit.is_chart]
    return (others, charts) if others else (charts, [])


def _widen(problem: Problem, cluster_folder: str) -> Problem:
    """Widen the problem of an object that is not read: it may hide any unit of its cluster."""
    return replace(problem, unit=cluster_folder or ROOT)


def _select_outermost(found: Sequence[DeclaredUnit], here: Sequence[DeclaredUnit]) -> tuple[DeclaredUnit, ...]:
    """Select the objects that no other one builds: those inside are found again, with its changes and variables."""
    builders: dict[str, dict[FileSelection | None, dict[str, Unit]]] = {}
    for builder in here:
        builders.setdefault(builder.unit.path, {}).setdefault(builder.unit.settings.selection, {})[
            builder.unit.name
        ] = builder.unit
    outermost = tuple(declared for declared in found if not _is_built_by_another(declared, builders))
    return outermost or tuple(found)  # in a circle, none is outside


def _is_built_by_another(
    inner: DeclaredUnit, builders: Mapping[str, Mapping[FileSelection | None, Mapping[str, Unit]]]
) -> bool:
    """Return whether a unit, by its folder and the files that it selects there, builds the file of an object of another
    one, or the overlay that the object was built from.
    """
    # Units of one folder and one selection build the same files, so one of them decides for all.
    return any(
        selects(other, file)
        for file in {inner.unit.file, inner.paths}
        for folder in list_folders(file)
        for units in builders.get(folder, {}).values()
        for other in islice((unit for name, unit in units.items() if name != inner.unit.name), 1)
    )


def _warn_suspended(found: _FoundObject) -> Problem:
    problem = _make_problem(found, "Suspended", "")
    return replace(
        problem,
        level=Level.WARNING,
        message=f"{found.declared.kind} {found.name} is suspended: its resources are not written or deleted.",
        hint=f"Remove {found.declared.suspended_by} to resume it.",
        unit="",
    )


def _make_unit(found: _FoundObject) -> Unit:
    unit, cluster_folder = found.declared.unit, found.cluster_folder
    return replace(
        unit,
        name=found.name,
        options=replace(unit.options, substitution=_locate(unit.options.substitution, cluster_folder)),
        settings=replace(
            unit.settings,
            cluster_folder=cluster_folder,
            depends_on=tuple(_make_name(cluster_folder, other) for other in unit.settings.depends_on),
            waves=found.waves,
        ),
    )


def _locate(substitution: Substitution | None, cluster_folder: str) -> Substitution | None:
    """Put the variables of a unit into the cluster of a folder."""
    if substitution is None:
        return None
    references = tuple(replace(reference, cluster_folder=cluster_folder) for reference in substitution.references)
    return replace(substitution, references=references)


def _make_name(cluster_folder: str, name: str) -> str:
    return posixpath.join(cluster_folder, name)


def _skip_all(follower: _Follower) -> Iterator[Problem]:
    """Report the objects of other sources: one problem for each, and one for all charts elsewhere of a kind of object
    in a cluster.
    """
    charts: dict[tuple[str, str], list[_FoundObject]] = {}
    for waiting in follower.waiting:
        if _has_chart_elsewhere(waiting.declared):
            charts.setdefault((waiting.cluster_folder, waiting.declared.kind), []).append(waiting)
        else:
            yield _skip(waiting, has_files=follower.has_files(waiting.declared.source))
    yield from map(_skip_charts, charts.values())


def _has_chart_elsewhere(declared: DeclaredUnit) -> bool:
    """Return whether an object renders a chart of a Helm repository or a registry."""
    if isinstance(declared.source, GitAddress):
        return bool(declared.source.chart)
    return declared.unit.is_chart and declared.source.kind != THIS_REPOSITORY.kind


def _skip_charts(found: Sequence[_FoundObject]) -> Problem:
    first = found[0]
    named = name_first([f"{chart.declared.key} ({chart.declared.source})" for chart in found], MOST_NAMED)
    kind = first.declared.kind
    subject = f"The charts of {len(found)} {kind}s are" if len(found) > 1 else f"The chart of this {kind} is"
    return Problem(
        code="OtherSource",
        level=Level.WARNING,
        message=f"{subject} not in this repository, and not rendered: {named}.",
        path=first.declared.declared_at.path,
        line=first.declared.declared_at.line,
        unit=first.name,
        parts=tuple(chart.name for chart in found),
    )


def _skip(found: _FoundObject, *, has_files: bool) -> Problem:
    source = found.declared.source
    if isinstance(source, GitAddress) and has_files:
        problem = _make_problem(found, "OtherSource", f"It is built from the revision {source.revision}.")
        hint = f"Read that revision: set --ref {source.revision}."
    else:
        problem = _make_problem(found, "OtherSource", f"It is built from {source}, which is not this repository.")
        hint = _say_how_to_tell(source)
    return replace(problem, level=Level.WARNING, hint=hint, unit=found.name)


def _say_how_to_tell(source: SourceName | GitAddress) -> str:
    """Say as an order how a source is known to be this repository; "" for one that cannot be."""
    if isinstance(source, GitAddress):
        return "If it is, read a clone with a remote of this URL."
    is_git = source.kind == THIS_REPOSITORY.kind
    # A declaration here would make the controller of a cluster apply it, where another one has it already.
    return f"If it is, write `this-repository: {source.namespace}/{source.name}` in gitsync.yaml." if is_git else ""


def _list_circles(units: Mapping[str, Unit]) -> Iterator[Problem]:
    """Report each unit of Flux that comes after itself."""
    for name in _list_entangled(units):
        # A unit that only comes after a circle is not at fault.
        if name in _list_all_before(name, units):
            unit = units[name]
            yield Problem(
                code="FluxCircle",
                message=f"{unit.title} depends on itself, so Flux never applies it.",
                hint="Remove one entry of spec.dependsOn.",
                path=unit.file,
                line=unit.line,
                field="spec.dependsOn",
            )


def _list_entangled(units: Mapping[str, Unit]) -> tuple[str, ...]:
    """List the units that are in a circle, or come after one: those that no order reaches."""
    waits = {name: {before for before in unit.settings.depends_on if before in units} for name, unit in units.items()}
    after: dict[str, list[str]] = {}
    for name, before in waits.items():
        for earlier in before:
            after.setdefault(earlier, []).append(name)
    left = Counter({name: len(before) for name, before in waits.items()})
    ready = [name for name, count in left.items() if not count]
    while ready:
        for name in after.get(ready.pop(), ()):
            left[name] -= 1
            if not left[name]:
                ready.append(name)
    return tuple(name for name in units if left[name])


def _list_all_before(name: str, units: Mapping[str, Unit]) -> frozenset[str]:
    found, pending = set[str](), [name]
    while pending:
        for before in units[pending.pop()].settings.depends_on:
            if before in units and before not in found:
                found.add(before)
                pending.append(before)
    return frozenset(found)


def _make_problem(found: _FoundObject, code: str, message: str) -> Problem:
    return Problem(
        code=code,
        message=f"{found.declared.kind} {found.declared.key} is not followed. {message}",
        hint="Move it up, or point --path to a folder nearer to it.",
        path=found.declared.declared_at.path,
        line=found.declared.declared_at.line,
        unit=found.cluster_folder or ROOT,
    )
