"""What a provider lists: its api-versions and locations, shown as Azure shows them, and enforced."""

from dataclasses import replace

import pytest

from gitsync.emulator.settings import EmulatorSettings, ListedType, read_settings
from gitsync.errors import ConfigError
from tests.emulator.asked import GROUP, SUBSCRIPTION, at, emulated

ACCOUNT = at("Microsoft.Storage/storageAccounts", "data")
CONTAINER = at("Microsoft.Storage/storageAccounts/blobServices/containers", "data", "default", "c")
LISTED = EmulatorSettings(
    limits=None,
    versions=(
        ListedType(
            type="Microsoft.Storage/storageAccounts",
            api_versions=("2024-03-01", "2023-01-01-preview"),
            locations=("westeurope", "North Europe", "moonbase"),
        ),
        ListedType(type="Microsoft.Network/dnsZones", api_versions=("2018-05-01",), capabilities=()),
    ),
)


async def test_the_provider_lists_them():
    async with emulated(LISTED) as azure:
        storage = await azure.get(f"{SUBSCRIPTION}/providers/microsoft.storage")
        network = await azure.get("/providers/Microsoft.Network")
        providers = await azure.get(f"{SUBSCRIPTION}/providers")
    assert storage.body["resourceTypes"] == [
        {
            "resourceType": "storageAccounts",
            "locations": ["West Europe", "North Europe", "moonbase"],
            "apiVersions": ["2024-03-01", "2023-01-01-preview"],
            "capabilities": (
                "CrossResourceGroupResourceMove, CrossSubscriptionResourceMove, SupportsTags, SupportsLocation"
            ),
        }
    ]
    assert network.body["resourceTypes"] == [
        {"resourceType": "dnsZones", "locations": [], "apiVersions": ["2018-05-01"], "capabilities": "None"}
    ]
    assert {"Microsoft.Storage", "Microsoft.Network"} <= {entry["namespace"] for entry in providers.body["value"]}


NETWORKS, SUBNETS = "Microsoft.Network/virtualNetworks", "Microsoft.Network/virtualNetworks/subnets"
KNOWN = {
    NETWORKS: ("2025-03-01", "2024-05-01"),
    SUBNETS: ("2025-03-01",),
    "Microsoft.Storage/storageAccounts": ("2020-01-01",),
}


async def test_known_types_are_listed_and_not_enforced():
    """They are not a list of all that exists, and the emulator accepts any version and location of them."""
    settings = replace(LISTED, list_known_types=lambda _: KNOWN)
    async with emulated(settings, has_group=True) as azure:
        network = await azure.get(f"{SUBSCRIPTION}/providers/microsoft.network")
        storage = await azure.get("/providers/Microsoft.Storage")
        providers = await azure.get(f"{SUBSCRIPTION}/providers")
        put = await azure.put(at(NETWORKS, "hub"), {"location": "moonbase"}, api_version="2019-01-01")
    assert {row["resourceType"]: row["apiVersions"] for row in network.body["resourceTypes"]} == {
        "dnsZones": ["2018-05-01"],
        "virtualNetworks": ["2025-03-01", "2024-05-01"],
        "virtualNetworks/subnets": ["2025-03-01"],
    }
    assert [row["apiVersions"] for row in storage.body["resourceTypes"]] == [["2024-03-01", "2023-01-01-preview"]], (
        "the settings count first"
    )
    assert {"Microsoft.Network", "Microsoft.Storage"} <= {entry["namespace"] for entry in providers.body["value"]}
    assert put.status == 201


async def test_a_closed_list_of_types_has_no_others():
    settings = EmulatorSettings(types={NETWORKS: ("2020-01-01",)}, list_known_types=lambda _: KNOWN)
    async with emulated(settings) as azure:
        answer = await azure.get("/providers/Microsoft.Network")
    assert [row["resourceType"] for row in answer.body["resourceTypes"]] == ["virtualNetworks"]


