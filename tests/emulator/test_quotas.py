"""Quotas and sizes: what a region has left moves with creates and deletes, and a PUT that needs more is refused."""

import re
from pathlib import Path

import pytest

from gitsync.emulator.settings import (
    EmulatedQuota,
    EmulatedSku,
    EmulatorSettings,
    RestrictionType,
    SkuRestriction,
    read_settings,
)
from gitsync.emulator.types.quotas import USAGE_NAMESPACES
from gitsync.errors import ConfigError
from tests.emulator.asked import GROUP, SUBSCRIPTION, at, emulated

PAGE = Path(__file__).resolve().parents[2] / "docs" / "emulator.md"
PROVIDERS = f"{SUBSCRIPTION}/providers"
CLUSTER = at("Microsoft.ContainerService/managedClusters", "cluster")
POOL = at("Microsoft.ContainerService/managedClusters/agentPools", "cluster", "work")
VM, SET = at("Microsoft.Compute/virtualMachines", "vm"), at("Microsoft.Compute/virtualMachineScaleSets", "set")
ADDRESS, ACCOUNT = at("Microsoft.Network/publicIPAddresses", "ip"), at("Microsoft.Storage/storageAccounts", "st")
D4 = EmulatedSku(
    name="Standard_D4s_v3", family="standardDSv3Family", cores=4, location="westeurope", zones=("1", "2", "3")
)
CLOSED = EmulatedSku(
    name="Standard_E8s_v5",
    family="standardESv5Family",
    cores=8,
    location="westeurope",
    restricted=(SkuRestriction(type=RestrictionType.LOCATION),),
)
ZONAL = EmulatedSku(
    name="Standard_F2s",
    family="standardFSFamily",
    cores=2,
    location="westeurope",
    zones=("1", "2"),
    restricted=(SkuRestriction(type=RestrictionType.ZONE, zones=("2",), reason="QuotaId"),),
)


def quota(provider, name, limit, used=0, location="westeurope"):
    return EmulatedQuota(provider=f"Microsoft.{provider}", location=location, name=name, limit=limit, used=used)


CORES = (
    quota("Compute", "cores", 40, 4),
    quota("Compute", "standardDSv3Family", 20, 4),
    quota("Compute", "lowPriorityCores", 8),
    quota("Compute", "virtualMachines", 3),
)


def limiting(*quotas, skus=(D4,)):
    return EmulatorSettings(limits=None, quotas=quotas, skus=skus)


def machine(size="Standard_D4s_v3", *, zones=None, location="westeurope", **properties):
    body = {"location": location, "properties": {"hardwareProfile": {"vmSize": size}, **properties}}
    return body if zones is None else {**body, "zones": zones}


def scale_set(capacity, **profile):
    sku = {"name": "standard_d4S_V3", "capacity": capacity}
    return {"location": "West Europe", "sku": sku, "properties": {"virtualMachineProfile": profile}}


def pool(count, **more):
    return {"name": "work", "vmSize": "Standard_D4s_v3", "count": count, **more}


def cluster(*pools):
    return {"location": "westeurope", "properties": {"agentPoolProfiles": list(pools)}}


def address(**properties):
    return {"location": "westeurope", "sku": {"name": "Standard"}, "properties": properties}


async def read_usages(azure, provider="Compute", location="westeurope"):
    reply = await azure.get(f"{PROVIDERS}/Microsoft.{provider}/locations/{location}/usages")
    assert reply.status == 200
    return {entry["name"]["value"]: entry["currentValue"] for entry in reply.body["value"]}


async def test_without_settings_nothing_is_limited(azure, group):
    await azure.made(VM, machine())
    for provider in ("Compute", "Network", "Storage"):
        reply = await azure.get(f"{PROVIDERS}/Microsoft.{provider}/locations/westeurope/usages")
        assert {entry["limit"] for entry in reply.body["value"]} == {2147483647}
    assert (await azure.get(f"{PROVIDERS}/Microsoft.Compute/skus")).body == {"value": []}


async def test_documented_providers_list_the_quotas_of_the_settings():
    sentence = re.search(r"/usages` of (.*?) lists", PAGE.read_text("utf-8"), re.DOTALL)[1]
    names = re.findall(r"Microsoft\.(\w+)", sentence)
    assert sorted(f"microsoft.{name}".casefold() for name in names) == sorted(USAGE_NAMESPACES)
    async with emulated(limiting(*(quota(name, "some", 20, 1) for name in names))) as azure:
        found = [(await read_usages(azure, name))["some"] for name in names]
    assert found == [1] * len(names)


