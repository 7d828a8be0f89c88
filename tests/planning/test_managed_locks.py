"""Which locks forbid what, and which comes in which turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.arm_id import ArmId
from gitsync.model.check import PlannedChange
from gitsync.model.gvk import AZURE_RESOURCE, Key
from gitsync.model.lock_ids import find_scope, is_lock
from gitsync.model.verdict import Action
from gitsync.planning.managed_locks import LockView, ManagedLock, find_lowered_level, read_level

SUB = "/subscriptions/0"
GROUP = f"{SUB}/resourceGroups/shop"
HUB = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub"
SUBNET = f"{HUB}/subnets/a"
OTHER = f"{SUB}/resourceGroups/shop2/providers/Microsoft.Network/virtualNetworks/hub"
LOCK_OF_HUB = f"{HUB}/providers/Microsoft.Authorization/locks/keep"
ROOT = "/providers/Microsoft.Management/managementGroups/root"
KEY = Key(*AZURE_RESOURCE, "default", "keep")

HOLDS = [
    ("cannotdelete", GROUP, HUB, True, False, "below its scope"),
    ("readonly", GROUP, HUB, True, True, "below its scope, read-only"),
    ("readonly", HUB, HUB, True, True, "its scope"),
    ("readonly", HUB, GROUP, True, False, "what contains its scope is not deleted, and may be written"),
    ("readonly", GROUP.upper(), SUBNET, True, True, "ids have no case"),
    ("readonly", GROUP, OTHER, False, False, "a group with a similar name"),
    ("readonly", SUBNET, HUB, True, False, "the parent of its scope"),
    ("readonly", GROUP, LOCK_OF_HUB, False, False, "no lock forbids to change another one"),
    ("readonly", ROOT, HUB, True, True, "that of a management group may hold for any subscription"),
    ("", GROUP, HUB, True, False, "an unknown level forbids deletes at least"),
]


@pytest.mark.parametrize(("level", "scope", "arm_id", "no_delete", "no_write", "why"), HOLDS)
def test_what_a_lock_forbids(level, scope, arm_id, no_delete, no_write, why):
    view = LockView(standing=(ManagedLock(KEY, ArmId(scope), level),))
    assert (bool(view.explain_delete(ArmId(arm_id))), bool(view.explain_write(ArmId(arm_id)))) == (
        no_delete,
        no_write,
    ), why


SCOPES = [
    (LOCK_OF_HUB, HUB, "of a resource"),
    (f"{GROUP}/providers/microsoft.authorization/LOCKS/keep", GROUP, "in any case"),
    (f"{SUB}/providers/Microsoft.Authorization/locks/keep", SUB, "of a subscription"),
]


@pytest.mark.parametrize(("arm_id", "scope", "why"), SCOPES)
def test_the_scope_of_a_lock(arm_id, scope, why):
    assert (is_lock(ArmId(arm_id)), find_scope(ArmId(arm_id))) == (True, scope), why


LEVELS = [
    ({"properties": {"level": "ReadOnly"}}, "readonly"),
    ({"properties": {"level": 3}}, ""),
    ({"properties": []}, ""),
    ({}, ""),
    (None, ""),
    ([], ""),
]


@pytest.mark.parametrize(("body", "level"), LEVELS)
def test_the_level_of_a_lock(body, level):
    assert read_level(body) == level


LOWERED = [
    (Action.DELETE, LOCK_OF_HUB, None, "", "a delete leaves none"),
    (Action.UPDATE, LOCK_OF_HUB, "CanNotDelete", "cannotdelete", "it is weakened before the writes below it"),
    (Action.UPDATE, LOCK_OF_HUB, "ReadOnly", None, "it becomes stricter after them"),
    (Action.DELETE, HUB, None, None, "no lock"),
]


@pytest.mark.parametrize(("action", "arm_id", "level", "left", "why"), LOWERED)
def test_what_a_change_leaves_of_a_lock(action, arm_id, level, left, why):
    body = {"properties": {"level": level}} if level else None
    change = PlannedChange(key=KEY, action=action, arm_id=ArmId(arm_id), arm_type="", api_version="", body=body)
    assert find_lowered_level(change) == left, why


IDS = st.sampled_from([SUB, GROUP, HUB, SUBNET, OTHER, LOCK_OF_HUB]).map(ArmId)


@given(IDS, IDS, st.sampled_from(["readonly", "cannotdelete", ""]))
def test_what_may_not_be_written_may_not_be_deleted(scope, arm_id, level):
    view = LockView(standing=(ManagedLock(KEY, scope, level),))
    assert not view.explain_write(arm_id) or view.explain_delete(arm_id)
