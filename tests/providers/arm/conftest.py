from collections.abc import AsyncIterator

import pytest

from tests.support.arm_rig import Rig, rigged


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with rigged() as rig:
        yield rig
