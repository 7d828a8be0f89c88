"""A request with placeholders: what a manifest requests from ARM before the values that it references are known.

Separate from the filled request, because `render` fills placeholders with descriptions and a run fills them with values
(docs/reference/design.md#prepare-and-fill). A placeholder may be anywhere in a body. In an ARM id, only values of
ConfigMaps and the start of the id can be unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.secret import Placeholder


@dataclass(frozen=True, slots=True)
class ResourceRef:
    """The ARM id of another manifest."""

    key: Key


@dataclass(frozen=True, slots=True)
class SecretKeyRef:
    """One key of a Secret in the manifest's namespace."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class SecretMapRef:
    """A complete Secret, as a mapping."""

    name: str


@dataclass(frozen=True, slots=True)
class ConfigMapKeyRef:
    """One key of a ConfigMap in the manifest's namespace."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class RootRef:
    """The start of the ids of an alias's extension resources: the subscription that the alias created, which only Azure
    has. It occurs in ids only. The manifest of the alias is the owner, which comes first in any case.
    """

    key: Key


WAITING_FOR_VALUE: Final = "WaitingForValue"
"""The reason of a resource whose computed value cannot be had: it is never sent empty."""

WAITING_FOR_UNIT: Final = "WaitingForUnit"
"""The reason of a resource that names another one, which only a unit that cannot be built may declare."""

UNREADABLE: Final = frozenset({WAITING_FOR_UNIT, WAITING_FOR_VALUE})
"""The reasons of resources that need something of a manifest that cannot be read."""


class ComputedValue(Placeholder):
    """The value that a CEL expression computes from other resources (docs/values.md).

    A placeholder already in the spec of its manifest, where an annotation has set it: checks of the spec do not look at
    it, and the conversion takes it over into the body.
    """

    __slots__ = ("choices", "field", "id_of", "is_required", "known_ids", "reads", "shape", "sources")

    def __init__(  # noqa: PLR0913 - each is a fact about the expression
        self,
        expression: str,
        *,
        field: str,
        sources: Mapping[str, Key],
        known_ids: Mapping[Key, ArmId] | None = None,
        id_of: Key | None = None,
        reads: frozenset[Key] = frozenset(),
        shape: str = "",
        choices: Sequence[str] = (),
        is_required: bool = False,
    ) -> None:
        super().__init__(expression, why="an expression computes it", is_public=True)
        self.field = field  # as messages show it
        self.sources = sources  # the resources that it needs, by their names in the expression
        self.known_ids = known_ids or {}  # the ids of those that other sources declare
        self.id_of = id_of  # the resource whose ARM id it is, if it is nothing else
        self.reads = reads  # those of `sources` of which it needs more than id and name
        self.shape = shape  # the name of the type that the field has; empty for any
        self.choices = choices  # the words that the field may have; empty for any text
        self.is_required = is_required  # so that null cannot leave the field out

    @property
    def expression(self) -> str:
        return self.reveal()


class AwaitedValue(Placeholder):
    """What an expression gives after a sync: in a plan, a resource that it reads is still to be written."""

    __slots__ = ()


class UnreadValue(Placeholder):
    """What could not be had of a resource. Unlike a value that Azure does not show, no expression may leave it out."""

    __slots__ = ()


ValueRef = ResourceRef | SecretKeyRef | SecretMapRef | ConfigMapKeyRef | ComputedValue


@dataclass(frozen=True, slots=True)
class Text:
    """A string with placeholders in it, in order."""

    parts: tuple[str | ConfigMapKeyRef | RootRef, ...]


@dataclass(frozen=True, slots=True)
class ReferenceKeys:
    """A map whose keys are ARM ids and whose values are empty objects (identity.userAssignedIdentities)."""

    references: tuple[str | ValueRef, ...]


Gap = ValueRef | Text | ReferenceKeys
"""What a body may have in place of plain JSON."""


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Template:
    """ARM id, api-version and PUT body with placeholders."""

    arm_id: ArmId | Text
    api_version: str
    body: Mapping[str, Any]  # plain JSON except for its placeholders
    gaps: tuple[Gap, ...] = field(init=False, compare=False, repr=False)
    """The placeholders of the body, found once, since each stage of a run needs them."""

    def __post_init__(self) -> None:
        self.gaps = tuple(collect_gaps(self.body))

    @property
    def is_plain(self) -> bool:
        """Return whether there is nothing to fill."""
        return not self.gaps and isinstance(self.arm_id, str)


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Request:
    """A filled template: what is sent."""

    arm_id: ArmId
    api_version: str
    body: Mapping[str, Any]  # secrets in it are `Secret` values until they are serialised


def list_computed_values(template: Template) -> tuple[ComputedValue, ...]:
    """List the values of a body that expressions compute, in order."""
    return tuple(gap for gap in template.gaps if isinstance(gap, ComputedValue))


_GAPS = get_args(Gap)


def collect_gaps(value: Any) -> list[Gap]:
    """Collect every part of a body that is not plain JSON, in order."""
    gaps: list[Gap] = []
    _collect_gaps(value, gaps)
    return gaps


def _collect_gaps(value: Any, gaps: list[Gap]) -> None:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if members is not None:
        for member in members:
            if not isinstance(member, str):  # most are
                _collect_gaps(member, gaps)
    elif isinstance(value, _GAPS):
        gaps.append(value)
