"""Which kind is meant, and what it may have."""

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.kind_names import find_kind
from gitsync.desired.validation.explain import explain_kind
from gitsync.errors import ConfigError
from gitsync.model.gvk import GVK
from tests.support.handmade_kinds import VERSION, a_catalog

CATALOG = open_catalog()
LIFECYCLE = "storage.azure.com/v20230101/StorageAccountsManagementPolicy.policy.rules.definition.actions"


@pytest.mark.parametrize(
    ("text", "version", "api_version", "fields", "why"),
    [
        ("StorageAccount", None, "storage.azure.com/v20250601", (), "a kind that one group has, at its newest"),
        ("storageaccount", None, "storage.azure.com/v20250601", (), "in any case"),
        ("StorageAccount.sku.name", None, "storage.azure.com/v20250601", ("sku", "name"), "with fields"),
        ("Account.monitor.azure.com", None, "monitor.azure.com", (), "with its group"),
        ("Cluster.kusto.azure.com.spec.sku", None, "kusto.azure.com", ("spec", "sku"), "with both"),
        ("storage.azure.com/v20230101/StorageAccount", None, "storage.azure.com/v20230101", (), "all of it"),
        ("storage.azure.com/v20230101/StorageAccount.sku", None, "storage.azure.com/v20230101", ("sku",), "and fields"),
        ("storage.azure.com/StorageAccount", None, "storage.azure.com/v20250601", (), "without the version"),
        ("StorageAccount", "v1api20230101", "storage.azure.com/v1api20230101", (), "the version apart"),
        ("StorageAccount", "storage.azure.com/v20230101", "storage.azure.com/v20230101", (), "as apiVersion spells it"),
        ("ManagedCluster", None, "containerservice.azure.com/v1api20250801", (), "a preview is not taken by itself"),
        (
            "Registry.containerregistry.azure.com",
            None,
            "containerregistry.azure.com/v1api20230701",
            (),
            "a preview again",
        ),
    ],
)
def test_what_is_meant(text, version, api_version, fields, why):
    requested = find_kind(text, CATALOG, version)
    assert requested.kind.gvk.api_version.startswith(api_version), why
    assert requested.fields == fields, why


@pytest.mark.parametrize(
    ("text", "version", "message", "hint"),
    [
        ("StorageAcount", None, "There is no kind StorageAcount.", "Did you mean StorageAccount?"),
        ("Namespace", None, "Namespace is a kind of several groups.", "Use Namespace.eventhub.azure.com,"),
        ("Redis.cach.azure.com", None, "There is no field", "Known fields:"),
        ("cach.azure.com/Redis", None, "There is no group cach.azure.com.", "Did you mean cache.azure.com?"),
        ("x/Redis", None, "There is no group x.", "Known groups: alertsmanagement.azure.com"),
        ("Redi.cache.azure.com", None, "There is no kind Redi in cache.azure.com.", "Did you mean Redis?"),
        ("Redis", "v1", "Redis of cache.azure.com has no version v1.", "Known versions: v2"),
        ("", None, "There is no kind (none).", "Known kinds: "),
        ("Redis.spec.locaton", None, "There is no field spec.locaton.", "Did you mean spec.location?"),
        ("Redis.spec.location.x", None, "There is no field spec.location.x.", "spec.location has no fields of its own."),
    ],
)  # fmt: skip
def test_what_is_not_known(text, version, message, hint):
    with pytest.raises(ConfigError) as refused:
        explain_kind(find_kind(text, CATALOG, version), CATALOG)
    assert refused.value.message.startswith(message)
    assert refused.value.hint.startswith(hint)


def test_a_kind_of_the_index_without_facts_at_a_version_is_reported():
    catalog = a_catalog({"x.azure.com": ["Thing"]})
    with pytest.raises(ConfigError, match=f"Known versions: {VERSION}"):
        find_kind("Thing", catalog, "v1")


