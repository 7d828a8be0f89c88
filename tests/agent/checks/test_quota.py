"""What a plan needs against what is left. The real client queries a scripted server."""

import pytest

from gitsync.agent.checks.check_requests import UNKNOWN_VALUE, UNUSABLE_ANSWER
from gitsync.agent.checks.quota import EXCEEDED, NOT_OFFERED, NOTHING_LISTED, check_quota
from gitsync.model.check import CheckVerdict, HiddenValue
from gitsync.model.verdict import Action
from tests.agent.checks.asking import GROUP, SUB, change, requesting, show, storage
from tests.support.scripted_server import Say

FINE, REFUSED, WARNING, SILENT = "fine", "refused", "warning", "not-checked"
COMPUTE, NETWORK, STORAGE = (
    f"{SUB}/providers/Microsoft.{name}/locations/westeurope/usages" for name in ("Compute", "Network", "Storage")
)
SKUS = f"{SUB}/providers/Microsoft.Compute/skus"
WE = {"location": "West Europe"}


def usage(name: str, used: int = 0, limit: int = 100) -> dict:
    return {"name": {"value": name, "localizedValue": name}, "currentValue": used, "limit": limit, "unit": "Count"}


def size(name: str, family: str, cores: int, *, zones=("2", "1"), **more) -> dict:
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "family": family,
        "locations": ["WestEurope"],
        "locationInfo": [{"location": "WestEurope", "zones": list(zones)}],
        "capabilities": [{"name": "MemoryGB", "value": "8"}, {"name": "vCPUs", "value": str(cores)}],
        **more,
    }


CLOSED = [{"type": "Location", "values": ["westeurope"], "restrictionInfo": {"locations": ["westeurope"]}}]
CLOSED_ZONE = [{"type": "Zone", "restrictionInfo": {"locations": ["westeurope"], "zones": ["2"]}}]
SIZES = [
    {"resourceType": "disks", "name": "Premium_LRS", "locations": ["westeurope"]},
    size("Standard_D4s_v3", "standardDSv3Family", 4),
    size("Standard_D8s_v3", "standardDSv3Family", 8, restrictions=CLOSED_ZONE),
    size("Standard_E4", "standardEFamily", 4),
    size("Standard_X", "standardXFamily", 4, restrictions=CLOSED),
    size("Standard_Far", "standardFFamily", 4, locations=["eastus"], locationInfo=[]),
]
LIMITS = [
    usage("cores", 60),
    usage("STANDARDDSV3FAMILY", 8, 20),
    usage("standardEFamily", 0, 4),
    usage("lowPriorityCores", 0, 8),
    usage("virtualMachines"),
    usage("virtualMachineScaleSets"),
]


def machine(name: str = "vm", vm_size: object = "Standard_D4s_v3", **more):
    body = {**WE, "properties": {"hardwareProfile": {"vmSize": vm_size}, **more.pop("properties", {})}}
    body |= {"zones": more.pop("zones")} if "zones" in more else {}
    return change(f"{GROUP}/providers/Microsoft.Compute/virtualMachines/{name}", body, **more)


