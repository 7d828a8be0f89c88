"""Planned changes for tests of checks, and the real client against a scripted server."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import asynccontextmanager
from typing import Any

from gitsync.agent.checks.check_requests import CheckRequests
from gitsync.model.arm_id import ArmId
from gitsync.model.check import CheckFinding, Findings, PlannedChange
from gitsync.model.gvk import Key
from gitsync.model.verdict import Action
from tests.support.arm_rig import SUBSCRIPTION, Rig, rigged

SUB = f"/subscriptions/{SUBSCRIPTION}"
GROUP = f"{SUB}/resourceGroups/rg"


def key(name: str, kind: str = "StorageAccount") -> Key:
    return Key("storage.azure.com", kind, "default", name)


def storage_id(name: str = "stapp1", group: str = GROUP) -> str:
    return f"{group}/providers/Microsoft.Storage/storageAccounts/{name}"


def change(
    arm_id: str, body: Mapping[str, Any] | None = None, action: Action = Action.CREATE, **more: Any
) -> PlannedChange:
    """A change whose key has the name of the id, or as `called`."""
    body = None if action is Action.DELETE else {"location": "westeurope"} if body is None else body
    more.setdefault("api_version", "2023-05-01")
    arm_type = ArmId(arm_id).arm_type
    name = more.pop("called", arm_id.rpartition("/")[2])
    return PlannedChange(
        key=key(name, arm_type.rpartition("/")[2]),
        action=action,
        arm_id=ArmId(arm_id),
        arm_type=arm_type,
        body=body,
        **more,
    )


def storage(name: str = "stapp1", group: str = GROUP, **more: Any) -> PlannedChange:
    return change(storage_id(name, group), **more)


def show(findings: Findings) -> list[tuple[str, str, str]]:
    """Name, verdict and code of each finding, sorted."""
    return sorted((key.name, str(finding.verdict), finding.code) for key, finding in findings)


def only(findings: Findings) -> CheckFinding:
    [(_, finding)] = findings
    return finding


@asynccontextmanager
async def requesting():
    """A rig, and the checks against its server."""
    async with rigged() as rig:
        yield rig, make_checks(rig)


def make_checks(rig: Rig) -> CheckRequests:
    return CheckRequests(rig.arm, rig.talk)
