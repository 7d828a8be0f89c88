"""Follow the objects of controllers from the files of a cluster to the folders that they name.

An object is followed if its source is this repository. What it builds may declare further ones, which are followed too.
Flux itself applies them one after another (https://fluxcd.io/flux/components/kustomize/kustomizations/).
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

from gitsync.formats.repository_name import normalize_repository
from gitsync.manifests.units import ROOT
from gitsync.model.problem import Level, Problem
from gitsync.model.unit import Substitution, Unit
from gitsync.units.declarations import Declarations, DeclaredUnit, SourceName
from gitsync.units.tree import find_folder, is_below, list_folders

MOST: Final = 2000
"""The most objects that are followed."""

DEEPEST: Final = 20
"""How deep they may declare each other."""

BOOTSTRAP_NAME: Final = SourceName("GitRepository", "flux-system", "flux-system")
"""The GitRepository that `flux bootstrap` makes for the repository that it writes to."""

Build = Callable[[Sequence[Unit]], None]
"""Builds units."""

Read = Callable[[Unit], Declarations]
"""Returns the objects in what was built of a unit, as far as their variables are known by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """The units of the objects that were followed, in their order, and what was not followed, as problems."""

    units: tuple[Unit, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """An object; `home` is the folder where following began, and `depth` counts those that led to it."""

    one: DeclaredUnit
    home: str
    depth: int = 0

    @property
    def name(self) -> str:
        return _make_name(self.home, self.one.unit.name)


@dataclass(slots=True)
class _Follower:
    """Follows objects, round by round. Mutable: it is filled object by object."""

    build: Build
    read: Read
    find_repository: Callable[[], str]
    repositories: dict[SourceName, str]
    bootstrapped: set[SourceName]
    units: dict[str, Unit] = field(default_factory=dict)
    found: dict[str, _Found] = field(default_factory=dict)
    inside: dict[str, Declarations] = field(default_factory=dict)
    waiting: list[_Found] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def follow(self, found: Iterable[_Found]) -> None:
        pending = list(found)
        while pending:
            units = [unit for one in pending if (unit := self.take(one)) is not None]
            self.build(units)
            pending = [*self.look_inside(units), *self.release()] or self.look_again()

    def take(self, found: _Found) -> Unit | None:
        """The unit of an object, if it is followed from now on."""
        known = self.found.get(found.name)
        if known is not None:
            if not known.one.says_the_same(found.one):
                self.problems.append(_make_duplicate(found, known))
            return None
        if not self.is_here(found.one.source):
            self.waiting.append(found)
            return None
        self.found[found.name] = found
        if (refusal := self.find_limit(found)) is not None:
            self.problems.append(refusal)
            return None
        self.units[found.name] = _make_unit(found)
        return self.units[found.name]

    def look_inside(self, units: Iterable[Unit]) -> list[_Found]:
        """The objects in what was built of units."""
        found: list[_Found] = []
        for unit in units:
            outer, objects = self.found[unit.name], self.read(unit)
            self.inside[unit.name] = objects
            self.repositories.update(objects.repositories)
            self.bootstrapped.update(objects.bootstrapped)
            found += [_Found(one, outer.home, outer.depth + 1) for one in objects.units]
        return found

    def list_inside(self) -> Iterator[Problem]:
        """The problems of the objects in what was built."""
        for name, objects in self.inside.items():
            yield from (_widen(one, self.found[name].home) for one in objects.problems)

    def look_again(self) -> list[_Found]:
        """Those whose variables are known by now, since a later unit declared the values."""
        unknown = [self.units[name] for name, objects in self.inside.items() if objects.is_unknown]
        return [one for one in self.look_inside(unknown) if one.name not in self.found and one not in self.waiting]

    def release(self) -> list[_Found]:
        """Those that waited for a source which is known by now."""
        released = [one for one in self.waiting if self.is_here(one.one.source)]
        if released:
            self.waiting = [one for one in self.waiting if not self.is_here(one.one.source)]
        return released

    def find_limit(self, found: _Found) -> Problem | None:
        if found.depth > DEEPEST:
            return _make_problem(found, "TooDeep", f"More than {DEEPEST} others lead to it.")
        if len(self.units) >= MOST:
            return _make_problem(found, "TooManyUnits", f"More than {MOST} objects are not followed.")
        return None

    def is_here(self, source: SourceName) -> bool:
        """Tell whether a source is this repository."""
        if source == BOOTSTRAP_NAME or source in self.bootstrapped:
            return True
        url = self.repositories.get(source)
        return url is not None and normalize_repository(url) == self.find_repository()


def follow(start: Declarations, build: Build, read: Read, find_repository: Callable[[], str]) -> Followed:
    """Return the units of all objects that lead from `start`.

    `find_repository` returns the name of this repository (`normalize_repository`), "" if it has no remote. What is
    built from another source, or declared more than `DEEPEST` deep, is a problem.
    """
    follower = _Follower(build, read, find_repository, dict(start.repositories), set(start.bootstrapped))
    here = [one for one in start.units if follower.is_here(one.source)]
    outer = _select_outer(start.units, here)
    follower.follow(_Found(one, _find_home(one)) for one in outer)
    units = follower.units
    folders = frozenset(unit.path for unit in units.values())
    # The files of folders that are built are read from what it builds of them.
    begun = (one for one in start.problems if not _is_in_any(one.path, folders))
    return Followed(
        units=tuple(units.values()),
        problems=_join(
            (_widen(one, _guess_home(one.path)) for one in begun),
            follower.list_inside(),
            follower.problems,
            map(_pass_over, follower.waiting),
            (_warn_suspended(follower.found[name]) for name, unit in units.items() if unit.is_suspended),
            _find_circles(units),
        ),
    )


def _join(*parts: Iterable[Problem]) -> tuple[Problem, ...]:
    """All problems, each once: several units may contain one object."""
    return tuple(dict.fromkeys(chain.from_iterable(parts)))


def _guess_home(path: str) -> str:
    """The folder of the cluster of a file: `flux bootstrap` writes its own files one level below."""
    folder = find_folder(path)
    return find_folder(folder) if posixpath.basename(folder) == BOOTSTRAP_NAME.name else folder


def _widen(problem: Problem, home: str) -> Problem:
    """A problem of an object that is not read: it may hide any unit of its cluster."""
    return replace(problem, unit=home or ROOT)


def _select_outer(found: Sequence[DeclaredUnit], here: Sequence[DeclaredUnit]) -> tuple[DeclaredUnit, ...]:
    """The objects that no other one builds: those inside are found again, with its changes and variables."""
    builders: dict[str, set[str]] = {}
    for one in here:
        builders.setdefault(one.unit.path, set()).add(one.unit.name)
    outer = tuple(one for one in found if not _is_built_by_another(one, builders))
    return outer or tuple(found)  # in a circle, none is outside


def _is_built_by_another(one: DeclaredUnit, builders: Mapping[str, set[str]]) -> bool:
    return any(builders.get(folder, set()) - {one.unit.name} for folder in list_folders(one.unit.file))


def _is_in_any(path: str, folders: Collection[str]) -> bool:
    return any(folder in folders for folder in list_folders(path))


def _find_home(one: DeclaredUnit) -> str:
    """The folder of an object; for one that applies the folder it is in, that folder."""
    unit = one.unit
    return unit.path if is_below(unit.file, unit.path) else posixpath.dirname(unit.file)


def _warn_suspended(found: _Found) -> Problem:
    problem = _make_problem(found, "Suspended", "")
    return replace(
        problem,
        level=Level.WARNING,
        message=f"{found.one.kind} {found.name} is suspended: nothing of it is written or deleted.",
        hint="Remove spec.suspend to resume it.",
        unit="",
    )


def _make_unit(found: _Found) -> Unit:
    unit, home = found.one.unit, found.home
    return replace(
        unit,
        name=found.name,
        home=home,
        options=replace(unit.options, substitution=_place(unit.options.substitution, home)),
        depends_on=tuple(_make_name(home, other) for other in unit.depends_on),
    )


def _place(substitution: Substitution | None, home: str) -> Substitution | None:
    """The variables of a unit in the cluster of a folder."""
    if substitution is None:
        return None
    references = tuple(replace(one, home=home) for one in substitution.references)
    return replace(substitution, references=references)


def _make_name(home: str, name: str) -> str:
    return posixpath.join(home, name)


def _make_duplicate(found: _Found, known: _Found) -> Problem:
    problem = _make_problem(found, "DuplicateUnit", f"{known.one.declared_at} declares it otherwise.")
    return replace(problem, hint="Keep one of them, or point --path to one cluster.")


def _pass_over(found: _Found) -> Problem:
    source = found.one.source
    problem = _make_problem(found, "OtherSource", f"It is built from {source}, which is not this repository.")
    is_git = source.kind == BOOTSTRAP_NAME.kind
    hint = f"If it is, declare {source} in this repository with the URL of its remote." if is_git else ""
    return replace(problem, level=Level.WARNING, hint=hint, unit=found.name)


def _find_circles(units: Mapping[str, Unit]) -> Iterator[Problem]:
    """A problem for each unit of Flux that comes after itself."""
    for name in _find_entangled(units):
        if name in _find_all_before(name, units):
            unit = units[name]
            yield Problem(
                code="FluxCircle",
                message=f"Kustomization {name} depends on itself, so Flux never applies it.",
                hint="Remove one entry of spec.dependsOn.",
                path=unit.file,
                line=unit.line,
                field="spec.dependsOn",
            )


def _find_entangled(units: Mapping[str, Unit]) -> tuple[str, ...]:
    """The units that are in a circle, or come after one: those that no order reaches."""
    waits = {name: {one for one in unit.depends_on if one in units} for name, unit in units.items()}
    after: dict[str, list[str]] = {}
    for name, before in waits.items():
        for one in before:
            after.setdefault(one, []).append(name)
    left = Counter({name: len(before) for name, before in waits.items()})
    ready = [name for name, count in left.items() if not count]
    while ready:
        for name in after.get(ready.pop(), ()):
            left[name] -= 1
            if not left[name]:
                ready.append(name)
    return tuple(name for name in units if left[name])


def _find_all_before(name: str, units: Mapping[str, Unit]) -> frozenset[str]:
    found, pending = set[str](), [name]
    while pending:
        for before in units[pending.pop()].depends_on:
            if before in units and before not in found:
                found.add(before)
                pending.append(before)
    return frozenset(found)


def _make_problem(found: _Found, code: str, message: str) -> Problem:
    return Problem(
        code=code,
        message=f"{found.one.kind} {found.one.key} is not followed. {message}",
        hint="Move it up, or point --path to a folder nearer to it.",
        path=found.one.declared_at.path,
        line=found.one.declared_at.line,
        unit=found.home or ROOT,
    )
