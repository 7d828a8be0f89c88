"""Names in Azure: given, fixed, derived, and read from a ConfigMap."""

import pytest

from gitsync.desired.request.arm_id_builder import derive_azure_name, format_seed, is_named_at_random
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import GVK, Key
from gitsync.model.resource import OwnerRef
from gitsync.model.template import ConfigMapKeyRef
from tests.support.handmade_kinds import a_kind, a_resource

GROUP_ID = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/myrg"
BY_ID = OwnerRef(arm_id=ArmId(GROUP_ID))

AUTHORIZATION, DOCUMENTS = "authorization.azure.com", "documentdb.azure.com"


def owner(group, kind, name, namespace="default"):
    return OwnerRef(key=Key(group, kind, namespace, name))


MY_GROUP = owner("resources.azure.com", "ResourceGroup", "myrg")


def assignment(catalog, version="v20220401"):
    return catalog.kind(GVK(AUTHORIZATION, version, "RoleAssignment"))


def manifest(spec=None, *, name="myroleassignment", kind="RoleAssignment", group=AUTHORIZATION, namespace="default"):
    return a_resource(spec, name=name, kind=kind, group=group, namespace=namespace)


TEST_NAMESPACE = "aso-test-authorization-roledefinitionresourcegroupscope-crud"

VECTORS = [
    (
        (AUTHORIZATION, "v20220401", "RoleDefinition"),
        (TEST_NAMESPACE, "asotest-roledef-aywylc"),
        owner("resources.azure.com", "ResourceGroup", "asotest-rg-cwzlxv", TEST_NAMESPACE),
        (
            f"resources.azure.com/ResourceGroup:{TEST_NAMESPACE}/asotest-rg-cwzlxv:"
            f"RoleDefinition/authorization.azure.com:{TEST_NAMESPACE}/asotest-roledef-aywylc"
        ),
        "683ff9b9-98d1-5af6-9381-ba194e279c28",
        "a role definition below a group, as it was recorded",
    ),
    (
        (AUTHORIZATION, "v20220401", "RoleAssignment"),
        ("default", "myroleassignment"),
        MY_GROUP,
        "resources.azure.com/ResourceGroup:default/myrg:RoleAssignment/authorization.azure.com:default/myroleassignment",
        "69e1d155-c4e0-5c75-a5fc-7d990bc7325d",
        "an owner that is a manifest",
    ),
    (
        (AUTHORIZATION, "v20220401", "RoleAssignment"),
        ("default", "myroleassignment"),
        BY_ID,
        f"{GROUP_ID}:RoleAssignment/authorization.azure.com:default/myroleassignment",
        "d4312672-a98e-5ffe-9831-728f273607a3",
        "an owner by its id, in a newer version",
    ),
    (
        (AUTHORIZATION, "v1api20220401", "RoleAssignment"),
        ("default", "myroleassignment"),
        BY_ID,
        "/:default/:RoleAssignment/authorization.azure.com:default/myroleassignment",
        "aa84af1c-81f2-5a62-b3b4-155c829e36c4",
        "an owner by its id, in an older version, which forgets it",
    ),
    (
        (AUTHORIZATION, "v1api20200801preview", "RoleAssignment"),
        ("default", "myroleassignment"),
        owner("storage.azure.com", "StorageAccount", "mysa"),
        "storage.azure.com/StorageAccount:default/mysa:RoleAssignment/authorization.azure.com:default/myroleassignment",
        "65a89db5-cdc5-5195-90de-1d022bb42fbc",
        "an owner of another kind",
    ),
    (
        (DOCUMENTS, "v1api20231115", "SqlRoleAssignment"),
        ("default", "mysra"),
        owner(DOCUMENTS, "DatabaseAccount", "mydb"),
        "documentdb.azure.com/DatabaseAccount:default/mydb:SqlRoleAssignment/documentdb.azure.com:default/mysra",
        "1663ee15-4a54-5d8e-a87d-04d712ac6541",
        "a role assignment of Cosmos DB",
    ),
]


@pytest.mark.parametrize(("gvk", "location", "owned_by", "made_of", "expected", "why"), VECTORS)
def test_a_derived_name(catalog, gvk, location, owned_by, made_of, expected, why):
    group, version, kind_name = gvk
    kind = catalog.kind(GVK(group, version, kind_name))
    resource = manifest(name=location[1], namespace=location[0], kind=kind_name, group=group)
    assert format_seed(resource.key, owned_by, legacy=kind.legacy) == made_of, why
    assert derive_azure_name(resource, kind, owned_by, {}) == expected, why


