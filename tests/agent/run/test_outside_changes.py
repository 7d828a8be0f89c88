"""What somebody changes in Azure beside git's fields is reported until it is recorded, and never written by itself."""

from __future__ import annotations

import json

import pytest

from gitsync.agent.reconcile.rules import OutsideUse
from gitsync.model.attribution import AuthorKind
from gitsync.model.secret import Secret
from gitsync.model.verdict import Action, Verdict
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.repository.git.state.store import Update
from tests.support.world import ACCOUNT as BARE_ACCOUNT
from tests.support.world import GROUP, GROUP_ID, VNET, World, annotated, of

ACCOUNT = BARE_ACCOUNT.replace("Standard_LRS}", "Standard_LRS}\n      networkAcls: {defaultAction: Deny}")
OPENED = "/properties/publicNetworkAccess"


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, account=ACCOUNT)
    return world


def account(world, name="data"):
    return next(arm_id for arm_id in world.azure().ids() if arm_id.endswith(f"/{name}"))


def called(name, text=ACCOUNT):
    return text.replace("name: data", f"name: {name}")


def change(world, values, name="data", **settings):
    return world.somebody_changes(account(world, name), values, **settings)


def outside(report, name="data"):
    return {each.path: (each.before, each.now) for each in of(report, "StorageAccount", name).comparison.outside}


def records(world):
    return {path.name: path.read_bytes() for path in world.state.rglob("StorageAccount/*.json")}


def test_a_change_beside_gits_fields_is_reported_and_leaves_the_verdict(world):
    change(world, {OPENED: "Enabled", "/tags": {"owner": "rob"}})
    result = of(world.plan(who="auto"), "StorageAccount")
    assert (result.verdict, result.action, result.differences) == (Verdict.IN_SYNC, Action.NONE, ())
    assert {each.path: (each.before, each.now) for each in result.comparison.outside} == {
        OPENED: (None, "Enabled"),
        "/tags/owner": (None, "rob"),
    }
    assert result.comparison.outside[0].weakens, "the change that weakens comes first"
    assert [(change.author, change.name) for change in result.changed_by] == [(AuthorKind.PERSON, "rob@contoso.com")]


def test_a_change_is_reported_by_each_run_and_recorded_once(world):
    change(world, {OPENED: "Enabled"})
    assert outside(world.sync()) == {OPENED: (None, "Enabled")}
    assert world.writes == []
    recorded = records(world)
    (text,) = recorded.values()
    assert json.loads(text)["gitsync"]["outside"]["changed"] == [OPENED]
    assert outside(world.sync()) == {OPENED: (None, "Enabled")}
    assert records(world) == recorded


def test_a_change_that_is_undone_is_no_longer_recorded(world):
    before = records(world)
    change(world, {OPENED: "Enabled"})
    world.sync()
    change(world, {}, remove=[OPENED])
    assert outside(world.sync()) == {}
    (text,) = records(world).values()
    assert "changed" not in json.loads(text)["gitsync"]["outside"]
    assert records(world) == before


def test_an_entry_of_a_list_that_shows_a_change_approves_nothing(world):
    world.says(group=GROUP, account=ACCOUNT, other=called("other")).sync()
    change(world, {"/tags": {"owner": "rob"}})
    for why in ("it is new", "the last run has recorded it"):
        assert outside(world.plan()) == {"/tags/owner": (None, "rob")}, why
        reads = [world.sent("GET").count(account(world, name)) for name in ("data", "other")]
        assert reads == [1, 0], why
        world.sync()


def acknowledge(world, name):
    record = of(world.plan(outside_use=OutsideUse.ACKNOWLEDGE), "StorageAccount", name).record
    with StatusFolder(world.state) as store:
        state = store.load()
        store.save(
            Update(records={record.key: record}, revision=state.revision, summary=None, report=None, headline="Keep")
        )


def forget(world, name="data"):
    """Make the record of an account as an older version did."""
    (path,) = world.state.rglob(f"StorageAccount/{name}.json")
    record = json.loads(path.read_text())
    del record["gitsync"]["outside"]
    path.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")


def test_what_is_recorded_without_a_put_may_be_reset_by_the_next_one(tmp_path):
    """Somebody acknowledged it, a newer version wrote the record of an older one, or a PATCH was sent."""
    world, names = World(tmp_path), ("acknowledged", "upgraded", "patched")
    world.synced(group=GROUP, **{name: called(name) for name in names})
    for name in names:
        change(world, {"/tags": {"owner": "rob"}}, name)
    acknowledge(world, "acknowledged")
    forget(world, "upgraded")
    changed = annotated(ACCOUNT.replace("Standard_LRS", "Standard_GRS"), **{"gitsync/update-method": "patch"})
    said = {name: called(name, changed if name == "patched" else ACCOUNT) for name in names}
    world.says(group=GROUP, **said).sync()
    assert world.writes == [f"PATCH {account(world, 'patched')}"]
    report = world.sync()
    world.says(group=GROUP, **{name: called(name, ACCOUNT.replace("Standard_LRS", "Standard_ZRS")) for name in names})
    planned = world.plan()
    world.sync()
    later = world.says(group=GROUP, **{name: called(name) for name in names}).plan()
    for name in names:
        assert outside(report, name) == {}, name
        resets = of(planned, "StorageAccount", name).change.resets
        assert [each.path for each in resets] == ["/tags/owner"], name
        assert of(later, "StorageAccount", name).change.resets == (), name


