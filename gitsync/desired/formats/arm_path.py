"""Names that follow from the path of an ARM id: of its provider, its deployment scope, its write lock."""

from __future__ import annotations

import re

from gitsync.model.arm_id import ArmId

_CONTAINER = re.compile(
    r"^(/subscriptions/[^/]+(/resourceGroups/[^/]+)?|/providers/Microsoft\.Management/managementGroups/[^/]+)"
    r"(?=/providers/)",
    re.IGNORECASE,
)


def normalize_region(region: object) -> str:
    """Return the name of a region without the blanks and the case of its display name ("West Europe")."""
    return str(region).replace(" ", "").casefold()


def name_resource(arm_id: str) -> str:
    """Name a resource by what its id has after its group, without the types: `hub/default`, `reader on hub` for what
    extends another resource, and a resource group by its name.
    """
    scope, separator, path = arm_id.rpartition("/providers/")
    if not separator:
        return ArmId(arm_id).resource_group or arm_id.rpartition("/")[2]
    extended = scope.rpartition("/")[2] if scope.count("/") > 4 else ""  # the id of a group has four
    name = "/".join(path.split("/")[2::2])
    return f"{name} on {extended}" if extended else name


def choose_deployment_scope(arm_id: str) -> str:
    """Return what a resource is deployed to: its resource group, for a group itself its subscription, likewise for what
    is in no group; "/" without a subscription.
    """
    steps = arm_id.split("/")
    if ArmId(arm_id).subscription is None:
        return "/"
    return "/".join(steps[:5] if ArmId(arm_id).resource_group and len(steps) > 5 else steps[:3])


def read_provider(arm_id: str) -> str:
    """Return the namespace of the provider that answers for an id ("Microsoft.Network")."""
    steps = arm_id.split("/")
    indexes = [index for index, step in enumerate(steps) if step.casefold() == "providers"]
    return steps[indexes[-1] + 1] if indexes and indexes[-1] + 1 < len(steps) else "Microsoft.Resources"


def read_collection_type(path: str) -> str:
    """Return the type of a collection from its path: "Microsoft.Network/dnsZones/recordsets"; without a provider, its
    last step.
    """
    _, marker, below = path.rpartition("/providers/")
    namespace, *steps = below.split("/")
    return "/".join((namespace, *steps[::2])) if marker else steps[-1]


def name_lock(arm_id: str) -> str:
    """Name the write lock of a resource: its top-most ancestor that is a resource, or itself.

    So a virtual network and its subnets exclude each other, and so do sibling agent pools and their cluster, at any
    depth: providers lock the top resource while an operation runs below it (Network, Kusto, Cosmos DB, AKS) and answer
    409 or 429 to all others. A resource group, a subscription and a management group are containers, not resources:
    writes directly below one run in parallel. An extension resource (role assignment, flux configuration) shares
    the lock of the resource that it extends; at a container it has its own.
    """
    return cut_to_top_resource(arm_id).casefold()


def cut_to_top_resource(arm_id: str) -> str:
    """Find the top-most ancestor of a resource that is a resource and no container, or itself."""
    container = _CONTAINER.match(arm_id)
    prefix = container[0] if container else ""
    segments = arm_id[len(prefix) :].strip("/").split("/")
    is_resource = segments[0].casefold() == "providers"
    kept = segments[:4] if is_resource else segments  # providers, namespace, type, name
    return "/".join((prefix, *kept))
