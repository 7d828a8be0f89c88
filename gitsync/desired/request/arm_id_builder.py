"""Makes the ARM id of a resource from the owner that its manifest names, its name in Azure, and its type
(docs/reference/reconciliation.md#arm-ids).

An id may have a placeholder: a name that is read from a ConfigMap, or the subscription that an alias creates.
`formats.arm_path` reads ids, `validation.name_rules` checks names, and `validation.references` reports invalid owners.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.any_type import allows_scope, decide_scope_flag, split_name
from gitsync.desired.formats.user_names import ANY_HOST, DatabaseUser, format_user
from gitsync.desired.validation.annotations import OVERRIDE
from gitsync.desired.validation.name_rules import choose_default_name, is_one_segment, is_uuid_named
from gitsync.desired.validation.references import add_group, is_arm_id
from gitsync.model.arm_id import GROUP_TYPE, ArmId
from gitsync.model.facts import Kind, Scope, ScopeFlag
from gitsync.model.gvk import Key
from gitsync.model.resource import OwnerRef, Resource
from gitsync.model.template import ComputedValue, ConfigMapKeyRef, RootRef, Text

AzureName = str | ConfigMapKeyRef
IdTemplate = ArmId | Text
ConfigMaps = Mapping[tuple[str, str], Mapping[str, str]]

ALIAS: Final = ("subscription.azure.com", "Alias")

ALIAS_TYPE: Final = "microsoft.subscription/aliases"
_GROUP_TYPE: Final = GROUP_TYPE.casefold()
_DEEPEST: Final = 20  # extensions of extensions; no id in Azure is as deep

# ASO's own, so that both give a manifest the same name
_SEEDS: Final = uuid.UUID("9a329043-7ad7-4b1c-812f-9c7a93d6392a")
_UUID: Final = re.compile(
    r"(?:urn:uuid:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}"
    r"|[0-9a-f]{32}",
    re.IGNORECASE,
)
"""The forms of a UUID that Go's `uuid.Parse` takes."""


def is_alias(owner: Key | None) -> bool:
    """Return whether an owner created a subscription: its children are in that one, not in the run's."""
    return owner is not None and (owner.group, owner.kind) == ALIAS


def place_owner(owner: OwnerRef | None, known_ids: Mapping[Key, ArmId]) -> OwnerRef | None:
    """Add the ARM id of an owner that no manifest declares, if it is known."""
    if owner is None or owner.key is None or owner.key not in known_ids:
        return owner
    return replace(owner, arm_id=known_ids[owner.key])


def find_owner(resource: Resource, kind: Kind) -> OwnerRef | None:
    """Return the owner that a manifest names (docs/reference/reconciliation.md#owner-forms); None for a kind without
    one, or if the form is not valid.
    """
    owner = resource.spec.get("owner")
    if not kind.has_owner or not isinstance(owner, Mapping):
        return None
    name, arm_id = owner.get("name"), owner.get("armId")
    # An expression that is the id of a manifest names it as its owner, just as a reference would.
    if isinstance(arm_id, ComputedValue):
        return OwnerRef(key=arm_id.id_of) if arm_id.id_of and not name else None
    if arm_id:
        return OwnerRef(arm_id=ArmId(arm_id)) if isinstance(arm_id, str) and not name else None
    owner = add_group(owner) if kind.is_any_type else owner
    group, kind_name = kind.owner or (owner.get("group"), owner.get("kind"))
    # Validation reports the form. Here it means only that the owner is not known.
    if not all(isinstance(text, str) and text for text in (group, kind_name, name)):
        return None
    return OwnerRef(key=Key(str(group), str(kind_name), resource.key.namespace, str(name)))


def derive_azure_name(
    resource: Resource, kind: Kind, owner: OwnerRef | None, config_maps: ConfigMaps
) -> AzureName | None:
    """Return the name in Azure, as the id has it (docs/reference/reconciliation.md#azure-names, #uuid-names): a
    placeholder if it is in a ConfigMap that no manifest declares, None if there is none.

    There is none for a derived name without an owner, and for a random name: every run gives a manifest the same name.
    """
    if kind.fixed_azure_name is not None:
        return kind.fixed_azure_name
    if not kind.is_arm:
        return _make_last_step(resource, kind)
    azure_name = resource.spec.get("azureName")
    if azure_name:
        return azure_name if isinstance(azure_name, str) else None
    source = resource.spec.get("azureNameFromConfig")
    if source:
        return _read_config_name(resource.key.namespace, source, config_maps)
    if is_uuid_named(kind):
        return _derive_name(resource, kind, owner)
    return choose_default_name(resource, kind)


def _make_last_step(resource: Resource, kind: Kind) -> str | None:
    """Make the last step of the id of what is not ARM's: that of a group is its manifest, since many groups may have
    one name.
    """
    if not kind.has_owner:
        return f"{resource.key.namespace}.{resource.key.name}"
    name, host = resource.spec.get("azureName") or resource.key.name, resource.spec.get("hostname") or ANY_HOST
    return format_user(DatabaseUser(name, host)) if isinstance(name, str) and isinstance(host, str) else None


