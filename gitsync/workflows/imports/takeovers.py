"""What an import did with each resource that another tool manages: taken, covered by the manifest of another, or kept.

The tool is Terraform, a deployment stack or a template deployment. It names its resources, and its claims become the
rows of one table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gitsync.desired.catalog.children import KindTree
from gitsync.model.arm_id import NO_ID, ArmId, IdKey
from gitsync.model.gvk import Key
from gitsync.workflows.imports.acceptance import AS_MADE, IN_PARENT
from gitsync.workflows.imports.conversion.found_resources import FoundResource
from gitsync.workflows.imports.conversion.scope import Filters
from gitsync.workflows.imports.resource_discovery import NO_MATCH

UNREAD: Final = "not read from Azure: see the error"
DIFFERENT: Final = "its manifest is not proven"
UNWRITTEN: Final = "its manifest has the policy skip, so gitsync would not write it"


class Takeover(StrEnum):
    TAKEN = "taken"
    COVERED = "covered"
    KEPT = "kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceClaim:
    """A resource that another tool names, and what it is in Azure."""

    address: str  # its name in the tool, such as an address of Terraform, or its ARM id
    origin: str  # where the tool declares it: a comment above its manifest
    arm_id: ArmId  # of the resource, or of what it is a part of; "" for none
    is_part: bool = False  # whether it is a part of another resource
    why: str = ""  # why it is not taken, or what part it is; "" for a resource to take

    @property
    def is_wanted(self) -> bool:
        """Whether its ARM id is read."""
        return not self.why


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeoverRow:
    """What became of one claim. A resource with children that it declares itself has an outcome for each."""

    address: str

    outcome: Takeover  # whether the other tool may forget it
    manifest: Key | None = None  # the manifest that declares it, if one does
    arm_id: ArmId = NO_ID  # what that manifest stands for
    reason: str = ""  # why the other tool keeps it, or what part of the manifest it is


def find_obstacle(arm_id: ArmId, tree: KindTree, filters: Filters, subscription: str) -> str:
    """Find why an import into one subscription does not read a resource; "" if it does."""
    other, arm_type = arm_id.subscription, arm_id.arm_type
    if other and other.casefold() != subscription.casefold():
        return f"in subscription {other}: import it with its --subscription"
    if tree.find(arm_type) is None:
        return f"{arm_type}: {tree.explain_missing(arm_type)}"
    return "" if filters.admits_type(arm_type) else NO_MATCH


def list_wanted(claims: Iterable[ResourceClaim]) -> list[ArmId]:
    """List the ids to read, each once."""
    return list({claim.arm_id.key: claim.arm_id for claim in claims if claim.is_wanted}.values())


def list_claims(
    claims: Iterable[ResourceClaim], found: Sequence[FoundResource]
) -> dict[IdKey, tuple[ResourceClaim, ...]]:
    """List the claims to each resource by its ARM id. A child without one is declared in that of its owner."""
    own: dict[IdKey, list[ResourceClaim]] = {}
    for claim in claims:
        if claim.is_wanted:
            own.setdefault(claim.arm_id.key, []).append(claim)
    return {
        resource.arm_id.key: tuple(own.get(resource.arm_id.key) or own.get(resource.owner_id.key) or ())
        for resource in found
    }


def list_origins(claims: Iterable[ResourceClaim]) -> tuple[str, ...]:
    """List where a resource was declared, each once."""
    return tuple(dict.fromkeys(claim.origin for claim in claims))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedResources:
    """What an import has of the resources that were claimed."""

    manifests: Mapping[IdKey, Key]  # the manifests of the repository, by ARM id
    proven: Collection[Key]  # those that change nothing in Azure, as this import has compared
    claims: Mapping[IdKey, tuple[ResourceClaim, ...]]  # the claims to each resource that was read
    left_out: Mapping[IdKey, str]  # why a resource that was read has no manifest
    unwritten: Collection[Key] = ()  # manifests by which gitsync only reads: without the other tool, none would write

    def find_doubt(self, key: Key) -> str:
        """Find why the other tool keeps what a manifest declares; "" if it may forget it."""
        if key not in self.proven:
            return DIFFERENT
        return UNWRITTEN if key in self.unwritten else ""


def decide_outcomes(claims: Iterable[ResourceClaim], imported: ImportedResources) -> tuple[TakeoverRow, ...]:
    """Decide what became of each claim, in their order."""
    declared: dict[str, list[IdKey]] = {}
    for arm_id, own in imported.claims.items():
        for claim in own:
            declared.setdefault(claim.address, []).append(arm_id)
    return tuple(row for claim in claims for row in _decide(claim, imported, declared))


def _decide(
    claim: ResourceClaim, imported: ImportedResources, declared: Mapping[str, Sequence[IdKey]]
) -> Iterator[TakeoverRow]:
    def make(arm_id: IdKey | None, outcome: Takeover, reason: str) -> TakeoverRow:
        key = imported.manifests.get(arm_id) if arm_id else None
        # The other tool must not forget what no proven manifest declares: then nothing would manage it.
        if key and (doubt := imported.find_doubt(key)):
            outcome, reason = Takeover.KEPT, doubt
        own_id = ArmId(arm_id) if arm_id else NO_ID
        return TakeoverRow(address=claim.address, outcome=outcome, manifest=key, arm_id=own_id, reason=reason)

    if claim.is_part:
        declaring = _find_declaring(claim.arm_id, imported.manifests)
        missing = f"{claim.why}, which has no manifest"
        yield make(declaring, Takeover.COVERED, claim.why) if declaring else make(None, Takeover.KEPT, missing)
        return
    if claim.why:
        yield make(None, Takeover.KEPT, claim.why)
        return
    for arm_id in dict.fromkeys((claim.arm_id.key, *declared.get(claim.address, ()))):
        reason = imported.left_out.get(arm_id, UNREAD)
        if arm_id in imported.manifests:
            yield make(arm_id, Takeover.TAKEN, "")
        elif reason in {AS_MADE, IN_PARENT} and (declaring := _find_declaring(ArmId(arm_id), imported.manifests)):
            yield make(declaring, Takeover.COVERED, reason)
        else:
            yield make(None, Takeover.KEPT, reason)


def _find_declaring(arm_id: ArmId, manifests: Mapping[IdKey, Key]) -> IdKey | None:
    """Find what a part belongs to: the nearest with a manifest on the way up, short of its resource group."""
    # A resource group declares nothing of what is in it.
    return next((key for key in arm_id.lineage if key in manifests and not ArmId(key).is_group), None)


def count_outcomes(rows: Sequence[TakeoverRow]) -> dict[Takeover, int]:
    """Count the resources by outcome. One with several rows counts once, and as kept if one of them is."""
    # Kept is the last of them, so it replaces any other.
    worst = {row.address: row.outcome for outcome in Takeover for row in rows if row.outcome is outcome}
    return {outcome: list(worst.values()).count(outcome) for outcome in Takeover}