@pytest.mark.parametrize(
    "name",
    [
        "683ff9b9-98d1-5af6-9381-ba194e279c28",
        "683FF9B9-98D1-5af6-9381-ba194e279c28",
        "683ff9b998d15af69381ba194e279c28",
        "urn:uuid:683ff9b9-98d1-5af6-9381-ba194e279c28",
        "{683ff9b9-98d1-5af6-9381-ba194e279c28}",
    ],
)
def test_a_manifest_that_is_called_as_a_uuid_gives_this_name_verbatim(catalog, name):
    assert derive_azure_name(manifest(name=name), assignment(catalog), MY_GROUP, {}) == name


@pytest.mark.parametrize("name", ["683ff9b9-98d1-5af6-9381-ba194e279c2", "683ff9b9_98d1_5af6_9381_ba194e279c28"])
def test_what_is_nearly_a_uuid_is_none(catalog, name):
    assert derive_azure_name(manifest(name=name), assignment(catalog), MY_GROUP, {}) != name


@pytest.mark.parametrize(
    ("spec", "version", "owned_by", "is_named", "why"),
    [
        ({"operatorSpec": {"namingConvention": "Stable"}}, "v20220401", MY_GROUP, True, "stable in any case"),
        ({"operatorSpec": {"namingConvention": "random"}}, "v20220401", MY_GROUP, False, "random cannot be repeated"),
        ({"operatorSpec": {"namingConvention": "RANDOM"}}, "v1api20220401", MY_GROUP, False, "nor in older versions"),
        ({"operatorSpec": {"namingConvention": "odd"}}, "v1api20220401", MY_GROUP, True, "older versions take it"),
        ({"operatorSpec": {"namingConvention": "odd"}}, "v20220401", MY_GROUP, False, "newer versions make no name"),
        ({"operatorSpec": {"namingConvention": 5}}, "v20220401", MY_GROUP, False, "a number is no convention"),
        ({"operatorSpec": []}, "v20220401", MY_GROUP, True, "no convention at all"),
        ({}, "v20220401", None, False, "an owner that cannot be used"),
    ],
)
def test_when_a_name_is_derived(catalog, spec, version, owned_by, is_named, why):
    assert (derive_azure_name(manifest(spec), assignment(catalog, version), owned_by, {}) is not None) is is_named, why


def test_a_random_name_is_reported_unless_one_is_given(catalog):
    random = {"operatorSpec": {"namingConvention": "random"}}
    assert is_named_at_random(manifest(random), assignment(catalog))
    assert not is_named_at_random(manifest(random | {"azureName": "x"}), assignment(catalog))
    assert not is_named_at_random(manifest(random), a_kind())
    assert not is_named_at_random(manifest(), assignment(catalog))


@pytest.mark.parametrize(
    ("spec", "kind", "expected", "why"),
    [
        ({}, a_kind(), "one", "the manifest's own name"),
        ({"azureName": "Other_Name"}, a_kind(), "Other_Name", "a name that is given, as it is given"),
        ({"azureName": ""}, a_kind(), "one", "an empty name is none"),
        ({"azureName": 5}, a_kind(), None, "a number is no name"),
        ({"azureName": "x"}, a_kind(fixed_azure_name="default"), "default", "a fixed name is not to be changed"),
    ],
)
def test_a_name_that_is_given(spec, kind, expected, why):
    assert derive_azure_name(a_resource(spec), kind, None, {}) == expected, why


@pytest.mark.parametrize(
    ("source", "expected", "why"),
    [
        ({"name": "c", "key": "known"}, "from-git", "a ConfigMap that a manifest declares"),
        ({"name": "c", "key": "empty"}, ConfigMapKeyRef("c", "empty"), "an empty value is no name"),
        (
            {"name": "c", "key": "path"},
            ConfigMapKeyRef("c", "path"),
            "a path is none either: it would name something else",
        ),
        ({"name": "c", "key": "later"}, ConfigMapKeyRef("c", "later"), "a key that only a run can know"),
        ({"name": "other", "key": "k"}, ConfigMapKeyRef("other", "k"), "a ConfigMap that only a run can know"),
        ({"name": "c"}, None, "half of a reference"),
        ("c", None, "no reference at all"),
    ],
)
def test_a_name_from_a_config_map(source, expected, why):
    maps = {
        ("default", "c"): {"known": "from-git", "empty": "", "path": "a/locks/b"},
        ("elsewhere", "other"): {"k": "not ours"},
    }
    assert derive_azure_name(a_resource({"azureNameFromConfig": source}), a_kind(), None, maps) == expected, why


def test_a_given_name_wins_over_a_config_map():
    spec = {"azureName": "mine", "azureNameFromConfig": {"name": "c", "key": "k"}}
    assert derive_azure_name(a_resource(spec), a_kind(), None, {}) == "mine"
