from __future__ import annotations

import pytest

from gitsync.errors import StateError
from gitsync.model.plan import Removal
from gitsync.model.problem import Problem
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim
from tests.support.builders import group_id, prepared, record, rg, subnet, vnet, vnet_id
from tests.support.plans import make_plan

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
    assert plan.prunes[vnet()].kept_because, why


def test_an_invalid_manifest_waits_for_nothing():
    broken = prepared(vnet(), vnet_id(), depends_on=(rg(),), problems=(PROBLEM,))
    plan = make_plan([prepared(rg(), group_id()), broken], {})
    assert plan.applies[vnet()].depends_on == ()
