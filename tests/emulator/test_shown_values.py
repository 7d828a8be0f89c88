"""What Azure gives back of what it was given: secrets kept, values added, words rewritten."""

from dataclasses import replace
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.emulator.patch import GONE, merge_patch, set_value
from gitsync.emulator.types.bodies import hide_secrets
from gitsync.emulator.types.provider_fields import add_provider_fields
from tests.emulator.asked import GROUP, OPEN, PLAIN, at, emulated

SECRETS = [
    ("administratorLoginPassword", "x", True, "a password"),
    ("adminPassword", "x", True, "by any name"),
    ("clientSecret", "x", True, "a secret"),
    ("secret", "x", True, "called so"),
    ("storageAccountAccessKey", "x", True, "a key"),
    ("sharedKey", "x", True, "shared"),
    ("connectionString", "x", True, "it holds a key"),
    ("protectedSettings", {"a": 1}, True, "an object that is secret as a whole"),
    ("customData", "x", True, "the script of a machine"),
    ("disablePasswordAuthentication", True, False, "a switch about passwords"),
    ("secretName", "x", False, "the name of a secret"),
    ("secretUri", "x", False, "the place of a secret"),
    ("secrets", ["get"], False, "permissions for secrets"),
    ("keyName", "x", False, "the name of a key"),
    ("publicKey", "x", False, "a key for all to see"),
    ("passwordAuth", "Enabled", False, "how to sign in"),
    ("tokenStore", True, False, "a switch about tokens"),
    ("instrumentationKey", "x", False, "shown by its provider"),
]


@pytest.mark.parametrize(("name", "value", "is_secret", "why"), SECRETS, ids=[row[0] for row in SECRETS])
def test_secrets_are_taken_and_never_given_back(name, value, is_secret, why):
    shown = hide_secrets({"properties": {"list": [{name: value, "other": 1}]}})
    assert (name not in shown["properties"]["list"][0]) is is_secret, why
    assert shown["properties"]["list"][0]["other"] == 1


def test_protected_settings_of_extensions_are_shown_empty():
    assert hide_secrets({"configurationProtectedSettings": {"a": "x"}}) == {"configurationProtectedSettings": {"a": ""}}


async def test_what_was_received_can_be_looked_up_with_its_secrets(azure, group):
    shown = await azure.put(PLAIN, {"location": "x", "properties": {"adminPassword": "p"}})
    received, resource, absent = (
        azure.emulator.received(PLAIN),
        azure.emulator.resource(PLAIN),
        azure.emulator.received(f"{PLAIN}0"),
    )
    assert "adminPassword" not in shown.body["properties"]
    assert received["properties"] == {"adminPassword": "p"}
    assert resource == shown.body
    assert absent is None


METHOD = "publicIPAllocationMethod"
MADE = [
    ("Microsoft.ManagedIdentity/userAssignedIdentities", {}, ["clientId", "principalId", "tenantId"]),
    ("Microsoft.KeyVault/vaults", {}, ["vaultUri"]),
    ("Microsoft.Kusto/clusters", {}, ["dataIngestionUri", "state", "uri"]),
    ("Microsoft.Storage/storageAccounts", {}, ["primaryEndpoints", "primaryLocation", "statusOfPrimary"]),
    ("Microsoft.Web/sites", {}, ["defaultHostName"]),
    ("Microsoft.Network/publicIPAddresses", {"properties": {"publicIPAllocationMethod": "Dynamic"}}, [METHOD]),
    (
        "Microsoft.Network/publicIPAddresses",
        {"properties": {"publicIPAllocationMethod": "static"}},
        ["ipAddress", METHOD],
    ),
    ("Contoso.Things/things", {}, []),
]


