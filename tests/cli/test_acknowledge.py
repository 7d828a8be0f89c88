"""`gitsync acknowledge`: what changed outside of git becomes the recorded value, and nothing else changes."""

from __future__ import annotations

import io
import json
from datetime import timedelta

import pytest

from gitsync.cli import main
from gitsync.providers.arm.real_clock import SystemClock
from tests.support.command_line import azure, run_here
from tests.support.world import GROUP, VNET, VNET_ID, World, annotated

OTHER = VNET.replace("name: hub", "name: other").replace("10.0.", "10.2.")
OTHER_ID = VNET_ID.replace("hub", "other")


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, network=VNET, other=OTHER)
    for arm_id in (VNET_ID, OTHER_ID):
        world.somebody_changes(arm_id, {"/tags": {"owner": "eve"}})
    return world


def run(world, command, *arguments):
    """Run a command in the repository. Returns how it ended, and what it wrote to Azure."""
    with azure(store=world.store) as served:
        options = ("--status-dir", str(world.state), "--who", "off")
        ended = run_here(command, *arguments, *options, folder=world.folder, **served.variables)
        return ended, [(method, path) for method, path, _ in served.sent("PUT", "PATCH", "DELETE", "POST")]


def outside(world):
    return {result.key.name for result in world.plan().results if result.comparison.outside}


def records(world):
    return {str(path.relative_to(world.state)): path.read_text() for path in world.state.rglob("*.json")}


def test_a_change_becomes_the_recorded_value_of_just_what_is_named(world):
    before = records(world)
    ended, writes = run(world, "acknowledge", "hub")
    assert (ended.code, writes) == (0, [])
    assert ended.out.splitlines() == [
        "VirtualNetwork/hub  network.yaml:1",
        '  + spec.tags.owner: "eve"',
        "",
        "Acknowledged 1 change outside of git of 1 resource.",
    ]
    changed = {path for path, text in records(world).items() if before.get(path) != text}
    assert [path.rpartition("/")[2] for path in changed] == ["hub.json"]
    assert outside(world) == {"other"}
    summary = (world.state / "SUMMARY.md").read_text()
    assert "hub" in summary
    again, _ = run(world, "acknowledge", "hub")
    assert (again.code, again.out) == (0, "Nothing changed outside of git, so nothing was acknowledged.\n")


def test_a_pattern_names_several(world):
    ended, _ = run(world, "acknowledge", "VirtualNetwork/*")
    assert "Acknowledged 2 changes outside of git of 2 resources." in ended.out
    assert not outside(world)


def test_later_changes_are_found_from_the_new_value(world):
    run(world, "acknowledge", "hub")
    world.somebody_changes(VNET_ID, {}, remove=("/tags/owner",))
    (change,) = next(r.comparison.outside for r in world.plan(reads="each").results if r.key.name == "hub")
    assert (change.path, change.before, change.now) == ("/tags/owner", "eve", None)


def test_drift_of_fields_that_git_sets_stays(world):
    world.somebody_changes(VNET_ID, {"/properties/addressSpace/addressPrefixes": ["10.9.0.0/16"]})
    ended, writes = run(world, "acknowledge", "hub")
    assert (ended.code, writes) == (0, [])
    assert "addressPrefixes" not in ended.out
    (result,) = (r for r in world.plan().results if r.key.name == "hub")
    assert (str(result.verdict), result.comparison.outside) == ("drifted", ())


def test_a_held_resource_may_be_acknowledged(world):
    day = (SystemClock().now() + timedelta(days=5)).date()
    held = annotated(VNET, **{"gitsync/hold": f"until {day}, incident 4711"})
    world.says(group=GROUP, network=held, other=OTHER)
    ended, writes = run(world, "acknowledge", "hub")
    assert (ended.code, writes) == (0, [])
    assert outside(world) == {"other"}


def test_machine_readable_output_is_one_document(world):
    ended, _ = run(world, "acknowledge", "hub", "--output", "json")
    (acknowledged,) = json.loads(ended.out)["acknowledged"]
    assert acknowledged["resource"] == "VirtualNetwork.network.azure.com/default/hub"
    assert acknowledged["fields"] == [
        {"field": "spec.tags.owner", "pointer": "/tags/owner", "before": None, "now": "eve", "weakens": ""}
    ]


def test_a_resource_that_is_not_compared_is_skipped(world):
    world.says(group=GROUP, network=VNET.replace("westeurope", "[]"), other=OTHER)
    ended, _ = run(world, "acknowledge", "hub", "other")
    assert ended.code == 1
    assert "Skipped VirtualNetwork/hub: It was not compared with Azure: The manifest is invalid" in ended.out
    assert "Acknowledged 1 change" in ended.out


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["hubb"], "No resource is called hubb. Did you mean"),
        (["."], "No resource is named."),
        ([], "The following arguments are required: KIND/NAME."),
    ],
)
def test_a_wrong_name_is_an_error(world, names, said):
    ended, _ = run(world, "acknowledge", *names)
    assert ended.code == 2
    assert said in ended.err


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("answer", "flags", "code", "requested"),
    [("y\n", [], 0, True), ("n\n", [], 2, True), ("", [], 2, True), ("n\n", ["--yes"], 0, False)],
    ids=["yes", "no", "no answer", "--yes"],
)
def test_on_a_terminal_it_prompts(world, monkeypatch, answer, flags, code, requested):
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    monkeypatch.setattr("sys.stderr", shown := Terminal())
    monkeypatch.chdir(world.folder)
    with azure(store=world.store) as served:
        for name, value in served.variables.items():
            monkeypatch.setenv(name, value)
        assert main.run(["acknowledge", "hub", "--status-dir", str(world.state), "--who", "off", *flags]) == code
    assert ("Acknowledge 1 change of 1 resource? [y/N]" in shown.getvalue()) is requested
    assert ("hub" in outside(world)) is (code != 0)
