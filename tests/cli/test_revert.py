"""`gitsync revert`: a plan and a sync of just what is named, and of that just the drift."""

from __future__ import annotations

import io
import json
from datetime import timedelta

import pytest

from gitsync.cli import main
from gitsync.providers.arm.real_clock import SystemClock
from tests.support.command_line import azure, run_here
from tests.support.world import GROUP, SUBNET, VNET, VNET_ID, World, annotated

OTHER = VNET.replace("name: hub", "name: other").replace("10.0.", "10.2.")
OTHER_ID = VNET_ID.replace("hub", "other")
WIDER = VNET.replace("10.0.0.0/16", "10.1.0.0/16")


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, network=VNET, other=OTHER)
    return world


def drift(world, arm_id=VNET_ID):
    world.azure().change(arm_id, "/properties/addressSpace/addressPrefixes", ["10.9.0.0/16"])


def read_space(world, arm_id=VNET_ID):
    return world.azure().resource(arm_id)["properties"]["addressSpace"]["addressPrefixes"]


def revert(world, *arguments):
    """Run the command in the repository. Returns how it ended, and what it wrote to Azure."""
    with azure(store=world.store) as served:
        options = ("--status-dir", str(world.state), "--checks", "none", "--who", "off")
        ended = run_here("revert", *arguments, *options, folder=world.folder, **served.variables)
        return ended, [(method, path) for method, path, _ in served.sent("PUT", "PATCH", "DELETE", "POST")]


def test_it_writes_the_named_drift_and_nothing_else(world):
    drift(world)
    drift(world, OTHER_ID)
    ended, writes = revert(world, "hub")
    assert (ended.code, writes) == (0, [("PUT", VNET_ID)])
    assert (read_space(world), read_space(world, OTHER_ID)) == (["10.0.0.0/16"], ["10.9.0.0/16"])
    plan, sync = ended.out.index("A sync would update 1"), ended.out.index("Updated 1")
    assert plan < sync, "the plan comes first"
    assert "Run `gitsync sync`" not in ended.out, "this command does that"
    again, writes = revert(world, "hub")
    assert (again.code, writes) == (0, [])
    assert "Nothing has drifted, so nothing was reverted." in again.err


def test_machine_readable_output_is_one_document(world):
    drift(world)
    ended, _ = revert(world, "hub", "--output", "json")
    assert json.loads(ended.out)["command"] == "sync"
    assert "A sync would update 1" in ended.err
    again, _ = revert(world, "hub", "--output", "json")
    assert json.loads(again.out)["command"] == "plan", "there was nothing to sync"


LEFT = [
    (WIDER, (), [], "it is pending", "git alone changed"),
    (WIDER, (VNET_ID,), [("PUT", VNET_ID)], "", "both changed, and the plan shows what is written"),
]


@pytest.mark.parametrize(("network", "drifted", "expected", "said", "why"), LEFT, ids=[row[-1] for row in LEFT])
def test_what_is_not_drift_is_skipped(world, network, drifted, expected, said, why):
    for arm_id in drifted:
        drift(world, arm_id)
    world.says(group=GROUP, network=network, other=OTHER, subnet=SUBNET.replace("10.0.", "10.1."))
    ended, writes = revert(world, "hub", "VirtualNetworksSubnet/one")
    assert (ended.code, writes) == (0, expected), why
    assert said in ended.err
    assert "Skipped VirtualNetworksSubnet.network.azure.com/default/one: it is create" in ended.err


def test_what_was_deleted_is_created_again(world):
    world.azure().remove(VNET_ID)
    ended, writes = revert(world, "VirtualNetwork/hub")
    assert (ended.code, writes) == (0, [("PUT", VNET_ID)])


