"""The estate that a rebuild from git creates: what it writes, what it leaves to others, and the dependencies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from gitsync.agent.run.prepared_manifests import PLACEHOLDER_SUBSCRIPTION
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.spec_visitor import Visit
from gitsync.desired.problems.field_path import FieldPath
from gitsync.desired.validation.references import REFERENCES
from gitsync.model.arm_id import NO_ID, ArmId, IdKey
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared
from gitsync.workflows.rehearsal.body_visits import visit_values

_GROUP_FIELDS = frozenset({"infrastructureResourceGroup", "managedResourceGroupName", "nodeResourceGroup"})
_WATCHERS = "networkwatcherrg"  # Azure makes it with the first network of a region
_CLUSTER = "microsoft.containerservice/managedclusters"
_DEFAULT = "default"
_AZURES_OWN = ("/locations/", "/providers/microsoft.authorization/")
"""Parts of subscription-level ids without a resource group: what Azure has by itself, such as built-in roles."""


class RebuiltResource(NamedTuple):
    """A resource that a rebuild writes, its kind, and the values of its spec."""

    prepared: Prepared
    kind: Kind
    visits: list[Visit]

    @property
    def key(self) -> Key:
        return self.prepared.key

    @property
    def body(self) -> Mapping[str, Any]:
        return self.prepared.template.body if self.prepared.template else {}

    def list_texts(self) -> Iterator[tuple[FieldPath, str, Visit]]:
        """List the texts of all named fields, with path and mapping, without references and secrets."""
        for visit in self.visits:
            if visit.shape == "mapping" and visit.fits and visit.name not in REFERENCES:
                for name, value in visit.present.items():
                    if isinstance(value, str):
                        yield (*visit.path, name), value, visit


class Rebuild:
    """The manifests of a run, with the lookups that the search for gaps needs."""

    def __init__(self, prepared: Iterable[Prepared], catalog: Catalog) -> None:
        self.prepared = tuple(sorted(prepared, key=lambda entry: (entry.key, entry.resource.source)))
        self.catalog = catalog
        self.by_key = {resource.key: resource for resource in self.prepared}

    @cached_property
    def members(self) -> tuple[RebuiltResource, ...]:
        """What a rebuild writes, sorted by key."""
        written = [resource for resource in self.prepared if resource.is_written and not resource.is_watched]
        kinds = [(prepared, self.catalog.kind_of(prepared.resource)) for prepared in written]
        return tuple(
            RebuiltResource(prepared, kind, visit_values(kind, prepared.resource))
            for prepared, kind in kinds
            if kind is not None
        )

    @cached_property
    def subscriptions(self) -> frozenset[str]:
        """The subscriptions that a rebuild fills, in lower case."""
        return frozenset(
            ((resource.prepared.arm_id or NO_ID).subscription or "").casefold() for resource in self.members
        ) - {""}

    @cached_property
    def written_ids(self) -> Mapping[IdKey, RebuiltResource]:
        """What a rebuild writes, by its ARM id as `locate` returns it."""
        return {
            self.locate(resource.prepared.arm_id): resource for resource in self.members if resource.prepared.arm_id
        }

    def locate(self, arm_id: ArmId) -> IdKey:
        """Return the key by which an id is looked up. Without a configured subscription, every id counts as one of
        the rebuilt subscription.
        """
        # Manifests have ids of today's subscription, while their own are of the placeholder.
        if PLACEHOLDER_SUBSCRIPTION not in self.subscriptions or arm_id.subscription is None:
            return arm_id.key
        return IdKey("/".join(("/subscriptions", PLACEHOLDER_SUBSCRIPTION, *arm_id.key.split("/")[3:])))

    def is_elsewhere(self, arm_id: ArmId) -> bool:
        """Return whether an id is in a subscription that a rebuild does not fill."""
        subscription = ArmId(self.locate(arm_id)).subscription
        return subscription is not None and subscription not in self.subscriptions

    def outlives(self, arm_id: ArmId) -> bool:
        """Return whether a resource exists even in an empty subscription: it is in another one or in the tenant, or
        Azure has it by itself.
        """
        path = arm_id.key
        # Two slashes: the subscription itself.
        if not path.startswith("/subscriptions/") or path.count("/") == 2 or self.is_elsewhere(arm_id):
            return True
        return "/resourcegroups/" not in path and any(part in path for part in _AZURES_OWN)

    @cached_property
    def _by_path(self) -> Mapping[str, RebuiltResource]:
        return {_cut_subscription(arm_id): resource for arm_id, resource in self.written_ids.items()}

    def find_twin(self, arm_id: ArmId) -> RebuiltResource | None:
        """Find the resource that a rebuild writes at the path of an id from another subscription, or the nearest one
        above that path; None for any other id.
        """
        if not self.is_elsewhere(arm_id):
            return None
        full_id, *above = map(_cut_subscription, arm_id.lineage)
        paths = [
            path
            for path in (full_id, *(ancestor for ancestor in above if "/providers/" in ancestor))
            if path in self._by_path
        ]
        return self._by_path[paths[0]] if paths else None

    def makes(self, resource: Prepared) -> bool:
        """Return whether a resource exists after a rebuild: a manifest writes it, or it comes with another resource."""
        if resource.is_written and not resource.is_watched:
            return True
        return resource.arm_id is not None and (
            self.locate(resource.arm_id) in self.written_ids or self.comes_along(resource.arm_id)
        )

    def comes_along(self, arm_id: ArmId) -> bool:
        """Return whether Azure creates a resource together with one that a rebuild writes: as part of its body, as its
        default child, or in the resource group of its nodes.
        """
        group = (arm_id.resource_group or "").casefold()
        if group == _WATCHERS or group in self._made_groups:
            return True
        own, *parents = ArmId(self.locate(arm_id)).lineage
        above = next((path for path in (own, *parents) if path in self.written_ids), None)
        if above is None or above == own or "/providers/" not in above:
            return False
        group_kind, (type_name, name) = (
            self.catalog.group_kind_of(arm_id.arm_type),
            arm_id.rstrip("/").split("/")[-2:],
        )
        # A type with an ASO kind needs a manifest of its own, unless it is in the body of its parent.
        return group_kind is None or name == _DEFAULT or _has_entry(self.written_ids[above].body, type_name, name)

    @cached_property
    def _made_groups(self) -> frozenset[str]:
        """The resource groups that Azure creates for resources of the estate, in lower case."""
        groups = set[str]()
        for arm_id, member in self.written_ids.items():
            properties = member.body.get("properties")
            named = properties if isinstance(properties, Mapping) else {}
            groups.update(text.casefold() for field in _GROUP_FIELDS if isinstance(text := named.get(field), str))
            if ArmId(arm_id).arm_type.casefold() == _CLUSTER:
                # AKS names the group of its nodes so if the manifest does not.
                groups.add(f"mc_{ArmId(arm_id).resource_group}_{ArmId(arm_id).name}_{member.body.get('location')}")
        return frozenset(groups)

    @cached_property
    def _waiting(self) -> Mapping[Key, set[Key]]:
        """The keys that directly depend on each key."""
        waiting: defaultdict[Key, set[Key]] = defaultdict(set)
        for resource in self.prepared:
            for other in resource.relations.depends_on:
                waiting[other].add(resource.key)
        return waiting

    def list_dependents(self, keys: Iterable[Key]) -> frozenset[Key]:
        """List the resources of a rebuild that depend on any of these, directly or not."""
        pending, reached = list(keys), set[Key]()
        while pending:
            for other in self._waiting.get(pending.pop(), set()) - reached:
                reached.add(other)
                pending.append(other)
        return frozenset(key for key in reached if self.makes(self.by_key[key]))


def _cut_subscription(arm_id: str) -> str:
    """Return an id without its subscription; "" for a subscription itself."""
    return "/".join(arm_id.split("/")[3:])


def _has_entry(body: Mapping[str, Any], type_name: str, name: str) -> bool:
    """Return whether the list of a body that is named like the child type has an entry with this name."""
    properties = body.get("properties")
    entries = properties.get(type_name) if isinstance(properties, Mapping) else None
    named = entries if isinstance(entries, list) else []
    return any(isinstance(entry, Mapping) and str(entry.get("name")).casefold() == name.casefold() for entry in named)