def test_what_git_gives_up_is_a_difference_and_no_reset(world):
    world.says(
        group=GROUP, account=ACCOUNT.replace("networkAcls", "publicNetworkAccess: Disabled\n      networkAcls")
    ).sync()
    forget(world)
    world.sync()
    world.says(group=GROUP, account=ACCOUNT)
    result = of(world.plan(), "StorageAccount")
    assert [each.path for each in result.differences] == ["/properties/publicNetworkAccess"]
    assert result.change.resets == ()


def test_a_tag_that_is_gone_from_an_entry_of_a_list_is_reported(tmp_path):
    world = World(tmp_path)
    arm_id, body = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/data", {"tags": {"owner": "", "team": "a"}}
    more = {f"vnet{number}": VNET.replace("name: vnet", f"name: vnet{number}") for number in range(9)}
    world.says(group=GROUP).sync()
    world.somebody_creates(arm_id, {"location": "westeurope", "kind": "StorageV2", **body})
    world.says(group=GROUP, account=ACCOUNT, **more).sync()
    world.somebody_changes(arm_id, {}, remove=["/tags"])
    assert outside(world.plan()) == {"/tags/owner": ("", None), "/tags/team": ("a", None)}


def test_a_write_records_what_azure_shows_after_it(world):
    change(world, {OPENED: "Enabled"})
    changed = ACCOUNT.replace("Standard_LRS", "Standard_ZRS")
    report = world.says(group=GROUP, account=changed).sync()
    assert (of(report, "StorageAccount").action, set(outside(report))) == (Action.UPDATE, {OPENED})
    assert outside(world.sync()) == {}


def test_a_change_that_git_takes_is_git_s_from_then_on(world):
    change(world, {OPENED: "Enabled"})
    world.sync()
    taken = ACCOUNT.replace("networkAcls", "publicNetworkAccess: Enabled\n      networkAcls")
    report = world.says(group=GROUP, account=taken).sync()
    assert (world.writes, outside(report)) == ([], {})
    change(world, {OPENED: "Disabled"})
    found = of(world.plan(), "StorageAccount")
    assert (found.verdict, found.comparison.outside) == (Verdict.DRIFTED, ())


def test_a_field_that_git_gives_up_is_removed_from_git_and_not_changed_outside(world):
    world.says(group=GROUP, account=ACCOUNT.replace("networkAcls", "accessTier: Cool\n      networkAcls")).sync()
    report = world.says(group=GROUP, account=ACCOUNT).plan()
    assert [each.rule for each in of(report, "StorageAccount").differences] == ["removed from git"]
    assert outside(report) == {}
    world.sync()
    assert outside(world.plan()) == {}


def test_what_gitsync_ignore_names_is_not_reported(world):
    world.says(group=GROUP, account=annotated(ACCOUNT, **{"gitsync/ignore": "[/tags]"})).sync()
    change(world, {"/tags": {"owner": "rob"}, OPENED: "Enabled"})
    assert outside(world.plan()) == {OPENED: (None, "Enabled")}
    world.says(group=GROUP, account=ACCOUNT)
    assert set(outside(world.plan())) == {OPENED, "/tags/owner"}, "an entry that goes brings its change back"


def test_a_held_resource_shows_its_changes(world):
    world.says(group=GROUP, account=annotated(ACCOUNT, **{"gitsync/hold": "until 2026-03-02, a freeze"})).sync()
    change(world, {OPENED: "Enabled"})
    assert outside(world.sync()) == {OPENED: (None, "Enabled")}
    assert world.writes == []


def test_a_secret_or_a_long_value_is_recorded_as_a_digest(tmp_path):
    world = World(tmp_path)
    key = Secret("a key of digests")
    world.says(group=GROUP, account=ACCOUNT).sync(digest_key=key)
    change(world, {"/tags": {"passphrase": "hunter2", "long": "x" * 5000}})
    found = outside(world.sync(digest_key=key))
    assert found["/tags/passphrase"] == (None, "<secret>")
    assert not [text for text in records(world).values() if b"hunter2" in text or b"xxxx" in text]


def test_a_record_of_an_older_version_gets_the_values_in_silence(tmp_path):
    world, names = World(tmp_path), ("othertypes", "novalues")
    world.synced(group=GROUP, **{name: called(name) for name in names})
    forget(world, "novalues")
    (path,) = world.state.rglob("StorageAccount/othertypes.json")
    record = json.loads(path.read_text())
    record["gitsync"]["outside"]["types"] = "000000000000"
    path.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")
    for name in names:
        change(world, {OPENED: "Enabled"}, name)
    first, recorded = world.sync(), records(world)
    second = world.sync()
    assert records(world) == recorded
    for name in names:
        change(world, {OPENED: "Disabled"}, name)
    planned = world.plan()
    for name in names:
        assert (outside(first, name), outside(second, name)) == ({}, {}), name
        assert outside(planned, name) == {OPENED: ("Enabled", "Disabled")}, name


def test_another_api_version_gets_the_values_in_silence(world):
    change(world, {OPENED: "Enabled"})
    report = world.says(group=GROUP, account=ACCOUNT.replace("v1api20230101", "v1api20220901")).sync()
    assert outside(report) == {}
    assert outside(world.sync()) == {}


def test_a_resource_that_is_only_watched_has_no_changes(world):
    world.says(group=GROUP, account=annotated(ACCOUNT, **{"serviceoperator.azure.com/reconcile-policy": "skip"})).sync()
    change(world, {OPENED: "Enabled"})
    assert outside(world.sync()) == {}
