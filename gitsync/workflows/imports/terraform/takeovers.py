"""What an import did with each resource of a Terraform state: taken, covered by the manifest of another, or kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from gitsync.desired.catalog.children import KindTree
from gitsync.model.arm_id import NO_ID, ArmId, IdKey
from gitsync.model.gvk import Key
from gitsync.workflows.imports.acceptance import IN_PARENT
from gitsync.workflows.imports.conversion.found_resources import FoundResource
from gitsync.workflows.imports.conversion.scope import Filters
from gitsync.workflows.imports.resource_discovery import NO_MATCH
from gitsync.workflows.imports.terraform.resource_types import UPDATES, TypeStanding, identify
from gitsync.workflows.imports.terraform.state import StateResource, TerraformState

UNREAD: Final = "not read from Azure: see the error"
DIFFERENT: Final = "its manifest is not proven"
DEPOSED: Final = "Terraform still has to destroy what it replaced"


class Takeover(StrEnum):
    TAKEN = "taken"
    COVERED = "covered"
    KEPT = "kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateClaim:
    """What a resource of a state is in Azure."""

    resource: StateResource

    arm_id: ArmId  # of the resource, or of what it is a part of; "" for none
    is_part: bool  # whether it is a part of another resource
    why: str  # why it is not taken, or what part it is; "" for a resource to take

    @property
    def is_wanted(self) -> bool:
        """Whether its ARM id is read."""
        return not self.why


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeoverRow:
    """What became of one resource of a state. One with children that it declares itself has an outcome for each."""

    address: str

    outcome: Takeover  # whether Terraform may forget it
    manifest: Key | None = None  # the manifest that declares it, if one does
    arm_id: ArmId = NO_ID  # what that manifest stands for
    reason: str = ""  # why Terraform keeps it, or what part of the manifest it is


def claim_resources(
    state: TerraformState, tree: KindTree, filters: Filters, subscription: str
) -> tuple[StateClaim, ...]:
    """Find what each resource of a state is in Azure, in the order of the state."""
    claims = [_claim(resource, tree, filters, subscription) for resource in state.resources]
    # Some types of azurerm are settings of another and have its id. The shortest name is that of the resource itself.
    own: dict[IdKey, str] = {}
    for claim in sorted(claims, key=_order_of_owners):
        if claim.is_wanted:
            own.setdefault(claim.arm_id.key, claim.resource.address.type)
    return tuple(_yield_to(claim, own) for claim in claims)


def _order_of_owners(claim: StateClaim) -> tuple[bool, int, str]:
    type_name = claim.resource.address.type
    return type_name == UPDATES, len(type_name), type_name


def _claim(resource: StateResource, tree: KindTree, filters: Filters, subscription: str) -> StateClaim:
    identity = identify(resource.address.type, resource.id)
    is_part, why = identity.standing is TypeStanding.PART, identity.why
    other = identity.arm_id.subscription
    if resource.is_deposed:
        why, is_part = DEPOSED, False
    elif identity.standing is TypeStanding.OWN and other and other.casefold() != subscription.casefold():
        why = f"in subscription {other}: import it with its --subscription"
    elif identity.standing is TypeStanding.OWN and tree.find(identity.arm_id.arm_type) is None:
        arm_type = identity.arm_id.arm_type
        why = f"{arm_type}: {tree.explain_missing(arm_type)}"
    elif identity.standing is TypeStanding.OWN and not filters.admits_type(identity.arm_id.arm_type):
        why = NO_MATCH
    return StateClaim(resource=resource, arm_id=identity.arm_id, is_part=is_part, why=why)


def _yield_to(claim: StateClaim, own: Mapping[IdKey, str]) -> StateClaim:
    owner = own.get(claim.arm_id.key)
    if not claim.is_wanted or owner in {None, claim.resource.address.type}:
        return claim
    if claim.resource.address.type == UPDATES:
        return replace(claim, is_part=True, why="fields of another resource")
    return replace(claim, why=f"it has the ARM id of the {owner}, which may not have its settings")


def list_origins(claims: Iterable[StateClaim], found: Sequence[FoundResource]) -> dict[IdKey, tuple[str, ...]]:
    """List the addresses of each resource by its ARM id. A child without one is declared in that of its owner."""
    own: dict[IdKey, list[str]] = {}
    for claim in claims:
        if claim.is_wanted:
            own.setdefault(claim.arm_id.key, []).append(str(claim.resource.address))
    return {
        resource.arm_id.key: tuple(own.get(resource.arm_id.key) or own.get(resource.owner_id.key) or ())
        for resource in found
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class StateImport:
    """What an import has of the resources of a state."""

    manifests: Mapping[IdKey, Key]  # the manifests of the repository, by ARM id
    proven: Collection[Key]  # those that change nothing in Azure, as this import has compared
    origins: Mapping[IdKey, tuple[str, ...]]  # the addresses of each resource that was read
    left_out: Mapping[IdKey, str]  # why a resource that was read has no manifest


def decide_outcomes(claims: Iterable[StateClaim], imported: StateImport) -> tuple[TakeoverRow, ...]:
    """Decide what became of each resource, in the order of the state."""
    declared: dict[str, list[IdKey]] = {}
    for arm_id, addresses in imported.origins.items():
        for address in addresses:
            declared.setdefault(address, []).append(arm_id)
    return tuple(outcome for claim in claims for outcome in _decide(claim, imported, declared))


def _decide(claim: StateClaim, imported: StateImport, declared: Mapping[str, Sequence[IdKey]]) -> Iterator[TakeoverRow]:
    address = str(claim.resource.address)

    def make(arm_id: IdKey | None, outcome: Takeover, reason: str) -> TakeoverRow:
        key = imported.manifests.get(arm_id) if arm_id else None
        if key and key not in imported.proven:
            outcome, reason = Takeover.KEPT, DIFFERENT
        own_id = ArmId(arm_id) if arm_id else NO_ID
        return TakeoverRow(address=address, outcome=outcome, manifest=key, arm_id=own_id, reason=reason)

    if claim.is_part:
        declaring = _find_declaring(claim.arm_id, imported.manifests)
        missing = f"{claim.why}, which has no manifest"
        yield make(declaring, Takeover.COVERED, claim.why) if declaring else make(None, Takeover.KEPT, missing)
        return
    if claim.why:
        yield make(None, Takeover.KEPT, claim.why)
        return
    for arm_id in dict.fromkeys((claim.arm_id.key, *declared.get(address, ()))):
        reason = imported.left_out.get(arm_id, UNREAD)
        if arm_id in imported.manifests:
            yield make(arm_id, Takeover.TAKEN, "")
        elif reason == IN_PARENT and (declaring := _find_declaring(ArmId(arm_id), imported.manifests)):
            yield make(declaring, Takeover.COVERED, reason)
        else:
            yield make(None, Takeover.KEPT, reason)


def _find_declaring(arm_id: ArmId, manifests: Mapping[IdKey, Key]) -> IdKey | None:
    """Find what a part belongs to: the nearest with a manifest on the way up, short of its resource group."""
    return next((key for key in arm_id.lineage if key in manifests and not ArmId(key).is_group), None)
