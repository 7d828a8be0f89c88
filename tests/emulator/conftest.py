import pytest

from tests.emulator.asked import add_group, emulated


@pytest.fixture
async def azure():
    """An emulator of the usual settings, and somebody who asks it."""
    async with emulated() as azure:
        yield azure


@pytest.fixture
async def group(azure):
    """The group GROUP is there already."""
    await add_group(azure)
