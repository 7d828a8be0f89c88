"""What a delete takes that git does not have."""

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.model.arm_id import ArmId
from gitsync.planning.data_types import _LOST, describe_loss

GROUP = "/subscriptions/1/resourceGroups/a"

LOSSES = [
    (f"{GROUP}/providers/Microsoft.Storage/storageAccounts/x", "blobs", "a storage account"),
    (f"{GROUP}/providers/microsoft.keyvault/vaults/x", "secrets", "in any case"),
    (f"{GROUP}/providers/Microsoft.Storage/storageAccounts/x/fileServices/default/shares/y", "files", "a file share"),
    (GROUP, "all that is in it", "a resource group"),
    (f"{GROUP}/providers/Microsoft.Network/virtualNetworks/x", "", "a network holds none"),
    (None, "", "without an id nothing is known"),
]


@pytest.mark.parametrize(("arm_id", "words", "why"), LOSSES, ids=[row[-1] for row in LOSSES])
def test_what_is_lost(arm_id, words, why):
    arm_id = arm_id and ArmId(arm_id)
    assert words in describe_loss(arm_id), why
    assert bool(describe_loss(arm_id)) == bool(words)


def test_each_type_is_one_that_a_manifest_can_have():
    """A misspelt type would mark nothing."""
    catalog = open_catalog()
    known = {
        (catalog.arm_type(group, kind) or "").casefold() for group in catalog.groups() for kind in catalog.kinds(group)
    }
    assert sorted(_LOST.keys() - known) == []
