"""A transport that is opened late: by the first thing asked of it, once, and again only where that failed."""

import asyncio
from types import SimpleNamespace

import pytest

from gitsync.errors import ConfigError
from gitsync.providers.arm.arms import LazyTransport


class Opener:
    """Opens transports that answer, after so many errors. `opened` counts the tries."""

    def __init__(self, errors=0):
        self.errors = errors
        self.opened = 0

    async def __call__(self):
        self.opened += 1
        await asyncio.sleep(0)
        if self.opened <= self.errors:
            raise ConfigError("no tenant")
        return SimpleNamespace(send=self.send, connect=self.connect, sign_in=self.sign_in, reach=self.reach)

    def reach(self, cloud):
        async def send(call, *, read_timeout):
            return call, cloud

        return SimpleNamespace(send=send)

    async def send(self, call, *, read_timeout):
        return call, read_timeout

    async def connect(self):
        return None

    async def sign_in(self):
        return "somebody"


async def test_it_is_opened_once_by_whatever_asks_first():
    opener = Opener()
    late = LazyTransport(opener)
    assert opener.opened == 0
    answers = await asyncio.gather(late.send("a", read_timeout=1), late.sign_in(), late.connect(), late.sign_in())
    assert answers == [("a", 1), "somebody", None, "somebody"]
    assert opener.opened == 1


async def test_what_could_not_be_opened_is_told_to_everyone_and_tried_again():
    opener = Opener(errors=2)
    late = LazyTransport(opener)
    for _ in range(2):
        with pytest.raises(ConfigError, match="no tenant"):
            await late.connect()
    assert await late.sign_in() == "somebody"
    assert opener.opened == 3


async def test_the_way_to_another_service_opens_what_it_is_a_way_of_and_no_more():
    opener = Opener()
    late = LazyTransport(opener)
    there = late.reach("graph")
    assert opener.opened == 0
    assert await there.send("a", read_timeout=1) == ("a", "graph")
    assert await there.send("b", read_timeout=1) == ("b", "graph")
    assert await late.sign_in() == "somebody"
    assert opener.opened == 1
