"""What a deployment stack manages, and the command that detaches it.

Shapes and states are those of Microsoft.Resources/deploymentStacks 2025-07-01
(https://learn.microsoft.com/azure/azure-resource-manager/bicep/deployment-stacks).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitsync.desired.formats.json_members import read_mapping, read_text
from gitsync.errors import ArmError, SourceError
from gitsync.model.arm_id import ArmId
from gitsync.workflows.imports.conversion.found_resources import Omission
from gitsync.workflows.imports.deployed.deployed_resources import (
    STACK_TYPE,
    DeployedResources,
    claim_entry,
    drop_repeated,
    list_entries,
    make_missing,
)
from gitsync.workflows.imports.resource_reader import Body, ResourceReader, make_read_error
from gitsync.workflows.imports.takeovers import ResourceClaim

API_VERSION: Final = "2025-07-01"
"""The first that shows resources of extensions."""

_MANAGED: Final = frozenset({"managed", "none", ""})
_LEAVING: Final[Mapping[str, str]] = {
    "deletefailed": "the stack could not delete it, and tries again with its next update",
    "removedenyfailed": "the stack no longer manages it, but could not remove its deny assignment",
}
"""Why a stack still lists a resource that its template no longer has, by its status in lower case."""

_FORMER: Final[Mapping[str, str]] = {
    "detachedResources": "detached in the last update of the stack",
    "deletedResources": "deleted in the last update of the stack",
}
"""Lists of what the stack does not manage any more."""

_DENIES: Final[Mapping[str, str]] = {"denydelete": "deletes", "denywriteanddelete": "writes and deletes"}
"""What Azure refuses to all but the principals that a stack excludes, by its deny setting in lower case."""

_ENDED: Final = frozenset({"succeeded", "failed", "canceled"})


async def read_stack(reader: ResourceReader, arm_id: ArmId) -> DeployedResources:
    """Read what a stack manages. Raises SourceError if it does not exist or cannot be read, and ArmError."""
    try:
        body = await reader.read(arm_id, API_VERSION)
    except ArmError as error:
        raise make_read_error(arm_id, error) from error
    if body is None:
        raise make_missing(arm_id, STACK_TYPE)
    properties = read_mapping(body, "properties")
    claims = drop_repeated(_claim_all(arm_id, properties))
    if not claims:
        raise SourceError(f"The deployment stack {arm_id} has no resource.", hint="Check --from-stack.")
    former = (
        Omission(reason, claim_entry(entry, "").address)
        for member, reason in _FORMER.items()
        for entry in list_entries(arm_id, properties, member)
    )
    return DeployedResources(
        title=f"deployment stack {arm_id.name}",
        claims=claims,
        left_out=tuple(sorted(former)),
        notes=tuple(_note(properties)),
    )


def _claim_all(arm_id: ArmId, properties: Body) -> Iterator[ResourceClaim]:
    origin = f"deployment stack {arm_id.name}"
    for entry in list_entries(arm_id, properties, "resources"):
        status = read_text(entry, "status")
        unknown = f"the stack shows it as {status}"
        # A status that gitsync does not have yet may mean that the stack is about to delete the resource.
        why = "" if status.casefold() in _MANAGED else _LEAVING.get(status.casefold(), unknown)
        yield claim_entry(entry, origin, why)
    # One that the stack manages has come before, and counts.
    for entry in list_entries(arm_id, properties, "failedResources"):
        code = read_text(read_mapping(entry, "error"), "code")
        yield claim_entry(entry, origin, f"the stack failed to deploy it{f' ({code})' if code else ''}")


def _note(properties: Mapping[str, Any]) -> Iterator[str]:
    state = read_text(properties, "provisioningState")
    if state and state.casefold() not in _ENDED:
        yield f"Wait until the stack is updated ({state}), and import again: its list of resources may change."
    elif state.casefold() == "failed":
        yield "The last update of the stack failed, so resources of its template may be missing here."
    mode = read_text(read_mapping(properties, "denySettings"), "mode")
    if denied := _DENIES.get(mode.casefold()):
        yield (
            f"The stack has the deny setting {mode}: until it is detached, Azure refuses {denied} of gitsync, "
            "unless the stack excludes its identity."
        )
    yield "Stop what updates the stack, such as its pipeline: an update writes what the template has."


def format_detaching(arm_id: ArmId) -> str:
    """Format the command that detaches the resources of a stack and deletes the stack alone. The Azure CLI waits for a
    confirmation.
    """
    scope = arm_id.parent
    command: tuple[str, ...] = ("mg", "delete", "--management-group-id", scope.name)
    if scope.resource_group:
        command = ("group", "delete", "--subscription", scope.subscription or "", "--resource-group", scope.name)
    elif scope.subscription:
        command = ("sub", "delete", "--subscription", scope.name)
    return shlex.join(("az", "stack", *command, "--name", arm_id.name, "--action-on-unmanage", "detachAll"))
