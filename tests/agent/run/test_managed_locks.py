"""Management locks in whole runs: created after, and deleted before, all at or below their scope."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitsync.agent.run.revision_plan import plan_revisions
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings, ManagementLock, Timing
from gitsync.emulator.types.behaviour import Style
from gitsync.model.check import CheckName
from gitsync.model.verdict import Action, Verdict
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.support.fault_rules import rules
from tests.support.hypothesis_profile import sample, scale
from tests.support.loose_git import LooseAccess
from tests.support.world import SUBSCRIPTION, KilledError, World

ALL = f"/subscriptions/{SUBSCRIPTION}"
IN_GROUP = f"{ALL}/resourceGroups/shop"
LOCKS = "/providers/Microsoft.Authorization/locks"
HUB, SPOKE = (f"{IN_GROUP}/providers/Microsoft.Network/virtualNetworks/{name}" for name in ("hub", "spoke"))
PRUNING = {"prune": True, "max_deletes": 9}
CHECKS = {"checks": tuple(CheckName)}

GROUP = """
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop}
spec: {location: westeurope}
"""


def network(name, **tags):
    return f"""
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetwork
metadata: {{name: {name}}}
spec: {{location: westeurope, owner: {{name: shop}}, addressSpace: {{addressPrefixes: [10.0.0.0/16]}}, tags: {tags}}}
"""


def lock(
    level="CanNotDelete", scope="group: resources.azure.com, kind: ResourceGroup, name: shop", name="keep", notes="a"
):
    return f"""
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {{name: {name}}}
spec:
  type: Microsoft.Authorization/locks@2020-05-01
  owner: {{{scope}}}
  body: {{properties: {{level: {level}, notes: {notes}}}}}
