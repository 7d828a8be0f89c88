"""Which of several manifests of one resource writes it, and which record it gets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.model.gvk import Key
from gitsync.model.outside import RecordedOutside
from gitsync.model.plan import Removal, UnreadableFile
from gitsync.model.problem import Problem
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim
from gitsync.planning.claims import assign_writers, decide_last_policies, move_claims
from tests.support.builders import group_id, prepared, record, rg, vnet, vnet_id
from tests.support.parts import change
from tests.support.plans import make_plan

BAD = Problem(code="Bad", message="It is wrong.")


def group(namespace: str, *, policy: Policy = Policy.MANAGE, is_valid: bool = True, arm_id: str = group_id()):
    return prepared(at(namespace), arm_id, policy=policy, problems=() if is_valid else (BAD,))


def at(namespace: str) -> Key:
    return rg()._replace(namespace=namespace)


def kept(namespace: str, claim: Claim = Claim.CREATED, arm_id: str = group_id(), **more):
    return record(at(namespace), arm_id, claim=claim, **more)


def by_key(*records):
    return {stored.key: stored for stored in records}


@pytest.mark.parametrize(
    ("manifests", "records", "writer", "why"),
    [
        ([group("b"), group("a"), group("c")], [], "a", "the first by key"),
        ([group("a"), group("b", arm_id=group_id("CORE"))], [], "a", "ids compare without case"),
        ([group("a"), group("b")], [kept("b")], "b", "the one with the claim"),
        ([group("a"), group("b")], [kept("b", Claim.ADOPTED)], "b", "adopted is as good as created"),
        ([group("a"), group("b")], [kept("a", Claim.NONE), kept("b", Claim.EXPECTED)], "b", "an expected create"),
        ([group("a"), group("b")], [kept("a", Claim.EXPECTED), kept("b")], "b", "a claim is more than that"),
        ([group("a"), group("b")], [kept("b", Claim.NONE)], "b", "one from an earlier run before a new one"),
        ([group("a"), group("b")], [kept("b", arm_id=group_id("old"))], "a", "a claim to another resource is none"),
        ([group("a", is_valid=False), group("b")], [], "b", "a valid one before an invalid one"),
        ([group("a", is_valid=False), group("b")], [kept("a")], "a", "the claim counts all the same"),
        ([group("a", policy=Policy.SKIP), group("b")], [kept("a")], "b", "what only reads does not write"),
    ],
)
def test_one_manifest_writes_and_the_others_wait_for_it(manifests, records, writer, why):
    found = {writer.key.namespace: writer for writer in assign_writers(manifests, by_key(*records))}
    assert found[writer].relations.written_by is None, why
    others = [other for name, other in found.items() if name != writer]
    assert {other.relations.written_by for other in others} == {at(writer)}, why
    assert all(at(writer) in other.relations.depends_on for other in others), why


@pytest.mark.parametrize(
    ("manifests", "why"),
    [
        ([group("a"), group("b", arm_id=group_id("other"))], "two resources"),
        ([group("a", policy=Policy.SKIP), group("b", policy=Policy.SKIP)], "nobody writes"),
        ([group("a"), group("a")], "one manifest twice is another problem"),
    ],
)
def test_no_one_waits_without_a_writer(manifests, why):
    assert [writer.relations.written_by for writer in assign_writers(manifests, {})] == [None, None], why


def test_manifests_that_would_wait_for_each_other_do_not():
    """`a` writes the group and waits for the network of `b`, which waits for the group of `b`."""
    network = vnet()._replace(namespace="b")
    manifests = [
        change(group("a"), depends_on=(network,)),
        group("b"),
        prepared(network, vnet_id(), depends_on=(at("b"),)),
    ]
    first, second, _ = assign_writers(manifests, {})
    assert (first.relations.depends_on, second.relations.depends_on, second.relations.written_by) == (
        (network,),
        (),
        at("a"),
    )


@pytest.mark.parametrize(
    ("manifests", "records", "moves", "claims", "why"),
    [
        (
            [group("b")],
            [kept("a"), kept("b", Claim.NONE)],
            {"b": "a"},
            {"a": Claim.NONE, "b": Claim.CREATED},
            "the writer left",
        ),
        ([group("b")], [kept("a")], {"b": "a"}, {"a": Claim.NONE, "b": Claim.CREATED}, "a new name"),
        (
            [group("b"), group("c")],
            [kept("a"), kept("b", Claim.NONE), kept("c", Claim.NONE)],
            {"b": "a"},
            {"a": Claim.NONE, "b": Claim.CREATED, "c": Claim.NONE},
            "the next one only",
        ),
        (
            [group("a", policy=Policy.SKIP), group("b")],
            [kept("a"), kept("b", Claim.NONE)],
            {"b": "a"},
            {"a": Claim.NONE, "b": Claim.CREATED},
            "the writer only reads now",
        ),
        ([group("a"), group("b")], [kept("a"), kept("b")], {}, {"a": Claim.CREATED, "b": Claim.NONE}, "one claim"),
        (
            [group("a", arm_id=group_id("moved")), group("b")],
            [kept("a"), kept("b", Claim.NONE)],
            {"b": "a"},
            {"a": Claim.NONE, "b": Claim.CREATED},
            "the writer stands for another resource now",
        ),
        ([group("b", policy=Policy.SKIP)], [kept("a")], {}, {"a": Claim.CREATED}, "nobody is left to write"),
        ([group("b")], [kept("a", Claim.EXPECTED)], {}, {"a": Claim.EXPECTED}, "nothing was created for sure"),
        ([group("b")], [kept("a", arm_id=group_id("x"))], {}, {"a": Claim.CREATED}, "another resource"),
    ],
)
def test_a_claim_moves_to_the_manifest_that_writes(manifests, records, moves, claims, why):
    before = by_key(*records)
    settled = move_claims(assign_writers(manifests, before), before)
    assert {key.namespace: former.namespace for key, former in settled.moves.items()} == moves, why
    assert {key.namespace: stored.claim for key, stored in settled.records.items()} == claims, why


def test_what_is_known_of_the_resource_moves_and_what_describes_the_manifest_does_not():
    outside = RecordedOutside(values={"tags": {"cost": "7"}}, types="1", read="2")
    former = kept(
        "a",
        applied={"location": "here"},
        baseline={"location": "Here"},
        outside=outside,
        count=3,
        unit="old",
        generation=7,
    )
    own = kept("b", Claim.NONE, generation=2, digest="digest", unit="new")
    settled = move_claims([group("b", policy=Policy.DETACH_ON_DELETE)], by_key(former, own)).records
    taken = settled[at("b")]
    assert (taken.spec.applied, taken.spec.baseline, taken.spec.outside, taken.writes.count) == (
        former.spec.applied,
        former.spec.baseline,
        outside,
        3,
    )
    assert (taken.manifest.policy, taken.spec.generation, taken.spec.digest) == (Policy.DETACH_ON_DELETE, 2, "digest")
    left = settled[at("a")].spec
    assert (left.applied, left.baseline, left.outside) == (None, None, None)


@pytest.mark.parametrize("untrusted", ["a", "b"])
def test_what_is_not_trusted_stays_as_it_is(untrusted):
    records = by_key(kept("a"), kept("b", Claim.NONE))
    settled = move_claims([group("b")], records, {at(untrusted)})
    assert (settled.records, settled.moves) == (records, {})


def test_what_is_not_part_of_the_run_takes_nothing():
    records = by_key(kept("a"))
    watched = replace(group("b"), is_watched=True)
    assert move_claims([watched], records).records == records


@pytest.mark.parametrize(
    ("policies", "last", "why"),
    [
        ((Policy.MANAGE, Policy.MANAGE), (Policy.MANAGE, Policy.MANAGE), "nothing keeps it"),
        ((Policy.MANAGE, Policy.DETACH_ON_DELETE), (Policy.DETACH_ON_DELETE, Policy.DETACH_ON_DELETE), "detach wins"),
        ((Policy.MANAGE, Policy.SKIP), (Policy.MANAGE, Policy.SKIP), "skip has no say"),
    ],
)
def test_detach_wins_over_delete(policies, last, why):
    removed = by_key(kept("a"), kept("b", Claim.NONE, group_id("CORE")))
    found = decide_last_policies(dict(zip(removed, policies, strict=True)), removed)
    assert tuple(found.values()) == last, why


def test_records_without_an_id_have_nothing_in_common():
    removed = by_key(kept("a", arm_id=""), kept("b", arm_id=""))
    policies = dict(zip(removed, (Policy.DETACH_ON_DELETE, Policy.MANAGE), strict=True))
    assert decide_last_policies(policies, removed) == policies


def test_one_resource_is_deleted_once_and_after_all_that_depends_on_either_record():
    child = record(vnet(), vnet_id(), depends_on=(at("b"),))
    other = record(vnet("other"), vnet_id("x", "else"), depends_on=(at("b"),))
    plan = make_plan([], by_key(kept("a"), kept("b", Claim.NONE), child, other))
    first, second = plan.prunes[at("a")], plan.prunes[at("b")]
    assert (first.within, set(first.depends_on)) == (None, {child.key, other.key})
    assert (second.within, second.depends_on, second.detaches) == (at("a"), (at("a"),), False)


def test_what_keeps_a_resource_keeps_it_for_both():
    file = UnreadableFile("a.yaml", Problem(code="Link", message="It is a link."))
    plan = make_plan([], by_key(kept("a"), kept("b", Claim.NONE)), removals={at("a"): Removal(unreadable=file)})
    first, second = plan.prunes[at("a")], plan.prunes[at("b")]
    assert first.kept_because.startswith("Held: a.yaml declared this resource")
    assert (second.kept_because, first.within, second.within) == (first.kept_because, None, at("a"))
