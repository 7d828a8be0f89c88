from __future__ import annotations

import re

import pytest

from gitsync.errors import ConfigError
from gitsync.manifests.selection import Selection, select_prepared, spell_out
from gitsync.model.policy import Policy
from tests.support.builders import group_id, prepared, rg, vnet, vnet_id


@pytest.mark.parametrize(
    ("choice", "expected", "why"),
    [
        (Selection(), True, "everything"),
        (Selection(only=("VirtualNetwork/hub",)), True, "by kind and name"),
        (Selection(only=("VirtualNetwork.network.azure.com/default/hub",)), True, "by key"),
        (Selection(only=("*/hub",)), True, "by pattern"),
        (Selection(only=("virtualnetwork/hub",)), False, "names have case"),
        (Selection(namespaces=("other",)), False, "another namespace"),
        (Selection(only=("*/hub",), namespaces=("default",)), True, "both must hold"),
    ],
)
def test_what_a_choice_has(choice, expected, why):
    assert choice.has(vnet("hub")) is expected, why


def test_what_the_chosen_depend_on_is_only_looked_at():
    both = [prepared(rg(), group_id()), prepared(vnet(), vnet_id(), depends_on=(rg(),))]
    found = {one.key: one.policy for one in select_prepared(both, Selection(only=("VirtualNetwork/*",)))}
    assert found == {vnet(): Policy.MANAGE, rg(): Policy.SKIP}


HUB, HUBS, SPOKE = vnet("hub"), vnet("hubs"), vnet("spoke")
SPELLED = [
    ("VirtualNetwork/hub", "VirtualNetwork/hub", "a name in full stays, though another begins with it"),
    ("*/hu*", "*/hu*", "a pattern stays"),
    ("virtualnetwork/hub", str(HUB), "a kind without case"),
    ("virt/s", str(SPOKE), "abbreviated"),
    ("spoke", str(SPOKE), "a name alone"),
]


@pytest.mark.parametrize(("name", "expected", "why"), SPELLED, ids=[row[-1] for row in SPELLED])
def test_names_are_spelled_out(name, expected, why):
    assert spell_out(Selection(only=(name,)), [HUB, HUBS, SPOKE]).only == (expected,), why


UNCLEAR = [
    ("VirtualNetwork/hubb", "No resource is called VirtualNetwork/hubb. Did you mean VirtualNetwork/hub?", "a slip"),
    ("virt/h", "virt/h matches several resources.", "short for two"),
    ("*/none*", "No resource is called */none*.", "a pattern of nothing"),
]


@pytest.mark.parametrize(("name", "message", "why"), UNCLEAR, ids=[row[-1] for row in UNCLEAR])
def test_a_name_that_is_not_clear_is_refused(name, message, why):
    with pytest.raises(ConfigError, match=re.escape(message)):
        spell_out(Selection(only=(name,)), [HUB, HUBS, SPOKE])


def test_names_are_those_of_the_selected_namespaces():
    other = HUB._replace(namespace="other")
    spelled = spell_out(Selection(only=("hub",), namespaces=("other",)), [HUB, other])
    assert spelled == Selection(only=(str(other),), namespaces=("other",))
