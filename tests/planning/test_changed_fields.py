"""Differences are named by the field of the manifest, with its path."""

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.formats.json_pointer import format_pointer, parse_pointer
from gitsync.desired.request.body import find_field
from gitsync.model.gvk import GVK
from tests.support.handmade_kinds import a_resource

STORAGE = GVK("storage.azure.com", "v1api20230101", "StorageAccount")
NETWORK = GVK("network.azure.com", "v1api20201101", "VirtualNetwork")
SUBNET = GVK("network.azure.com", "v1api20201101", "VirtualNetworksSubnet")
COSMOS = GVK("documentdb.azure.com", "v1api20210515", "DatabaseAccount")
BACKUPS = {"backupPolicy": {"periodic": {"type": "Periodic"}}}

FIELDS = [
    (STORAGE, "/properties/minimumTlsVersion", {}, ("minimumTlsVersion",), "ARM puts it into properties"),
    (STORAGE, "/sku/name", {}, ("sku", "name"), "and this one beside them"),
    (STORAGE, "/tags/a~1b", {}, ("tags", "a/b"), "a key of a map"),
    (NETWORK, "/properties/dhcpOptions/dnsServers/3", {}, ("dhcpOptions", "dnsServers", 3), "an element of a list"),
    (SUBNET, "/properties/networkSecurityGroup/id", {}, ("networkSecurityGroup", "reference"), "a reference"),
    (COSMOS, "/properties/backupPolicy/type", BACKUPS, ("backupPolicy", "periodic", "type"), "a member of a union"),
    (COSMOS, "/properties/backupPolicy/type", {}, None, "a union of which no member is set"),
    (SUBNET, "/id", {}, None, "no field makes it"),
]


@pytest.mark.parametrize(("gvk", "pointer", "spec", "field", "why"), FIELDS, ids=[row[-1] for row in FIELDS])
def test_a_path_of_a_request_has_a_field(gvk, pointer, spec, field, why):
    kind = open_catalog().kind(gvk)
    assert find_field(kind, parse_pointer(pointer), a_resource(spec)) == (field and ("spec", *field)), why
    assert format_pointer(parse_pointer(pointer)) == pointer
