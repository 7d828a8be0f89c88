from __future__ import annotations

import pytest

from gitsync.core.catalog import open_catalog
from gitsync.model.gvk import GVK


@pytest.fixture(scope="session")
def catalog():
    return open_catalog()


@pytest.fixture(scope="session")
def catalog_kind(catalog):
    """A kind with enumerations: a storage account."""
    return catalog.kind(GVK("storage.azure.com", "v20230101", "StorageAccount"))
