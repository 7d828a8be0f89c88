"""Children that are entries of their parent as well."""

import pytest

from gitsync.emulator.patch import find_value as inside
from tests.emulator.asked import GROUP, at

FAMILIES = [
    ("Microsoft.Network/virtualNetworks", "subnets", ("properties", "subnets")),
    ("Microsoft.Network/networkSecurityGroups", "securityRules", ("properties", "securityRules")),
    ("Microsoft.Network/routeTables", "routes", ("properties", "routes")),
    ("Microsoft.Network/loadBalancers", "inboundNatRules", ("properties", "inboundNatRules")),
    (
        "Microsoft.Compute/virtualMachineScaleSets",
        "extensions",
        ("properties", "virtualMachineProfile", "extensionProfile", "extensions"),
    ),
]
names = [row[0] for row in FAMILIES]


def holding(path, entries):
    """A parent's body with a list at a path."""
    body = entries
    for name in reversed(path):
        body = {name: body}
    return {"location": "westeurope", **body}


def entries_of(body, path):
    return [entry["name"] for entry in inside(body, path) or []]


@pytest.mark.parametrize(("kind", "word", "path"), FAMILIES, ids=names)
async def test_a_child_shows_in_its_parent(azure, group, kind, word, path):
    parent = at(kind, "p")
    await azure.made(parent, holding(path, []))
    await azure.made(f"{parent}/{word}/b", {"properties": {"x": 1}})
    await azure.made(f"{parent}/{word}/a", {"properties": {"x": 2}})
    found = inside((await azure.get(parent)).body, path)
    assert [(entry["name"], entry["properties"]["x"]) for entry in found] == [("b", 1), ("a", 2)], (
        "in order of creation"
    )
    assert found[0]["id"] == f"{parent}/{word}/b"


@pytest.mark.parametrize(("kind", "word", "path"), FAMILIES, ids=names)
async def test_a_put_of_the_parent_rewrites_its_children(azure, group, kind, word, path):
    parent = at(kind, "p")
    await azure.made(parent, holding(path, [{"name": "a", "properties": {"x": 1}}, {"name": "b"}]))
    made = await azure.get(f"{parent}/{word}/a")
    await azure.made(parent, holding(path, [{"name": "A", "properties": {"x": 2}}]))
    changed, gone = await azure.get(f"{parent}/{word}/a"), await azure.get(f"{parent}/{word}/b")
    assert made.body["properties"]["x"] == 1
    assert changed.body["properties"]["x"] == 2, "names have no case"
    assert gone.status == 404


@pytest.mark.parametrize(("kind", "word", "path"), FAMILIES, ids=names)
async def test_a_parent_put_without_its_children_loses_them(azure, group, kind, word, path):
    parent = at(kind, "p")
    await azure.made(parent, holding(path, []))
    await azure.made(f"{parent}/{word}/a", {"properties": {}})
    patched = await azure.send_request("PATCH", parent, {"tags": {"a": "b"}})
    await azure.settled(parent)
    await azure.made(parent)
    child = await azure.get(f"{parent}/{word}/a")
    assert entries_of(patched.body, path) == ["a"], "a patch that says nothing of them keeps them"
    assert child.status == 404


async def test_peerings_are_shown_but_stay_when_a_put_leaves_them_out(azure, group):
    network = at("Microsoft.Network/virtualNetworks", "v")
    await azure.made(network)
    await azure.made(f"{network}/virtualNetworkPeerings/p", {"properties": {}})
    await azure.made(network)
    assert entries_of((await azure.get(network)).body, ("properties", "virtualNetworkPeerings")) == ["p"]


async def test_a_child_that_goes_leaves_its_parent(azure, group):
    network = at("Microsoft.Network/virtualNetworks", "v")
    await azure.made(network, holding(("properties", "subnets"), [{"name": "a"}, {"name": "b"}]))
    await azure.delete(f"{network}/subnets/a")
    while (await azure.get(f"{network}/subnets/a")).status != 404:
        pass
    shown, left = await azure.get(network), azure.emulator.ids(GROUP)
    assert entries_of(shown.body, ("properties", "subnets")) == ["b"]
    assert left == [GROUP, network, f"{network}/subnets/b"]


async def test_a_hand_behind_gits_back_reaches_children_through_their_parent(azure, group):
    network = at("Microsoft.Network/virtualNetworks", "v")
    hand = azure.emulator
    hand.put(network, holding(("properties", "subnets"), [{"name": "a", "properties": {"x": 1}}, {"name": "b"}]))
    hand.change(network, "/properties/subnets/0/properties/x", 2)
    hand.change(network, "/tags", {"a": "b"})
    changed = await azure.get(f"{network}/subnets/a")
    hand.change(network, "/properties/subnets", [{"name": "c"}])
    resource, ids = hand.resource(network), hand.ids(network)
    assert changed.body["properties"]["x"] == 2
    assert entries_of(resource, ("properties", "subnets")) == ["c"]
    assert ids == [network, f"{network}/subnets/c"]


async def test_a_hand_finds_nothing_to_change_where_nothing_is(azure, group):
    with pytest.raises(KeyError):
        azure.emulator.change(at("Contoso.Things/things", "none"), "/a", 1)
    with pytest.raises(KeyError):
        azure.emulator.remove(at("Contoso.Things/things", "none"))
    assert azure.emulator.ids() == [GROUP]


@pytest.mark.parametrize("body", [{}, {"properties": {}}, {"properties": None}], ids=["nothing", "empty", "null"])
@pytest.mark.parametrize(("kind", "word", "path"), FAMILIES[:-1], ids=names[:-1])
async def test_a_parent_without_children_shows_an_empty_list(azure, group, kind, word, path, body):
    parent = at(kind, "p")
    await azure.made(parent, {"location": "westeurope", **body})
    shown, listed = await azure.get(parent), await azure.get(f"{parent}/{word}")
    assert inside(shown.body, path) == []
    assert listed.body["value"] == []
