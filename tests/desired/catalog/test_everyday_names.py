"""What people call kinds, and the kinds that they mean."""

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.everyday_names import TERRAFORM, everyday_names, find_by_everyday_name, list_everyday_names
from gitsync.desired.catalog.kind_names import find_kind
from gitsync.errors import ConfigError

CATALOG = open_catalog()


@pytest.mark.parametrize(
    ("name", "kind", "why"),
    [
        ("aks", "ManagedCluster.containerservice.azure.com", "a product"),
        ("AKS", "ManagedCluster.containerservice.azure.com", "in any case"),
        ("postgres", "FlexibleServer.dbforpostgresql.azure.com", "one of several kinds of its name"),
        ("vnet", "VirtualNetwork.network.azure.com", "a short form"),
        ("vnets", "VirtualNetwork.network.azure.com", "of several"),
        ("key-vault", "Vault.keyvault.azure.com", "with a dash"),
        ("Key Vaults", "Vault.keyvault.azure.com", "with a blank, of several"),
        ("storage account", "StorageAccount.storage.azure.com", "the words of a kind"),
        ("storageaccounts", "StorageAccount.storage.azure.com", "as kubectl has them"),
        ("public_ip_addresses", "PublicIPAddress.network.azure.com", "of several, with es"),
        ("Microsoft.KeyVault/vaults", "Vault.keyvault.azure.com", "an ARM type"),
        ("microsoft.network/virtualnetworks/subnets", "VirtualNetworksSubnet.network.azure.com", "of a child"),
        ("waf.network.azure.com", "WebApplicationFirewallPolicy.network.azure.com", "with a group"),
        ("azurerm_storage_account", "StorageAccount.storage.azure.com", "Terraform's name, made of the same words"),
        ("azurerm_subnet", "VirtualNetworksSubnet.network.azure.com", "Terraform's name, of the table"),
        ("azurerm_postgresql_flexible_server", "FlexibleServer.dbforpostgresql.azure.com", "by an everyday name"),
        ("Redis", "Redis.cache.azure.com", "a kind is a kind"),
    ],
)
def test_what_is_meant(name, kind, why):
    gvk = find_kind(name, CATALOG).kind.gvk
    assert f"{gvk.kind}.{gvk.group}" == kind, why


def test_fields_follow_an_everyday_name():
    assert find_kind("vnet.spec.addressSpace", CATALOG).fields == ("spec", "addressSpace")


@pytest.mark.parametrize(
    ("name", "hint"),
    [("postgress", "Did you mean postgres?"), ("workspace", "Use Workspace.machinelearningservices.azure.com,")],
)
def test_what_is_not_known(name, hint):
    with pytest.raises(ConfigError) as refused:
        find_kind(name, CATALOG)
    assert refused.value.hint.startswith(hint)


def test_every_name_is_of_a_kind_and_finds_it():
    for name in everyday_names():
        home = find_by_everyday_name(name)
        assert home is not None
        assert home[1] in CATALOG.kinds(home[0]), name
        assert name in list_everyday_names(home), "a name is of one kind only"
        gvk = find_kind(name, CATALOG).kind.gvk
        assert (gvk.group, gvk.kind) == home, "no kind of that name is in the way"


def test_every_name_of_terraform_finds_its_kind():
    for name, home in TERRAFORM.items():
        gvk = find_kind(f"{name}.spec", CATALOG).kind.gvk
        assert f"{gvk.kind}.{gvk.group}" == home, name
