"""A unit: the part of a source that is built on its own, and the options that it is read with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gitsync.model.secret import Secret
from gitsync.model.unit_kind import UnitKind, UnitTraits
from gitsync.model.variables import VariableFault


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuesReference:
    """A Secret or ConfigMap whose keys are variables."""

    kind: str  # "Secret" or "ConfigMap"
    namespace: str
    name: str
    optional: bool = False  # the object may be missing
    cluster_folder: str = ""
    keys: tuple[tuple[str, str], ...] = ()  # if set, only these are variables, as pairs (variable, key)

    def find_keys(self, names: Iterable[str]) -> Mapping[str, str]:
        """Return the keys of some variables, by the names of the variables."""
        keys = dict(self.keys)
        return {name: keys[name] for name in names if name in keys} if keys else {name: name for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Substitution:
    """The variables of a unit."""

    values: Mapping[str, str | Secret] = field(default_factory=dict)  # override those of `references`
    references: tuple[ValuesReference, ...] = ()  # a later one overrides an earlier one
    labels: Mapping[str, str] = field(default_factory=dict)
    """If set, only these are variables, each with its name in messages; all other texts stay as they are."""

    missing: Mapping[str, VariableFault] = field(default_factory=dict, compare=False)
    """Those of `values` that refer to a missing variable; the fault has the hint."""

    takes_braceless: bool = False  # `$NAME` is replaced too, as envsubst does


@dataclass(frozen=True, slots=True, kw_only=True)
class SetValue:
    """One value of a chart."""

    path: str  # such as `a.b[0].c`
    text: str  # parsed as a number or a boolean where possible, unless it `is_text`
    is_text: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuesKey:
    """One key of a Secret or ConfigMap with values of a chart."""

    reference: ValuesReference
    key: str = "values.yaml"
    path: str = ""  # the path of the value that the key has; "" if the key has YAML with any values
    fault: str = ""  # why it is not known, "" if it is


ChartValues = str | SetValue | ValuesKey | Mapping[str, Any]
"""Some values of a chart: the path of a file in the source, one value, a key of an object, or a mapping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRelease:
    """How a chart is rendered."""

    name: str = ""  # of the release, "" for the name of the chart
    namespace: str = ""  # of the release
    values: tuple[ChartValues, ...] = ()  # later ones override earlier ones
    kubernetes: tuple[str, ...] = ()  # the Kubernetes version and the API versions that the chart can query
    changes: Mapping[str, Any] = field(default_factory=dict)  # fields of a kustomization around the result


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitOptions:
    """How a unit is read."""

    is_restricted: bool | None = None
    """Keeps kustomize to files below each kustomization; None lets it read others, with a warning."""

    release: ChartRelease = field(default_factory=ChartRelease)  # how charts are rendered
    is_published: bool = False
    """The charts are also in a Helm repository or a registry, from which controller objects use them."""

    substitution: Substitution | None = None  # None if variables are not replaced
    waits_for_owners: bool = False  # reports a resource whose owner is missing as waiting, not as failed
    migrates_versions: bool = False  # reads versions that ASO removed as later ones
    manages_capz: bool = False  # writes the manifests in CAPZ objects like any others


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSelection:
    """The files of a folder that are read as manifests."""

    recurses: bool = False  # files in folders below count too
    include: str = ""  # a glob that a file must match, "" for any
    exclude: str = ""  # a glob that a file must not match, "" for none


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectSettings:
    """What an object of a controller states about its unit. The defaults are those of a unit without an object."""

    cluster_folder: str = ""  # the folder where following started
    changes: Mapping[str, Any] = field(default_factory=dict)  # fields that override those of the folder's kustomization
    selection: FileSelection | None = None  # the files that are read as they are, None if the folder is built
    depends_on: tuple[str, ...] = ()  # the names of the units that come first
    waves: tuple[tuple[str, int], ...] = ()
    """The units that led to this one, outermost first, each with its position in the order there."""

    prunes: bool = True  # a resource that is removed from the unit may be deleted
    cascades: bool = True  # so may all its resources if the object itself is removed
    is_suspended: bool = False  # its resources are not written or deleted
    refusal: str = ""  # why it is not built, "" if it is


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A part of a source that is built on its own."""

    name: str
    """Its name in records and messages: for a folder or a kustomization its folder ("." at the root), for a controller
    object the folder where following started, its namespace and its name.
    """

    path: str  # the folder that is built, "" at the root
    kind: UnitKind = UnitKind.FOLDER

    file: str = ""  # the file that declares it, "" for a plain folder
    line: int = 0  # the line of that file, 0 for a file that is about nothing else
    options: UnitOptions = field(default_factory=UnitOptions)

    release: ChartRelease | None = None  # how its chart is rendered, None if its folder is not a chart
    namespace: str = ""  # the namespace of manifests without one
    is_named: bool = False  # gitsync.yaml names it, or the run is about a chart alone
    settings: ObjectSettings = ObjectSettings()  # what the object that declares it states
    contents: Mapping[str, bytes] = field(default_factory=dict, compare=False, repr=False)
    """The files that it was built from, by path. Secrets may be among them."""

    @property
    def traits(self) -> UnitTraits:
        """What is true of all units of its kind."""
        return self.kind.value

    @property
    def is_chart(self) -> bool:
        """Return whether its folder is a chart, which is rendered: an Application may be one too."""
        return self.release is not None

    @property
    def takes_given_variables(self) -> bool:
        """Return whether the operator's variables apply: not where a controller replaces them, and not to a chart."""
        return not self.traits.substitutes and not self.is_chart

    @property
    def title(self) -> str:
        """The title in messages: the kind of its object, if it has one, and its name."""
        return f"{self.declared_by} {self.name}" if self.declared_by else self.name

    @property
    def declared_by(self) -> str:
        """The kind of the controller object that declares it, "" for none."""
        return self.traits.declared_by

    @property
    def is_declared(self) -> bool:
        """Return whether a controller object declares it."""
        return bool(self.declared_by)

    @property
    def renders(self) -> bool:
        """Return whether its manifests are rendered from its files, not read as they are."""
        return self.traits.is_built and self.settings.selection is None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitEntry:
    """A unit in the source's gitsync.yaml. The options also apply to units below its path without a nearer entry."""

    path: str
    kind: UnitKind | None = None  # None if gitsync detects it
    options: UnitOptions = field(default_factory=UnitOptions)
    line: int = 0  # of gitsync.yaml