async def test_an_entry_of_usages_is_as_recorded():
    settings = limiting(quota("Compute", "cores", 20, 1), quota("Network", "VirtualNetworks", 1000, 10))
    async with emulated(settings) as azure:
        compute = await azure.get(f"{PROVIDERS}/Microsoft.Compute/locations/westeurope/usages")
        network = await azure.get(f"{PROVIDERS}/Microsoft.Network/locations/westeurope/usages")
    assert compute.body["value"][0] == {
        "currentValue": 1,
        "limit": 20,
        "name": {"localizedValue": "cores", "value": "cores"},
        "unit": "Count",
    }
    path = f"{PROVIDERS}/Microsoft.Network/locations/westeurope/usages/VirtualNetworks"
    assert (network.body["value"][0]["id"], network.body["value"][0]["isAdjustable"]) == (path, True)


async def test_what_the_settings_do_not_limit_has_no_limit_beside_what_they_do():
    async with emulated(limiting(quota("Compute", "virtualMachines", 3)), has_group=True) as azure:
        await azure.made(VM, machine())
        reply = await azure.get(f"{PROVIDERS}/Microsoft.Compute/locations/westeurope/usages")
    rows = {row["name"]["value"]: (row["currentValue"], row["limit"]) for row in reply.body["value"]}
    assert rows == {
        "virtualMachines": (1, 3),
        "availabilitySets": (0, 2147483647),
        "virtualMachineScaleSets": (0, 2147483647),
        "cores": (4, 2147483647),
        "lowPriorityCores": (0, 2147483647),
        "standardDSv3Family": (4, 2147483647),
    }


NEEDS = [
    (VM, machine(), {"cores": 4, "standardDSv3Family": 4, "virtualMachines": 1}, "a machine counts three times"),
    (
        VM,
        machine(priority="Spot"),
        {"lowPriorityCores": 4, "virtualMachines": 1},
        "one that may be taken away has its own cores",
    ),
    (VM, machine(host={"id": "/h"}), {"virtualMachines": 1}, "the cores of a dedicated host are its own"),
    (VM, machine(location="northeurope"), {}, "another region has its own quota"),
    (VM, machine(size="Standard_X", location="westus"), {}, "nobody knows the cores of a size that is not listed"),
    (
        SET,
        scale_set(3),
        {"cores": 12, "standardDSv3Family": 12, "virtualMachineScaleSets": 1},
        "a scale set has as many as its capacity",
    ),
    (
        SET,
        scale_set(2, priority="Spot"),
        {"lowPriorityCores": 8, "virtualMachineScaleSets": 1},
        "or as many that may be taken away",
    ),
    (CLUSTER, cluster(pool(2)), {"cores": 8, "standardDSv3Family": 8}, "a cluster has its pools"),
    (
        CLUSTER,
        cluster(pool(1, enableAutoScaling=True, minCount=3)),
        {"cores": 12, "standardDSv3Family": 12},
        "a pool that scales has its least",
    ),
]


@pytest.mark.parametrize(("path", "body", "need", "why"), NEEDS, ids=[row[-1] for row in NEEDS])
async def test_usages_move_with_creates_and_deletes(path, body, need, why):
    async with emulated(limiting(*CORES), has_group=True) as azure:
        before = await read_usages(azure)
        await azure.made(path, body)
        during = await read_usages(azure)
        reply = await azure.delete(path)
        while reply.status == 202:
            reply = await azure.get(reply.headers["Location"])
        after = await read_usages(azure)
    assert {name: count - before[name] for name, count in during.items() if count != before[name]} == need, why
    assert after == before


async def test_a_pool_counts_once_where_it_is_also_in_its_cluster():
    async with emulated(limiting(*CORES), has_group=True) as azure:
        await azure.made(CLUSTER, cluster(pool(1)))
        await azure.made(POOL, {"properties": pool(3)})
        used = await read_usages(azure)
        refused = await azure.put(POOL, {"properties": pool(5)})
    assert used["cores"] == 4 + 3 * 4
    assert (refused.status, refused.code) == (400, "QuotaExceeded")
    assert "container service cluster in resource group net failed" in refused.message
    assert (
        "Current Limit: 20, Current Usage: 16, Additional Required: 8, (Minimum) New Limit Required: 24."
        in refused.message
    )