"""


OF_SUBSCRIPTION = f"armId: {ALL}"
OF_HUB = "group: network.azure.com, kind: VirtualNetwork, name: hub"
BASE = {"group": GROUP, "hub": network("hub"), "spoke": network("spoke")}
LOCK = f"{IN_GROUP}{LOCKS}/keep"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def find(report, name):
    return next(result for result in report.results if result.key.name == name)


SCOPES = [
    [("CanNotDelete", OF_SUBSCRIPTION, f"{ALL}{LOCKS}/keep")],
    [("ReadOnly", OF_SUBSCRIPTION, f"{ALL}{LOCKS}/keep")],
    [
        ("ReadOnly", f"armId: {IN_GROUP}", LOCK),
        ("CanNotDelete", "group: resources.azure.com, kind: ResourceGroup, name: shop", LOCK),
        ("ReadOnly", OF_HUB, f"{HUB}{LOCKS}/keep"),
    ],
]
"""Locks that do not hold for each other: level, scope and id."""


def of_row(text, row):
    """A document or a path for a row of a table, which has resources of its own: shop0 with hub0, shop1…"""
    return re.sub(r"\b(shop|hub|spoke|keep)\b", rf"\g<1>{row}", text)


@pytest.mark.parametrize("rows", SCOPES, ids=["CanNotDelete of all", "ReadOnly of all", "others"])
def test_a_lock_is_created_last_and_deleted_first(world, rows):
    documents = {
        f"{name}{row}": of_row(text, row)
        for row, (level, scope, _) in enumerate(rows)
        for name, text in (BASE | {"alock": lock(level, scope)}).items()
    }
    world.says(**documents).sync()
    created = world.writes
    assert world.sync().exit_code == 0
    assert world.writes == []
    kept = {"other": network("other").replace("shop", "rest"), "rest": GROUP.replace("shop", "rest")}
    report = world.says(**kept).sync(prune=True, max_deletes=4 * len(rows))
    for row, (level, scope, path) in enumerate(rows):
        own, deleted = (
            [line for line in lines if re.search(rf"(shop|keep){row}\b", line)] for lines in (created, world.writes)
        )
        assert (own[-1], len(own)) == (f"PUT {of_row(path, row)}", 4), (level, scope)
        assert deleted[0] == f"DELETE {of_row(path, row)}", (level, scope)
        assert find(report, f"hub{row}").is_gone, (level, scope)
    assert (report.exit_code, world.store.below(f"{ALL}{LOCKS}".casefold())) == (0, [])


def test_what_is_written_below_a_removed_read_only_lock_follows_its_delete(world):
    world.synced(**BASE, alock=lock("ReadOnly"))
    report = world.says(**BASE | {"hub": network("hub", a="b")}).sync(**PRUNING)
    assert world.writes == [f"DELETE {LOCK}", f"PUT {HUB}"]
    assert report.exit_code == 0


def test_a_new_lock_follows_the_deletes_below_it(world):
    world.synced(**BASE)
    world.says(group=GROUP, hub=network("hub"), alock=lock()).sync(**PRUNING)
    assert world.writes == [f"DELETE {SPOKE}", f"PUT {LOCK}"]


def test_a_lock_that_stays_blocks_a_delete_below_it(world):
    world.synced(**BASE, alock=lock())
    world.says(group=GROUP, hub=network("hub"), alock=lock())
    for report in (world.plan(**PRUNING), world.sync(**PRUNING)):
        blocked = find(report, "spoke")
        assert (blocked.verdict, blocked.action) == (Verdict.BLOCKED, Action.NONE)
        assert blocked.condition.message == (
            "Blocked by the lock AzureResource.azure.gitsync/default/keep (CanNotDelete) at "
            f"{IN_GROUP}, which forbids the delete."
        )
    assert world.writes == []


def test_a_read_only_lock_that_stays_blocks_a_write_below_it(world):
    world.synced(**BASE, alock=lock("ReadOnly"))
    world.says(**BASE | {"hub": network("hub", a="b")}, alock=lock("ReadOnly"))
    for report in (world.plan(), world.sync()):
        blocked = find(report, "hub")
        assert (blocked.verdict, blocked.action) == (Verdict.BLOCKED, Action.NONE)
        assert blocked.condition.reason == "BlockedByLock"
    assert world.writes == []


def test_a_lock_of_somebody_else_blocks_in_the_plan_and_nothing_is_sent(world):
    world.synced(**BASE)
    world.settings = EmulatorSettings(limits=None, locks=(ManagementLock(scope=IN_GROUP, name="theirs"),))
    world.says(group=GROUP, hub=network("hub"))
    assert find(world.plan(**PRUNING, **CHECKS), "spoke").is_refused
    assert find(world.sync(**PRUNING, **CHECKS), "spoke").condition.reason == "Refused"
    assert world.writes == []


def test_a_read_only_lock_of_somebody_else_blocks_an_update(world):
    world.synced(**BASE)
    lock_of_others = ManagementLock(scope=IN_GROUP, name="theirs", read_only=True)
    world.settings = EmulatorSettings(limits=None, locks=(lock_of_others,))
    world.says(**BASE | {"hub": network("hub", a="b")})
    assert find(world.plan(**CHECKS), "hub").is_refused
    assert find(world.sync(**CHECKS), "hub").condition.reason == "Refused"
    assert world.writes == []


def test_the_checks_leave_out_a_lock_that_the_run_lifts(world):
    world.synced(**BASE, alock=lock("ReadOnly"))
    world.says(group=GROUP, hub=network("hub", a="b"))
    planned = world.plan(**PRUNING, **CHECKS)
    assert [result.key.name for result in planned.results if result.is_refused] == []
    assert world.sync(**PRUNING, **CHECKS).exit_code == 0
    assert world.writes == [f"DELETE {LOCK}", f"PUT {HUB}", f"DELETE {SPOKE}"]


class LosesStatus(World):
    """Its status can no longer be written once the lock was read that it will lift."""

    is_lost = False

    def azure(self):
        return Emulator(self.settings, self.store, self.clock, self._lose)

    def _lose(self, request):
        if self.is_lost and (request.method, request.path) == ("GET", LOCK):
            (self.state / ".half-written").mkdir()
        return False


def test_a_lock_is_not_lifted_if_that_cannot_be_recorded(tmp_path):
    world = LosesStatus(tmp_path)
    world.says(**BASE, alock=lock()).sync()
    world.is_lost = True
    report = world.says(group=GROUP, hub=network("hub")).sync(**PRUNING)
    assert world.writes == []
    kept = find(report, "keep")
    assert (kept.verdict, kept.condition.reason) == (Verdict.BLOCKED, "PruneHeld")
    assert kept.condition.message.startswith("The status cannot be written, so nothing is deleted.")
    assert find(report, "spoke").condition.reason == "PruneHeld"


def refuse_delete(path):
    return EmulatorSettings(
        limits=None,
        rules=rules(
            f"{{match: {{method: DELETE, path: '{path}'}}, answer: {{status: 403, code: NoDelete, message: No.}}}}"
        ),
    )


def test_a_lock_comes_back_if_a_delete_below_it_fails(world):
    world.says(**BASE, alock=lock(notes="'Ask Ann.'")).sync()
    before = world.read(LOCK)["properties"]
    world.says(group=GROUP, hub=network("hub"))
    world.settings = refuse_delete(SPOKE)
    report = world.sync(**PRUNING)
    assert world.writes == [f"DELETE {LOCK}", f"DELETE {SPOKE}", f"PUT {LOCK}"]
    assert (world.read(LOCK)["properties"], report.exit_code) == (before, 1)
    assert find(report, "keep").condition.reason == "LockRestored"
    assert find(report, "keep").record is not None
    world.settings = EmulatorSettings(limits=None)
    assert world.sync(**PRUNING).exit_code == 0
    assert world.writes == [f"DELETE {LOCK}", f"DELETE {SPOKE}"]
    assert world.sync(**PRUNING).exit_code == 0
    assert world.writes == []


def test_a_delete_below_a_lock_that_cannot_be_lifted_is_not_sent(world):
    world.synced(**BASE, alock=lock())
    world.settings = refuse_delete(LOCK)
    report = world.says(group=GROUP, hub=network("hub")).sync(**PRUNING)
    assert world.writes == [f"DELETE {LOCK}"]
    assert find(report, "spoke").condition.message.startswith(
        "Blocked by the lock AzureResource.azure.gitsync/default/keep"
    )


def test_a_lock_that_is_weakened_goes_first_and_one_that_is_strengthened_last(world):
    world.synced(**BASE, alock=lock("ReadOnly"))
    report = world.says(**BASE | {"hub": network("hub", a="b")}, alock=lock("CanNotDelete")).sync()
    assert (world.writes, report.exit_code) == ([f"PUT {LOCK}", f"PUT {HUB}"], 0)
    report = world.says(**BASE | {"hub": network("hub", a="c")}, alock=lock("ReadOnly")).sync()
    assert (world.writes, report.exit_code) == ([f"PUT {HUB}", f"PUT {LOCK}"], 0)


def test_a_read_only_lock_waits_for_a_resource_that_fails(world):
    refused = "{match: {method: PUT, path: '*/hub'}, answer: {status: 403, code: NoWrite, message: No.}}"
    world.settings = EmulatorSettings(limits=None, rules=rules(refused))
    waiting = find(world.says(**BASE, alock=lock("ReadOnly")).sync(), "keep")
    assert (waiting.verdict, waiting.condition.reason) == (Verdict.BLOCKED, "WaitingForDependency")
    world.settings = EmulatorSettings(limits=None)
    world.sync()
    assert world.writes == [f"PUT {HUB}", f"PUT {LOCK}"]


def test_a_lock_that_is_only_forgotten_keeps_what_is_below_it(world):
    detached = lock().replace(
        "{name: keep}", "{name: keep, annotations: {serviceoperator.azure.com/reconcile-policy: detach-on-delete}}"
    )
    world.says(**BASE, alock=detached).sync()
    report = world.says(group=GROUP, hub=network("hub")).sync(**PRUNING)
    assert world.writes == []
    assert "forbids the delete" in find(report, "spoke").condition.message


def test_without_prune_a_removed_read_only_lock_still_blocks(world):
    world.synced(**BASE, alock=lock("ReadOnly"))
    report = world.says(**BASE | {"hub": network("hub", a="b")}).sync()
    assert (world.writes, find(report, "hub").condition.reason) == ([], "BlockedByLock")


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """A lock and a network below it, both removed from git."""
    world = World(tmp_path_factory.mktemp("locked"))
    world.says(**BASE, alock=lock("ReadOnly", notes="'Ask Ann.'")).sync()
    return world.says(**BASE | {"hub": network("hub", a="b")} | {"spoke": ""})


def list_requests(world, folder):
    run = world.copy(folder)
    run.settings = world.settings
    run.sync(**PRUNING)
    return len(run.requests)


@pytest.mark.parametrize("fails", [True, False], ids=["the delete fails", "the delete does not fail"])
def test_a_run_that_is_killed_at_any_request_loses_no_lock(locked, tmp_path, fails):
    """The next run, in which the delete fails, ends with the lock in place; the last run does the rest."""
    locked.settings = refuse_delete(SPOKE) if fails else EmulatorSettings(limits=None)
    (folder := tmp_path / "whole").mkdir()
    for count in sample(range(1, list_requests(locked, folder) + 1)):
        (folder := tmp_path / str(count)).mkdir()
        world = locked.copy(folder)
        world.kill_after = count
        with suppress(KilledError):
            world.sync(**PRUNING)
        world.kill_after = None
        stays = any(stored.state != "Deleting" for _, stored in world.store.below(SPOKE.casefold()))
        world.settings = refuse_delete(SPOKE)
        world.sync(**PRUNING)
        is_there = bool(world.store.below(LOCK.casefold()))
        assert is_there is stays, count
        if is_there:
            assert world.read(LOCK)["properties"] == {"level": "ReadOnly", "notes": "Ask Ann."}, count
        world.settings = EmulatorSettings(limits=None)
        assert world.sync(**PRUNING).exit_code == 0, count
        assert world.store.below(LOCK.casefold()) == [], count
        assert world.sync(**PRUNING).exit_code == 0, count
        assert world.writes == [], count


def test_a_lifted_lock_that_git_has_again_after_a_kill_is_created_again(locked, tmp_path):
    (folder := tmp_path / "world").mkdir()
    world = locked.copy(folder)
    world.settings, world.kill_after = EmulatorSettings(limits=None), 1
    while world.store.below(LOCK.casefold()):
        with suppress(KilledError):
            world.sync(**PRUNING)
        world.kill_after += 1
    world.kill_after = None
    assert world.says(**BASE, alock=lock("ReadOnly", notes="'Ask Ann.'")).sync(**PRUNING).exit_code == 0
    assert world.writes[-1] == f"PUT {LOCK}"
    assert world.sync(**PRUNING).exit_code == 0
    assert world.writes == []


def test_a_lock_stays_on_record_while_a_delete_below_it_is_under_way(world):
    world.synced(**BASE, alock=lock())
    world.settings = EmulatorSettings(limits=None, operations=Timing(style=Style.ACCEPTED, seconds=3000))
    left = find(world.says(group=GROUP, hub=network("hub")).sync(**PRUNING, resource_timeout=6.0), "keep")
    assert (left.action, left.record is not None, left.condition.reason) == (Action.DELETE, True, "Deleting")


def test_a_lock_that_somebody_deleted_does_not_come_back(world):
    world.synced(**BASE, alock=lock())
    world.outside("DELETE", LOCK)
    world.says(group=GROUP, hub=network("hub"))
    world.settings = refuse_delete(SPOKE)
    world.sync(**PRUNING)
    assert world.writes == [f"DELETE {SPOKE}"]


def test_a_lock_that_cannot_come_back_is_reported_and_tried_again(world):
    world.synced(**BASE, alock=lock())
    world.says(group=GROUP, hub=network("hub"))
    refused = (
        f"{{match: {{method: DELETE, path: '{SPOKE}'}}, answer: {{status: 403, code: NoDelete, message: No.}}}}",
        f"{{match: {{method: PUT, path: '{LOCK}'}}, answer: {{status: 403, code: NoLock, message: No locks.}}}}",
    )
    world.settings = EmulatorSettings(limits=None, rules=rules(*refused))
    away = find(world.sync(**PRUNING), "keep")
    assert (away.condition.reason, away.record is not None) == ("LockNotRestored", True)
    world.settings = refuse_delete(SPOKE)
    world.sync(**PRUNING)
    assert world.writes == [f"DELETE {SPOKE}", f"PUT {LOCK}"]


def moved(consents):
    consent = "annotations: {gitsync/replace: location=northeurope}" if consents else ""
    document = network("hub").replace("{name: hub}", f"{{name: hub, {consent}}}")
    return document.replace("westeurope", "northeurope" if consents else "westeurope")


def test_a_replacement_follows_the_delete_of_its_lock(world):
    world.says(group=GROUP, hub=moved(False), alock=lock(scope=OF_HUB)).sync()
    report = world.says(group=GROUP, hub=moved(True)).sync(**PRUNING)
    assert report.exit_code == 0
    assert world.writes == [f"DELETE {HUB}{LOCKS}/keep", f"DELETE {HUB}", f"PUT {HUB}"]


def test_a_lock_that_stays_blocks_a_replacement(world):
    world.says(group=GROUP, hub=moved(False), alock=lock()).sync()
    report = world.says(group=GROUP, hub=moved(True), alock=lock()).sync(**PRUNING)
    assert (world.writes, find(report, "hub").condition.reason) == ([], "BlockedByLock")


def test_a_plan_between_revisions_has_the_same_blocks(world):
    world.says(**BASE, alock=lock("ReadOnly"))
    world.says(group=GROUP, hub=network("hub", a="b"), alock=lock("ReadOnly"))
    world.says(group=GROUP, hub=network("hub", a="b"))
    config = Config(source=str(world.folder), subscription=SUBSCRIPTION, prune=True, max_deletes=9)
    blocked = replace(config, from_revision="HEAD~2", to_revision="HEAD~1")
    found = plan_revisions(blocked, world.clock, Redactions(), LooseAccess())
    assert {find(found, name).verdict for name in ("hub", "spoke")} == {Verdict.BLOCKED}
    lifted = replace(config, from_revision="HEAD~2", to_revision="HEAD")
    found = plan_revisions(lifted, world.clock, Redactions(), LooseAccess())
    assert [find(found, name).action for name in ("hub", "spoke")] == [Action.UPDATE, Action.DELETE]


LEVELS = st.sampled_from(["", "CanNotDelete", "ReadOnly"])
ESTATES = st.fixed_dictionaries(
    {
        "hub": st.sampled_from(["", "a", "b"]),
        "spoke": st.sampled_from(["", "a", "b"]),
        "of_group": LEVELS,
        "of_hub": LEVELS,
        "of_subscription": LEVELS,
    }
)


def make_estate(row):
    networks = {name: network(name, owner=row[name]) for name in ("hub", "spoke") if row[name]}
    scopes = {"of_group": f"armId: {IN_GROUP}", "of_hub": f"armId: {HUB}", "of_subscription": OF_SUBSCRIPTION}
    locks = {
        name: lock(row[name], scope, name.replace("_", "-"))
        for name, scope in scopes.items()
        if row[name] and (row["hub"] or name != "of_hub")
    }
    return {"group": GROUP, **networks, **locks}


def list_open(report, scope, *, writes):
    """What is still to be done below the scope of a lock: deletes, and writes if it forbids them."""
    return [
        result.key.name
        for result in report.results
        if not result.is_fine
        and LOCKS.casefold() not in (path := (result.arm_id or "").casefold())
        and path.startswith(f"{scope}/")
        and (writes or result.manifest.source is None)
    ]


@settings(max_examples=scale(30))
@given(st.lists(ESTATES, min_size=2, max_size=4), st.sampled_from(["", HUB, SPOKE]))
def test_no_write_is_sent_that_a_lock_refuses(estates, failing):
    """Nor is there a lock in the end that forbids what is still to be done, unless it was there before."""
    with TemporaryDirectory() as folder:
        world = World(Path(folder))
        for row in estates:
            before = {key for key, _ in world.store.below("/")}
            world.says(**make_estate(row))
            world.settings = refuse_delete(failing) if failing else EmulatorSettings(limits=None)
            report = world.sync(**PRUNING)
            assert [r.path for r in world.requests if r.status == 409] == []
            for path, stored in world.store.below("/"):
                if LOCKS.casefold() in path and path not in before:
                    forbids_writes = stored.body["properties"]["level"] == "ReadOnly"
                    assert list_open(report, path.partition(LOCKS.casefold())[0], writes=forbids_writes) == []
            if failing or report.exit_code:  # else a second run has nothing to do
                world.settings = EmulatorSettings(limits=None)
                world.sync(**PRUNING)
                assert [r.path for r in world.requests if r.status == 409] == []
