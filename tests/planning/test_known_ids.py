"""Which records of other sources are believed, and why not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.model.arm_id import ArmId
from gitsync.model.condition import Condition, ConditionStatus
from gitsync.model.gvk import Key
from gitsync.model.manifests import KnownId
from gitsync.model.problem import Level, Problem
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim, PendingOperation, Trust
from gitsync.planning.record_trust import KnownRecords, collect_known_ids, select_hidden
from tests.support.builders import group_id, record, rg, vnet, vnet_id
from tests.support.parts import change

CATALOG = open_catalog()
GROUP = record(rg(), group_id())
READY = Condition(status=ConditionStatus.TRUE, reason="Succeeded")
SIGNED = replace(GROUP, trust=Trust.SIGNED)
ALIAS = Key("subscription.azure.com", "Alias", "default", "team")


def position(*records, name="the branch", needs_seal=False, **more):
    return KnownRecords(
        location=name, records={stored.key: stored for stored in records}, needs_seal=needs_seal, **more
    )


def doubt(one, **more):
    (known,) = collect_known_ids([], [position(one, **more)], CATALOG).values()
    return known.doubt


@pytest.mark.parametrize(
    ("one", "needs_seal", "why"),
    [
        (GROUP, False, "it was created"),
        (replace(GROUP, claim=Claim.ADOPTED), False, "it was adopted"),
        (change(GROUP, claim=Claim.NONE, policy=Policy.SKIP, condition=READY), False, "it is read, and there"),
        (replace(GROUP, trust=Trust.NO_KEY), False, "nobody demands a seal"),
        (SIGNED, True, "it is signed"),
        (replace(GROUP, trust=Trust.SIGNED_BEFORE), True, "signed with the key before"),
    ],
)
def test_a_record_of_what_exists_is_believed(one, needs_seal, why):
    assert doubt(one, needs_seal=needs_seal) == "", why


@pytest.mark.parametrize(
    ("one", "more", "said"),
    [
        (replace(GROUP, arm_id=vnet_id()), {}, "contradicts itself"),
        (replace(GROUP, arm_id=ArmId("/nonsense")), {}, "contradicts itself"),
        (replace(GROUP, claim=Claim.EXPECTED), {}, "does not show yet that it exists"),
        (replace(GROUP, claim=Claim.NONE), {}, "does not show yet that it exists"),
        (change(GROUP, operation=PendingOperation("delete", "2026-01-01T00:00:00Z")), {}, "is being deleted"),
        (GROUP, {"needs_seal": True}, "not signed with the key of this run"),
        (GROUP, {"needs_seal": True, "has_key": False}, "set GITSYNC_DIGEST_KEY"),
        (replace(GROUP, trust=Trust.ALTERED), {"needs_seal": True}, "was changed after it was signed"),
        (replace(GROUP, trust=Trust.OTHER_KEY), {"needs_seal": True}, "signed with a key that this run does not have"),
    ],
)
def test_a_record_is_doubted_with_a_reason(one, more, said):
    assert said in doubt(one, **more)


def test_the_first_place_that_is_believed_decides():
    doubted = position(replace(GROUP, claim=Claim.EXPECTED), name="first")
    believed, later = position(GROUP, name="second"), position(replace(GROUP, arm_id=group_id("other")), name="third")
    found = collect_known_ids([], [doubted, believed, later], CATALOG)
    assert found == {rg(): KnownId(arm_id=group_id(), location="second")}
    assert collect_known_ids([], [doubted, doubted], CATALOG)[rg()].location == "first"


@pytest.mark.parametrize(
    ("declared", "one", "why"),
    [
        ([rg()], GROUP, "the manifest counts"),
        ([], replace(GROUP, arm_id=ArmId("")), "no id is known"),
        ([], record(ALIAS, "/providers/Microsoft.Subscription/aliases/team"), "an alias is not its subscription"),
    ],
)
def test_what_is_not_looked_up(declared, one, why):
    assert collect_known_ids(declared, [position(one)], CATALOG) == {}, why


@pytest.mark.parametrize(
    ("problem", "hidden", "why"),
    [
        (Problem(code="Bad", message="No.", path="net/a.yaml"), True, "its unit cannot be read"),
        (Problem(code="Bad", message="No.", path="other/a.yaml"), False, "another unit"),
        (Problem(code="Bad", message="No.", path="net/a.yaml", level=Level.WARNING), False, "only a warning"),
    ],
)
def test_an_own_record_counts_only_if_its_manifest_may_be_hidden(problem, hidden, why):
    records = {vnet(): record(vnet(), vnet_id(), unit="net"), rg(): GROUP}
    assert list(select_hidden(records, [problem])) == ([vnet()] if hidden else []), why
