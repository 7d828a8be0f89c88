"""What gitsync/ignore names is left as Azure has it, in whole runs: no drift, no write for it, and no write that resets
it.
"""

from __future__ import annotations

import pytest

from gitsync.model.problem import Level
from gitsync.model.verdict import Action, Verdict
from tests.support.world import GROUP, GROUP_ID, SUBNET, VNET, VNET_ID, World, annotated, of

NETWORK = "2024-03-01"
TAGGED = GROUP.replace("location: westeurope", "location: westeurope\n      tags: {team: git, env: git}")
IGNORES_TEAM = annotated(TAGGED, **{"gitsync/ignore": "[/tags/team]"})
LISTED = VNET.replace("addressSpace:", "dhcpOptions:\n        dnsServers: [10.0.0.4]\n      addressSpace:")
IGNORES_DNS = annotated(LISTED, **{"gitsync/ignore": "[/properties/dhcpOptions]"})


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def tags_in_azure(world, **tags):
    world.outside("PUT", GROUP_ID, {"location": "westeurope", "tags": tags})


def tags(world):
    return world.read(GROUP_ID)["tags"]


def record(world):
    (path,) = world.state.rglob("ResourceGroup/*.json")
    return path.read_text()


def test_a_create_sends_gits_value_and_later_changes_of_it_are_not_drift(world):
    world.synced(group=IGNORES_TEAM)
    assert tags(world) == {"team": "git", "env": "git"}
    tags_in_azure(world, team="azure", env="git")
    found = of(world.plan(), "ResourceGroup")
    assert (found.verdict, found.differences) == (Verdict.IN_SYNC, ())
    before = record(world)
    report = world.sync()
    assert (of(report, "ResourceGroup").verdict, world.writes) == (Verdict.IN_SYNC, [])
    assert record(world) == before, "nothing changed, so nothing is recorded"
    assert tags(world)["team"] == "azure"


@pytest.mark.parametrize("method", ["put", "patch"])
def test_an_update_sends_what_azure_has(world, method):
    manifest = annotated(TAGGED, **{"gitsync/ignore": "[/tags/team]", "gitsync/update-method": method})
    world.synced(group=manifest)
    tags_in_azure(world, team="azure", env="azure", more="azure")
    found = of(world.sync(), "ResourceGroup")
    assert (found.verdict, [d.path for d in found.differences]) == (Verdict.DRIFTED, ["/tags/env"])
    assert world.writes == [f"{method.upper()} {GROUP_ID}"]
    assert tags(world)["team"] == "azure"
    assert tags(world)["env"] == "git"
    assert of(world.sync(), "ResourceGroup").verdict is Verdict.IN_SYNC


@pytest.mark.parametrize("method", ["put", "patch"])
def test_what_azure_no_longer_has_is_not_sent_back(world, method):
    manifest = annotated(TAGGED, **{"gitsync/ignore": "[/tags/team]", "gitsync/update-method": method})
    world.synced(group=manifest)
    tags_in_azure(world, env="azure")
    assert of(world.sync(), "ResourceGroup").action is Action.UPDATE
    assert tags(world) == {"env": "git"}


def test_a_change_in_git_of_what_is_ignored_is_not_pending(world):
    world.synced(group=IGNORES_TEAM)
    tags_in_azure(world, team="azure", env="git")
    report = world.says(group=IGNORES_TEAM.replace("team: git", "team: other")).sync()
    assert (of(report, "ResourceGroup").verdict, world.writes) == (Verdict.IN_SYNC, [])


def test_an_annotation_that_comes_later_takes_effect_at_once(world):
    world.synced(group=TAGGED)
    tags_in_azure(world, team="azure", env="git")
    assert of(world.plan(), "ResourceGroup").verdict is Verdict.DRIFTED
    report = world.says(group=IGNORES_TEAM).sync()
    assert (of(report, "ResourceGroup").verdict, world.writes) == (Verdict.IN_SYNC, [])
    assert "team: " not in record(world).partition("gitsync:")[2]


