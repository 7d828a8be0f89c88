"""What a deployment of a template has made, with the deployments that it has started itself.

A module of Bicep is such a nested deployment. `outputResources` has what a successful deployment and its nested ones
have made; the operations of a deployment have also what a failed one has made. Shapes are those of
Microsoft.Resources/deployments 2025-04-01.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.formats.json_members import as_mapping, read_mapping, read_text
from gitsync.errors import ArmError, RefusedListError, SourceError
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.workflows.imports.conversion.scope import make_id_problem
from gitsync.workflows.imports.deployed.deployed_resources import (
    DEPLOYMENT_TYPE,
    DeployedResources,
    claim_entry,
    drop_repeated,
    list_entries,
    make_missing,
)
from gitsync.workflows.imports.resource_reader import Body, ResourceReader, make_read_error
from gitsync.workflows.imports.takeovers import ResourceClaim

API_VERSION: Final = "2025-04-01"
"""The first that shows resources of extensions."""

_MAKES: Final = frozenset({"create", ""})
"""Operations that make a resource, in lower case. Others read, wait for, delete or call one."""

_COMPLETE: Final = "complete"
_FAILED: Final = frozenset({"failed", "canceled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """A deployment on the way from the one that was named."""

    arm_id: ArmId
    path: str  # the names of the deployments that lead to it, and its own

    @property
    def origin(self) -> str:
        return f"deployment {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Deployment:
    """One deployment as Azure shows it."""

    step: _Step

    mode: str  # `Incremental` or `Complete`
    state: str  # its provisioning state
    made: tuple[ResourceClaim, ...]  # the resources that it names
    nested: tuple[ArmId, ...]  # the deployments that it has started


async def read_deployment(reader: ResourceReader, arm_id: ArmId) -> DeployedResources:
    """Read what a deployment has made. Raises SourceError if it does not exist or cannot be read, and ArmError. A
    nested deployment that cannot be read is a problem.
    """
    steps = [_Step(arm_id=arm_id, path=arm_id.name)]
    seen = {arm_id.key}
    read: list[_Deployment] = []
    failed: list[SourceError] = []
    while steps:
        outcomes = await asyncio.gather(*(_try_read(reader, step) for step in steps))
        failed += [outcome for outcome in outcomes if isinstance(outcome, SourceError)]
        level = [outcome for outcome in outcomes if isinstance(outcome, _Deployment)]
        # Only the deployment that was named is needed; what a nested one made may still be found in others.
        if not (read or level):
            raise failed[0]
        read += level
        steps = list(_list_next(level, seen))
    claims: dict[IdKey | str, ResourceClaim] = {}
    for claim in (claim for deployment in read for claim in drop_repeated(deployment.made)):
        claims[claim.arm_id.key or f"{claim.origin} {claim.address}"] = claim  # the innermost counts
    if not claims:
        raise SourceError(f"The deployment {arm_id} has made no resource.", hint="Check --from-deployment.")
    return DeployedResources(
        title=f"deployment {arm_id.name}",
        claims=drop_repeated(claims.values()),
        notes=tuple(_note(read)),
        problems=tuple(map(make_id_problem, failed)),
    )


async def _try_read(reader: ResourceReader, step: _Step) -> _Deployment | SourceError:
    try:
        body = await reader.read(step.arm_id, API_VERSION)
        if body is None:
            return make_missing(step.arm_id, DEPLOYMENT_TYPE)
        operations = await reader.read_list(f"{step.arm_id}/operations", API_VERSION)
        return _make_deployment(step, read_mapping(body, "properties"), operations)
    except RefusedListError as refused:
        return make_read_error(ArmId(refused.path), refused.error)
    except ArmError as error:
        return make_read_error(step.arm_id, error)
    except SourceError as error:
        return error


def _make_deployment(step: _Step, properties: Body, operations: Sequence[Any]) -> _Deployment:
    targets = [
        read_mapping(operation, "targetResource")
        for operation in (read_mapping(entry, "properties") for entry in map(as_mapping, operations))
        if read_text(operation, "provisioningOperation").casefold() in _MAKES
    ]
    outputs = list_entries(step.arm_id, properties, "outputResources")
    # Both name the same resources, and those of an extension have no id by which one of two is dropped.
    others = [target for target in targets if read_text(target, "id") or (target and not outputs)]
    made = [claim_entry(entry, step.origin) for entry in (*outputs, *others)]
    return _Deployment(
        step=step,
        mode=read_text(properties, "mode"),
        state=read_text(properties, "provisioningState"),
        # A deployment is a record of what happened, and no resource to manage.
        made=tuple(claim for claim in made if not _is_deployment(claim.arm_id)),
        nested=tuple(claim.arm_id for claim in made if _is_deployment(claim.arm_id)),
    )


def _is_deployment(arm_id: ArmId) -> bool:
    return arm_id.arm_type.casefold() == DEPLOYMENT_TYPE.casefold()


def _list_next(level: Sequence[_Deployment], seen: set[IdKey]) -> Iterator[_Step]:
    """List the nested deployments that were not read yet, and note them as seen: one may name its parent."""
    for deployment in level:
        for arm_id in deployment.nested:
            if arm_id.key not in seen:
                seen.add(arm_id.key)
                yield _Step(arm_id=arm_id, path=f"{deployment.step.path}/{arm_id.name}")


def _note(read: Sequence[_Deployment]) -> Iterator[str]:
    for each in read:
        if each.state.casefold() in _FAILED:
            yield f"The {each.step.origin} has the state {each.state}: resources of its template may be missing here."
        elif each.state.casefold() != "succeeded":
            yield f"Wait until the {each.step.origin} has ended ({each.state or 'no state'}), and import again."
    for each in read:
        if each.mode.casefold() == _COMPLETE:
            yield (
                f"The {each.step.origin} has the mode Complete: its next run deletes from resource group "
                f"{each.step.arm_id.resource_group} what its template does not have."
            )
    yield f"Stop what runs the {read[0].step.origin} again, such as its pipeline: it writes what the template has."
