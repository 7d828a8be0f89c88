"""Name imported manifests, and assign them to files: a folder for each resource group, and in it a file for each topic.

A name is legal in Kubernetes, readable, unique, and the same in every import.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from gitsync.desired.catalog.packed_tables import name_built_in_role
from gitsync.desired.problems.field_path import find_member
from gitsync.model.arm_id import ArmId
from gitsync.model.facts import Scope
from gitsync.workflows.imports.conversion.found_resources import GROUPS, FoundResource, ImportedManifest

# The name of a manifest is the name in Azure, in lower case. A child has the name of its parent before its own, unless
# its own is one that Azure fixes (`default`). Where two resources of one kind would have the same name, both get the
# name of their resource group before it, or of their subscription (two of `AzureResource` first that of their type
# behind it); the last resort is a part of a digest of the ARM id.


MOST: Final = 253
"""Characters of a name in Kubernetes (RFC 1123)."""

_ILLEGAL: Final = re.compile(r"[^-.a-z0-9]+")
_APEX: Final = "apex"
"""For `@`, the record of the zone itself."""

_ASSIGNMENT: Final = "microsoft.authorization/roleassignments"
_DIGITS: Final = 8

Taken = Collection[tuple[str, str, str]]
"""Group, kind and name of manifests that exist."""


def name_manifests(resources: Sequence[FoundResource], taken: Taken = ()) -> dict[ArmId, str]:
    """Name each resource, by its ARM id. No name is among those that are `taken`."""
    names: dict[ArmId, str] = {}
    open_resources = {
        resource.arm_id: resource for resource in sorted(resources, key=lambda resource: resource.arm_id.key)
    }
    used = set(taken)
    # Where two resources would have one name, both get the longer one, whatever their order.
    for make in _FORMS:
        plain = {
            resource.arm_id: _clean(make(resource, open_resources))
            for resource in open_resources.values()
            if resource.arm_id not in names
        }
        counts = Counter((*_identify(open_resources[arm_id]), name) for arm_id, name in plain.items())
        for arm_id, name in plain.items():
            key = (*_identify(open_resources[arm_id]), name)
            if counts[key] == 1 and key not in used and len(name) <= MOST:
                names[arm_id] = name
        used |= {(*_identify(open_resources[arm_id]), name) for arm_id, name in names.items()}
    return names


def _identify(resource: FoundResource) -> tuple[str, str]:
    return resource.kind.gvk.group, resource.kind.gvk.kind


def _name_plainly(resource: FoundResource, known: Mapping[ArmId, FoundResource]) -> str:
    """Return the name by parents: `hub-firewall` for a subnet, `shop.example-www` for a record."""
    # A fixed name, such as `default`, adds nothing by which two of them differ.
    own = "" if resource.kind.fixed_azure_name else _name_itself(resource)
    is_child = resource.kind.arm_type.count("/") > 1 or resource.kind.scope is Scope.EXTENSION
    if not is_child:
        return own or resource.name
    owner = known.get(resource.owner_id)
    before = _name_plainly(owner, known) if owner else _name_id(resource.owner_id)
    return "-".join(filter(None, (before, own)))


def _name_itself(resource: FoundResource) -> str:
    if resource.kind.arm_type.casefold() != _ASSIGNMENT:
        return resource.name
    # The name of an assignment is a UUID, from which people learn nothing.
    role = find_member(resource.body, "properties", "roleDefinitionId")
    known = name_built_in_role(ArmId(role)) if isinstance(role, str) else None
    return f"{known.replace(' ', '-') if known else 'role'}-{resource.name[:_DIGITS]}"


def _name_id(arm_id: ArmId) -> str:
    """Return the name of an owner without a manifest, from its id: the names below its resource group."""
    _, separator, path = arm_id.partition("/providers/")
    if not separator:
        return arm_id.resource_group or "subscription"
    names = [name for name in path.split("/")[2::2] if name.casefold() not in {"default", "current"}]
    return "-".join(names)


def _name_by_type(resource: FoundResource, known: Mapping[ArmId, FoundResource]) -> str:
    """Return the name with the type of what has the kind of many types: `orders-workflows`."""
    plain = _name_plainly(resource, known)
    return f"{plain}-{resource.kind.arm_type.rpartition('/')[2]}" if resource.kind.is_any_type else plain


def _name_by_group(resource: FoundResource, known: Mapping[ArmId, FoundResource]) -> str:
    return "-".join(filter(None, (resource.arm_id.resource_group, _name_plainly(resource, known))))


def _name_by_subscription(resource: FoundResource, known: Mapping[ArmId, FoundResource]) -> str:
    return "-".join(filter(None, (resource.arm_id.subscription, _name_by_group(resource, known))))


def _name_by_digest(resource: FoundResource, known: Mapping[ArmId, FoundResource]) -> str:
    digest = hashlib.sha256(resource.arm_id.key.encode()).hexdigest()[:_DIGITS]
    return f"{_clean(_name_plainly(resource, known))[: MOST - _DIGITS - 1]}-{digest}"


_FORMS: Final[tuple[Callable[[FoundResource, Mapping[ArmId, FoundResource]], str], ...]] = (
    _name_plainly,
    _name_by_type,
    _name_by_group,
    _name_by_subscription,
    _name_by_digest,
)
"""From the shortest to the one that is always unique."""


def _clean(name: str) -> str:
    """Spell a name as Kubernetes allows it: `@` and `*` as words, other characters as dashes."""
    text = re.sub(r"(?<![^-])@(?![^-])", _APEX, name).replace("*", "wildcard")
    text = _ILLEGAL.sub("-", text.casefold())
    return re.sub(r"-*\.[-.]*", ".", re.sub(r"-{2,}", "-", text)).strip("-.") or "unnamed"


def clean_name(name: Any) -> str:
    """Turn a text into a part of a name or of a path."""
    return _clean(str(name))


class Layout(StrEnum):
    TOPIC = "topic"
    RESOURCE = "resource"
    GROUP = "group"


_TOPICS: Final[Mapping[str, str]] = {
    "authorization": "identity",
    "managedidentity": "identity",
    "alertsmanagement": "monitoring",
    "insights": "monitoring",
    "monitor": "monitoring",
    "operationalinsights": "monitoring",
    "containerservice": "cluster",
    "kubernetesconfiguration": "cluster",
    "dbformariadb": "database",
    "dbformysql": "database",
    "dbforpostgresql": "database",
    "documentdb": "database",
    "sql": "database",
    "eventgrid": "messaging",
    "eventhub": "messaging",
    "notificationhubs": "messaging",
    "servicebus": "messaging",
    "resources": "resource-group",
}
"""By the first word of an API group; any other word is a topic itself."""

_DNS: Final = ("Dns", "PrivateDns", "TrafficManager")


def place_manifests(
    manifests: Iterable[ImportedManifest], layout: Layout, taken: Collection[str] = ()
) -> dict[str, list[ImportedManifest]]:
    """Assign manifests to files, by their paths in the folder of the import.

    No path is among those that are `taken`, nor differs from one in case alone: such a file gets a number.
    """
    together: dict[str, list[ImportedManifest]] = {}
    manifests = tuple(manifests)
    subscriptions = {subscription for manifest in manifests if (subscription := manifest.resource.arm_id.subscription)}
    for manifest in manifests:
        arm_id = manifest.resource.arm_id
        folder = clean_name(arm_id.resource_group or ("subscription" if arm_id.subscription else "tenant"))
        # Groups of two subscriptions may have one name, as in environments.
        if len(subscriptions) > 1:
            folder = f"{manifest.resource.arm_id.subscription or 'tenant'}/{folder}"
        together.setdefault(f"{folder}/{_name_file(manifest, layout)}", []).append(manifest)
    used = {path.casefold() for path in taken}  # file systems of macOS and Windows know no case
    placed = {}
    for stem, members in sorted(together.items()):
        path = next(path for path in _list_paths(stem) if path.casefold() not in used)
        used.add(path.casefold())
        # A resource group first, then by ARM id: a resource is followed by what is below it.
        placed[path] = sorted(
            members, key=lambda member: (member.resource.kind.arm_type != GROUPS, member.resource.arm_id.key)
        )
    return placed


def _list_paths(stem: str) -> Iterable[str]:
    yield f"{stem}.yaml"
    number = 2
    while True:
        yield f"{stem}-{number}.yaml"
        number += 1


def _name_file(manifest: ImportedManifest, layout: Layout) -> str:
    if layout is Layout.RESOURCE:
        return f"{manifest.key.kind.lower()}-{manifest.key.name}"
    if layout is Layout.GROUP:
        return "resources"
    if manifest.key.kind.startswith(_DNS):
        return "dns"
    kind = manifest.resource.kind
    namespace = kind.arm_type.partition("/")[0].casefold().removeprefix("microsoft.") if kind.is_any_type else ""
    name = clean_name(namespace.replace(".", "-")) if namespace else manifest.key.group.partition(".")[0]
    return _TOPICS.get(name, name)
