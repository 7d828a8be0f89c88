"""A provider may answer the names of tags in small letters; to Azure it is one tag whatever its case."""

from __future__ import annotations

import pytest

from gitsync.model.verdict import Action, Verdict
from tests.support.world import GROUP, GROUP_ID, World, annotated, of

TAGGED = GROUP.replace("location: westeurope", "location: westeurope\n      tags: {Environment: Prod, Cost: A}")


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def tags_in_azure(world, **tags):
    world.outside("PUT", GROUP_ID, {"location": "westeurope", "tags": tags})


def tags(world):
    return world.read(GROUP_ID)["tags"]


def test_small_letters_are_not_a_difference_at_first_sight(world):
    tags_in_azure(world, environment="Prod", cost="A")
    found = of(world.says(group=TAGGED).sync(), "ResourceGroup")
    assert (found.verdict, found.action, found.differences, world.writes) == (Verdict.ADOPT, Action.NONE, (), [])
    found = of(world.sync(), "ResourceGroup")
    assert (found.verdict, world.writes) == (Verdict.IN_SYNC, [])


@pytest.mark.parametrize("method", ["put", "patch"])
def test_a_value_changed_under_another_spelling_is_drift_and_written_once(world, method):
    world.synced(group=annotated(TAGGED, **{"gitsync/update-method": method}))
    tags_in_azure(world, environment="Prod", cost="B")
    found = of(world.sync(), "ResourceGroup")
    assert [(difference.path, difference.desired, difference.live) for difference in found.differences] == [
        ("/tags/Cost", "A", "B")
    ]
    assert tags(world) == {"Environment": "Prod", "Cost": "A"}
    assert of(world.sync(), "ResourceGroup").verdict is Verdict.IN_SYNC


@pytest.mark.parametrize("method", ["put", "patch"])
def test_a_tag_that_is_removed_from_git_is_removed_by_whatever_name(world, method):
    manifest = annotated(TAGGED, **{"gitsync/update-method": method})
    world.synced(group=manifest)
    tags_in_azure(world, environment="Prod", cost="A")
    found = of(world.says(group=manifest.replace(", Cost: A", "")).sync(), "ResourceGroup")
    assert (found.verdict, [difference.path for difference in found.differences]) == (Verdict.PENDING, ["/tags/Cost"])
    assert tags(world) == {"Environment": "Prod"}


@pytest.mark.parametrize("method", ["put", "patch"])
def test_an_ignored_tag_is_ignored_in_any_case_and_sent_under_one_name(world, method):
    manifest = annotated(TAGGED, **{"gitsync/ignore": "[/tags/COST]", "gitsync/update-method": method})
    world.synced(group=manifest)
    tags_in_azure(world, environment="Test", cost="B")
    found = of(world.sync(), "ResourceGroup")
    assert [difference.path for difference in found.differences] == ["/tags/Environment"]
    assert {name.casefold(): value for name, value in tags(world).items()} == {"environment": "Prod", "cost": "B"}
    assert len(tags(world)) == 2
    assert of(world.sync(), "ResourceGroup").verdict is Verdict.IN_SYNC


def test_two_names_that_differ_by_case_alone_are_an_error(world):
    report = world.says(group=TAGGED.replace("Cost: A", "Cost: A, cost: B")).plan()
    assert [(problem.code, problem.field) for problem in report.problems] == [("TagTwice", "spec.tags.cost")]
    assert of(report, "ResourceGroup").verdict is Verdict.INVALID