def test_a_held_resource_is_refused(world):
    day = (SystemClock().now() + timedelta(days=5)).date()
    drift(world)
    world.says(group=GROUP, network=annotated(VNET, **{"gitsync/hold": f"until {day}, incident 4711"}), other=OTHER)
    ended, writes = revert(world, "hub")
    assert (ended.code, writes) == (2, [])
    assert f"default/hub is held until {day}: incident 4711, so it was not reverted." in ended.err


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["hubb"], "No resource is called hubb. Did you mean"),
        (["VirtualNetwork/h*", "nothing"], "No resource is called nothing."),
        (["."], "No resource is named."),
        ([], "The following arguments are required: KIND/NAME."),
    ],
)
def test_a_wrong_name_is_an_error(world, names, said):
    drift(world)
    ended, writes = revert(world, *names)
    assert (ended.code, writes) == (2, [])
    assert said in ended.err


def test_a_broken_manifest_elsewhere_stops_nothing(world):
    drift(world)
    world.says(group=GROUP, network=VNET, other=OTHER, broken=OTHER.replace("spec:", "spec: ["))
    ended, writes = revert(world, "hub")
    assert (ended.code, writes) == (1, [("PUT", VNET_ID)]), ended.out


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("answer", "flags", "code", "requested"),
    [("y\n", [], 0, True), ("n\n", [], 2, True), ("", [], 2, True), ("n\n", ["--yes"], 0, False)],
    ids=["yes", "no", "no answer", "--yes"],
)
def test_on_a_terminal_it_prompts(world, monkeypatch, answer, flags, code, requested):
    drift(world)
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    monkeypatch.setattr("sys.stderr", shown := Terminal())
    monkeypatch.chdir(world.folder)
    with azure(store=world.store) as served:
        for name, value in served.variables.items():
            monkeypatch.setenv(name, value)
        arguments = ["revert", "hub", "--status-dir", str(world.state), "--checks", "none", "--who", "off", *flags]
        assert main.run(arguments) == code
        assert len(served.sent("PUT")) == (1 if code == 0 else 0)
    assert ("Revert 1 resource? [y/N]" in shown.getvalue()) is requested


def change_tags(world, tags, arm_id=VNET_ID):
    world.somebody_changes(arm_id, {"/tags": tags})


def test_it_restores_what_changed_outside_of_git(world):
    change_tags(world, {"owner": "eve"})
    ended, writes = revert(world, "hub")
    assert (ended.code, writes) == (0, [("PATCH", VNET_ID)]), ended.out + ended.err
    assert "The revert restores spec.tags.owner, which changed outside of git." in ended.out
    assert not world.azure().resource(VNET_ID).get("tags")
    again, writes = revert(world, "hub")
    assert (again.code, writes) == (0, [])
    assert "Nothing has drifted, so nothing was reverted." in again.err


def test_drift_goes_before_what_changed_outside_of_git(world):
    drift(world)
    change_tags(world, {"owner": "eve"})
    ended, writes = revert(world, "hub")
    assert (ended.code, writes[0]) == (0, ("PUT", VNET_ID))
    assert read_space(world) == ["10.0.0.0/16"]
    assert not world.azure().resource(VNET_ID).get("tags")


def test_a_hold_refuses_what_changed_outside_of_git(world):
    day = (SystemClock().now() + timedelta(days=5)).date()
    change_tags(world, {"owner": "eve"})
    world.says(group=GROUP, network=annotated(VNET, **{"gitsync/hold": f"until {day}, incident 4711"}), other=OTHER)
    ended, writes = revert(world, "hub")
    assert (ended.code, writes) == (2, [])
    assert f"default/hub is held until {day}: incident 4711, so it was not reverted." in ended.err


def test_what_git_changed_is_written_before_outside_changes_are_restored(world):
    change_tags(world, {"owner": "eve"})
    world.says(group=GROUP, network=WIDER, other=OTHER)
    ended, writes = revert(world, "hub")
    assert (ended.code, writes) == (0, [])
    assert "Skipped VirtualNetwork.network.azure.com/default/hub: it is pending, not drifted." in ended.err