REQUESTS = [
    ("PUT", ACCOUNT, "westeurope", "2024-03-01", "", "both are listed"),
    ("PUT", ACCOUNT, "NorthEurope", "2023-01-01-PREVIEW", "", "in any case, and without blanks"),
    ("PUT", ACCOUNT, "West Europe", "2019-06-01", "NoRegisteredProviderFound", "the version is gone"),
    ("PUT", ACCOUNT, "eastus", "2024-03-01", "LocationNotAvailableForResourceType", "it is not offered there"),
    ("GET", ACCOUNT, "", "2019-06-01", "NoRegisteredProviderFound", "a read needs a version as well"),
    ("DELETE", ACCOUNT, "", "2019-06-01", "NoRegisteredProviderFound", "a delete too"),
    (
        "POST",
        f"{ACCOUNT}/listKeys",
        "",
        "2019-06-01",
        "NoRegisteredProviderFound",
        "an action has the versions of its resource",
    ),
    ("POST", f"{ACCOUNT}/listKeys", "", "2024-03-01", "", "one of them will do"),
    ("PUT", at("Microsoft.Network/dnsZones", "a.b"), "mars", "2018-05-01", "", "a type without locations is global"),
    ("PUT", CONTAINER, "", "2019-06-01", "", "nothing is said of a nested type"),
    ("PUT", at("Microsoft.KeyVault/vaults", "kv"), "mars", "2019-06-01", "", "nor of another provider"),
]


@pytest.mark.parametrize(
    ("method", "path", "location", "version", "code", "why"), REQUESTS, ids=[row[-1] for row in REQUESTS]
)
async def test_what_is_not_listed_is_refused(method, path, location, version, code, why):
    async with emulated(LISTED, has_group=True) as azure:
        azure.emulator.put(ACCOUNT, {"location": location or "westeurope"})
        body = {"location": location} if location else {}
        reply = await azure.send_request(method, path, body if method == "PUT" else None, version=version)
    assert (reply.status, reply.code) == (400, code) if code else reply.status < 300, why


async def test_the_refusals_say_what_is_listed():
    async with emulated(LISTED, has_group=True) as azure:
        version = await azure.put(ACCOUNT, version="2019-06-01")
        location = await azure.put(ACCOUNT, {"location": "East US"})
    assert version.message == (
        "No registered resource provider found for location 'westeurope' and API version '2019-06-01' for type "
        "'storageAccounts'. The supported api-versions are '2024-03-01, 2023-01-01-preview'. The supported locations "
        "are 'westeurope, northeurope, moonbase'."
    )
    assert location.message == (
        "The provided location 'East US' is not available for resource type 'Microsoft.Storage/storageAccounts'. List of "
        "available regions for the resource type is 'westeurope,northeurope,moonbase'."
    )


async def test_lookups_are_no_types_that_a_table_could_lack():
    settings = EmulatorSettings(limits=None, types={"Microsoft.Storage/storageAccounts": ()})
    paths = (
        "Microsoft.KeyVault/deletedVaults",
        "Microsoft.Compute/skus",
        "Microsoft.Network/locations/westeurope/usages",
    )
    async with emulated(settings) as azure:
        replies = [await azure.get(f"{SUBSCRIPTION}/providers/{path}") for path in paths]
        unknown = await azure.get(f"{GROUP}/providers/Microsoft.KeyVault/vaults")
    assert [reply.status for reply in replies] == [200] * 3
    assert unknown.code == "InvalidResourceNamespace"


WRONG = [
    ("{apiVersions: [2023-01-01], locations: [westeurope]}", "", "a script sets them"),
    ("{apiVersions: 2023-01-01, locations: westeurope}", "", "one is as good as a list"),
    ("{locations: [westeurope]}", "missing keys: apiVersions", "a type has versions"),
    ("{apiVersions: [2023-01-01], regions: [a]}", "regions: there is no such key", "other keys are mistakes"),
    ("[2023-01-01]", "expected a mapping", "a list of versions says nothing of locations"),
]


@pytest.mark.parametrize(("text", "message", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_a_script_lists_versions(tmp_path, text, message, why):
    script = tmp_path / "script.yaml"
    script.write_text(f"settings:\n  versions:\n    Microsoft.Storage/storageAccounts: {text}\n")
    if not message:
        listed = ListedType(
            type="Microsoft.Storage/storageAccounts", api_versions=("2023-01-01",), locations=("westeurope",)
        )
        assert read_settings(script).versions == (listed,), why
        return
    with pytest.raises(ConfigError) as caught:
        read_settings(script)
    assert f"{script}:3: " in str(caught.value), why
    assert message in str(caught.value)
