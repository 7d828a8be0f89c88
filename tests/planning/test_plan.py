from __future__ import annotations

import pytest

from gitsync.errors import StateError
from gitsync.model.plan import Removal
from gitsync.model.policy import Policy
from gitsync.model.problem import Problem
from gitsync.model.record import Claim
from gitsync.planning.plan import hold_back, make_plan
from tests.support.builders import group_id, prepared, record, result, rg, subnet, vnet, vnet_id

SUBNET = f"{vnet_id()}/subnets/one"
PROBLEM = Problem(code="Bad", message="It is bad.")


def records(*entries):
    return {entry.key: entry for entry in entries}


@pytest.mark.parametrize(
    ("entry", "policy", "detaches", "why"),
    [
        (record(vnet(), vnet_id()), None, False, "what we created goes when it left git"),
        (record(vnet(), vnet_id(), claim=Claim.ADOPTED), None, False, "and what we adopted"),
        (record(vnet(), vnet_id(), claim=Claim.EXPECTED), None, True, "what may not be ours never goes"),
        (record(vnet(), vnet_id(), claim=Claim.NONE), None, True, "nor what was only looked at"),
        (record(vnet(), vnet_id(), policy=Policy.SKIP), None, True, "skip keeps it"),
        (
            record(vnet(), vnet_id(), policy=Policy.DETACH_ON_DELETE),
            None,
            True,
            "and so does detach-on-delete",
        ),
        (record(vnet(), vnet_id()), Policy.DETACH_ON_DELETE, True, "the last manifest's policy counts"),
        (record(vnet(), vnet_id(), policy=Policy.SKIP), Policy.MANAGE, False, "in both directions"),
    ],
)
def test_what_was_removed_from_git(entry, policy, detaches, why):
    plan = make_plan([], records(entry), removals={entry.key: Removal(policy=policy)} if policy else {})
    assert plan.prunes[entry.key].detaches is detaches, why


def test_what_a_manifest_still_names_is_forgotten_under_its_old_name():
    plan = make_plan([prepared(vnet("new"), vnet_id().upper())], records(record(vnet("old"), vnet_id())))
    assert plan.prunes[vnet("old")].detaches


def test_what_a_manifest_is_below_is_held():
    plan = make_plan([prepared(subnet(), SUBNET)], records(record(vnet(), vnet_id())))
    assert SUBNET in plan.prunes[vnet()].held


def test_what_holds_something_that_stays_is_held():
    stays = record(subnet(), SUBNET, policy=Policy.DETACH_ON_DELETE)
    plan = make_plan([], records(record(vnet(), vnet_id()), stays))
    assert "must stay in Azure" in plan.prunes[vnet()].held


SERVER = rg("server")._replace(kind="FlexibleServer")
ROW = f"{group_id()}/providers/Microsoft.DBforPostgreSQL/flexibleServers"


def part(name, where, **more):
    return record(rg(name)._replace(kind="FlexibleServersFirewallRule"), f"{ROW}/{where}", **more)


@pytest.mark.parametrize(
    ("declared", "removed", "held", "why"),
    [
        ([f"{ROW}/server/databases/orders"], ["server", "office", "files"], {"server", "office"}, "a declared child"),
        ([], ["server", "office", "files"], set(), "nothing stays"),
        ([f"{ROW}/server"], ["office"], set(), "an owner that stays declared holds nothing"),
        ([f"{ROW}/other"], ["core", "server", "office", "files"], {"core", "server", "office", "files"}, "a group too"),
        (
            [],
            ["core", "server", "office", "files", "kept"],
            {"core", "server", "office"},
            "a group is only a container",
        ),
        (
            [],
            ["server", "office", "files", "user"],
            {"server", "office", "user", "files"},
            "what a held one depends on",
        ),
    ],
)
def test_what_is_below_a_held_resource_or_is_used_by_it_is_held(declared, removed, held, why):
    """Below the server, `kept` is detached, and `user`, which depends on `files`, is held by itself."""
    entries = {
        "core": record(rg(), group_id()),
        "server": record(SERVER, f"{ROW}/server"),
        "office": part("office", "server/firewallRules/office"),
        "kept": part("kept", "server/databases/kept", policy=Policy.DETACH_ON_DELETE),
        "files": record(vnet("files"), vnet_id("files")),
        "user": part("user", "server/databases/user", depends_on=(vnet("files"),)),
    }
    named = [prepared(subnet(str(number)), arm_id) for number, arm_id in enumerate(declared)]
    removals = {entries["user"].key: Removal(held="It may be a mistake.")}
    plan = make_plan(named, records(*(entries[name] for name in removed)), removals=removals)
    prunes = {name: plan.prunes[entries[name].key] for name in removed}
    assert {name for name, prune in prunes.items() if prune.held and not prune.detaches} == held, why


