"""One write at a time to what Azure locks as a whole."""

from __future__ import annotations

import asyncio

from gitsync.providers.arm.session import Session
from gitsync.providers.arm.write_locks import WriteLocks

GROUP = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg"
VNET = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub"


async def test_writes_below_one_resource_take_turns_and_others_do_not():
    locks, order = WriteLocks(), []

    async def hold(arm_id: str, name: str) -> None:
        async with locks.acquire(arm_id, Session(deadline=1e9)):
            order.append(f"{name} in")
            await asyncio.sleep(0)
            order.append(f"{name} out")

    await asyncio.gather(
        hold(VNET, "vnet"),
        hold(f"{VNET.upper()}/subnets/a", "subnet"),
        hold(f"{GROUP}/providers/Microsoft.Network/virtualNetworks/other", "other"),
    )
    assert order.index("vnet out") < order.index("subnet in")
    assert order.index("other in") < order.index("vnet out")
