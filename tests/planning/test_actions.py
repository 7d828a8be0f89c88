from __future__ import annotations

import pytest

from gitsync.model.record import Claim, FailedWrite
from gitsync.model.verdict import Action, Comparison, Difference, Verdict
from gitsync.planning.actions import (
    WriteRules,
    decide_absent,
    decide_claim,
    decide_present,
    decide_unreadable,
    find_remembered,
    recognize_failure,
)
from gitsync.planning.diff.hints import Hints, make_kind_hints
from gitsync.planning.diff.three_way import Remembered, remove_secrets
from tests.support.builders import live, record, vnet, vnet_id

BODY = {"properties": {"a": 1}}
SEEN = Remembered(applied=BODY, baseline=BODY)


@pytest.mark.parametrize(
    ("claim", "verdict", "why"),
    [
        (None, Verdict.CREATE, "nothing is known of it"),
        (Claim.EXPECTED, Verdict.CREATE, "an earlier run only meant to create it"),
        (Claim.CREATED, Verdict.MISSING, "it was ours and is gone"),
        (Claim.ADOPTED, Verdict.MISSING, "it was ours and is gone"),
    ],
)
def test_what_is_not_there(claim, verdict, why):
    found, action = decide_absent(record(vnet(), vnet_id(), claim=claim) if claim else None)
    assert (found.verdict, action) == (verdict, Action.CREATE), why


@pytest.mark.parametrize(
    ("there", "remembered", "write_rules", "verdict", "action", "why"),
    [
        (live("Succeeded", properties={"a": 1}), SEEN, WriteRules(), Verdict.IN_SYNC, Action.NONE, "nothing differs"),
        (live(properties={"a": 2}), SEEN, WriteRules(), Verdict.DRIFTED, Action.UPDATE, "Azure moved"),
        (
            live("Failed", properties={"a": 1}),
            SEEN,
            WriteRules(),
            Verdict.DRIFTED,
            Action.UPDATE,
            "a failed operation is a difference",
        ),
        (
            live(properties={"a": 1}),
            SEEN,
            WriteRules(always_put=True),
            Verdict.IN_SYNC,
            Action.UPDATE,
            "as Azure Service Operator does",
        ),
        (live(properties={"a": 2}), None, WriteRules(), Verdict.ADOPT, Action.UPDATE, "adopted with git's values"),
        (live(properties={"a": 1}), None, WriteRules(), Verdict.ADOPT, Action.NONE, "adopted as it is"),
        (live(properties={"a": 2}), None, WriteRules(adopts=False), Verdict.ADOPT, Action.NONE, "only reported"),
        (
            live("Failed", properties={"a": 1}),
            None,
            WriteRules(adopts=False),
            Verdict.ADOPT,
            Action.NONE,
            "also when it failed",
        ),
    ],
)
def test_what_is_there(there, remembered, write_rules, verdict, action, why):
    found, done = decide_present(BODY, there, remembered, write_rules, Hints())
    assert (found.verdict, done) == (verdict, action), why


@pytest.mark.parametrize(
    ("remembered", "verdict", "action"),
    [
        (None, Verdict.ADOPT, Action.NONE),
        (Remembered(applied=remove_secrets(BODY), baseline=None), Verdict.IN_SYNC, Action.NONE),
        (Remembered(applied={}, baseline=None), Verdict.PENDING, Action.UPDATE),
    ],
)
def test_what_can_only_be_tested_for_truth(remembered, verdict, action):
    found, done = decide_unreadable(BODY, remembered)
    assert (found.verdict, done) == (verdict, action)


SPEC = {"a": 1}
MOVED = (Difference("/properties/a", 1, 2, "changed in Azure since it was last seen"),)