def test_children_and_dependents_go_first():
    refers = record(vnet("other"), vnet_id("other", "elsewhere"), depends_on=(vnet(),))
    plan = make_plan([], records(record(rg(), group_id()), record(vnet(), vnet_id()), record(subnet(), SUBNET), refers))
    assert plan.prunes[vnet()].depends_on == tuple(sorted([subnet(), vnet("other")]))
    assert plan.prunes[rg()].depends_on == tuple(sorted([vnet(), subnet()]))
    assert plan.prunes[subnet()].depends_on == ()


def test_what_azure_cannot_delete_goes_with_what_it_is_below():
    group, net, sub = record(rg(), group_id()), record(vnet(), vnet_id()), record(subnet(), SUBNET)
    plan = make_plan([], records(group, net, sub), undeletable={subnet()})
    assert (plan.prunes[subnet()].within, plan.prunes[subnet()].depends_on) == (vnet(), (vnet(),))
    assert plan.prunes[vnet()].depends_on == ()
    alone = make_plan([], records(sub), undeletable={subnet()})
    assert alone.prunes[subnet()].within is None


def test_records_that_depend_on_each_other_in_a_circle_are_refused():
    one = record(vnet("one"), vnet_id("one"), depends_on=(vnet("two"),))
    two = record(vnet("two"), vnet_id("two"), depends_on=(vnet("one"),))
    with pytest.raises(StateError, match="cycle in the records: VirtualNetwork"):
        make_plan([], records(one, two))


@pytest.mark.parametrize(
    ("manifests", "problems", "why"),
    [
        ([prepared(rg("new"), group_id("new"), problems=(PROBLEM,))], (), "an invalid manifest"),
        ([], (PROBLEM,), "a file that does not parse"),
    ],
)
def test_nothing_is_pruned_while_git_is_not_understood(manifests, problems, why):
    plan = make_plan(manifests, records(record(vnet(), vnet_id())), problems)
    assert not plan.complete
    assert plan.prunes[vnet()].held, why


def test_an_invalid_manifest_waits_for_nothing():
    broken = prepared(vnet(), vnet_id(), depends_on=(rg(),), problems=(PROBLEM,))
    plan = make_plan([prepared(rg(), group_id()), broken], {})
    assert plan.applies[vnet()].depends_on == ()


def test_what_a_failed_resource_used_to_depend_on_is_held():
    user = record(subnet(), SUBNET, depends_on=(vnet("old"),))
    plan = make_plan([prepared(subnet(), SUBNET)], records(user, record(vnet("old"), vnet_id("old"))))
    held = hold_back(plan.prunes, plan.applies, [result(subnet(), is_fine=False)])
    assert "not Ready" in held[vnet("old")].held
    assert not hold_back(plan.prunes, plan.applies, [result(subnet())])[vnet("old")].held


def test_what_is_below_a_resource_that_a_failed_one_used_to_depend_on_is_held_with_it():
    old = record(subnet("old"), f"{vnet_id('old')}/subnets/old")
    user = record(subnet(), SUBNET, depends_on=(vnet("old"),))
    plan = make_plan([prepared(subnet(), SUBNET)], records(user, record(vnet("old"), vnet_id("old")), old))
    held = hold_back(plan.prunes, plan.applies, [result(subnet(), is_fine=False)])
    assert held[subnet("old")].held == f"Held with {vnet('old')}, which stays in Azure."
