"""Look-ups in the catalog: by manifest, by ARM type, and what is opened for them."""

import json
import lzma

import pytest

from gitsync.desired.catalog import data
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.errors import CatalogError
from gitsync.model.facts import Scope
from gitsync.model.gvk import GVK
from gitsync.model.provider import Provider

OTHERS = {
    ("dbformysql.azure.com", "User"): (Provider.MYSQL, "Microsoft.DBforMySQL/flexibleServers/users"),
    ("dbforpostgresql.azure.com", "User"): (Provider.POSTGRESQL, "Microsoft.DBforPostgreSQL/flexibleServers/users"),
    ("entra.azure.com", "Application"): (Provider.ENTRA, "Microsoft.Graph/applications"),
    ("entra.azure.com", "SecurityGroup"): (Provider.ENTRA, "Microsoft.Graph/groups"),
    ("entra.azure.com", "ServicePrincipal"): (Provider.ENTRA, "Microsoft.Graph/servicePrincipals"),
    ("sql.azure.com", "User"): (Provider.SQL, "Microsoft.Sql/servers/databases/users"),
}

ACCOUNT = ("storage.azure.com", "StorageAccount")


def gvk(version, group=ACCOUNT[0], kind=ACCOUNT[1]):
    return GVK(group, version, kind)


@pytest.mark.parametrize(
    ("version", "api_version", "legacy", "why"),
    [
        ("v20230101", "2023-01-01", False, "the newer spelling"),
        ("v1api20230101", "2023-01-01", True, "the older spelling of the same shape"),
        ("v1api20250601", "2025-06-01", True, "an older spelling that ASO itself never had"),
    ],
)
def test_either_spelling_of_a_version_is_found(catalog, version, api_version, legacy, why):
    kind = catalog.kind(gvk(version))
    assert (kind.gvk.version, kind.api_version, kind.legacy) == (version, api_version, legacy), why
    assert (
        kind.types[kind.spec]["fields"].keys()
        == catalog.kind(gvk(f"v{version[-8:]}")).types[kind.spec]["fields"].keys()
    )


@pytest.mark.parametrize(
    ("requested", "why"),
    [
        (gvk("v20990101"), "a version that there is not"),
        (gvk("v1"), "no version of ASO's form"),
        (gvk(""), "no version at all"),
        (gvk("v20230101", kind="StorageAcount"), "a kind that is misspelt"),
        (gvk("v20230101", group="storage.azure.org"), "a group that there is not"),
        (gvk("v20230101", kind="storageaccount"), "a kind in another case"),
    ],
)
def test_what_is_not_there_is_none(catalog, requested, why):
    assert catalog.kind(requested) is None, why


def test_two_shapes_under_one_date_are_distinguished_by_their_spelling(catalog):
    assert catalog.kind(gvk("v1api20240413", "kusto.azure.com", "PrincipalAssignment")) is not None
    assert "v20240413" not in catalog.versions("kusto.azure.com", "PrincipalAssignment")
    older = catalog.kind(gvk("v1api20240413", "kusto.azure.com", "Cluster"))
    assert older.config_maps == {
        "clusterPrincipalId": "identity.principalId",
        "clusterTenantId": "identity.tenantId",
    }


def test_every_kind_at_every_version_is_complete(catalog):
    count = 0
    for group in catalog.groups():
        for kind in catalog.kinds(group):
            for version in catalog.versions(group, kind):
                found = catalog.kind(GVK(group, version, kind))
                assert {"fields"} <= found.types[found.spec].keys()
                assert {"fields"} <= found.types[found.status].keys()
                assert found.operations
                count += 1
    assert count == 767 + len(OTHERS)


def test_every_kind_is_found_by_its_arm_type_in_any_case(catalog):
    for group in catalog.groups():
        for name in catalog.kinds(group):
            kind = catalog.kind(GVK(group, catalog.versions(group, name)[-1], name))
            if not kind.is_arm:
                continue
            found = catalog.by_arm_type(kind.arm_type.upper(), kind.api_version)
            assert (found.gvk.group, found.gvk.kind, found.api_version) == (group, name, kind.api_version)
            assert catalog.arm_type(group, name) == kind.arm_type


@pytest.mark.parametrize(
    ("arm_type", "api_version", "why"),
    [
        ("Microsoft.Storage/storageAccounts", "1999-01-01", "an api-version that no manifest stands for"),
        ("Microsoft.Nothing/things", "2023-01-01", "a type without a kind"),
    ],
)
def test_an_arm_type_without_a_kind_is_none(catalog, arm_type, api_version, why):
    assert catalog.by_arm_type(arm_type, api_version) is None, why


