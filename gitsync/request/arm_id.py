"""The ARM id of a resource, made of the names along its owners
(docs/reference/reconciliation.md#arm-ids).

An id may have a placeholder: a name that is read from a ConfigMap, or the subscription that an alias makes. Ids as
paths are formats/arm_path; here they are built.
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
_DEEPEST: Final = 20  # extensions of extensions; no id of Azure is as deep


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A manifest with what its id depends on. `name` is None where it has none."""

    resource: Resource
    kind: Kind
    name: AzureName | None
    owner: OwnerRef | None


@dataclass(frozen=True, slots=True)
class _Chain:
    """The owners up to where they are rooted: the id of a resource group, or one that a manifest gives; how many type
    segments this id stands for; and the names from there on.
    """

    root: ArmId
    implied: int
    names: tuple[AzureName, ...]


class ArmIds:
    """The ids of a set of manifests, each made once. A cycle of owners gives no ids.

    `subscription_of` gives None for a manifest without a usable credential: its id cannot be known.
    """

    def __init__(self, standings: Mapping[Key, Standing], subscription_of: Callable[[Resource], str | None]) -> None:
        self._standings = standings
        self._subscription_of = subscription_of
        self._made: dict[Key, ArmId | None] = {}

    def of(self, key: Key, depth: int = 0) -> ArmId | None:
        """The id of a manifest of the set; None where it has none."""
        if depth > _DEEPEST:
            return None
        if key not in self._made:
            self._made[key] = None  # what is asked for again while it is made stands in a cycle
            standing = self._standings.get(key)
            self._made[key] = self.make(standing, depth) if standing else None
        return self._made[key]

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
                parent = self._parent(standing.owner, depth)
                return _join(parent, "/providers/", kind.arm_type, "/", name) if parent else None
            case Scope.RESOURCE_GROUP:
                found = self._chain(standing, frozenset())
                return _from_chain(kind.arm_type, found) if found else None

    def group_above(self, standing: Standing) -> Resource | None:
        """The manifest of the resource group that one is rooted in; None where an ARM id is its root, or nothing."""
        for _ in range(_DEEPEST):
            owner = standing.owner
            if standing.kind.scope is not Scope.RESOURCE_GROUP or owner is None or owner.key is None:
                return None
            above = self._standings.get(owner.key)
            if above is None or above.kind.scope is Scope.LOCATION:
                return above.resource if above else None
            standing = above
        return None

    def _parent(self, owner: OwnerRef | None, depth: int) -> ArmId | None:
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

    def _chain(self, standing: Standing, seen: frozenset[Key]) -> _Chain | None:
        owner, key = standing.owner, standing.resource.key
        if owner is None or standing.name is None or key in seen:
            return None
        if owner.arm_id is not None:
            root = owner.arm_id.rstrip("/")
            implied = _implied(root, standing.kind)
            return _Chain(root, implied, (standing.name,)) if implied is not None else None
        above = self._standings.get(owner.key) if owner.key else None
        if above is None:
            return None
        if above.kind.scope is Scope.LOCATION:
            group = self.of(above.resource.key)
            return _Chain(group, 0, (standing.name,)) if group else None
        found = self._chain(above, seen | {key})
        return _Chain(found.root, found.implied, (*found.names, standing.name)) if found else None


def _implied(arm_id: str, kind: Kind) -> int | None:
    """How many of a kind's type segments an owner's ARM id stands for; None where it cannot own it
    (docs/reference/reconciliation.md#owner-type).
    """
    if not is_arm_id(arm_id):
        return None
    parent = kind.arm_type.rpartition("/")[0]
    has_parent = "/" in parent
    wanted = parent.casefold() if has_parent else _GROUP_TYPE
    return parent.count("/") if parse_arm_type(arm_id).casefold() == wanted else None


def _from_chain(arm_type: str, found: _Chain) -> ArmId | None:
    provider, *segments = arm_type.split("/")
    own = segments[found.implied :]
    if len(own) != len(found.names):
        return None
    pairs = chain.from_iterable(("/", segment, "/", name) for segment, name in zip(own, found.names, strict=True))
    return _join(found.root, *(() if found.implied else ("/providers/", provider)), *pairs)


def _join(*parts: ArmId | AzureName) -> ArmId:
    """One id of its parts, with neighbouring texts put together."""
    joined: list[str | ConfigMapHole | RootHole] = []
    for part in chain.from_iterable(p.parts if isinstance(p, Text) else (p,) for p in parts):
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        else:
            joined.append(part)
    only = joined[0]
    return only if len(joined) == 1 and isinstance(only, str) else Text(tuple(joined))
