"""The private address of a "PrivateEndpoint": what its network interface reports."""

from __future__ import annotations

import pytest

from gitsync.errors import GitsyncError
from gitsync.extensions.factories.private_endpoints import FIELD
from tests.extensions.asking import REGISTRY, subject, with_
from tests.extensions.exporting import Answers

KIND = ("network.azure.com", "PrivateEndpoint")
NIC = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkInterfaces/nic"
SEES_NIC = with_(networkInterfaces=[{"id": NIC}, {"id": "/another"}])


def address(ip=None, *, primary=None, **more):
    properties = {"privateIPAddress": ip, "primary": primary}
    return {"name": "it", "properties": {k: v for k, v in properties.items() if v is not None}, **more}


async def requested(azure, own=SEES_NIC, wanted=(FIELD,)):
    return dict(await REGISTRY.export_config_maps(subject(*KIND, own=own), azure, frozenset(wanted)))


def nic_with(*addresses):
    return Answers(read={NIC: {"properties": {"ipConfigurations": list(addresses)}}})


@pytest.mark.parametrize(
    ("addresses", "expected", "why"),
    [
        ([address("10.0.0.4", primary=True)], "10.0.0.4", "the usual one"),
        (
            [address("10.0.0.4", primary=True), address("10.0.0.5", primary=False)],
            "10.0.0.4",
            "the primary one is first",
        ),
        (
            [address("10.0.0.4"), address("10.0.0.5", primary=True)],
            "10.0.0.4",
            "there is a primary one: the first goes out, as in ASO",
        ),
        ([address(primary=False), address("10.0.0.5", primary=True)], "", "the first has none yet"),
        ([address("10.0.0.4", primary=False)], None, "none is primary"),
        ([address("10.0.0.4")], None, "none says that it is"),
        ([address("10.0.0.4", primary="true")], None, "text is no truth"),
        ([address(primary=True)], None, "the primary one has no address yet"),
        ([address("", primary=True)], None, "an empty address is none"),
        ([{"name": "it"}], None, "nothing is told of it"),
        ([], None, "none at all"),
    ],
)
async def test_the_address_that_goes_out(addresses, expected, why):
    azure = nic_with(*addresses)
    assert await requested(azure) == ({} if expected is None else {FIELD: expected}), why
    assert azure.requested == [("GET", NIC, "2022-01-01")]


@pytest.mark.parametrize(
    ("own", "why"),
    [
        (with_(), "no interface is told"),
        (with_(networkInterfaces=[]), "there is none yet"),
        (with_(networkInterfaces=[{"name": "it"}]), "it has no id"),
        (None, "the endpoint was not read"),
    ],
)
async def test_an_endpoint_without_an_interface_gives_nothing(own, why):
    azure = Answers()
    assert await requested(azure, own) == {}, why
    assert azure.requested == []


async def test_nothing_is_read_that_nobody_wants():
    azure = Answers()
    assert await requested(azure, wanted=("another",)) == {}
    assert azure.requested == []


async def test_an_interface_without_a_list_gives_nothing():
    assert await requested(Answers(read={NIC: {}})) == {}


@pytest.mark.parametrize(
    ("read", "own", "says", "why"),
    [
        (None, SEES_NIC, "does not exist", "somebody deleted it"),
        ({"properties": {"ipConfigurations": "10.0.0.4"}}, SEES_NIC, "is not a list of objects", "text for a list"),
        ({"properties": {"ipConfigurations": [address({"a": 1})]}}, SEES_NIC, "neither text nor", "an object"),
        ({}, with_(networkInterfaces="nic"), "is not a path through objects", "text for a list"),
    ],
)
async def test_what_cannot_be_understood_is_an_error(read, own, says, why):
    with pytest.raises(GitsyncError) as raised:
        await requested(Answers(read={NIC: read}), own)
    assert says in str(raised.value), why
