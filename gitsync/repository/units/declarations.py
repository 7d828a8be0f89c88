"""Defines the units that objects of a controller declare: each names a folder of a repository, and how to build it.

The readers of Flux's and Argo CD's objects make them, and `following` follows them, whatever their controller is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, NamedTuple

from gitsync.desired.formats.repository_name import normalize_repository
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.unit import Unit

DEFAULT_REVISIONS: Final = frozenset({"", "HEAD", "main", "master"})
"""Names of the default branch. What is read may be a commit of a pull request to it, or a copy without branches."""


class ObjectName(NamedTuple):
    """The name of an object of a controller."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class SourceName(NamedTuple):
    """The name of a Flux object that stands for a source."""

    kind: str  # GitRepository for most
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


THIS_REPOSITORY: Final = SourceName("GitRepository", "flux-system", "flux-system")
"""The GitRepository that `flux bootstrap` makes for the repository that it writes to."""


def read_source_name(text: str) -> SourceName:
    """Read a name as messages have it: namespace/name of a GitRepository, or the kind before it."""
    *kinds, namespace, name = ("", *text.replace(" ", "/").split("/"))
    return SourceName("/".join(filter(None, kinds)) or THIS_REPOSITORY.kind, namespace, name)


class ChartSource(NamedTuple):
    """A Flux object that stands for a chart: its source, its folder there, and its values files."""

    source: SourceName
    path: str
    values: tuple[str, ...] = ()


class GitAddress(NamedTuple):
    """A source that is named by its URL."""

    url: str
    revision: str = ""  # a branch, tag or commit, "" for the default
    chart: str = ""  # of a Helm repository, "" for a repository of git

    def __str__(self) -> str:
        return f"the chart {self.chart} of {self.url}" if self.chart else self.url


@dataclass(frozen=True, slots=True)
class ThisRepository:
    """The repository that is read."""

    find_name: Callable[[], str] = str  # returns its name (`normalize_repository`), "" if it has no remote
    find_branch: Callable[[], str] = str  # returns that of the branch, "" if it is not known
    sources: frozenset[SourceName] = frozenset()  # those of Flux that gitsync.yaml calls it

    def has_url(self, url: str) -> bool:
        name = self.find_name()
        return bool(name) and normalize_repository(url) == name

    def has_revision(self, revision: str) -> bool:
        """Return whether the read files stand for this revision, the name of a branch or "HEAD"."""
        branch = revision.removeprefix("refs/heads/")
        return branch in DEFAULT_REVISIONS or branch == self.find_branch()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredUnit:
    """A unit, the object that declares it, and its source."""

    kind: str = "Kustomization"  # of the object
    key: ObjectName
    source: SourceName | GitAddress
    wave: int = 0  # lower ones go first
    unit: Unit
    """It and those that it depends on have the names of their objects: the folder where following began is added later.
    """

    suspended_by: str = "spec.suspend"  # the field that suspends it
    overlay: str = ""  # the kustomization or chart that the object was built by, "" for an object of a file
    notes: tuple[Problem, ...] = ()  # about what the object hands on

    @property
    def paths(self) -> str:
        """The file whose folder the object belongs to: an overlay, and not its base."""
        return self.overlay or self.unit.file

    @property
    def declared_at(self) -> SourceLocation:
        return SourceLocation(self.unit.file, self.unit.line)

    def says_the_same(self, other: DeclaredUnit) -> bool:
        """Return whether two objects declare the same, wherever they are."""
        moved = replace(other.unit, file=self.unit.file, line=self.unit.line)
        return replace(other, unit=moved, overlay=self.overlay, notes=self.notes) == self


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenObject:
    """An object that cannot be read."""

    sources: tuple[SourceName | GitAddress, ...]  # what it is built from; it matters if one of them is this repository
    problems: tuple[Problem, ...]
    is_source: bool = False  # it is a source itself, and matters if another object is built from it


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """The objects of controllers in some files. The unit of each problem is the overlay of its object."""

    units: tuple[DeclaredUnit, ...] = ()
    repositories: Mapping[SourceName, str] = field(default_factory=dict)  # the URL of each GitRepository
    bootstrapped: frozenset[SourceName] = frozenset()  # those of `repositories` in files that `flux bootstrap` wrote
    charts: Mapping[SourceName, ChartSource] = field(default_factory=dict)  # what each HelmChart is made of
    problems: tuple[Problem, ...] = ()  # those of objects that cannot be read
    broken: tuple[BrokenObject, ...] = ()  # objects that cannot be read, of which it is known what they are built from
    is_unknown: bool = False  # one has a variable whose ConfigMap was not found yet


def resolve_chart(declared: DeclaredUnit, charts: Mapping[SourceName, ChartSource]) -> DeclaredUnit:
    """Return a unit with the source, the folder and the values files of its HelmChart, if it has one that is known."""
    chart = charts.get(declared.source) if isinstance(declared.source, SourceName) else None
    release = declared.unit.release
    if chart is None or release is None:
        return declared
    release = replace(release, values=(*chart.values, *release.values))
    return replace(declared, source=chart.source, unit=replace(declared.unit, path=chart.path, release=release))


def join_declarations(parts: Iterable[Declarations]) -> Declarations:
    """Return the objects of several sets of files together."""
    parts = tuple(parts)
    return Declarations(
        units=tuple(chain.from_iterable(part.units for part in parts)),
        repositories={name: url for part in parts for name, url in part.repositories.items()},
        bootstrapped=frozenset().union(*(part.bootstrapped for part in parts)),
        charts={name: chart for part in parts for name, chart in part.charts.items()},
        problems=tuple(chain.from_iterable(part.problems for part in parts)),
        broken=tuple(chain.from_iterable(part.broken for part in parts)),
        is_unknown=any(part.is_unknown for part in parts),
    )
