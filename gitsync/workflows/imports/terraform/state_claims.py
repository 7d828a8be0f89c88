"""What each resource of a Terraform state is in Azure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gitsync.desired.catalog.children import KindTree
from gitsync.model.arm_id import NO_ID, IdKey
from gitsync.workflows.imports.conversion.scope import Filters
from gitsync.workflows.imports.takeovers import ResourceClaim, find_obstacle
from gitsync.workflows.imports.terraform.resource_types import UPDATES, TypeStanding, identify
from gitsync.workflows.imports.terraform.state import StateResource, TerraformState

DEPOSED: Final = "Terraform still has to destroy what it replaced"
DATA_SOURCE: Final = "a data source, which Terraform only reads"


def claim_resources(
    state: TerraformState, tree: KindTree, filters: Filters, subscription: str
) -> tuple[ResourceClaim, ...]:
    """Find what each resource of a state is in Azure, in the order of the state, then its data sources."""
    claims = [(resource.address.type, _claim(resource, tree, filters, subscription)) for resource in state.resources]
    # Some types of azurerm are settings of another and have its id. The shortest name is that of the resource itself.
    own: dict[IdKey, str] = {}
    for type_name, claim in sorted(claims, key=lambda pair: _order_of_owners(pair[0])):
        if claim.is_wanted:
            own.setdefault(claim.arm_id.key, type_name)
    data = (
        ResourceClaim(address=address, origin=address, arm_id=NO_ID, why=DATA_SOURCE)
        for address in map(str, state.data_sources)
    )
    return (*(_yield_to(type_name, claim, own) for type_name, claim in claims), *data)


def _order_of_owners(type_name: str) -> tuple[bool, int, str]:
    # A block that only updates is never the owner, however short its name is.
    return type_name == UPDATES, len(type_name), type_name


def _claim(resource: StateResource, tree: KindTree, filters: Filters, subscription: str) -> ResourceClaim:
    identity = identify(resource.address.type, resource.id)
    is_part, why = identity.standing is TypeStanding.PART, identity.why
    # Its address is that of its successor, so it must not count as that.
    if resource.is_deposed:
        why, is_part = DEPOSED, False
    elif identity.standing is TypeStanding.OWN:
        why = find_obstacle(identity.arm_id, tree, filters, subscription)
    address = str(resource.address)
    return ResourceClaim(address=address, origin=address, arm_id=identity.arm_id, is_part=is_part, why=why)


def _yield_to(type_name: str, claim: ResourceClaim, own: Mapping[IdKey, str]) -> ResourceClaim:
    owner = own.get(claim.arm_id.key)
    if not claim.is_wanted or owner in {None, type_name}:
        return claim
    if type_name == UPDATES:
        return replace(claim, is_part=True, why="fields of another resource")
    return replace(claim, why=f"it has the ARM id of the {owner}, which may not have its settings")
