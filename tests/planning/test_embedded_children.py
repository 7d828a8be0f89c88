"""Which children may go along with the PUT of their parent."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from gitsync.model.arm_id import ArmId
from gitsync.model.hold import HeldUntil
from gitsync.model.plan import Apply, Plan, Review, Reviewed
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim, PendingOperation, WriteStreak
from gitsync.model.resource import OwnerRef
from gitsync.model.template import SecretKeyRef, Template
from gitsync.model.verdict import Action
from gitsync.planning.embedded_children import group_by_owner, may_go_along
from gitsync.planning.status.conditions import READY
from tests.support.builders import prepared, prune, record, rg, subnet, vnet, vnet_id
from tests.support.parts import change

SUBNET_ID = f"{vnet_id()}/subnets/one"
PARENT = prepared(vnet(), vnet_id())
BODY = {"properties": {"addressPrefix": "10.0.0.0/24"}}
OWNED = prepared(subnet(), SUBNET_ID, owner=OwnerRef(key=vnet()))
CHILD = Apply(
    prepared=replace(OWNED, template=Template(arm_id=ArmId(SUBNET_ID), api_version="2024-03-01", body=BODY)),
    record=record(subnet(), SUBNET_ID, applied=BODY),
)


def of_prepared(**more):
    return replace(CHILD, prepared=change(CHILD.prepared, **more))


def of_record(**more):
    return replace(CHILD, record=change(CHILD.record, **more))


STAY = {
    "it was never written": replace(CHILD, record=None),
    "it was not created, and not adopted": of_record(claim=Claim.EXPECTED),
    "another agent has it": of_record(agent="other"),
    "an operation is under way": of_record(operation=PendingOperation("update", "2026-01-01T00:00:00Z")),
    "something resets it": of_record(streak=WriteStreak(count=3, paths=("/a",), at="2026-01-01T00:00:00Z", paused="x")),
    "it is held": replace(CHILD, hold=HeldUntil(date(2030, 1, 1), "x")),
    "it is not applied": replace(CHILD, skipped_because=READY),
    "gitsync only reads it": of_prepared(policy=Policy.SKIP),
    "it is outside of the run": of_prepared(is_watched=True),
    "another manifest writes it": of_prepared(written_by=rg()),
    "another credential writes it": of_prepared(credential="team"),
    "its id is not known": of_prepared(arm_id=None),
    "it has moved": of_prepared(arm_id=ArmId(f"{vnet_id('other')}/subnets/one")),
    "it has no request": of_prepared(template=None),
    "it has a secret": of_prepared(
        template=Template(arm_id=ArmId(SUBNET_ID), api_version="2024-03-01", body={"key": SecretKeyRef("a", "b")})
    ),
    "it is patched": of_prepared(
        resource=replace(CHILD.prepared.resource, annotations={"gitsync/update-method": "patch"})
    ),
}


def test_a_child_that_the_run_would_write_goes_along():
    assert may_go_along(CHILD, PARENT, "gitsync", None)


@pytest.mark.parametrize("case", STAY)
def test_a_child_stays_as_it_is(case):
    assert not may_go_along(STAY[case], PARENT, "gitsync", None)


@pytest.mark.parametrize(
    ("nodes", "goes"),
    [
        ({}, False),
        ({subnet(): Reviewed(action=Action.NONE)}, False),
        ({subnet(): Reviewed(action=Action.UPDATE)}, True),
    ],
)
def test_a_reviewer_has_seen_it(nodes, goes):
    review = Review(repository="r", revision="1", prune=False, digest_key="", nodes=nodes)
    assert may_go_along(CHILD, PARENT, "gitsync", review) is goes


def test_children_are_grouped_for_owners_that_may_embed_them():
    leaving = replace(prune(subnet("two"), f"{vnet_id()}/subnets/two"))
    leaving = replace(leaving, record=change(leaving.record, owner=vnet()))
    network = Apply(prepared=change(PARENT, owner=OwnerRef(key=rg())))
    plan = Plan(applies={subnet(): CHILD, vnet(): network}, prunes={leaving.key: leaving})
    assert group_by_owner(plan, lambda owner: owner.kind == "VirtualNetwork") == {vnet(): [CHILD, leaving]}
