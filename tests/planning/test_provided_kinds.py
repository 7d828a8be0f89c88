"""What is not ARM's, in all that decides by kinds and ids: left out where ARM is queried, and right where it counts."""

import asyncio
from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gitsync.agent.checks.planned_bodies import plan_delete
from gitsync.agent.reconcile.context import RunContext
from gitsync.agent.run.authors import add_authors
from gitsync.agent.run.shard_costs import estimate_costs
from gitsync.desired.catalog.children import KindTree
from gitsync.desired.catalog.collections import list_collections
from gitsync.model.check import CheckName
from gitsync.model.shard import Account, Shard
from gitsync.model.verdict import Difference, Verdict
from gitsync.planning.data_types import describe_loss
from gitsync.planning.delete_guards import Evidence, Moment, decide_deletes
from gitsync.planning.replacement import find_replacement
from tests.support.builders import SUBSCRIPTION, prune, record, result
from tests.support.provided import CATALOG, NAMES, prepare_all

READY = prepare_all()


@pytest.mark.parametrize("name", NAMES)
def test_no_list_shows_it_and_it_holds_no_data(name):
    entry = READY[name]
    assert list_collections(CATALOG.kind(entry.resource.gvk), entry.arm_id) == ()
    assert describe_loss(entry.arm_id) == ""
    assert CATALOG.group_kind_of(CATALOG.kind(entry.resource.gvk).arm_type) is None


def test_no_search_looks_for_it_below_its_server():
    below = KindTree(CATALOG).list_below("Microsoft.DBforPostgreSQL/flexibleServers")
    assert "FlexibleServersDatabase" in {kind.gvk.kind for kind in below}
    assert "User" not in {kind.gvk.kind for kind in below}


def test_a_shard_needs_no_request_of_arm_for_it():
    keys = frozenset(resource.key for resource in READY.values())
    shard = Shard(number=1, keys=keys, sizes={Account(SUBSCRIPTION): len(keys)})
    (cost,) = estimate_costs([shard], list(READY.values()), {}, CATALOG)
    assert cost.writes == len(READY) - len(NAMES)


def test_changes_in_entra_id_get_the_check_of_names_only():
    requested = []

    async def note(changes, _arms, names):
        requested.extend((change.key.name, len(names)) for change in changes)
        return {}

    identities = defaultdict(lambda: SimpleNamespace(arm=None))
    run = SimpleNamespace(catalog=CATALOG, identities=identities, checks=SimpleNamespace(check=note))
    deletes = [plan_delete(record(resource.key, resource.arm_id)) for resource in READY.values()]
    asyncio.run(RunContext.check(run, deletes))
    of_arm = [(name, len(CheckName)) for name in READY.keys() - set(NAMES)]
    assert sorted(requested) == sorted([*of_arm, ("readers", 1)])


def test_no_azure_log_is_queried_for_who_changed_it():
    """The stand-in has nothing but identities, so a check would fail."""
    results = {
        READY[name].key: replace(result(READY[name].key, verdict=Verdict.DRIFTED), arm_id=READY[name].arm_id)
        for name in NAMES
    }
    run = SimpleNamespace(catalog=CATALOG, identities={key: SimpleNamespace(arm=object()) for key in results})
    plan = SimpleNamespace(applies={}, prunes={})
    assert asyncio.run(add_authors(run, plan, SimpleNamespace(), results)) == results


def test_a_user_that_stays_holds_its_server():
    user, server = READY["reader"], READY["books"]
    prunes = {
        user.key: prune(user.key, user.arm_id),
        server.key: prune(server.key, server.arm_id),
    }
    decided = decide_deletes(prunes, Evidence(untrusted={user.key: "Kept for now."}), Moment.PLAN)
    assert "is below it and must stay" in decided[server.key].kept_because


@pytest.mark.parametrize(
    ("name", "path", "values", "is_fixed"),
    [
        ("team", "/aadUser/alias", ("team_a", "team_b"), True),
        ("team", "/hostname", ("%", "10.0.0.1"), False),
        ("readers", "/isAssignableToRole", (False, True), True),
        ("readers", "/membershipType", ("assigned", "assignedm365"), True),
        ("readers", "/displayName", ("Readers", "Writers"), False),
    ],
)
def test_a_field_that_only_a_new_one_can_have(name, path, values, is_fixed):
    live, desired = values
    arm_type = CATALOG.arm_type(READY[name].key.group, READY[name].key.kind)
    assert bool(find_replacement(arm_type, [Difference(path, desired, live, "exact")])) is is_fixed
