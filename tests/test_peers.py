"""The estate of the benchmarks in the words of OpenTofu. The programs themselves are not needed."""

import sys

import pytest

from bench import estate
from bench.peers import describe, split_id
from tests.support.warm_process import write_interpreter

SCOPE = "/subscriptions/s/resourceGroups/g"
HUB = f"{SCOPE}/providers/Microsoft.Network/virtualNetworks/hub"
ROLE = "Microsoft.Authorization/roleAssignments"


@pytest.mark.parametrize(
    ("arm_id", "expected", "why"),
    [
        (SCOPE, ("/subscriptions/s", "Microsoft.Resources/resourceGroups", "g"), "a group is in its subscription"),
        (HUB, (SCOPE, "Microsoft.Network/virtualNetworks", "hub"), "a resource is in its group"),
        (f"{HUB}/subnets/a", (HUB, "Microsoft.Network/virtualNetworks/subnets", "a"), "a child is in its parent"),
        (f"{HUB}/providers/{ROLE}/r", (HUB, ROLE, "r"), "an extension is attached to a resource"),
    ],
)
def test_an_id_falls_into_parent_type_and_name(arm_id, expected, why):
    assert split_id(arm_id) == expected, why


def test_every_resource_is_described_once_and_after_its_owner(tmp_path, monkeypatch):
    tree, programs = tmp_path / "tree", tmp_path / "programs"
    estate.write(tree, 20)
    programs.mkdir()
    monkeypatch.setattr(sys, "executable", str(write_interpreter(programs)))
    requests = estate.requests_of(tree)
    described = describe(requests)
    blocks = {
        f"{block}.{label}": schema for block, all_ in described["resource"].items() for label, schema in all_.items()
    }
    ids = {f"{block['parent_id']}/{block['type'].partition('@')[0]}/{block['name']}" for block in blocks.values()}
    assert len(blocks) == len(ids) == len(requests)
    assert {after for block in blocks.values() for after in block["depends_on"]} <= set(blocks)
    assert sum(not block["depends_on"] for block in blocks.values()) == 1, "only the group waits for nothing"
    assert [name for block in blocks.values() for name, value in block.items() if value is None] == []