REFUSED = [
    (SET, scale_set(5), CORES, "OperationNotAllowed", "exceeding approved standardDSv3Family Cores quota", "a family"),
    (SET, scale_set(3, priority="Low"), CORES, "OperationNotAllowed", "approved LowPriorityCores quota", "spare cores"),
    (VM, machine(), (quota("Compute", "cores", 3),), "OperationNotAllowed", "Total Regional Cores quota", "a region"),
    (
        VM,
        machine(),
        (quota("Compute", "virtualMachines", 2, 2),),
        "OperationNotAllowed",
        "approved virtualMachines",
        "machines",
    ),
    (
        CLUSTER,
        cluster(pool(5)),
        CORES,
        "QuotaExceeded",
        "standardDSv3Family Cores quota",
        "a cluster says it in its own way",
    ),
    (
        ADDRESS,
        address(),
        (quota("Network", "PublicIPAddresses", 3, 3),),
        "PublicIPCountLimitReached",
        "more than 3 public",
        "addresses",
    ),
    (
        ADDRESS,
        address(publicIPAllocationMethod="Static"),
        (quota("Network", "StaticPublicIPAddresses", 3, 3),),
        "StaticPublicIPCountLimitReached",
        "with static allocation method",
        "static addresses",
    ),
    (
        ACCOUNT,
        {"location": "westeurope"},
        (quota("Storage", "StorageAccounts", 1, 1),),
        "MaxStorageAccountsCountPerSubscriptionExceeded",
        "already contains 1 storage accounts in location westeurope",
        "storage accounts",
    ),
]