@pytest.mark.parametrize(("kind", "body", "members"), MADE, ids=[row[0] for row in MADE])
def test_a_provider_adds_what_only_it_has(kind, body, members):
    made = add_provider_fields(kind, at(kind, "a"), body, "tenant")
    assert sorted(made.get("properties", {})) == members
    assert made == add_provider_fields(kind, at(kind, "a"), body, "tenant"), "the same each time"
    if set(members) - {METHOD}:
        assert made != add_provider_fields(kind, at(kind, "b"), body, "tenant"), "and another for another"


FOLLOWING = [
    (
        "Microsoft.Network/publicIPAddresses",
        "dnsSettings",
        {"domainNameLabel": "shop"},
        "shop.westus.cloudapp.azure.com",
    ),
    (
        "Microsoft.ContainerInstance/containerGroups",
        "ipAddress",
        {"dnsNameLabel": "shop"},
        "shop.westus.azurecontainer.io",
    ),
]


@pytest.mark.parametrize(("kind", "member", "value", "name"), FOLLOWING, ids=[row[0] for row in FOLLOWING])
def test_a_label_gives_a_name(kind, member, value, name):
    body = {"location": "westus", "properties": {member: value}}
    made = add_provider_fields(kind, at(kind, "a"), body, "tenant")
    assert made["properties"][member] == {**value, "fqdn": name}


def test_an_address_has_its_version():
    kind = "Microsoft.Network/publicIPAddresses"
    body = {"properties": {"publicIPAllocationMethod": "Static", "publicIPAddressVersion": "IPv6"}}
    shown = add_provider_fields(kind, at(kind, "a"), body, "tenant")
    assert ip_address(shown["properties"]["ipAddress"]).version == 6


def test_a_record_of_a_zone_shows_its_name_in_full():
    path = at("Microsoft.Network/privateDnsZones/A", "contoso.com", "www")
    shown = add_provider_fields("Microsoft.Network/privateDnsZones/A", path, {}, "tenant")
    assert shown == {"properties": {"fqdn": "www.contoso.com."}}


def test_an_address_that_was_changed_outside_stays():
    body = {"properties": {"publicIPAllocationMethod": "Static", "ipAddress": "198.51.100.7"}}
    kind = "Microsoft.Network/publicIPAddresses"
    assert add_provider_fields(kind, at(kind, "a"), body, "tenant") == body


async def test_identities_get_their_principals(azure, group):
    assigned = at("Microsoft.ManagedIdentity/userAssignedIdentities", "me")
    identity = {"type": "SystemAssigned, UserAssigned", "userAssignedIdentities": {assigned: {}}}
    await azure.put(assigned)
    made = await azure.put(PLAIN, {"location": "x", "identity": identity})
    shown, own = made.body["identity"], (await azure.get(assigned)).body["properties"]
    assert shown["principalId"] != own["principalId"]
    assert shown["userAssignedIdentities"][assigned] == {"clientId": own["clientId"], "principalId": own["principalId"]}


REWRITES = [
    ("location", "westeurope", "West Europe", "the display name of the region"),
    ("location", "moonbase1", "moonbase1", "a region that nobody knows"),
    ("state", "enabled", "Enabled", "a word in its usual case"),
    ("id", f"{GROUP}/providers/a/b/c", f"{GROUP}/providers/a/b/c".replace("resourceGroups", "resourcegroups"), "an id"),
    ("zones", ["3", "1", "2"], ["1", "2", "3"], "lists in Azure's order"),
    ("rules", [{"b": 1}, {"a": 1}], [{"b": 1}, {"a": 1}], "but not lists of objects"),
    ("text", "whatever", "whatever", "anything else stays"),
]


@pytest.mark.parametrize(("name", "given_", "shown", "why"), REWRITES, ids=[row[-1] for row in REWRITES])
@pytest.mark.parametrize("rewrite", [True, False])
async def test_azure_has_its_own_way_with_values(name, given_, shown, why, rewrite):
    async with emulated(replace(OPEN, rewrite=rewrite), has_group=True) as azure:
        body = (await azure.put(PLAIN, {"location": "x", "tags": {name: "enabled"}, "properties": {name: given_}})).body
    assert body["properties"][name] == (shown if rewrite else given_), why
    assert body["tags"] == {name: "enabled"}, "tags are nobody's but their owner's"