def is_named_at_random(resource: Resource, kind: Kind) -> bool:
    """Return whether the manifest sets a random name, which would differ in every run."""
    convention = _find_convention(resource)
    is_random = isinstance(convention, str) and convention.casefold() == "random"
    return is_random and is_uuid_named(kind) and not resource.spec.get("azureName")


def format_seed(key: Key, owner: OwnerRef, *, legacy: bool) -> str:
    """Return the seed of a derived name: "group/kind" of the owner, then "kind/group" of the manifest. The older
    spellings of versions leave out an owner's ARM id, and so make one name for many.
    """
    own = f"{key.kind}/{key.group}:{key.namespace}/{key.name}"
    if owner.key:
        return f"{owner.key.group}/{owner.key.kind}:{key.namespace}/{owner.key.name}:{own}"
    return f"/:{key.namespace}/:{own}" if legacy else f"{owner.arm_id}:{own}"


def _derive_name(resource: Resource, kind: Kind, owner: OwnerRef | None) -> str | None:
    convention = _find_convention(resource)
    # ASO's older spellings of versions take an unknown convention for stable, the newer ones give no name.
    is_stable = not convention or (isinstance(convention, str) and convention.casefold() == "stable")
    if owner is None or is_named_at_random(resource, kind) or not (is_stable or kind.legacy):
        return None
    # ASO takes a name that is a UUID already as it is.
    if _UUID.fullmatch(resource.key.name):
        return resource.key.name
    # An AzureResource has the name that ASO's kind of its type has, so that a change of the kind changes no id.
    key = Key(*kind.rule_key, resource.key.namespace, resource.key.name)
    return str(uuid.uuid5(_SEEDS, format_seed(key, owner, legacy=kind.legacy)))


def _find_convention(resource: Resource) -> Any:
    operator_spec = resource.spec.get("operatorSpec")
    return operator_spec.get("namingConvention") if isinstance(operator_spec, Mapping) else None


def _read_config_name(namespace: str, source: Any, config_maps: ConfigMaps) -> AzureName | None:
    """Read the name from a ConfigMap of the manifests, or return a placeholder."""
    if not isinstance(source, Mapping):
        return None
    name, key = source.get("name"), source.get("key")
    if not (isinstance(name, str) and name and isinstance(key, str) and key):
        return None
    value = config_maps.get((namespace, name), {}).get(key, "")
    return value if value and is_one_segment(value) else ConfigMapKeyRef(name, key)  # `fill` refuses other values


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Standing:
    """A manifest with what its id depends on."""

    resource: Resource
    kind: Kind
    name: AzureName | None  # None if it has none
    owner: OwnerRef | None  # None for kinds without one


