"""The ARM id of a resource, built from its name and those of its owners
(docs/reference/reconciliation.md#arm-ids).

An id may have a placeholder: a name that is read from a ConfigMap, or the subscription that an alias creates. Separate
from `formats.arm_path`, which reads ids.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from gitsync.model.facts import Kind, Scope
from gitsync.model.gvk import Key
from gitsync.model.resource import OwnerRef, Resource
from gitsync.model.template import ConfigMapHole, RootHole, Text
from gitsync.request.azure_names import AzureName
from gitsync.validation.annotations import OVERRIDE
from gitsync.validation.references import is_arm_id, parse_arm_type

ArmId = str | Text

_ALIAS_TYPE: Final = "microsoft.subscription/aliases"

_GROUP_TYPE: Final = "microsoft.resources/resourcegroups"
_DEEPEST: Final = 20  # extensions of extensions; no id in Azure is as deep


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A manifest with what its id depends on. `name` is None if it has none."""

    resource: Resource
    kind: Kind
    name: AzureName | None
    owner: OwnerRef | None


@dataclass(frozen=True, slots=True)
class _Chain:
    """The owners up to a root: the id of a resource group, or an id in a manifest. `implied` is the number of type
    segments that the root covers, and `names` are the names below it.
    """

    root: ArmId
    implied: int
    names: tuple[AzureName, ...]


class ArmIds:
    """The ids of a set of manifests, each built once. A cycle of owners has no ids.

    `subscription_of` returns None for a manifest without a usable credential: its id cannot be known.
    """

    def __init__(self, standings: Mapping[Key, Standing], subscription_of: Callable[[Resource], str | None]) -> None:
        self._standings = standings
        self._subscription_of = subscription_of
        self._ids: dict[Key, ArmId | None] = {}

    def of(self, key: Key, depth: int = 0) -> ArmId | None:
        """The id of a manifest of the set; None if it has none."""
        if depth > _DEEPEST:
            return None
        if key not in self._ids:
            self._ids[key] = None  # a second call while the id is built is a cycle
            standing = self._standings.get(key)
            self._ids[key] = self.make(standing, depth) if standing else None
        return self._ids[key]

    def make(self, standing: Standing, depth: int = 0) -> ArmId | None:
        """The id of one manifest, which may be another version of one in the set."""
        kind, name = standing.kind, standing.name
        if name is None:
            return None
        match kind.scope:
            case Scope.LOCATION:
                subscription = self._subscription_of(standing.resource)
                return _join("/subscriptions/", subscription, "/resourceGroups/", name) if subscription else None
            case Scope.TENANT:
                return _join("/providers/", kind.arm_type, "/", name)
            case Scope.EXTENSION:
                parent = self._find_parent(standing.owner, depth)
                return _join(parent, "/providers/", kind.arm_type, "/", name) if parent else None
            case Scope.RESOURCE_GROUP:
                owner_chain = self._build_chain(standing, frozenset())
                return _join_chain(kind.arm_type, owner_chain) if owner_chain else None

    def group_above(self, standing: Standing) -> Resource | None:
        """Return the manifest of a resource's group; None if an owner is an ARM id or missing."""
        for _ in range(_DEEPEST):
            owner = standing.owner
            if standing.kind.scope is not Scope.RESOURCE_GROUP or owner is None or owner.key is None:
                return None
            parent = self._standings.get(owner.key)
            if parent is None or parent.kind.scope is Scope.LOCATION:
                return parent.resource if parent else None
            standing = parent
        return None

    def _find_parent(self, owner: OwnerRef | None, depth: int) -> ArmId | None:
        """The parent of an extension resource."""
        if owner is None:
            return None
        if owner.arm_id is not None:
            return owner.arm_id if is_arm_id(owner.arm_id) else None
        standing = self._standings.get(owner.key) if owner.key else None
        if standing is None:
            return None
        override = standing.resource.annotations.get(OVERRIDE, "")
        if is_arm_id(override):
            return override
        if standing.kind.arm_type.casefold() == _ALIAS_TYPE:
            return Text((RootHole(standing.resource.key),))
        return self.of(standing.resource.key, depth + 1)

    def _build_chain(self, standing: Standing, seen: frozenset[Key]) -> _Chain | None:
        owner, key = standing.owner, standing.resource.key
        if owner is None or standing.name is None or key in seen:
            return None
        if owner.arm_id is not None:
            root = owner.arm_id.rstrip("/")
            implied = _count_implied(root, standing.kind)
            return _Chain(root, implied, (standing.name,)) if implied is not None else None
        parent = self._standings.get(owner.key) if owner.key else None
        if parent is None:
            return None
        if parent.kind.scope is Scope.LOCATION:
            group = self.of(parent.resource.key)
            return _Chain(group, 0, (standing.name,)) if group else None
        owner_chain = self._build_chain(parent, seen | {key})
        return (
            _Chain(owner_chain.root, owner_chain.implied, (*owner_chain.names, standing.name)) if owner_chain else None
        )


def _count_implied(arm_id: str, kind: Kind) -> int | None:
    """Return how many of a kind's type segments an owner's ARM id covers; None if it cannot own that kind
    (docs/reference/reconciliation.md#owner-type).
    """
    if not is_arm_id(arm_id):
        return None
    parent = kind.arm_type.rpartition("/")[0]
    has_parent = "/" in parent
    parent_type = parent.casefold() if has_parent else _GROUP_TYPE
    return parent.count("/") if parse_arm_type(arm_id).casefold() == parent_type else None


def _join_chain(arm_type: str, owner_chain: _Chain) -> ArmId | None:
    provider, *segments = arm_type.split("/")
    own_segments = segments[owner_chain.implied :]
    if len(own_segments) != len(owner_chain.names):
        return None
    pairs = chain.from_iterable(
        ("/", segment, "/", name) for segment, name in zip(own_segments, owner_chain.names, strict=True)
    )
    return _join(owner_chain.root, *(() if owner_chain.implied else ("/providers/", provider)), *pairs)


def _join(*parts: ArmId | AzureName) -> ArmId:
    """Join parts to one id; neighbouring texts become one."""
    joined: list[str | ConfigMapHole | RootHole] = []
    for part in chain.from_iterable(p.parts if isinstance(p, Text) else (p,) for p in parts):
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        else:
            joined.append(part)
    first = joined[0]
    return first if len(joined) == 1 and isinstance(first, str) else Text(tuple(joined))