@pytest.mark.parametrize(
    ("found", "differences", "failure", "baseline", "state", "expected", "why"),
    [
        ("create", (), ("create", 1), None, None, "failed-before", "Azure refused it"),
        ("create", (), ("create", 0), None, None, "create", "git changed since"),
        ("create", (), None, None, None, "create", "nothing failed: the run was cut off"),
        ("missing", (), ("create", 1), None, None, "failed-before", "Azure took back what it could not make"),
        ("missing", (), ("create", 0), None, None, "create", "and git changed since"),
        ("missing", (), ("update", 1), BODY, None, "missing", "a failed update deletes nothing"),
        ("missing", (), ("create", 1), BODY, None, "missing", "it was there before: the second create failed"),
        ("drifted", (), ("create", 1), None, "Failed", "failed-before", "as the create left it"),
        ("drifted", MOVED, ("create", 1), None, "Failed", "failed-before", "nothing can have drifted yet"),
        ("conflict", MOVED, ("create", 0), None, "Failed", "pending", "only git has moved since"),
        (
            "drifted",
            (),
            None,
            None,
            "Failed",
            "failed-before",
            "a record of an older version, or of a resumed operation",
        ),
        ("drifted", (), ("update", 1), BODY, "Failed", "failed-before", "as the update left it"),
        ("drifted", (), None, BODY, "Failed", "drifted", "no write of gitsync failed"),
        ("drifted", MOVED, ("update", 1), BODY, "Failed", "drifted", "something changed it besides"),
        ("conflict", MOVED, ("update", 1), BODY, None, "conflict", "something changed it besides"),
        ("pending", MOVED, ("update", 1), BODY, None, "failed-before", "the same change as before"),
        ("pending", MOVED, ("update", 0), BODY, None, "pending", "git changed since"),
        ("pending", MOVED, None, BODY, "Failed", "pending", "what failed was not this change"),
        ("in-sync", (), ("update", 1), BODY, None, "in-sync", "the write was done after all"),
        ("adopt", MOVED, ("update", 1), None, "Failed", "adopt", "it is not ours yet"),
    ],
)
def test_what_failed_before(found, differences, failure, baseline, state, expected, why):
    kind, generation = failure or ("", 0)
    ours = record(
        vnet(),
        vnet_id(),
        applied=BODY,
        baseline=baseline,
        failure=FailedWrite(kind, "2026-11-20T09:35:00Z", generation) if failure else None,
    )
    there = live(state, properties={"a": 1}) if state else None
    comparison = Comparison(verdict=Verdict(found), differences=differences)
    assert recognize_failure(comparison, ours, there, SPEC) == Comparison(
        verdict=Verdict(expected), differences=differences
    ), why


@pytest.mark.parametrize(
    ("claim", "sent", "existed", "differed", "expected", "why"),
    [
        (None, True, False, False, Claim.CREATED, "it was not there, and we sent it"),
        (None, True, True, True, Claim.ADOPTED, "it was there, and we wrote over it"),
        (None, False, True, False, Claim.ADOPTED, "it was there, and just right"),
        (Claim.ADOPTED, True, False, False, Claim.ADOPTED, "a claim stays"),
        (Claim.EXPECTED, False, True, False, Claim.CREATED, "a run that was cut off made it: it is just right"),
        (Claim.EXPECTED, True, True, True, Claim.ADOPTED, "somebody else made it: it differed"),
    ],
)
def test_with_which_claim_gitsync_manages_it(claim, sent, existed, differed, expected, why):
    old = record(vnet(), vnet_id(), claim=claim) if claim else None
    assert decide_claim(old, sent=sent, existed=existed, differed=differed) is expected, why


def test_what_a_record_lets_a_comparison_know():
    ours = record(vnet(), vnet_id(), applied=BODY, baseline=BODY)
    assert find_remembered(ours, ours.arm_api_version) == SEEN
    assert find_remembered(ours, "2030-01-01") == Remembered(applied=BODY, baseline=None), "another api-version"
    assert find_remembered(record(vnet(), vnet_id(), claim=Claim.EXPECTED, applied=BODY), "2020-06-01") is None
    assert find_remembered(None, "2020-06-01") is None


def test_every_spelling_of_an_enumeration_is_known(catalog_kind):
    assert make_kind_hints(catalog_kind).told(("sku", "name")) == "enum"