@pytest.mark.parametrize(("path", "body", "quotas", "code", "text", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
async def test_more_than_is_left_is_refused(path, body, quotas, code, text, why):
    async with emulated(limiting(*quotas), has_group=True) as azure:
        reply = await azure.put(path, body)
        absent = await azure.get(path)
    assert (reply.code, absent.status) == (code, 404), why
    assert text in reply.message
    assert "{" not in reply.message


async def test_an_update_needs_its_difference_only():
    async with emulated(limiting(*CORES), has_group=True) as azure:
        await azure.made(SET, scale_set(4))
        replies = []
        for count in (4, 3, 4, 5):
            replies.append(await azure.put(SET, scale_set(count)))
            await azure.settled(SET)
        other = await azure.put(ACCOUNT)
    assert [reply.status for reply in replies] == [200, 200, 200, 409], "20 cores: 4 elsewhere and 16 here"
    assert other.status in {201, 202}


OFFERS = [
    (machine(), "", "the region offers it"),
    (machine(zones=["1", "3"]), "", "so do the zones"),
    (machine("standard_d4S_V3"), "", "in any case"),
    (machine("Standard_Nope"), "SkuNotAvailable", "the region does not have it"),
    (machine("Standard_E8s_v5"), "SkuNotAvailable", "the subscription may not have it there"),
    (machine("Standard_F2s"), "", "it may, but for a zone"),
    (machine("Standard_F2s", zones=["2"]), "SkuNotAvailable", "that zone"),
    (machine("Standard_F2s", zones=["3"]), "SkuNotAvailable", "a zone without it"),
    (machine("Standard_Nope", location="northeurope"), "", "nothing is said of that region"),
]


@pytest.mark.parametrize(("body", "code", "why"), OFFERS, ids=[row[-1] for row in OFFERS])
async def test_a_size_that_is_not_offered_is_refused(body, code, why):
    async with emulated(limiting(skus=(D4, CLOSED, ZONAL)), has_group=True) as azure:
        reply = await azure.put(VM, body)
    assert reply.code == code if code else reply.status in {201, 202}, why


async def test_a_machine_whose_size_was_withdrawn_can_be_changed():
    async with emulated(limiting(skus=(CLOSED,)), has_group=True) as azure:
        azure.emulator.put(VM, machine("Standard_E8s_v5"))
        kept = await azure.put(VM, machine("Standard_E8s_v5", licenseType="x"))
        await azure.settled(VM)
        other = await azure.put(VM, machine("Standard_E8s_v5", zones=["1"]))
    assert (kept.status, other.code) == (200, "SkuNotAvailable")


FILTERS = [
    ("", ["Standard_D4s_v3", "Standard_F2s", "Standard_D4s_v3"], "all"),
    ("?$filter=location eq 'WestEurope'", ["Standard_D4s_v3", "Standard_F2s"], "those of a region"),
    ("?$filter=location eq 'nowhere'", [], "a region without any"),
    (
        "?$filter=name eq 'Standard_F2s'",
        ["Standard_D4s_v3", "Standard_F2s", "Standard_D4s_v3"],
        "no other filter works",
    ),
]


@pytest.mark.parametrize(("query", "names", "why"), FILTERS, ids=[row[-1] for row in FILTERS])
async def test_sizes_are_filtered_by_location_alone(query, names, why):
    elsewhere = EmulatedSku(name="Standard_D4s_v3", family="standardDSv3Family", cores=4, location="northeurope")
    async with emulated(limiting(skus=(D4, ZONAL, elsewhere))) as azure:
        reply = await azure.get(f"{PROVIDERS}/Microsoft.Compute/skus{query}")
    assert [entry["name"] for entry in reply.body["value"]] == names, why


async def test_an_entry_of_sizes():
    async with emulated(limiting(skus=(ZONAL,))) as azure:
        reply = await azure.get(f"{PROVIDERS}/Microsoft.Compute/skus")
    assert reply.body["value"] == [
        {
            "resourceType": "virtualMachines",
            "name": "Standard_F2s",
            "tier": "Standard",
            "size": "F2s",
            "family": "standardFSFamily",
            "locations": ["westeurope"],
            "locationInfo": [{"location": "westeurope", "zones": ["1", "2"], "zoneDetails": []}],
            "capabilities": [{"name": "vCPUs", "value": "2"}],
            "restrictions": [
                {
                    "type": "Zone",
                    "values": ["westeurope"],
                    "restrictionInfo": {"locations": ["westeurope"], "zones": ["2"]},
                    "reasonCode": "QuotaId",
                }
            ],
        }
    ]


SCRIPT = """settings:
  quotas: [{provider: Microsoft.Compute, location: westeurope, name: standardDSv3Family, limit: 20, used: 8}]
  skus: [{name: Standard_D4s_v3, family: standardDSv3Family, vCPUs: 4, location: westeurope, zones: ["1", 2], restricted: [{type: Location}]}]
"""


def test_a_script_sets_quotas_and_sizes(tmp_path):
    (tmp_path / "script.yaml").write_text(SCRIPT)
    settings = read_settings(tmp_path / "script.yaml")
    assert settings.quotas == (quota("Compute", "standardDSv3Family", 20, 8),)
    assert (settings.skus[0].cores, settings.skus[0].zones) == (4, ("1", "2"))
    assert settings.skus[0].restricted == (SkuRestriction(type=RestrictionType.LOCATION),)


WRONG = [
    ("used: 8", "used: some", 2, "settings.quotas[0].used: expected a number", "a count is a number"),
    (", limit: 20", "", 2, "missing keys: limit", "a limit is needed"),
    ("vCPUs: 4", "cores: 4", 3, "skus[0].cores: there is no such key", "other keys are mistakes"),
    ("{type: Location}", "{type: Zone}", 3, "has zones, and it needs them", "some zones are closed"),
    ("{type: Location}", "{type: Planet}", 3, "not 'Planet'", "there are two types"),
]


@pytest.mark.parametrize(("old", "new", "line", "message", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_a_mistake_in_a_script_has_its_line(tmp_path, old, new, line, message, why):
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        read_settings(script)
    assert f"{script}:{line}: " in str(caught.value), why
    assert message in str(caught.value)


async def test_another_subscription_has_its_own_quota():
    settings = limiting(quota("Compute", "virtualMachines", 1))
    async with emulated(settings, has_group=True) as azure:
        await azure.put(GROUP.replace("0001", "0002"))
        first = await azure.put(VM, machine())
        second = await azure.put(VM.replace("0001", "0002"), machine())
        third = await azure.put(VM.replace("/vm", "/third"), machine())
    assert first.status in {201, 202}
    assert second.status in {201, 202}
    assert third.code == "OperationNotAllowed"
