"""Answers that Azure really gave: assignments of policies, usages of regions, and reasons of a refusal."""

import json

import pytest

from gitsync.agent.checks.policy import check_policy, read_assignment
from gitsync.agent.checks.preflight import PATH, check_preflight
from gitsync.agent.checks.quota import check_quota
from gitsync.model.check import CheckVerdict
from tests.agent.checks.asking import GROUP, change, only, requesting, show, storage
from tests.support.recordings import FOLDER, needs_recordings
from tests.support.scripted_server import Say

CHECKS = FOLDER / "arm-traffic-az" / "checks"
ZERO = "/subscriptions/00000000-0000-0000-0000-000000000000"
PROVIDERS = ("Microsoft.Compute", "Microsoft.Network", "Microsoft.Storage")


def read(name: str) -> list[dict]:
    file = CHECKS / f"{name}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


LISTS = [recorded["answer"] for recorded in read("policyAssignments") if recorded["answer"]["value"]]
USAGES = [operation for operation in read("usages") if operation["path"].split("/")[4] in PROVIDERS]
REFUSALS = [
    recorded["answer"]["error"]
    for recorded in read("preflight")
    if isinstance(recorded["answer"], dict) and recorded["answer"].get("error", {}).get("details")
]


@needs_recordings(CHECKS)
async def test_every_recorded_assignment_is_read():
    assert LISTS
    for answer in LISTS:
        found = [read_assignment(row) for row in answer["value"]]
        assert all(each and each.title for each in found), "every row is one"
        assert any(each.covers(storage(group=f"{ZERO}/resourceGroups/rg").arm_id) for each in found if each)
        async with requesting() as (rig, requests):
            scope = f"{ZERO}/resourceGroups/rg"
            rig.server.on("GET", f"{scope}/providers/Microsoft.Authorization/policyAssignments", Say(200, answer))
            rig.server.on("POST", f"{scope}/providers/Microsoft.PolicyInsights/checkPolicyRestrictions", Say(200, {}))
            assert only(await check_policy([storage(group=scope)], requests)).verdict is CheckVerdict.FINE
            assert len(rig.server.seen) == 2


@needs_recordings(CHECKS)
@pytest.mark.parametrize(
    "recorded", USAGES, ids=lambda operation: f"{operation['path'].split('/')[4]} {operation['query']}"
)
async def test_every_recorded_list_of_usages_is_read(recorded):
    group, body = f"{ZERO}/resourceGroups/rg", {"location": "West US"}
    planned = {
        "Microsoft.Compute": change(
            f"{group}/providers/Microsoft.Compute/virtualMachines/vm",
            body | {"properties": {"host": {"id": "/h"}}},  # whose cores are those of its host
        ),
        "Microsoft.Network": change(f"{group}/providers/Microsoft.Network/publicIPAddresses/ip", body),
        "Microsoft.Storage": storage("st", group, body=body),
    }[recorded["path"].split("/")[4]]
    async with requesting() as (rig, requests):
        rig.server.on("GET", recorded["path"], Say(200, recorded["answer"]))
        assert only(await check_quota([planned], requests)).verdict is CheckVerdict.FINE
        assert [seen.path for seen in rig.server.seen] == [recorded["path"]]


@needs_recordings(CHECKS)
async def test_a_recorded_quota_is_a_warning_of_preflight():
    assert REFUSALS
    for error in REFUSALS:
        wrapped = {"code": "ResourceValidationFailed", "message": "See details.", "details": [error]}
        async with requesting() as (rig, requests):
            rig.server.on("POST", PATH, Say(400, {"error": wrapped}))
            planned = change(f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/set")
            assert show(await check_preflight([planned], requests)) == [("set", "warning", "QuotaExceeded")]
