"""What the facts of a kind tell a comparison, by path."""

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.planning.diff.document_comparison import make_hints
from gitsync.planning.diff.hints import make_kind_hints

CATALOG = open_catalog()


def kind(arm_type, api_version):
    found = CATALOG.by_arm_type(arm_type, api_version)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("arm_type", "api_version", "path", "told", "why"),
    [
        ("Microsoft.Storage/storageAccounts", "2023-01-01", "sku/name", "enum", "an enumeration"),
        ("Microsoft.Storage/storageAccounts", "2023-01-01", "location", None, "free text"),
        ("Microsoft.Storage/storageAccounts", "2023-01-01", "tags/sku", None, "a tag"),
        ("Microsoft.Storage/storageAccounts", "2023-01-01", "nothing/there", None, "what the facts do not know"),
        (
            "Microsoft.ApiManagement/service/loggers",
            "2024-05-01",
            "properties/credentials/instrumentationKey",
            "secret",
            "a map of secrets",
        ),
        (
            "Microsoft.DocumentDB/databaseAccounts/mongodbUserDefinitions",
            "2024-08-15",
            "properties/password",
            "secret",
            "a secret",
        ),
        (
            "Microsoft.KeyVault/vaults",
            "2023-07-01",
            "properties/accessPolicies/0/permissions/keys/1",
            "enum",
            "in lists in lists",
        ),
        (
            "Microsoft.DataProtection/backupVaults/backupPolicies",
            "2023-11-01",
            "properties/objectType",
            "enum",
            "in a union",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else None,
)
def test_a_leaf(arm_type, api_version, path, told, why):
    steps = tuple(int(step) if step.isdecimal() else step for step in path.split("/"))
    assert make_kind_hints(kind(arm_type, api_version)).told(steps) == told, why


def test_every_kind_can_be_queried():
    for group in CATALOG.groups():
        for name in CATALOG.kinds(group):
            hints = make_hints(CATALOG, CATALOG.arm_type(group, name) or "", "newest")
            assert hints.arm_type, f"{name}.{group}"
            assert hints.told(("tags", "x")) is None


def test_a_version_that_is_not_known_is_answered_by_the_newest():
    assert make_hints(CATALOG, "microsoft.storage/STORAGEACCOUNTS", "1999-01-01").told(("sku", "name")) == "enum"
    assert make_hints(CATALOG, "Microsoft.Nobody/knows", "1999-01-01").leaves == {}


@pytest.mark.parametrize(
    ("arm_type", "api_version", "path", "told", "by_azure", "why"),
    [
        ("Microsoft.Logic/workflows", "2019-05-01", "properties/state", "enum", False, "a choice"),
        ("Microsoft.Logic/workflows", "2019-05-01", "location", None, False, "free text"),
        ("Microsoft.Logic/workflows", "2019-05-01", "properties/version", None, True, "Azure sets it"),
        ("Microsoft.Logic/workflows", "2019-05-01", "properties/sku/name", "enum", True, "inside what Azure sets"),
        ("Microsoft.Logic/workflows", "2019-05-01", "nothing/there", None, False, "what the type does not have"),
        ("Microsoft.Logic/workflows", "2019-05-01", "properties/definition/x/0", None, False, "anything"),
        ("Microsoft.Maps/accounts", "2099-01-01", "properties/uniqueId", None, False, "a version that is not known"),
        ("Microsoft.Nothing/such", "2019-05-01", "properties/state", None, False, "a type that is not known"),
        (
            "Microsoft.DataMigration/services/projects/tasks",
            "2021-06-30",
            "properties/input/source/password",
            "secret",
            False,
            "a secret by its name",
        ),
    ],
)
def test_a_leaf_of_a_type_without_a_kind(arm_type, api_version, path, told, by_azure, why):
    steps = tuple(int(step) if step.isdecimal() else step for step in path.split("/"))
    hints = make_hints(CATALOG, arm_type, api_version)
    assert (hints.told(steps), hints.is_set_by_azure(steps)) == (told, by_azure), why