class ArmIds:
    """The ids of a set of manifests, each built once. A cycle of owners has no ids.

    `subscription_of` returns None for a manifest without a usable credential: its id cannot be known.
    """

    def __init__(self, standings: Mapping[Key, Standing], subscription_of: Callable[[Resource], str | None]) -> None:
        self._standings = standings
        self._subscription_of = subscription_of
        self._ids: dict[Key, IdTemplate | None] = {}

    def of(self, key: Key, depth: int = 0) -> IdTemplate | None:
        """Return the id of a manifest of the set; None if it has none."""
        # Owners may form a long chain in a hostile source, and Python's stack has an end.
        if depth > _DEEPEST:
            return None
        if key not in self._ids:
            self._ids[key] = None  # a second call while the id is built is a cycle
            standing = self._standings.get(key)
            self._ids[key] = self.make(standing, depth) if standing else None
        return self._ids[key]

    def make(self, standing: Standing, depth: int = 0) -> IdTemplate | None:
        """Make the id of one manifest, which may be another version of one in the set."""
        kind, name = standing.kind, standing.name
        if name is None:
            return None
        if kind.is_any_type:
            return self._make_any(standing, name, depth) if isinstance(name, str) else None
        match kind.scope:
            case Scope.RESOURCE_GROUP:
                return self._extend_owner(standing, name, depth)
            case Scope.LOCATION:
                subscription = self._subscription_of(standing.resource)
                return _join("/subscriptions/", subscription, "/resourceGroups/", name) if subscription else None
            case Scope.TENANT:
                return _join("/providers/", kind.arm_type, "/", name)
            case Scope.EXTENSION:
                parent = self._find_parent(standing.owner, depth)
                return _join(parent, "/providers/", kind.arm_type, "/", name) if parent else None

    def _make_any(self, standing: Standing, name: str, depth: int) -> IdTemplate | None:
        """Make the id of a resource of any type: that of its owner, and the steps that the name gives."""
        kind, owner = standing.kind, standing.owner
        steps = split_name(kind.arm_type, name)
        if steps is None:
            return None
        if owner is None:
            # A child without an owner has no id: the scope above it is not its parent.
            root = self._find_usual_root(standing) if not steps.owner_type else None
            return _join(root, steps.path) if root is not None else None
        if steps.owner_type:
            owner_id, owner_type = self._find_owner_id(owner, depth)
            is_right = owner_id is not None and owner_type.casefold() == steps.owner_type.casefold()
            return _join(owner_id, steps.path) if owner_id is not None and is_right else None
        # A slash alone is the tenant, and its key is empty.
        if owner.arm_id is not None and not owner.arm_id.key:
            return _join(steps.path) if allows_scope(kind, ScopeFlag.TENANT) else None
        parent = self._find_parent(owner, depth)
        is_allowed = parent is not None and (
            not isinstance(parent, ArmId) or allows_scope(kind, decide_scope_flag(parent))
        )
        return _join(parent, steps.path) if parent is not None and is_allowed else None

    def _find_usual_root(self, standing: Standing) -> str | None:
        """The scope of a resource without an owner, where its type leaves no choice; None if it needs one."""
        if standing.kind.scope is Scope.TENANT:
            return ""
        subscription = self._subscription_of(standing.resource) if standing.kind.scope is Scope.LOCATION else None
        return f"/subscriptions/{subscription}" if subscription else None

    def group_above(self, standing: Standing) -> Resource | None:
        """Return the manifest of a resource's group; None if an owner is an ARM id or missing."""
        # Owners may form a circle, and then there is no group.
        for _ in range(_DEEPEST):
            owner = standing.owner
            if standing.kind.scope is not Scope.RESOURCE_GROUP or owner is None or owner.key is None:
                return None
            parent = self._standings.get(owner.key)
            if parent is None or parent.kind.scope is Scope.LOCATION:
                return parent.resource if parent else None
            standing = parent
        return None

    def find_base(self, standing: Standing) -> Resource | None:
        """Return the manifest whose credential decides the subscription in the id of another; None if no credential
        does: the id is in the tenant, or begins with one that is written in a manifest or that Azure makes.
        """
        for _ in range(_DEEPEST):
            if standing.kind.scope is Scope.LOCATION:
                return standing.resource
            parent = self._standings.get(standing.owner.key) if standing.owner and standing.owner.key else None
            # The ids of extension resources of an alias, or of an overridden id, do not begin with their parent's.
            if parent is None or (
                standing.kind.scope is Scope.EXTENSION
                and (_is_alias(parent) or is_arm_id(parent.resource.annotations.get(OVERRIDE, "")))
            ):
                return None
            standing = parent
        return None

    def _find_parent(self, owner: OwnerRef | None, depth: int) -> IdTemplate | None:
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
            return ArmId(override)
        if _is_alias(standing):
            return Text((RootRef(standing.resource.key),))
        return self.of(standing.resource.key, depth + 1)

    def _extend_owner(self, standing: Standing, name: AzureName, depth: int) -> IdTemplate | None:
        """The owner's id as it is, casing included, and then the type and the name that it lacks."""
        owner_id, owner_type = self._find_owner_id(standing.owner, depth)
        steps = _find_steps(standing.kind)
        if owner_id is None or owner_type.casefold() != steps.owner_type:
            return None
        return _join(owner_id, steps.between, name)

    def _find_owner_id(self, owner: OwnerRef | None, depth: int) -> tuple[IdTemplate | None, str]:
        """The id of an owner, None if it has none, and its ARM type (docs/reference/reconciliation.md#owner-type)."""
        if owner is None:
            return None, ""
        if owner.arm_id is not None:
            # People copy ids with a slash at the end, and `//` in a path is another resource.
            root = ArmId(owner.arm_id.rstrip("/"))
            return (root, root.arm_type) if is_arm_id(root) else (None, "")
        standing = self._standings.get(owner.key) if owner.key else None
        if standing is None:
            return None, ""
        return self.of(standing.resource.key, depth + 1), standing.kind.arm_type


class _Steps(NamedTuple):
    """The type of the owner of a kind in a resource group, in lower case, and what is between the id and the name."""

    owner_type: str
    between: str


@cache
def _find_steps(kind: Kind) -> _Steps:
    parent, _, last = kind.arm_type.rpartition("/")
    return (
        _Steps(parent.casefold(), f"/{last}/") if "/" in parent else _Steps(_GROUP_TYPE, f"/providers/{parent}/{last}/")
    )


def _is_alias(standing: Standing) -> bool:
    return standing.kind.arm_type.casefold() == ALIAS_TYPE


@lru_cache(maxsize=1024)
def _make_id(text: str) -> ArmId:
    """Make one value of equal ids: a file may repeat a resource thousands of times."""
    return ArmId(text)


def _join(*parts: IdTemplate | AzureName) -> IdTemplate:
    """Join parts to one id; neighbouring texts become one."""
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) == len(parts):
        return _make_id("".join(texts))  # as most
    joined: list[str | ConfigMapKeyRef | RootRef] = []
    for part in chain.from_iterable(p.parts if isinstance(p, Text) else (p,) for p in parts):
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        else:
            joined.append(part)
    first = joined[0]
    return ArmId(first) if len(joined) == 1 and isinstance(first, str) else Text(tuple(joined))
