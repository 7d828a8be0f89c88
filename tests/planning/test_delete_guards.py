"""What keeps a resource that was removed from git: each guard, their order, and what is kept along with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from gitsync.model.arm_id import ArmId
from gitsync.model.hold import HeldUntil
from gitsync.model.plan import Plan, Removal, RestOfSource, Review, Reviewed, UnreadableFile
from gitsync.model.problem import Problem
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim
from gitsync.model.resource import OwnerRef
from gitsync.model.verdict import Action
from gitsync.planning.delete_guards import (
    GUARDS,
    Bystanders,
    Evidence,
    Guard,
    Moment,
    Removals,
    decide_deletes,
    explain_kept,
)
from gitsync.planning.delete_scope import GroupContent
from gitsync.planning.hidden_manifests import NOTHING_ELSE, OtherFiles, RemovedResource, index_source
from gitsync.planning.managed_locks import LockView, ManagedLock
from gitsync.planning.moved_manifests import LastDeclared, UnusedFile, index_unread
from tests.support.builders import group_id, prepared, prune, record, result, rg, subnet, vnet, vnet_id
from tests.support.parts import change
from tests.support.plans import decide_after, make_plan

SUBNET_ID = f"{vnet_id()}/subnets/one"
GROUP, NET, SUBNET = record(rg(), group_id()), record(vnet(), vnet_id()), record(subnet(), SUBNET_ID)
BAD = Problem(code="Bad", message="It is bad.", path="a/x.yaml", line=2)
HOLD = HeldUntil(date(2026, 6, 1), "a freeze")
HELD = prune(vnet(), vnet_id(), hold=HOLD)
LAST = LastDeclared(key=vnet(), path="a.yaml", blobs={"a.yaml": "1"})
UNUSED = UnusedFile("old.yaml", "no kustomization uses it", blob="1")
UNREADABLE = UnreadableFile("a.yaml", BAD)


def by_key(*entries):
    return {entry.key: entry for entry in entries}


def source(*declared, problems=(), elsewhere=()):
    return {"source": index_source(declared, {}, problems, RestOfSource(elsewhere=tuple(elsewhere)))}


def removed(resource=NET, last=None, **how):
    return {"removed": {resource.key: RemovedResource(resource, Removal(**how), last)}}


def unnamed(key, **spec):
    made = replace(prepared(key, ""), arm_id=None)
    return replace(made, resource=replace(made.resource, spec=spec))


def planned(action):
    return Review(
        repository="", revision="", prune=True, digest_key="", nodes={vnet(): Reviewed(action=action)} if action else {}
    )


NAMED = prepared(subnet(), SUBNET_ID)
CHILD = change(NAMED, arm_id=None, owner=OwnerRef(key=vnet()))
FROM_CONFIG = unnamed(vnet("new"), azureNameFromConfig={"name": "names", "key": "hub"})
ELSEWHERE = prepared(vnet()._replace(namespace="prdo"), "").resource
STRANGER = {"contents": {vnet(): GroupContent([ArmId("/x")], [])}}

LOCKED = {"locks": LockView(standing=(ManagedLock(subnet("keep"), ArmId(vnet_id()), "cannotdelete"),))}
KEEPS = [
    ("untrusted record", {"untrusted": {vnet(): "It is forged."}}, "It is forged.", "nothing of it is believed"),
    ("hold", {}, "It is held until 2026-06-01", "a person decided"),
    ("content in git", source(NAMED), f"still names {SUBNET_ID}", "its content is declared"),
    ("owner in git", source(CHILD), "as the owner of", "its content is declared, and has no id yet"),
    (
        "other files",
        {"removals": Removals(beside=OtherFiles(file="a.yaml", error="No."))},
        "cannot be read: No.",
        "it may be in another",
    ),
    ("unknown finalizer", removed(unknown_finalizer="x.io"), "the finalizer x.io", "the object may have kept it"),
    ("unreadable file", removed(unreadable=UNREADABLE), "a.yaml declared this", "its file may still declare it"),
    ("error without a unit", source(problems=[BAD]), "does not show which folder", "any file may declare it"),
    (
        "error in its unit",
        source(problems=[BAD]) | removed(change(NET, unit="a")),
        "a/x.yaml:2 cannot be read",
        "the rest of its folder may declare it",
    ),
    ("unrecognized document", source(unnamed(vnet("x"), azureName="hub")), "document named hub", "that may be it"),
    ("name from a config map", source(FROM_CONFIG), "from a config map", "that may be its name"),
    ("similar name", source(prepared(vnet("hubb"), vnet_id("x"))), "differs by one letter", "a typo is no removal"),
    ("similar namespace", source(elsewhere=[ELSEWHERE]), "alone in a namespace", "a typo is no removal"),
    (
        "unread path",
        removed(last=LAST) | {"removals": Removals(unread=index_unread([UNUSED], []))},
        "old.yaml is not read",
        "it moved",
    ),
    (
        "outside of the run",
        {"bystanders": Bystanders((ArmId(SUBNET_ID),))},
        "does not manage",
        "it is of another agent",
    ),
    ("lock", LOCKED, "which forbids the delete.", "Azure would refuse it, and git keeps the lock"),
    ("reviewed plan", {"review": planned(Action.NONE)}, "does not delete it.", "nobody has reviewed its delete"),
    ("unrecorded lift", {"unrecorded": {vnet(): "It is full."}}, "It is full.", "a killed run would lose the lock"),
    ("former dependency", {"needed_by": {vnet(): subnet()}}, "is not Ready.", "its last good state needs it"),
    ("content of a group", STRANGER, "does not manage: /x.", "others would lose it"),
    ("lock that is still there", LOCKED, "which forbids the delete.", "the delete of the lock failed"),
    ("dependents", {"remaining": (subnet(),)}, "must be deleted first.", "Azure would refuse it"),
    ("undeletable kind", {"is_undeletable": True}, "does not support deletion", "Azure would refuse it"),
    ("new content of a group", STRANGER, "does not manage: /x.", "it was created during the run"),
    ("incomplete list", {"unlisted": "/x"}, "lacks /x, which exists", "the list may lack those of others"),
]


@pytest.mark.parametrize(("name", "evidence", "text", "why"), KEEPS, ids=[row[0] for row in KEEPS])
def test_each_guard_keeps_what_it_protects_and_nothing_without_evidence(name, evidence, text, why):
    guard = next(guard for guard in GUARDS if guard.name == name)
    subject = HELD if name == "hold" else prune(vnet(), vnet_id())
    assert text in guard.explain(subject, Evidence(**evidence)), why
    assert guard.explain(prune(vnet(), vnet_id()), Evidence()) == "", "an empty part keeps nothing"


def test_each_guard_has_a_row_here_a_name_of_its_own_and_a_sentence():
    names = [guard.name for guard in GUARDS]
    assert names == [row[0] for row in KEEPS]
    assert len(set(names)) == len(names)
    assert all(guard.protects.endswith(".") and "\n" not in guard.protects for guard in GUARDS)


def test_a_guard_needs_one_row():
    """What it keeps also keeps its owner, and the row decides about --release and a detach."""
    made_up = Guard(
        "made up", Moment.PLAN, "A network.", lambda resource, _: "Monday." if resource.key == vnet() else ""
    )
    prunes = {vnet(): prune(vnet(), vnet_id()), rg(): prune(rg(), group_id())}
    decided = decide_deletes(prunes, Evidence(), Moment.PLAN, (*GUARDS, made_up))
    assert decided[vnet()].kept_because == "Monday."
    assert decided[rg()].kept_because == f"{vnet_id()} is below it and must stay in Azure."
    assert not any(delete.kept_because for delete in decide_deletes(prunes, Evidence(), Moment.PLAN).values())


SAID = [
    (removed(unreadable=UNREADABLE), "a.yaml declared this", "nothing else keeps it"),
    (removed(unreadable=UNREADABLE) | source(NAMED), "A manifest still names", "git comes before history"),
    (removed(unreadable=UNREADABLE, is_released=True), "", "a person has released it"),
    (removed(unreadable=UNREADABLE, is_released=True) | source(NAMED), "A manifest still names", "for others it stays"),
    (source(NAMED) | {"untrusted": {vnet(): "It is forged."}}, "It is forged.", "a forged record comes first"),
    (source(NAMED) | {"review": planned(Action.NONE)}, "A manifest still names", "a review follows from the rest"),
    ({"review": planned(Action.DELETE)}, "", "the review has its delete"),
    ({"review": planned(None)}, "The reviewed plan does not delete it.", "it was removed from git since"),
]


@pytest.mark.parametrize(("evidence", "text", "why"), SAID, ids=[row[-1] for row in SAID])
def test_the_first_guard_that_keeps_it_gives_the_reason(evidence, text, why):
    subject = prune(vnet(), vnet_id())
    decided = decide_deletes({vnet(): subject}, Evidence(**evidence), Moment.PLAN)
    found = decided[vnet()].kept_because
    assert text in found, why
    assert bool(found) is bool(text), why
    assert found == explain_kept(subject, Evidence(**evidence), Moment.PLAN)


FORGOTTEN = [
    (source(NAMED), "", "it stays in Azure anyway"),
    ({"review": planned(Action.DETACH)}, "", "the review has it"),
    ({"review": planned(Action.DELETE)}, "The reviewed plan does not forget it.", "the review has something else"),
    ({"untrusted": {vnet(): "It is forged."}}, "It is forged.", "its record is evidence"),
]


@pytest.mark.parametrize(("evidence", "text", "why"), FORGOTTEN, ids=[row[-1] for row in FORGOTTEN])
def test_few_guards_keep_the_record_of_a_resource_that_is_only_forgotten(evidence, text, why):
    subject = prune(vnet(), vnet_id(), detaches=True)
    assert decide_deletes({vnet(): subject}, Evidence(**evidence), Moment.PLAN)[vnet()].kept_because == text, why


def test_what_follows_from_another_resource_comes_before_the_review():
    """A review has no delete of an owner whose content stays: the content is the reason."""
    prunes = {rg(): prune(rg(), group_id()), vnet(): prune(vnet(), vnet_id())}
    decided = decide_deletes(prunes, Evidence(untrusted={vnet(): "It is forged."}, review=planned(None)), Moment.PLAN)
    assert decided[rg()].kept_because == f"{vnet_id()} is below it and must stay in Azure."


# What is kept along.


def test_what_has_a_child_that_is_only_forgotten_stays():
    child = change(SUBNET, policy=Policy.DETACH_ON_DELETE)
    plan = make_plan([], by_key(NET, child))
    assert "must stay in Azure" in plan.prunes[vnet()].kept_because
    assert "its record is kept as long as that of" in plan.prunes[subnet()].kept_because


SERVER = rg("server")._replace(kind="FlexibleServer")
ROW = f"{group_id()}/providers/Microsoft.DBforPostgreSQL/flexibleServers"


def part(name, where, **more):
    return record(rg(name)._replace(kind="FlexibleServersFirewallRule"), f"{ROW}/{where}", **more)


ALONG = [
    ([f"{ROW}/server/databases/orders"], ["server", "office", "files"], {"server", "office"}, "a declared child"),
    ([], ["server", "office", "files"], set(), "nothing stays"),
    ([f"{ROW}/server"], ["office"], set(), "an owner that stays declared keeps nothing"),
    ([f"{ROW}/other"], ["core", "server", "office", "files"], {"core", "server", "office", "files"}, "a group too"),
    ([], ["core", "server", "office", "files", "kept"], {"core", "server", "office"}, "a group is only a container"),
    ([], ["server", "office", "files", "user"], {"server", "office", "user", "files"}, "what a kept one depends on"),
]


@pytest.mark.parametrize(("declared", "gone", "kept", "why"), ALONG, ids=[row[-1] for row in ALONG])
def test_what_is_below_a_kept_resource_or_is_used_by_it_is_kept(declared, gone, kept, why):
    """Below the server, `kept` is detached, and `user`, which depends on `files`, is kept by itself."""
    entries = {
        "core": GROUP,
        "server": record(SERVER, f"{ROW}/server"),
        "office": part("office", "server/firewallRules/office"),
        "kept": part("kept", "server/databases/kept", policy=Policy.DETACH_ON_DELETE),
        "files": record(vnet("files"), vnet_id("files")),
        "user": part("user", "server/databases/user", depends_on=(vnet("files"),)),
    }
    named = [prepared(subnet(str(number)), arm_id) for number, arm_id in enumerate(declared)]
    removals = {entries["user"].key: Removal(unreadable=UNREADABLE)}
    plan = make_plan(named, by_key(*(entries[name] for name in gone)), removals=removals)
    prunes = {name: plan.prunes[entries[name].key] for name in gone}
    assert {name for name, prune in prunes.items() if prune.kept_because and not prune.detaches} == kept, why


@pytest.mark.parametrize(
    ("members", "kept", "why"),
    [
        ({}, False, "no run has created it"),
        ({"policy": Policy.SKIP}, True, "it is only watched"),
        ({"claim": Claim.EXPECTED}, True, "a run may have created it"),
    ],
)
def test_what_never_existed_keeps_nothing(members, kept, why):
    child = change(SUBNET, **{"claim": Claim.NONE, **members})
    assert bool(make_plan([], by_key(NET, child)).prunes[vnet()].kept_because) is kept, why


# What the run does not cover.


def keep_around(known, every=(), declared=(), around=NOTHING_ELSE):
    plan = make_plan(declared, by_key(*known), around=around, every=by_key(*every))
    return {key.name for key, prune in plan.prunes.items() if prune.kept_because}


BESIDE = [
    ((), set(), "nothing else is on record"),
    ((SUBNET,), {"core", "hub"}, "a record that was not chosen, or another agent's"),
    ((change(SUBNET, claim=Claim.EXPECTED),), {"core", "hub"}, "what may have been made"),
    ((change(SUBNET, claim=Claim.NONE),), set(), "what was never there"),
    ((change(SUBNET, claim=Claim.NONE, hold=HOLD),), {"core", "hub"}, "what has a hold"),
    ((change(SUBNET, claim=Claim.NONE, policy=Policy.SKIP),), {"core", "hub"}, "what is only watched"),
    ((change(SUBNET, arm_id=vnet_id()),), {"core", "hub"}, "the same resource under another name"),
    ((change(SUBNET, arm_id=vnet_id("hub2")),), {"core"}, "a name that begins alike is another resource"),
    ((change(SUBNET, arm_id=vnet_id("x", "core2")),), set(), "another group"),
]


@pytest.mark.parametrize(("beside", "expected", "why"), BESIDE, ids=[row[-1] for row in BESIDE])
def test_what_is_on_record_beside_the_plan_keeps_what_it_is_in(beside, expected, why):
    assert keep_around((GROUP, NET), (GROUP, NET, *beside)) == expected, why


def test_what_is_below_a_resource_that_contains_others_is_kept_with_it():
    two = record(subnet("two"), f"{vnet_id()}/subnets/two")
    assert keep_around((GROUP, NET, two), (GROUP, NET, two, SUBNET)) == {"core", "hub", "two"}


MOVED = prepared(subnet(), f"{vnet_id('new', 'new')}/subnets/one")
MANIFESTS = [
    ({"around": RestOfSource(others=(NAMED,))}, (GROUP, NET), "a manifest that was not chosen"),
    (
        {"declared": [replace(NAMED, arm_id=None)]},
        (GROUP, NET, SUBNET),
        "a manifest without an id is where its record is",
    ),
    (
        {"declared": [MOVED]},
        (GROUP, NET, SUBNET),
        "git has it elsewhere; no list shows subnets, so it may still be here",
    ),
]


@pytest.mark.parametrize(("git", "known", "why"), MANIFESTS, ids=[row[-1] for row in MANIFESTS])
def test_what_a_manifest_declares_keeps_what_it_is_in(git, known, why):
    assert keep_around(known, known, **git) == {"core", "hub"}, why


# After the applies.


def test_what_a_failed_resource_used_to_depend_on_is_kept_with_what_is_below_it():
    old = record(subnet("old"), f"{vnet_id('old')}/subnets/old")
    user = change(SUBNET, depends_on=(vnet("old"),))
    plan = make_plan([NAMED], by_key(user, record(vnet("old"), vnet_id("old")), old))
    kept = decide_after(plan, result(subnet(), is_fine=False))
    assert "not Ready" in kept[vnet("old")].kept_because
    assert kept[subnet("old")].kept_because == f"Held with {vnet('old')}, which stays in Azure."
    assert not any(prune.kept_because for prune in decide_after(plan, result(subnet())).values())


LISTED = [
    ([vnet_id()], "", "the list shows nothing else"),
    ([f"{vnet_id()}/parts/x"], "", "what is below a resource that is deleted goes with it"),
    ([vnet_id("b"), vnet_id("a")], f"manage: {vnet_id('a')} and 1 more.", "the first is named"),
    ([vnet_id("hub2")], f"manage: {vnet_id('hub2')}.", "a name that begins alike is another resource"),
]


@pytest.mark.parametrize(("listed", "kept", "why"), LISTED, ids=[row[-1] for row in LISTED])
def test_a_group_with_anything_else_in_it_is_kept(listed, kept, why):
    prunes = {rg(): prune(rg(), group_id(), depends_on=(vnet(),)), vnet(): prune(vnet(), vnet_id())}
    decided = decide_after(Plan(applies={}, prunes=prunes), listings={rg(): [*map(ArmId, listed)]})
    assert decided[rg()].kept_because.endswith(kept), why
    assert bool(decided[rg()].kept_because) is bool(kept), why
    assert not decided[vnet()].kept_because, "its content goes anyway"
