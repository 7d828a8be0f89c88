"""What a provisioningState means: the words of the contract, those of single types, and those of no one."""

from __future__ import annotations

import json
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.arm_id import ArmId
from gitsync.model.live import Live
from gitsync.model.provisioning_state import StateMeaning, read_state
from tests.support.recordings import FOLDER, needs_recordings

GROUP = "/subscriptions/0/resourceGroups/core/providers"
VNET = f"{GROUP}/Microsoft.Network/virtualNetworks/hub"
OUTBOUND = f"{GROUP}/Microsoft.Sql/servers/srv/outboundFirewallRules/example.com"
TYPES = FOLDER / "arm-types"


@pytest.mark.parametrize(
    ("state", "arm_id", "meaning", "why"),
    [
        ("Succeeded", VNET, StateMeaning.SUCCEEDED, "the contract"),
        ("succeeded", VNET, StateMeaning.SUCCEEDED, "in any case"),
        ("Canceled", VNET, StateMeaning.FAILED, "the contract"),
        ("Cancelled", VNET, StateMeaning.FAILED, "as some types spell it"),
        ("PreparingVMDisk", VNET, StateMeaning.MOVING, "a participle at the start"),
        ("AdminUpdating", VNET, StateMeaning.MOVING, "a participle at the end"),
        ("updating", VNET, StateMeaning.MOVING, "in any case"),
        ("RolloutInProgress", VNET, StateMeaning.MOVING, "it says so"),
        ("Accepted", VNET, StateMeaning.MOVING, "the contract's own example"),
        ("Ready", OUTBOUND, StateMeaning.SUCCEEDED, "the type ends in it"),
        ("ready", OUTBOUND.upper(), StateMeaning.SUCCEEDED, "ids and states have no case"),
        ("Ready", VNET, StateMeaning.UNKNOWN, "this type does not end in it, as far as anybody knows"),
        ("Ready", "", StateMeaning.UNKNOWN, "of no type that is known"),
        ("Created", VNET, StateMeaning.UNKNOWN, "a step of some types, the end of others"),
        ("Frobnicated", OUTBOUND, StateMeaning.UNKNOWN, "nobody knows it"),
        ("Pingu", VNET, StateMeaning.UNKNOWN, "no participle"),
    ],
)
def test_meanings(state, arm_id, meaning, why):
    assert read_state(state, ArmId(arm_id)) is meaning, why


@given(st.text(min_size=1), st.sampled_from([VNET, OUTBOUND, ""]))
def test_only_known_words_are_success(state, arm_id):
    live = Live(body={"id": arm_id, "properties": {"provisioningState": state}})
    assert live.has_succeeded <= (state.casefold() in {"succeeded", "ready"})
    assert live.has_succeeded + live.has_failed + live.is_moving == 1


def test_a_resource_without_state_or_id_has_succeeded():
    assert Live(body={}).has_succeeded
    assert not Live(body={"id": 7, "properties": {"provisioningState": "Ready"}}).has_succeeded


@needs_recordings(TYPES)
def test_types_that_never_say_succeeded_have_an_end_of_their_own():
    """Of the published types, those whose states are a closed list."""
    missing = []
    for file in sorted(TYPES.glob("*.json.xz")):
        facts = json.loads(lzma.decompress(file.read_bytes()))
        for name, (body, *_) in facts["resources"].items():
            states = list_states(facts["types"], body)
            namespace, *steps = name.partition("@")[0].split("/")
            arm_id = "/".join(("/providers", namespace, *(f"{step}/x" for step in steps)))
            if states and StateMeaning.SUCCEEDED not in {read_state(state, ArmId(arm_id)) for state in states}:
                missing.append((name, states))
    assert missing == []


def list_states(types, body):
    properties = members(types[body]).get("properties")
    inner = members(types[properties["type"]]) if properties and isinstance(properties["type"], int) else {}
    state = inner.get("provisioningState")
    if not state or not isinstance(state["type"], int):
        return []
    kind = types[state["type"]]
    values = [types[element] for element in kind["elements"]] if kind["$type"] == "UnionType" else [kind]
    return [literal["value"] for literal in values if literal["$type"] == "StringLiteralType"]


def members(kind):
    return kind.get("properties") or kind.get("baseProperties") or {}