def test_without_the_annotation_the_truth_shows_again(world):
    world.synced(group=IGNORES_TEAM)
    tags_in_azure(world, team="azure", env="git")
    world.sync()
    found = of(world.says(group=TAGGED).plan(), "ResourceGroup")
    assert found.verdict is Verdict.PENDING
    assert [(d.path, d.desired, d.live) for d in found.differences] == [("/tags/team", "git", "azure")]
    world.sync()
    assert tags(world) == {"team": "git", "env": "git"}


def test_an_entry_holds_through_its_last_day_and_is_reported_afterwards(world):
    text = "[{path: /tags/team, until: 2026-03-02, reason: The move to the new team}]"
    world.synced(group=annotated(TAGGED, **{"gitsync/ignore": text}))
    tags_in_azure(world, team="azure", env="git")
    world.clock.elapsed += 24 * 3600.0  # 2026-03-02
    report = world.plan()
    assert (of(report, "ResourceGroup").verdict, report.problems) == (Verdict.IN_SYNC, ())
    world.clock.elapsed += 24 * 3600.0
    report = world.sync()
    assert of(report, "ResourceGroup").action is Action.UPDATE
    assert tags(world)["team"] == "git"
    (problem,) = report.problems
    assert (problem.code, problem.level, problem.path, problem.line) == (
        "IgnoreExpired",
        Level.WARNING,
        "group.yaml",
        5,
    )
    assert report.exit_code == 0


def test_adoption_skips_what_is_ignored(world):
    tags_in_azure(world, team="azure", env="azure")
    found = of(world.says(group=IGNORES_TEAM).sync(), "ResourceGroup")
    assert (found.verdict, [d.path for d in found.differences]) == (Verdict.ADOPT, ["/tags/env"])
    assert tags(world) == {"team": "azure", "env": "git"}


def test_a_resource_that_was_lost_is_created_as_in_git(world):
    world.synced(group=IGNORES_TEAM)
    tags_in_azure(world, team="azure", env="git")
    world.outside("DELETE", GROUP_ID)
    assert of(world.sync(), "ResourceGroup").verdict is Verdict.MISSING
    assert tags(world) == {"team": "git", "env": "git"}


def test_children_that_azure_embeds_are_kept_beside_it(world):
    world.synced(group=GROUP, vnet=IGNORES_DNS, subnet=SUBNET)
    vnet = world.read(VNET_ID, NETWORK)
    vnet["properties"] |= {
        "dhcpOptions": {"dnsServers": ["10.9.9.9"]},
        "addressSpace": {"addressPrefixes": ["10.0.0.0/8"]},
    }
    world.outside("PUT", VNET_ID, vnet, NETWORK)
    found = of(world.sync(), "VirtualNetwork")
    assert [d.path for d in found.differences] == ["/properties/addressSpace/addressPrefixes"]
    properties = world.read(VNET_ID, NETWORK)["properties"]
    assert properties["dhcpOptions"] == {"dnsServers": ["10.9.9.9"]}
    assert properties["addressSpace"] == {"addressPrefixes": ["10.0.0.0/16"]}
    assert [subnet["name"] for subnet in properties["subnets"]] == ["one"]


def test_always_put_does_not_reset_it_either(world):
    world.synced(group=IGNORES_TEAM)
    tags_in_azure(world, team="azure", env="git")
    assert of(world.sync(always_put=True), "ResourceGroup").action is Action.UPDATE
    assert tags(world) == {"team": "azure", "env": "git"}


def test_an_annotation_that_cannot_be_read_stops_the_resource(world):
    report = world.says(group=annotated(TAGGED, **{"gitsync/ignore": "[{path: /tags/team, until: soon}]"})).sync()
    assert (of(report, "ResourceGroup").verdict, world.writes, report.exit_code) == (Verdict.INVALID, [], 1)


def test_a_plan_and_a_sync_see_the_same(world):
    world.synced(group=IGNORES_TEAM)
    tags_in_azure(world, team="azure", env="azure")
    planned = of(world.plan(), "ResourceGroup")
    assert world.writes == []
    assert planned.differences == of(world.sync(), "ResourceGroup").differences
