"""Follow Flux's Kustomizations from the files of a cluster to the folders that they are built from.

A Kustomization is followed if its source is this repository. What it builds may declare further ones, which are
followed too. Flux itself applies them one after another (https://fluxcd.io/flux/components/kustomize/kustomizations/).
"""

from __future__ import annotations

import posixpath
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gitsync.formats.repository_name import normalize_repository
from gitsync.model.problem import Level, Problem
from gitsync.model.unit import Unit, UnitKind, UnitOptions
from gitsync.units.flux_objects import FluxKustomization, FluxObjects, ObjectName, SourceName, join_flux_objects

MOST: Final = 2000
"""The most Kustomizations that are followed."""

DEEPEST: Final = 20
"""How deep they may declare each other."""

BOOTSTRAP_NAME: Final = SourceName("GitRepository", "flux-system", "flux-system")
"""The GitRepository that `flux bootstrap` makes for the repository that it writes to."""

Build = Callable[[Unit], FluxObjects]
"""Builds a unit, and returns the objects of Flux in the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedFlux:
    """The units of the Kustomizations that were followed, in their order, and what was not followed, as problems."""

    units: tuple[Unit, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """A Kustomization; `home` is the folder where following began, and `depth` counts those that led to it."""

    one: FluxKustomization
    home: str
    depth: int = 0

    @property
    def name(self) -> str:
        return _make_name(self.home, self.one.key)


@dataclass(slots=True)
class _Follower:
    """Follows Kustomizations. Mutable: it is filled object by object."""

    build: Build
    find_repository: Callable[[], str]
    sources: FluxObjects = field(default_factory=FluxObjects)
    units: dict[str, Unit] = field(default_factory=dict)
    waiting: list[_Found] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def follow(self, found: Iterable[_Found]) -> None:
        pending = deque(found)
        while pending:
            one = pending.popleft()
            if one.name in self.units:
                continue
            if not self.is_here(one.one.source):
                self.waiting.append(one)
                continue
            if (refusal := self.find_limit(one)) is not None:
                self.problems.append(refusal)
                continue
            pending.extend(self.add(one))
            if any(self.is_here(other.one.source) for other in self.waiting):
                pending.extend(self.waiting)
                self.waiting = []

    def add(self, found: _Found) -> Iterator[_Found]:
        unit = _make_unit(found)
        self.units[unit.name] = unit
        inside = self.build(unit)
        self.sources = join_flux_objects((self.sources, inside))
        self.problems.extend(inside.problems)
        for one in inside.kustomizations:
            yield _Found(one, found.home, found.depth + 1)

    def find_limit(self, found: _Found) -> Problem | None:
        if found.depth > DEEPEST:
            return _make_problem(found.one, "TooDeep", f"Kustomizations lead to it over more than {DEEPEST} others.")
        if len(self.units) >= MOST:
            return _make_problem(found.one, "TooManyUnits", f"More than {MOST} Kustomizations are not followed.")
        return None

    def is_here(self, source: SourceName) -> bool:
        """Tell whether a source is this repository."""
        if source == BOOTSTRAP_NAME or source in self.sources.bootstrapped:
            return True
        url = self.sources.repositories.get(source)
        return url is not None and normalize_repository(url) == self.find_repository()


def follow_flux(start: FluxObjects, build: Build, find_repository: Callable[[], str]) -> FollowedFlux:
    """Return the units of all Kustomizations that lead from `start`.

    `find_repository` returns the name of this repository (`normalize_repository`), "" if it has no remote. What is
    built from another source, or declared more than `DEEPEST` deep, is a problem.
    """
    follower = _Follower(build, find_repository, start)
    outer = _select_outer(start.kustomizations, [one for one in start.kustomizations if follower.is_here(one.source)])
    follower.follow(_Found(one, _find_home(one)) for one in outer)
    suspended = tuple(_warn_suspended(unit) for unit in follower.units.values() if unit.is_suspended)
    circles = tuple(_find_circles(follower.units))
    return FollowedFlux(
        units=tuple(follower.units.values()),
        problems=(*start.problems, *follower.problems, *map(_pass_over, follower.waiting), *suspended, *circles),
    )


def _select_outer(
    found: Sequence[FluxKustomization], here: Sequence[FluxKustomization]
) -> tuple[FluxKustomization, ...]:
    """The Kustomizations that no other one builds: those inside are found again, with its changes and variables."""
    outer = tuple(
        one
        for one in found
        if not any(other.key != one.key and _is_in(one.declared_at.path, other.path) for other in here)
    )
    return outer or tuple(found)  # in a circle, none is outside


def _find_home(one: FluxKustomization) -> str:
    """The folder of a Kustomization; for one that applies the folder it is in, that folder."""
    return one.path if _is_in(one.declared_at.path, one.path) else posixpath.dirname(one.declared_at.path)


def _is_in(path: str, folder: str) -> bool:
    return not folder or path.startswith(folder + "/")


def _warn_suspended(unit: Unit) -> Problem:
    return Problem(
        code="Suspended",
        level=Level.WARNING,
        message=f"Kustomization {unit.name} is suspended: nothing of it is written or deleted.",
        hint="Remove spec.suspend to resume it.",
        path=unit.file,
        line=unit.line,
    )


def _make_unit(found: _Found) -> Unit:
    one = found.one
    return Unit(
        name=found.name,
        path=one.path,
        kind=UnitKind.FLUX,
        file=one.declared_at.path,
        line=one.declared_at.line,
        # Flux builds without kustomize's restriction to files below a kustomization.
        options=UnitOptions(is_restricted=False, substitution=one.substitution),
        changes=one.changes,
        depends_on=tuple(_make_name(found.home, other) for other in one.depends_on),
        prunes=one.prunes,
        is_suspended=one.is_suspended,
    )


def _make_name(home: str, key: ObjectName) -> str:
    return posixpath.join(home, key.namespace, key.name)


def _pass_over(found: _Found) -> Problem:
    one = found.one
    problem = _make_problem(one, "OtherSource", f"It is built from {one.source}, which is not this repository.")
    hint = f"If it is, declare {one.source} in this repository with the URL of its remote."
    return replace(problem, level=Level.WARNING, hint=hint)


def _find_circles(units: Mapping[str, Unit]) -> Iterator[Problem]:
    """A problem for each Kustomization that comes after itself."""
    for name, unit in units.items():
        if name in _find_all_before(name, units):
            yield Problem(
                code="FluxCircle",
                message=f"Kustomization {name} depends on itself, so Flux never applies it.",
                hint="Remove one entry of spec.dependsOn.",
                path=unit.file,
                line=unit.line,
                field="spec.dependsOn",
            )


def _find_all_before(name: str, units: Mapping[str, Unit]) -> frozenset[str]:
    found, pending = set[str](), [name]
    while pending:
        for before in units[pending.pop()].depends_on:
            if before in units and before not in found:
                found.add(before)
                pending.append(before)
    return frozenset(found)


def _make_problem(one: FluxKustomization, code: str, message: str) -> Problem:
    return Problem(
        code=code,
        message=f"Kustomization {one.key} is not followed. {message}",
        hint="Move it up, or point --path to a folder nearer to it.",
        path=one.declared_at.path,
        line=one.declared_at.line,
    )
