"""A unit: the part of a source that is built on its own, and the options that it is read with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from gitsync.model.secret import Secret
from gitsync.model.variables import VariableFault


class UnitKind(StrEnum):
    """How the manifests of a unit are made of its files."""

    FOLDER = "folder"
    KUSTOMIZATION = "kustomization"
    CHART = "chart"
    FLUX = "flux"
    APPLICATION = "application"
    HELM_RELEASE = "helm-release"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuesReference:
    """A Secret or ConfigMap (`kind`) whose keys are variables; with `keys`, only those are, each with a variable's name
    before it. One that is `optional` may be missing. `home` is the folder of the cluster that it is in.
    """

    kind: str
    namespace: str
    name: str
    optional: bool = False
    home: str = ""
    keys: tuple[tuple[str, str], ...] = ()

    def find_keys(self, names: Iterable[str]) -> Mapping[str, str]:
        """The keys that some variables stand for, by the names of those."""
        keys = dict(self.keys)
        return {name: keys[name] for name in names if name in keys} if keys else {name: name for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Substitution:
    """The variables of a unit. `values` override those of `references`, of which a later one overrides an earlier. With
    `labels`, only these are variables, each with what messages call it; all other texts stay as they are.
    `takes_braceless` replaces `$NAME` too, as envsubst does. `missing` are those of `values` that lack another
    variable.
    """

    values: Mapping[str, str | Secret] = field(default_factory=dict)
    references: tuple[ValuesReference, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, VariableFault] = field(default_factory=dict, compare=False)  # where it is reported how to fix it
    takes_braceless: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SetValue:
    """One value of a chart, at a path such as `a.b[0].c`. `text` is read as a number or a boolean if it is one, unless
    it `is_text`.
    """

    path: str
    text: str
    is_text: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuesKey:
    """One key of a Secret or ConfigMap: a text in YAML with values of a chart, or the value at `path`, if it has one.
    `fault` explains why it is not known.
    """

    reference: ValuesReference
    key: str = "values.yaml"
    path: str = ""
    fault: str = ""


ChartValues = str | SetValue | ValuesKey | Mapping[str, Any]
"""Some values of a chart: the path of a file in the source, one value, a key of an object, or a mapping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRelease:
    """How a chart is rendered. `name` is that of the release, "" for the name of the chart, and `namespace` that of the
    release. Later `values` override earlier ones. `kubernetes` has the version of
    Kubernetes and the API versions that the chart may request. `changes` are fields of a kustomization around the
    result.
    """

    name: str = ""
    namespace: str = ""
    values: tuple[ChartValues, ...] = ()
    kubernetes: tuple[str, ...] = ()
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitOptions:
    """How a unit is read.

    `substitution` is None if variables are left as they are. `waits_for_owners` reports a resource whose owner is
    missing as waiting, not as failed. `migrates_versions` reads versions that ASO removed as later ones.
    `is_restricted` keeps kustomize to files below each kustomization; None lets it read others, with a warning.
    `release` is how charts are rendered. `is_published` shows that the charts are also in a Helm repository or a
    registry, from where objects of controllers take them. `manages_capz` writes what objects of CAPZ have inside, as if
    it were a manifest of its own.
    """

    is_restricted: bool | None = None
    release: ChartRelease = field(default_factory=ChartRelease)
    is_published: bool = False
    substitution: Substitution | None = None
    waits_for_owners: bool = False
    migrates_versions: bool = False
    manages_capz: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSelection:
    """The files of a folder that are manifests as they are: all that match `include` and not `exclude`, globs or ""."""

    recurses: bool = False
    include: str = ""
    exclude: str = ""


DECLARERS: Final = {
    UnitKind.FLUX: "Kustomization",
    UnitKind.HELM_RELEASE: "HelmRelease",
    UnitKind.APPLICATION: "Application",
}
"""The kind of the objects that declare units of each kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """`name` is what records and messages call it: for a folder or a kustomization its folder ("." at the root), for
    an object of a controller the folder where following began, its namespace and its name. `path` is the folder that is
    built ("" at the root), and `file` the file that declares the unit, in `line`, "" for a plain folder. `contents` are
    the files that it was built of, by path. `is_named` reports that gitsync.yaml names the unit itself, or that
    the run is about a chart alone. `release` shows how a chart is rendered, None if the folder is not one.

    The others are settings of an object of a controller. `home` is the folder where following began. `changes` are
    fields that go over those of the folder's kustomization; with a `selection`, the files are read as they are instead.
    `namespace` is that of manifests that name none. `depends_on` are the names of units that come first, and `waves`
    those of the units that led to it, outermost first, each with its location in the order there. What a unit no longer
    contains is kept unless it `prunes`, and what was in it when its object was removed, unless it `cascades`. A unit
    with a `refusal` is not built, and one that is suspended is not written.
    """

    name: str
    path: str
    kind: UnitKind = UnitKind.FOLDER
    file: str = ""
    line: int = 0
    options: UnitOptions = field(default_factory=UnitOptions)
    home: str = ""
    release: ChartRelease | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    depends_on: tuple[str, ...] = ()
    waves: tuple[tuple[str, int], ...] = ()
    selection: FileSelection | None = None
    namespace: str = ""
    refusal: str = ""
    prunes: bool = True
    cascades: bool = True
    is_suspended: bool = False
    is_named: bool = False
    contents: Mapping[str, bytes] = field(default_factory=dict, compare=False, repr=False)  # a Secret may be among them

    @property
    def takes_given_variables(self) -> bool:
        """Return whether variables that the operator gives count: not for a unit of Flux, and not for a chart."""
        return self.kind is not UnitKind.FLUX and self.release is None

    @property
    def title(self) -> str:
        """What messages call it: the kind of its object, if it has one, and its name."""
        return f"{self.declared_by} {self.name}" if self.declared_by else self.name

    @property
    def declared_by(self) -> str:
        """The kind of the object of a controller that declares it, "" if none does."""
        return DECLARERS.get(self.kind, "")

    @property
    def is_declared(self) -> bool:
        """Return whether an object of a controller declares it."""
        return bool(self.declared_by)

    @property
    def renders(self) -> bool:
        """Return whether its manifests are made of its files, and not read as they are."""
        return self.kind is not UnitKind.FOLDER and self.selection is None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitEntry:
    """A unit that the source names in its gitsync.yaml, in this line. The options are also those of every unit below
    its path that has no nearer entry. `kind` is None if gitsync finds it by itself.
    """

    path: str
    kind: UnitKind | None = None
    options: UnitOptions = field(default_factory=UnitOptions)
    line: int = 0
