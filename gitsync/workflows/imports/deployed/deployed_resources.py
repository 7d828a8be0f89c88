"""What Azure keeps of a deployed template: the ids of its resources, and what to do before gitsync manages them.

Parameters, outputs, templates and the answers in the history of a deployment may hold secrets: nothing here reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitsync.desired.catalog.children import KindTree
from gitsync.desired.formats.json_members import list_mappings, read_mapping, read_text
from gitsync.desired.validation.references import is_arm_id
from gitsync.errors import ConfigError, SourceError
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.problem import Problem
from gitsync.workflows.imports.conversion.found_resources import Omission
from gitsync.workflows.imports.conversion.scope import Filters, read_id
from gitsync.workflows.imports.takeovers import ResourceClaim, find_obstacle

STACK_TYPE: Final = "Microsoft.Resources/deploymentStacks"
DEPLOYMENT_TYPE: Final = "Microsoft.Resources/deployments"

OPTIONS: Final[Mapping[str, str]] = {STACK_TYPE: "--from-stack", DEPLOYMENT_TYPE: "--from-deployment"}

_SCOPE: Final = re.compile(
    r"/subscriptions/[^/]+(/resourceGroups/[^/]+)?|/providers/Microsoft\.Management/managementGroups/[^/]+",
    re.IGNORECASE,
)
"""Where stacks are, and deployments; those may also be in the tenant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedResources:
    """What a stack or a deployment names."""

    title: str  # what it is, such as `deployment stack shop`
    claims: tuple[ResourceClaim, ...]  # its resources
    left_out: tuple[Omission, ...] = ()  # resources that it had before
    notes: tuple[str, ...] = ()  # sentences about what to do before the first sync
    problems: tuple[Problem, ...] = ()  # about deployments that cannot be read


def read_source_id(text: str, endpoint: str, arm_type: str) -> ArmId:
    """Read the id of a stack or a deployment as typed. Raises ConfigError if it is not one."""
    arm_id = read_id(text, endpoint)
    own_type = next((each for each in OPTIONS if each.casefold() == arm_id.arm_type.casefold()), "")
    is_at_scope = _SCOPE.fullmatch(arm_id.parent) is not None or (not arm_id.parent and arm_type == DEPLOYMENT_TYPE)
    if own_type == arm_type and is_at_scope:
        return ArmId(f"{arm_id.parent}/providers/{arm_type}/{arm_id.name}")
    form = f"Give one of a resource group, a subscription or a management group: …/providers/{arm_type}/NAME."
    hint = form if own_type in {"", arm_type} else f"Use {OPTIONS[own_type]}."
    raise ConfigError(f"{OPTIONS[arm_type]} {text} is not the id of a {_name(arm_type)}.", hint=hint)


def _name(arm_type: str) -> str:
    return "deployment stack" if arm_type == STACK_TYPE else "deployment"


def make_missing(arm_id: ArmId, arm_type: str) -> SourceError:
    """Make the error of a stack or a deployment that does not exist."""
    hint = f"Check {OPTIONS[arm_type]} and --endpoint."
    if arm_type == DEPLOYMENT_TYPE:
        hint += " Azure deletes the oldest deployments of a scope that has 800."
    return SourceError(f"The {_name(arm_type)} {arm_id} does not exist.", hint=hint)


def list_entries(arm_id: ArmId, properties: Mapping[str, Any], member: str) -> list[Mapping[str, Any]]:
    """List the objects of a member. SourceError if it is anything else: a resource would be missing in silence."""
    value = properties.get(member)
    entries = list_mappings(properties, member)
    if value is not None and (not isinstance(value, list) or len(entries) != len(value)):
        raise SourceError(f"{arm_id} cannot be read: {member} is not a list of objects.", hint="Run the command again.")
    return entries


def claim_entry(entry: Mapping[str, Any], origin: str, why: str = "") -> ResourceClaim:
    """Claim a resource as stacks and deployments name it: by its ARM id, or by the extension that has made it."""
    text, extension = read_text(entry, "id").rstrip("/"), read_text(read_mapping(entry, "extension"), "name")
    if text:
        is_id = is_arm_id(text)
        arm_id = ArmId(text) if is_id else NO_ID
        return ResourceClaim(
            address=text, origin=origin, arm_id=arm_id, why=why if is_id else "its id is not an ARM id"
        )
    # Its identifiers are those of another system, and could be anything.
    type_name = read_text(entry, "type") or read_text(entry, "resourceType") or "a resource without a type"
    of_extension = f"a resource of the extension {extension}, not of Azure Resource Manager"
    return ResourceClaim(
        address=type_name, origin=origin, arm_id=NO_ID, why=of_extension if extension else "it has no ARM id"
    )


def drop_repeated(claims: Iterable[ResourceClaim]) -> tuple[ResourceClaim, ...]:
    """Drop ids that occur before, and number resources of extensions, whose addresses may be equal."""
    counts: dict[str, int] = {}
    kept = []
    for claim in claims:
        name = claim.arm_id.key or claim.address
        counts[name] = counts.get(name, 0) + 1
        if counts[name] == 1:
            kept.append(claim)
        # Two resources of an extension may have one address, and each needs a row of its own.
        elif not claim.arm_id:
            kept.append(replace(claim, address=f"{claim.address} [{counts[name]}]"))
    return tuple(kept)


def admit_claims(
    claims: Iterable[ResourceClaim], tree: KindTree, filters: Filters, subscription: str
) -> tuple[ResourceClaim, ...]:
    """Find which claims an import into one subscription takes; the others get the reason."""
    return tuple(
        replace(claim, why=claim.why or find_obstacle(claim.arm_id, tree, filters, subscription)) for claim in claims
    )
