"""A "Product" of API Management goes with the subscriptions to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.errors import ArmError
from gitsync.model.arm_id import ArmId
from tests.extensions.asking import REGISTRY, subject

SERVICE = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ApiManagement/service/api"
PRODUCT = f"{SERVICE}/products/name-in-azure"


class Deletes:
    """Notes what is deleted; refuses where it must."""

    def __init__(self, refusal=None):
        self.refusal = refusal
        self.deleted = []

    async def delete(self, arm_id, api_version, *, if_match=None, query=None):
        self.deleted.append((arm_id, api_version, if_match, query))
        if self.refusal:
            raise self.refusal

    async def last(self, about, azure):
        self.deleted.append((about.arm_id, about.api_version))


async def delete(azure):
    about = replace(subject("apimanagement.azure.com", "Product"), arm_id=ArmId(PRODUCT))
    await REGISTRY.delete(about, azure, azure.last)


async def test_its_subscriptions_are_deleted_first_and_then_the_product_as_any_other():
    azure = Deletes()
    await delete(azure)
    special = (PRODUCT, "2022-08-01", "*", {"deleteSubscriptions": "true"})
    assert azure.deleted == [special, (PRODUCT, "2024-01-01")], "the id has the name in Azure, not the manifest's"


async def test_where_that_is_refused_the_default_delete_is_not_tried():
    azure = Deletes(ArmError("No.", status=409, code="Conflict"))
    with pytest.raises(ArmError):
        await delete(azure)
    assert len(azure.deleted) == 1