def test_of_two_spellings_an_arm_type_gives_the_newer(catalog):
    assert catalog.by_arm_type("Microsoft.Storage/storageAccounts", "2023-01-01").gvk.version == "v20230101"


def test_versions_are_listed_oldest_first_and_a_preview_before_its_release(catalog):
    assert catalog.versions(*ACCOUNT)[:3] == ("v1api20210401", "v20210401", "v1api20220901")
    assert catalog.versions("documentdb.azure.com", "Nothing") == ()
    listed = catalog.versions("containerservice.azure.com", "ManagedCluster")
    assert listed[-1] == "v20251002preview"


def test_listings_are_sorted_and_empty_for_what_is_not_there(catalog):
    assert list(catalog.groups()) == sorted(catalog.groups())
    assert "StorageAccount" in catalog.kinds("storage.azure.com")
    assert catalog.kinds("nothing.azure.com") == ()
    assert catalog.arm_type("nothing.azure.com", "Thing") is None


def test_a_kind_has_a_provider_and_only_those_of_arm_are_found_by_their_type(catalog):
    for home, (provider, arm_type) in OTHERS.items():
        kind = catalog.kind(GVK(home[0], "v1", home[1]))
        assert (kind.provider, kind.is_arm, kind.arm_type) == (provider, False, arm_type)
        assert (catalog.has_kind(*home), catalog.is_arm_kind(*home)) == (True, False)
        assert (catalog.group_kind_of(arm_type), catalog.by_arm_type(arm_type, "v1")) == (None, None)
    assert catalog.kind(gvk("v20230101")).is_arm
    assert catalog.is_arm_kind(*ACCOUNT)
    assert not catalog.has_kind("sql.azure.com", "Login")


@pytest.mark.parametrize(
    ("location", "scope", "owner", "any_owner", "name", "why"),
    [
        (("resources.azure.com", "ResourceGroup"), Scope.LOCATION, None, False, None, "nothing owns a group"),
        (ACCOUNT, Scope.RESOURCE_GROUP, ("resources.azure.com", "ResourceGroup"), False, None, "a known owner"),
        (("authorization.azure.com", "RoleAssignment"), Scope.EXTENSION, None, True, None, "an owner of any kind"),
        (("subscription.azure.com", "Alias"), Scope.TENANT, None, False, None, "nothing owns an alias"),
        (
            ("storage.azure.com", "StorageAccountsBlobService"),
            Scope.RESOURCE_GROUP,
            ACCOUNT,
            False,
            "default",
            "a fixed name",
        ),
    ],
)
def test_a_kind_reports_its_location(catalog, location, scope, owner, any_owner, name, why):
    kind = catalog.kind(GVK(location[0], catalog.versions(*location)[-1], location[1]))
    assert (kind.scope, kind.owner, kind.any_owner, kind.fixed_azure_name) == (scope, owner, any_owner, name), why


def test_groups_are_opened_when_they_are_needed_and_once():
    opened = []

    def read(name):
        opened.append(name)
        return data.read(name)

    catalog = open_catalog(read)
    catalog.groups()
    catalog.versions(*ACCOUNT)
    catalog.by_arm_type("Microsoft.Nothing/things", "2023-01-01")
    assert opened == ["index.json.xz"]
    catalog.kind(gvk("v20230101"))
    catalog.kind(gvk("v20230101", kind="StorageAccountsBlobService"))
    assert opened == ["index.json.xz", "storage.azure.com.jsonl.xz"]


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"not xz", "not packed"), (lzma.compress(b"{"), "not JSON"), (None, "not there")],
)
def test_damaged_facts_are_an_internal_error(content, why):
    def read(name):
        if content is None:
            raise FileNotFoundError(name)
        return content

    with pytest.raises(CatalogError) as caught:
        open_catalog(read)
    assert (caught.value.exit_code, bool(caught.value.hint)) == (70, True), why


def test_a_version_is_parsed_when_it_is_needed():
    def read(name):
        if name.startswith("index."):
            return data.read(name)
        head, *lines = lzma.decompress(data.read(name)).splitlines()
        wanted = json.loads(head)["versions"].index("v20230101")
        lines = [line if number == wanted else b"{" for number, line in enumerate(lines)]
        return lzma.compress(b"\n".join((head, *lines)))

    catalog = open_catalog(read)
    assert catalog.kind(gvk("v20230101")) is not None
    with pytest.raises(CatalogError, match="facts of 'storage"):
        catalog.kind(gvk("v20220901"))


def test_a_packed_file_is_read_by_its_name():
    assert json.loads(lzma.decompress(data.read("index.json.xz")))
    with pytest.raises(FileNotFoundError):
        data.read("nothing.json.xz")
