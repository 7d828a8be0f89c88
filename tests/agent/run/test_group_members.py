"""Members of Entra ID groups in whole runs: names of manifests, placeholders in a plan, drift, and what git gives up."""

from __future__ import annotations

import re

import pytest

from gitsync.model.verdict import Action, Verdict
from gitsync.report.headline import format_headline
from tests.support.world import GROUP, World

IDENTITY = """\
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: UserAssignedIdentity
    metadata:
      name: app
    spec:
      location: westeurope
      owner:
        name: core
    """
ADMINS = """\
    apiVersion: entra.azure.com/v1
    kind: SecurityGroup
    metadata:
      name: admins
    spec:
      displayName: Admins
      mailNickname: admins
    """
USER = "3f2a8a1e-1111-4111-8111-111111111111"
OTHER = "4f2a8a1e-1111-4111-8111-111111111111"


def team(members: str = "") -> str:
    annotations = f"\n      annotations:\n        gitsync/members: |\n          {members}" if members else ""
    return f"""\
    apiVersion: entra.azure.com/v1
    kind: SecurityGroup
    metadata:
      name: team{annotations}
    spec:
      displayName: The Team
      mailNickname: team
    """


ALL = f"complete: [UserAssignedIdentity/app, SecurityGroup/admins, {USER}]"
ESTATE = {"group": GROUP, "identity": IDENTITY, "admins": ADMINS, "team": team(ALL)}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def find_group(world) -> str:
    return next(
        path for path in world.azure().ids("/v1.0/groups/") if world.azure().received(path)["displayName"] == "The Team"
    )


def links(world) -> list[str]:
    return sorted(world.azure().received(find_group(world)).get("members", []))


def find_team(report):
    return next(result for result in report.results if result.key.name == "team")


def test_a_plan_shows_placeholders_and_a_sync_makes_the_members_once(world):
    planned = find_team(world.says(**ESTATE).plan())
    assert planned.change.body["memberIds"]["UserAssignedIdentity/app"].startswith("<resource(")
    assert world.sync().exit_code == 0
    assert len(links(world)) == 3
    again = find_team(world.sync())
    assert (again.verdict, world.writes) == (Verdict.IN_SYNC, [])
    assert find_team(world.says(**{**ESTATE, "team": team()}).sync()).verdict is Verdict.IN_SYNC
    assert len(links(world)) == 3


def test_what_others_add_and_remove_is_drift_and_is_undone(world):
    world.says(**ESTATE).sync()
    before = links(world)
    world.azure().change(find_group(world), "/members", [*(each for each in before if each != USER), OTHER])
    drifted = find_team(world.plan())
    assert drifted.verdict is Verdict.DRIFTED
    assert {(difference.path, bool(difference.live)) for difference in drifted.differences} == {
        (f"/memberIds/{USER}", False),
        (f"/memberIds/{OTHER}", True),
    }
    assert find_team(world.sync()).action is Action.UPDATE
    assert links(world) == before


def test_a_plan_begins_with_how_many_an_empty_list_removes(world):
    world.says(**ESTATE).sync()
    world.says(**{**ESTATE, "team": team("complete: []")})
    assert format_headline(world.plan()) == "A sync would update 1; 3 members would be removed"
    assert format_headline(world.sync()) == "Updated 1; 3 members removed"
    assert links(world) == []


def test_an_adopted_group_gets_the_members_that_it_lacks(world):
    world.says(group=GROUP, identity=IDENTITY, admins=ADMINS, team=team()).sync()
    world.state = world.state.parent / "another"
    assert find_team(world.says(**ESTATE).sync()).action is Action.UPDATE
    assert len(links(world)) == 3
    assert find_team(world.sync()).verdict is Verdict.IN_SYNC


FAULTS = [
    ("complete: [SecurityGroup/amdins]", "Did you mean SecurityGroup/admins?", "no such manifest"),
    ("complete: [SecurityGroup/team]", "Remove it.", "the group itself"),
    ("complete: [ResourceGroup/core]", "Name a UserAssignedIdentity", "no principal"),
    ("complete: [app]", "Write a mapping", "no name"),
    ("complete: [3]", "Write a mapping", "a number"),
    ("complete: {a: b}", "Write a mapping", "no list"),
    ("all: []", "Write a mapping", "an unknown mode"),
    ("{complete: [], added: []}", "Write a mapping", "both modes"),
    ("[SecurityGroup/admins]", "Write a mapping", "a list without a mode"),
    (f"added: [{USER}, {USER.upper()}]", "Write a mapping", "the same twice"),
    ("complete: [", "Write a mapping", "no YAML"),
]


def test_a_wrong_annotation_is_a_problem_and_nothing_is_sent(world):
    """Each row is a group of its own."""
    teams = {
        f"team{row}": re.sub(r"\b([Tt]eam)\b", rf"\g<1>{row}", team(members))
        for row, (members, _, _) in enumerate(FAULTS)
    }
    report = world.says(**{**ESTATE, **teams, "team": team()}).sync()
    for row, (_, hint, why) in enumerate(FAULTS):
        own = [problem for problem in report.problems if problem.path == f"team{row}.yaml"]
        problems = [problem for problem in own if problem.code == "DirectoryLinks"]
        assert [problem.hint[: len(hint)] for problem in problems] == [hint], why
    assert not [path for path in world.azure().ids("/v1.0/groups/") if "members" in world.azure().received(path)]


def test_a_system_identity_is_a_member_by_the_name_of_its_resource(world):
    plan = """\
    apiVersion: operationalinsights.azure.com/v1api20210601
    kind: Workspace
    metadata:
      name: logs
    spec:
      location: westeurope
      owner:
        name: core
    """
    report = world.says(group=GROUP, logs=plan, team=team("complete: [Workspace/logs]")).plan()
    assert [problem.code for problem in report.problems] == ["DirectoryLinks"]


def test_members_of_a_cycle_are_a_problem(world):
    admins = ADMINS.replace(
        "name: admins", 'name: admins\n      annotations: {gitsync/members: "added: [SecurityGroup/team]"}', 1
    )
    report = world.says(**{**ESTATE, "admins": admins}).plan()
    assert "Cycle" in {problem.code for problem in report.problems}