def scale_set(capacity: object, **more):
    body = {**WE, "sku": {"name": "standard_d4s_V3", "capacity": capacity}}
    return change(f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/set", body, **more)


CLUSTER = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/aks"


def pool(count: object = 1, **more) -> dict:
    return {"name": "np", "vmSize": "Standard_D4s_v3", "count": count, **more}


def cluster(*pools, **more):
    return change(CLUSTER, {**WE, "properties": {"agentPoolProfiles": list(pools)}}, **more)


def agent_pool(**properties):
    return change(f"{CLUSTER}/agentPools/np", {"properties": {"vmSize": "Standard_D4s_v3", "count": 1, **properties}})


async def send_request(*changes, sizes=SIZES, limits=LIMITS, addresses=(), accounts=()):
    async with requesting() as (rig, requests):
        for path, rows in ((SKUS, sizes), (COMPUTE, limits), (NETWORK, addresses), (STORAGE, accounts)):
            rig.server.on("GET", path, rows if isinstance(rows, Say) else Say(200, {"value": list(rows)}))
        rig.server.on("GET", CLUSTER, Say(200, {"id": CLUSTER, **WE}))
        return await check_quota(changes, requests), rig.server.seen


LATER = HiddenValue.LATER
BIG = {"enableAutoScaling": True, "minCount": 2, "maxCount": 3}


@pytest.mark.parametrize(
    ("planned", "verdict", "code"),
    [
        (machine(), FINE, ""),
        (machine(vm_size="Standard_E4"), FINE, ""),
        (machine(vm_size="Standard_Unheard"), REFUSED, NOT_OFFERED),
        (machine(vm_size="Standard_Far"), REFUSED, NOT_OFFERED),
        (machine(vm_size="Standard_X"), REFUSED, NOT_OFFERED),
        (machine(zones=["1"]), FINE, ""),
        (machine(zones=["3"]), REFUSED, NOT_OFFERED),
        (machine(vm_size="Standard_D8s_v3", zones=["2"]), REFUSED, NOT_OFFERED),
        (machine(vm_size="Standard_D8s_v3", zones=["1"]), FINE, ""),
        (machine(vm_size=LATER), SILENT, UNKNOWN_VALUE),
        (machine(vm_size=None), SILENT, UNKNOWN_VALUE),
        (machine(zones=[LATER]), SILENT, UNKNOWN_VALUE),
        (machine(properties={"priority": "Spot"}), FINE, ""),
        (machine(properties={"priority": LATER}), SILENT, UNKNOWN_VALUE),
        (machine(vm_size="Standard_Unheard", properties={"host": {"id": "/h"}}), FINE, ""),
        (scale_set(3), FINE, ""),
        (scale_set(4), WARNING, EXCEEDED),
        (scale_set(LATER), SILENT, UNKNOWN_VALUE),
        (cluster(pool(3)), FINE, ""),
        (cluster(pool(2), pool(2, name="b")), WARNING, EXCEEDED),
        (cluster(pool(1, **BIG)), FINE, ""),
        (cluster(pool(1, **BIG | {"maxCount": 9})), WARNING, EXCEEDED),
        (cluster(pool(1, **BIG | {"minCount": 4, "maxCount": 4})), WARNING, EXCEEDED),
        (cluster(pool(3, scaleSetPriority="Spot")), WARNING, EXCEEDED),
        (cluster(pool(1, availabilityZones=["3"])), REFUSED, NOT_OFFERED),
        (cluster(pool(1, vmSize=LATER)), SILENT, UNKNOWN_VALUE),
        (change(CLUSTER, {**WE, "properties": {"agentPoolProfiles": LATER}}), SILENT, UNKNOWN_VALUE),
        (agent_pool(), FINE, ""),
        (agent_pool(count=4), WARNING, EXCEEDED),
        (storage(body={"location": LATER}), SILENT, UNKNOWN_VALUE),
        (storage("<a name>"), FINE, ""),
        (storage(group="/subscriptions/<which>/resourceGroups/rg"), SILENT, UNKNOWN_VALUE),
        (storage(doubt="no subscription is set"), SILENT, UNKNOWN_VALUE),
    ],
)
async def test_each_need_has_its_verdict(planned, verdict, code):
    findings, _ = await send_request(planned, accounts=[usage("StorageAccounts")])
    assert show(findings) == [(planned.key.name, verdict, code)]


async def test_the_sum_of_the_plan_counts():
    findings, seen = await send_request(*(machine(f"vm{number}") for number in range(3)))
    assert {verdict for _, verdict, _ in show(findings)} == {FINE}
    findings, seen = await send_request(*(machine(f"vm{number}") for number in range(4)), scale_set(1))
    assert {verdict for _, verdict, _ in show(findings)} == {WARNING}
    message = findings[0][1].message
    assert "needs 20 more of standardDSv3Family in westeurope, but 12 of 20 are left" in message
    assert "deletes" not in message
    assert sorted(request.path for request in seen) == sorted([SKUS, COMPUTE])
    assert "location%20eq%20'westeurope'" in seen[0].query


async def test_cores_of_the_region_are_a_limit_of_their_own():
    limits = [usage("cores", 98), usage("standardDSv3Family"), usage("virtualMachines")]
    [(_, finding)] = (await send_request(machine(), limits=limits))[0]
    assert "needs 4 more of cores" in finding.message


async def test_a_delete_frees_nothing_for_certain():
    findings, _ = await send_request(scale_set(4), machine("old", action=Action.DELETE))
    [(_, finding)] = findings
    assert finding.verdict is CheckVerdict.WARNING
    assert "Quota that the plan's deletes release is not counted" in finding.message


LIVE = scale_set(3).body


@pytest.mark.parametrize(
    ("planned", "verdict", "requested"),
    [
        (scale_set(3, action=Action.UPDATE, live_body=LIVE), FINE, []),
        (scale_set(2, action=Action.UPDATE, live_body=LIVE), FINE, []),
        (scale_set(6, action=Action.UPDATE, live_body=LIVE), FINE, [SKUS, COMPUTE]),
        (scale_set(7, action=Action.UPDATE, live_body=LIVE), WARNING, [SKUS, COMPUTE]),
        (scale_set(6, live_body=LIVE, replaces=True), WARNING, [SKUS, COMPUTE]),
        (machine(vm_size="Standard_D8s_v3", action=Action.UPDATE, live_body=machine().body), FINE, [SKUS, COMPUTE]),
        (machine(vm_size="Standard_Gone", action=Action.UPDATE, live_body=machine("v", "standard_gone").body), FINE, []),
        (machine(vm_size="Standard_Gone", action=Action.UPDATE, live_body=machine().body), REFUSED, [SKUS]),
        (cluster(pool(3), action=Action.UPDATE, live_body=cluster(pool(1, name="other"), pool(3)).body), FINE, []),
        (cluster(pool(1, **BIG), action=Action.UPDATE, live_body=cluster(pool(5, **BIG)).body), FINE, []),
        (storage(action=Action.UPDATE, live_body=WE), FINE, []),
    ],
)  # fmt: skip
async def test_an_update_needs_the_difference(planned, verdict, requested):
    findings, seen = await send_request(planned)
    assert [found for _, found, _ in show(findings)] == [verdict]
    assert [request.path for request in seen] == requested


async def test_a_smaller_family_does_not_pay_for_another():
    live = scale_set(1).body
    planned = change(scale_set(1).arm_id, {**WE, "sku": {"name": "Standard_E4", "capacity": 2}}, live_body=live)
    [(_, finding)] = (await send_request(planned))[0]
    assert "needs 8 more of standardEFamily" in finding.message


async def test_an_autoscaler_is_named():
    [(_, finding)] = (await send_request(cluster(pool(1, **BIG | {"maxCount": 9}))))[0]
    assert "With its autoscalers, the plan may need up to 36 more of standardDSv3Family" in finding.message


async def test_a_pool_is_where_its_cluster_is():
    _, seen = await send_request(agent_pool())
    assert [request.path for request in seen] == [CLUSTER, SKUS, COMPUTE]
    _, seen = await send_request(agent_pool(), cluster())
    assert [request.path for request in seen] == [SKUS, COMPUTE]


ADDRESS = f"{GROUP}/providers/Microsoft.Network/publicIPAddresses"


@pytest.mark.parametrize(
    ("allocation", "limits", "verdict"),
    [
        ("Dynamic", [usage("PublicIPAddresses", 9, 11)], FINE),
        ("Dynamic", [usage("PublicIPAddresses", 9, 10)], WARNING),
        ("Static", [usage("PublicIPAddresses"), usage("StaticPublicIPAddresses", 0, 1)], WARNING),
        ("Static", [usage("PublicIPAddresses")], SILENT),
        ("Static", [usage("PublicIPAddresses", 5, 2147483647), usage("StaticPublicIPAddresses")], FINE),
    ],
)
async def test_public_addresses(allocation, limits, verdict):
    body = {**WE, "properties": {"publicIPAllocationMethod": allocation}}
    findings, seen = await send_request(*(change(f"{ADDRESS}/{name}", body) for name in "ab"), addresses=limits)
    assert {found for _, found, _ in show(findings)} == {verdict}
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("accounts", "verdict", "code"),
    [
        ([usage("StorageAccounts", 249, 250)], FINE, ""),
        ([usage("StorageAccounts", 250, 250)], WARNING, EXCEEDED),
        ([usage("StorageAccounts", 260, 250)], WARNING, EXCEEDED),
        ([], SILENT, NOTHING_LISTED),
        ([{"name": "odd"}], SILENT, UNUSABLE_ANSWER),
        (Say(403, {"error": {"code": "AuthorizationFailed"}}), SILENT, "AuthorizationFailed"),
        (Say(500), SILENT, "UnknownError"),
    ],
)
async def test_storage_accounts(accounts, verdict, code):
    findings, seen = await send_request(storage(), accounts=accounts)
    assert show(findings) == [("stapp1", verdict, code)]
    assert len(seen) == 1


@pytest.mark.parametrize("sizes", [[], [{"resourceType": "disks"}], Say(404), Say(200, "<html>")])
async def test_no_sizes_is_not_refused(sizes):
    [(_, verdict, _)] = show((await send_request(machine(), sizes=sizes))[0])
    assert verdict == SILENT


async def test_each_region_and_subscription_has_its_own_limits():
    east = storage("east", body={"location": "East US"})
    async with requesting() as (rig, requests):
        rig.server.on("GET", STORAGE, Say(200, {"value": [usage("StorageAccounts", 1, 1)]}))
        rig.server.on("GET", STORAGE.replace("westeurope", "eastus"), Say(200, {"value": [usage("StorageAccounts")]}))
        findings = await check_quota([storage(), east, change(GROUP)], requests)
    assert show(findings) == [("east", FINE, ""), ("stapp1", WARNING, EXCEEDED)]
