"""A resource as its manifest declares it, and as it is prepared for a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import GVK, Key
from gitsync.model.hold import HeldUntil
from gitsync.model.lines import Lines, Step
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.provider import Provider
from gitsync.model.reconcile_policy import Policy
from gitsync.model.template import UNREADABLE, ComputedValue, Template
from gitsync.model.unit import Unit

WAITING = frozenset(
    {
        "CredentialNotUsable",
        "MissingField",
        "OwnerNotFound",
        "OwnerUnresolved",
        "ParentSubscription",
        "ReferenceNotFound",
        "ReferenceUnresolved",
        *UNREADABLE,
    }
)
"""Codes of problems that end when something outside the manifest exists. They are warnings for a resource that waits
for it: in a unit that waits for owners, if CAPZ manages it, and if the manifest that it needs cannot be read.
"""


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class OwnerRef:
    """The owner of a resource: another manifest, or a resource in Azure by its id.

    Both are set if no manifest of the source has the key, but a record elsewhere has its id.
    """

    key: Key | None = None
    arm_id: ArmId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """A CAPZ object that has a manifest in it. CAPZ applies the manifest in its own cluster: once, or for each cluster
    that it creates from a template.
    """

    kind: str
    is_template: bool = False


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Resource:
    """One manifest of an ASO kind."""

    key: Key
    gvk: GVK
    spec: Mapping[str, Any]
    source: SourceLocation
    others: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The fields next to its spec that gitsync does not read: those that clusters write, and misplaced ones."""

    annotations: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    lines: Lines | None = field(default=None, compare=False, repr=False)
    """The line of each field, None if they are not known."""

    patched: Mapping[tuple[Step, ...], SourceLocation] = field(default_factory=dict, compare=False, repr=False)
    """The locations of fields that something in another file has set: a patch, or a default tag."""

    default_tags: frozenset[tuple[Step, ...]] = field(default=frozenset(), compare=False, repr=False)
    """The fields of `patched` that are default tags: the manifest does not have them."""

    problems: tuple[Problem, ...] = ()  # those of reading it: a duplicate key, an annotation that is not text
    unit: Unit | None = None  # None for the folder of its file
    wrapper: Wrapper | None = None  # the CAPZ object that contains it; None for a document
    renamed_from: str = ""  # the name in its file, if a build changed it; "" otherwise

    @property
    def rendered_by(self) -> str:
        """The name of the unit that rendered it; "" if it is a document of its file."""
        return self.unit.name if self.unit and self.unit.renders else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """What a resource has to do with others."""

    owner: OwnerRef | None = None  # None for kinds without one
    depends_on: tuple[Key, ...] = ()
    """The manifests of the same set that must come first (owner, references, producers of values), sorted."""

    ordered_after: tuple[Key, ...] = ()  # those of `depends_on` that only the order of units and waves puts first
    named_first: tuple[Key, ...] = ()  # those of `depends_on` that the annotation `gitsync/depends-on` names
    written_by: Key | None = None
    """Another manifest of the same resource in Azure, which writes it; None if this one does."""

    computed: tuple[ComputedValue, ...] = ()  # the values that expressions compute, also those that make its id
    told: tuple[tuple[str, str], ...] = ()
    """Values of other manifests by which fields are handed over to Azure (`catalog.handed_over`), by name."""


NO_RELATIONS: Final = Relations()


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Prepared:
    """A resource made ready for ARM."""

    resource: Resource
    policy: Policy
    arm_id: ArmId | None  # None if it is not known
    api_version: str | None  # ARM's; None if the kind is unknown
    template: Template | None
    """None if no request can be built: an owner or a reference is missing, or the kind is unknown."""

    relations: Relations = NO_RELATIONS
    problems: tuple[Problem, ...] = ()  # every problem of this resource, errors and warnings
    ignored: tuple[tuple[str, ...], ...] = ()
    """The paths of the body that gitsync ignores today, as steps (`formats.ignored_paths`)."""

    hold: HeldUntil | None = None  # of the manifest, if it applies today
    credential: str = ""  # the Secret of its namespace that it is reconciled with; "" for the global credential
    id_doubt: str = ""
    """Why a plan does not have the subscription: `arm_id` is then None, and the template has the known part of the id.
    """

    is_watched: bool = False  # it is outside the run, and only read because another resource needs it
    policy_reason: str = ""  # a sentence with the origin of the policy, "" if it is the manifest or its namespace
    provider: Provider = Provider.ARM

    @property
    def key(self) -> Key:
        return self.resource.key

    @property
    def is_valid(self) -> bool:
        if not self.problems:
            return self.template is not None  # the usual case
        return self.template is not None and not any(p.is_error and p.invalidates for p in self.problems)

    @property
    def is_waiting(self) -> bool:
        """Return whether a request is only prevented by something that is missing outside the manifest, for which the
        resource waits.
        """
        if self.template is not None or any(problem.is_error and problem.invalidates for problem in self.problems):
            return False
        return any(problem.code in WAITING for problem in self.problems)

    @property
    def is_left_to_capz(self) -> bool:
        """Return whether CAPZ manages it, so that gitsync only reads it."""
        return self.resource.wrapper is not None and not self.policy.allows_modify

    @property
    def is_written(self) -> bool:
        """Return whether gitsync may write the resource because of this manifest."""
        return self.policy.allows_modify and self.relations.written_by is None
