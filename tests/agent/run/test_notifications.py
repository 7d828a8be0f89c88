"""One message when the state of the estate changes, and none otherwise, over whole runs and a local service."""

from __future__ import annotations

import json
from json import loads

import pytest

from gitsync.model.secret import Secret
from tests.agent.notifications.test_services import TOKEN, server
from tests.support.builders import vnet
from tests.support.world import GROUP, VNET, World


def hold(until):
    return VNET.replace("name: hub", f'name: hub\n      annotations: {{gitsync/hold: "until {until}, the fair"}}')


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    return world


@pytest.fixture
def service():
    with server() as (port, got):
        yield Secret(f"json://127.0.0.1:{port}/{TOKEN}"), got


def titles(got):
    return [loads(body)["title"] for _, body in got]


def drift(world):
    world.somebody_changes(vnet(), {"/properties/addressSpace/addressPrefixes": ["10.7.0.0/16"]})


def tag(world, **tags):
    """Change tags, which git does not set."""
    world.somebody_changes(vnet(), {"/tags": tags})


def test_drift_is_reported_once_and_that_it_is_over_once(world, service):
    notify, got = service
    world.sync(notify=notify)
    assert got == [], "all was well, and is"
    drift(world)
    world.sync(notify=notify)
    drift(world)
    world.sync(notify=notify)
    assert titles(got) == ["gitsync: drifted"], "it has drifted again, which is no change"
    for _ in range(2):
        world.sync(notify=notify)
    assert titles(got) == ["gitsync: drifted", "gitsync: all is well"]


def test_changes_outside_of_git_are_reported_when_they_appear_and_each_further_one_too(world, service):
    notify, got = service
    tag(world, by="rob")
    for _ in range(2):
        world.sync(notify=notify)
    assert titles(got) == ["gitsync: outside"], "it stays, which is no change"
    tag(world, by="eve", cost="7")
    world.sync(notify=notify)
    assert titles(got) == ["gitsync: outside", "gitsync: outside"]
    second = loads(got[1][1])["message"]
    assert second.startswith(
        "Values changed outside of git. Before: outside.\nNothing changed; 2 changed outside of git\n"
    )
    assert "eve" not in second
    world.somebody_changes(vnet(), {}, remove=["/tags"])
    world.sync(notify=notify)
    assert titles(got)[2:] == ["gitsync: all is well"]


def test_a_failure_is_reported_with_counts_and_without_values(world, service):
    notify, got = service
    world.says(group=GROUP, vnet=VNET.replace("[10.0.0.0/16]", "hunter3"))
    world.sync(notify=notify)
    assert titles(got) == ["gitsync: failed"]
    text = loads(got[0][1])["message"]
    assert "Before: all is well." in text
    assert "1 failed" in text.casefold()
    assert "hunter3" not in text


def test_no_one_is_named(world, service):
    notify, got = service
    tag(world, by="rob")
    drift(world)
    world.sync(notify=notify, who="names")
    assert "rob" not in loads(got[0][1])["message"]


def test_a_plan_and_a_part_of_the_source_say_nothing(world, service):
    notify, got = service
    drift(world)
    world.plan(notify=notify)
    world.sync(notify=notify, only=("ResourceGroup/*",))
    assert got == []


def test_what_no_service_took_is_reported_by_the_next_run(world, service):
    notify, got = service
    drift(world)
    report = world.sync(notify=Secret(f"json://127.0.0.1:1/{TOKEN}"))
    assert [(problem.code, problem.level.value) for problem in report.problems] == [("NotificationNotSent", "warning")]
    assert report.exit_code == 0
    drift(world)
    world.sync(notify=notify)
    assert titles(got) == ["gitsync: drifted"]


def test_one_service_is_enough(world, service):
    notify, got = service
    drift(world)
    report = world.sync(notify=Secret(f"json://127.0.0.1:1/{TOKEN} {notify.reveal()}"))
    assert "address 1 (json)" in report.problems[0].message
    world.sync(notify=notify)
    assert titles(got) == ["gitsync: drifted", "gitsync: all is well"]


def test_a_wrong_address_is_a_warning_before_there_is_something_to_say(world):
    report = world.sync(notify=Secret(f"foo://{TOKEN}"))
    assert (report.exit_code, report.problems[0].code) == (0, "NotificationNotSent")
    assert TOKEN not in f"{report}"


def test_no_address_is_on_record(world, service):
    notify, _ = service
    drift(world)
    world.sync(notify=notify)
    kept = [path.read_text() for path in world.state.rglob("*") if path.is_file()]
    assert [text for text in kept if TOKEN in text] == []
    assert json.loads((world.state / "inventory.json").read_text())["notified"] == {"gitsync": "drifted"}


def test_what_a_hold_kept_is_reported_when_its_day_is_over(world, service):
    notify, got = service
    world.says(group=GROUP, vnet=hold(world.clock.now().date()))
    drift(world)
    world.sync(notify=notify)
    assert got == [], "it is held, which is no change"
    world.clock.elapsed += 86_400
    world.sync(notify=notify)
    assert titles(got) == ["gitsync: drifted, due"]
    world.sync(notify=notify)
    assert titles(got)[1:] == ["gitsync: all is well"]