def rows(text, **more):
    told = explain_kind(find_kind(text, CATALOG), CATALOG, **more)
    return told, {(row.depth, row.name): row for row in told.rows}


def test_a_kind_is_described_with_its_path_in_arm():
    told, fields = rows("StorageAccount")
    assert dict(told.facts)["ARM"] == "Microsoft.Storage/storageAccounts, api-version 2025-06-01"
    assert dict(told.facts)["owner"] == "a ResourceGroup (resources.azure.com) by name, or by armId"
    assert (
        dict(told.facts)["name"]
        == "spec.azureName, else metadata.name; 3 to 24 characters; matches ^[a-z0-9]+$; made of lower-case letters and digits"
    )
    assert told.field == "spec"
    assert fields[0, "sku"].notes == ("required", "ARM: sku")
    assert fields[0, "accessTier"].notes[-1] == "ARM: properties/accessTier"
    assert fields[0, "owner"].notes == ("required", "cannot be changed after the create")


@pytest.mark.parametrize(
    ("text", "notes", "why"),
    [
        ("ManagedCluster.agentPoolProfiles.osType", "ARM: properties/agentPoolProfiles[]/osType", "below a list"),
        ("ManagedCluster.addonProfiles.enabled", "ARM: properties/addonProfiles/*/enabled", "below a map"),
        ("Rule.actions.urlRedirect.name", "ARM: properties/actions[]/name", "a union has no place of its own"),
        ("Rule.actions", "exactly one of cacheExpiration, ", "a union"),
        ("Rule.actions.urlRedirect.name", "always UrlRedirect", "one value alone"),
        ("ClusterPrincipalAssignment.tenantId", "either this or tenantIdFromConfig", "one of a pair"),
        ("ClusterPrincipalAssignment.tenantIdFromConfig", "either this or tenantId", "the other"),
        ("ClusterPrincipalAssignment.role", "one of AllDatabasesAdmin ", "an enum"),
        ("ManagedCluster.status.fqdn", "ARM: properties/fqdn", "the status as well"),
        ("ManagedCluster.agentPoolProfiles.gatewayProfile.publicIPPrefixSize", "28 to 31", "bounds inside a type"),
        ("ManagedCluster.serviceMeshProfile.istio.revisions", "at most 2 items", "a bound above"),
        ("Snapshot.appconfiguration.azure.com.filters", "1 to 3 items", "two bounds"),
        (f"{LIFECYCLE}.version.delete.daysAfterCreationGreaterThan", "a multiple of 1", "a multiple"),
        (f"{LIFECYCLE}.version.delete.daysAfterCreationGreaterThan", "at least 0", "a bound below"),
    ],
)
def test_notes(text, notes, why):
    told, _ = rows(text)
    assert any(note.startswith(notes.rstrip()) for note in told.notes), (why, told.notes)


def test_what_is_not_sent_has_no_path():
    told, fields = rows("ManagedCluster.operatorSpec.secrets")
    assert not any("ARM:" in note for row in told.rows for note in row.notes)
    assert fields[0, "adminCredentials"].type == "secretDestination"


def test_recursion_shows_fields_in_fields():
    _, fields = rows("StorageAccount", recursive=True)
    assert fields[1, "name"].depth == 1
    flat, _ = rows("StorageAccount")
    assert {row.depth for row in flat.rows} == {0}


def test_every_kind_can_be_described_in_full():
    """Also that no type holds itself without end, and that every type that is named is there."""
    for group in CATALOG.groups():
        for name in CATALOG.kinds(group):
            version = CATALOG.versions(group, name)[-1]
            assert CATALOG.kind(GVK(group, version, name)) is not None
            assert explain_kind(find_kind(f"{group}/{version}/{name}", CATALOG), CATALOG, recursive=True).rows


def test_a_default_is_shown_as_it_is_written():
    explained = explain_kind(find_kind("ApplicationFederatedCredential.spec.audiences", CATALOG, None), CATALOG)
    assert "api://AzureADTokenExchange by default" in str(explained)