async def test_rewriting_adds_defaults_but_never_changes_what_is_stored():
    vault = at("Microsoft.KeyVault/vaults", "v")
    async with emulated(replace(OPEN, rewrite=True), has_group=True) as azure:
        shown, received = (
            await azure.put(vault, {"location": "westeurope", "properties": {"enableSoftDelete": False}}),
            azure.emulator.received(vault),
        )
    assert shown.body["tags"] == {}
    assert shown.body["properties"]["softDeleteRetentionInDays"] == 90
    assert shown.body["properties"]["enableSoftDelete"] is False
    assert received["location"] == "westeurope"


SPELLINGS = [
    ("Microsoft.Kusto/clusters/databases", ["c", "d"], "Microsoft.Kusto/Clusters/Databases", "c/d", "/Clusters/c/Databases/d"),
    ("Microsoft.ManagedIdentity/userAssignedIdentities", ["m"], "Microsoft.ManagedIdentity/userAssignedIdentities", "m", "/resourcegroups/net/"),
    ("Microsoft.ContainerService/managedClusters", ["k"], "Microsoft.ContainerService/ManagedClusters", "k", "/resourcegroups/net/providers/Microsoft.ContainerService/managedClusters/k"),
    ("Microsoft.Cache/redis", ["r"], "Microsoft.Cache/Redis", "r", "Microsoft.Cache/Redis/r"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "names", "spelled", "name", "part"), SPELLINGS, ids=[row[0] for row in SPELLINGS])
async def test_providers_spell_ids_and_types_their_own_way(azure, group, kind, names, spelled, name, part):
    azure.emulator.put(at(kind, *names), {"location": "x"})
    azure.emulator.put(at("/".join(kind.split("/")[:2]), names[0]), {"location": "x"})
    body = (await azure.get(at(kind, *names))).body
    assert (body["type"], body["name"]) == (spelled, name)
    assert part in body["id"]


MERGES = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [1, 2]}, {"a": ["x"]}, {"a": ["x"]}),
    (["a", "b"], {"a": 1}, {"a": 1}),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("value", "patch", "merged"), MERGES)
def test_merging_follows_the_examples_of_rfc_7386(value, patch, merged):
    assert merge_patch(value, patch) == merged


names = st.sampled_from("abc")
leaves = st.sampled_from([0, "x", None])
inner = st.dictionaries(names, leaves, max_size=2)
objects = st.dictionaries(names, leaves | inner, max_size=3)


@given(objects, objects)
def test_a_patch_merged_twice_is_a_patch_merged_once(value, patch):
    assert merge_patch(merge_patch(value, patch), patch) == merge_patch(value, patch)


CHANGES = [
    ({}, "/a/b", 1, {"a": {"b": 1}}, "objects on the way are made"),
    ({"a": [1, 2]}, "/a/1", 3, {"a": [1, 3]}, "a list by its index"),
    ({"a": [1]}, "/a/-", 2, {"a": [1, 2]}, "the end of a list"),
    ({"a": [1, 2]}, "/a/0", GONE, {"a": [2]}, "an item away"),
    ({"a": {"b": 1}}, "/a/b", GONE, {"a": {}}, "a member away"),
    ({}, "/a~1b~0", 1, {"a/b~": 1}, "escapes of RFC 6901"),
]


@pytest.mark.parametrize(("value", "pointer", "wanted", "changed", "why"), CHANGES, ids=[row[-1] for row in CHANGES])
def test_a_pointer_sets_one_value(value, pointer, wanted, changed, why):
    before = repr(value)
    assert set_value(value, pointer, wanted) == changed, why
    assert repr(value) == before, "what was given stays as it was"


def test_a_list_has_no_item_beyond_its_end():
    with pytest.raises(KeyError):
        set_value({"a": []}, "/a/3", 1)
