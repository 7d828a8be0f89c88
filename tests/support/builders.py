"""Nouns in one line, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.model.arm_id import ArmId
from gitsync.model.condition import Condition, ConditionStatus, Severity
from gitsync.model.gvk import GVK, Key
from gitsync.model.lines import Lines, LineTable
from gitsync.model.live import Live
from gitsync.model.plan import Prune
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim, Record
from gitsync.model.resource import OwnerRef, Prepared, Relations, Resource
from gitsync.model.result import Result
from gitsync.model.template import Template
from gitsync.model.verdict import Action, Verdict
from tests.support.parts import build

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
GROUP_VERSION = "v1api20200601"


def rg(name: str = "core") -> Key:
    return Key("resources.azure.com", "ResourceGroup", "default", name)


def vnet(name: str = "hub") -> Key:
    return Key("network.azure.com", "VirtualNetwork", "default", name)


def subnet(name: str = "one") -> Key:
    return Key("network.azure.com", "VirtualNetworksSubnet", "default", name)


def group_id(name: str = "core") -> ArmId:
    return ArmId(f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{name}")


def vnet_id(name: str = "hub", group: str = "core") -> ArmId:
    return ArmId(f"{group_id(group)}/providers/Microsoft.Network/virtualNetworks/{name}")


def prepared(
    key: Key,
    arm_id: str | None,
    *,
    depends_on: tuple[Key, ...] = (),
    owner: OwnerRef | None = None,
    problems: tuple[Problem, ...] = (),
    policy: Policy = Policy.MANAGE,
    body: dict[str, Any] | None = None,
) -> Prepared:
    resource = Resource(
        key=key, gvk=GVK(key.group, GROUP_VERSION, key.kind), spec={}, source=SourceLocation("a.yaml", 1)
    )
    template = Template(arm_id=ArmId(arm_id or ""), api_version="2020-06-01", body=body or {})
    return Prepared(
        resource=resource,
        policy=policy,
        arm_id=ArmId(arm_id) if arm_id else None,
        api_version="2020-06-01",
        template=template,
        relations=Relations(owner=owner, depends_on=depends_on),
        problems=problems,
    )


def record(key: Key, arm_id: str, *, claim: Claim = Claim.CREATED, **more: Any) -> Record:
    return build(
        Record,
        key=key,
        api_version=f"{key.group}/{GROUP_VERSION}",
        arm_id=arm_id,
        arm_api_version="2020-06-01",
        claim=claim,
        **more,
    )


def prune(key: Key, arm_id: str, **more: Any) -> Prune:
    return Prune(record=record(key, arm_id), **more)


def result(key: Key, *, is_fine: bool = True, verdict: Verdict = Verdict.IN_SYNC, **more: Any) -> Result:
    condition = (
        Condition(status=ConditionStatus.TRUE, reason="Succeeded")
        if is_fine
        else Condition(
            status=ConditionStatus.FALSE, severity=Severity.WARNING, reason="Failed", message="It did not work."
        )
    )
    more.setdefault("action", Action.NONE)
    return build(
        Result,
        key=key,
        api_version=f"{key.group}/{GROUP_VERSION}",
        source=None,
        arm_id=None,
        policy=Policy.MANAGE,
        verdict=verdict,
        condition=condition,
        is_fine=is_fine,
        **more,
    )


def live(state: str | None = None, **body: Any) -> Live:
    properties = {**body.pop("properties", {}), **({"provisioningState": state} if state else {})}
    return Live(body={**body, "properties": properties})


def lines_of(numbers: Mapping[tuple[str | int, ...], int]) -> Lines:
    """The lines of a document of which only these fields are known; all others are in line 1."""
    tree: dict[str | int, Any] = {}
    for path in numbers:
        below = tree
        for step in path:
            below = below.setdefault(step, {})
    table = LineTable()

    def add(path: tuple[str | int, ...], below: dict[str | int, Any]) -> None:
        step = path[-1] if path and isinstance(path[-1], str) else None
        node = table.begin(step, numbers.get(path, 1))
        for each, rest in below.items():
            add((*path, each), rest)
        table.end(node)

    add((), tree)
    return Lines(table)
