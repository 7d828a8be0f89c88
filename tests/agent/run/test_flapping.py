"""A controller that sets a field back after every write: some writes, then a word for people, and no more writes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.model.verdict import Action, Verdict
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, SUBNET, VNET, VNET_ID, World, annotated, of

TAGGED = GROUP.replace("location: westeurope", "location: westeurope\n      tags: {team: git, env: git}")
HOUR = 3600.0
AFTER_EACH_LAST_READ = ", ".join(str(n) for n in range(2, 40, 2))  # of a run: one read before a write, one after it


def controller(what):
    """Acts right after gitsync has looked at what its own write made of the group."""
    return rules(f"{{match: {{method: GET, path: '{GROUP_ID}', nth: [{AFTER_EACH_LAST_READ}]}}, move: [{what}]}}")


@pytest.fixture
def world(tmp_path):
    return World(tmp_path, rules=controller("{set: {/tags/team: azure}}")).says(group=TAGGED)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The create, and three writes that answer a move."""
    world = World(tmp_path_factory.mktemp("written"), rules=controller("{set: {/tags/team: azure}}"))
    world.says(group=TAGGED)
    assert all(run(world).action is not Action.NONE for _ in range(4))
    return world


@pytest.fixture(scope="module")
def reported(written, tmp_path_factory):
    """The next run reports it: the world, and its result."""
    world = written.copy(tmp_path_factory.mktemp("reported"))
    return world, run(world)


@pytest.fixture
def flapping(reported, tmp_path):
    return reported[0].copy(tmp_path)


def run(world, **settings):
    """One run an hour; its result for the group."""
    world.clock.elapsed += HOUR
    return of(world.sync(**settings), "ResourceGroup")


def state(world):
    return {path.relative_to(world.state): path.read_bytes() for path in world.state.rglob("*") if path.is_file()}


def run_until_reported(world, **settings):
    """Run until it is reported, with the result of that run."""
    for _ in range(4):
        assert run(world, **settings).action is not Action.NONE
    return run(world, **settings)


def test_three_writes_that_do_not_last_are_the_last(reported):
    world, found = reported
    assert (found.verdict, found.action, found.is_fine) == (Verdict.DRIFTED, Action.NONE, False)
    assert (found.condition.reason, found.condition.severity) == ("Flapping", "Warning")
    assert '/tags/team (git has "git", Azure has "azure")' in found.condition.message
    assert [difference.path for difference in found.differences] == ["/tags/team"]
    assert world.writes == []


def test_it_is_not_ready_and_reports_it_every_time_without_another_commit(flapping):
    before = state(flapping)
    flapping.clock.elapsed += 100 * HOUR
    report = flapping.sync()
    assert (report.exit_code, of(report, "ResourceGroup").condition.reason) == (1, "Flapping")
    assert flapping.writes == []
    assert state(flapping) == before


def test_a_plan_shows_it(written, tmp_path):
    report = written.copy(tmp_path).plan()
    found = of(report, "ResourceGroup")
    assert (found.verdict, found.action, found.condition.reason) == (Verdict.DRIFTED, Action.NONE, "Flapping")
    assert report.exit_code == 1


@pytest.mark.parametrize(("limit", "writes", "silent"), [(1, 2, 1), (2, 3, 1), (5, 6, 1), (0, 8, 0)])
def test_the_limit_is_a_setting(world, limit, writes, silent):
    done = [run(world, flap_limit=limit).action is not Action.NONE for _ in range(writes + silent)]
    assert done == [True] * writes + [False] * silent


def test_a_change_in_git_is_written(flapping):
    flapping.says(group=TAGGED.replace("team: git", "team: other"))
    found = run(flapping)
    assert found.action is Action.UPDATE
    assert flapping.writes == [f"PUT {GROUP_ID}"]


def test_a_change_in_azure_is_written_over_and_counting_begins_again(flapping):
    flapping.settings = replace(flapping.settings, rules=())
    flapping.outside("PUT", GROUP_ID, {"location": "westeurope", "tags": {"team": "third", "env": "git"}})
    assert run(flapping).action is Action.UPDATE
    assert flapping.read(GROUP_ID)["tags"]["team"] == "git"
    flapping.outside("PUT", GROUP_ID, {"location": "westeurope", "tags": {"team": "azure", "env": "git"}})
    assert run(flapping).action is Action.UPDATE


def test_where_azure_comes_round_it_is_ready_again(flapping):
    flapping.settings = replace(flapping.settings, rules=())
    flapping.outside("PUT", GROUP_ID, {"location": "westeurope", "tags": {"team": "git", "env": "git"}})
    planned = flapping.plan()
    assert (of(planned, "ResourceGroup").verdict, planned.exit_code) == (Verdict.IN_SYNC, 0)
    assert run(flapping).condition.is_ready
    before = state(flapping)
    assert b"row:" not in b"".join(before.values())
    run(flapping)
    assert state(flapping) == before


def test_leaving_the_field_to_the_other_side_fixes_it(flapping):
    flapping.says(group=annotated(TAGGED, **{"gitsync/ignore": "[/tags/team]"}))
    found = run(flapping)
    assert (found.verdict, found.action, found.condition.is_ready) == (Verdict.IN_SYNC, Action.NONE, True)
    assert flapping.read(GROUP_ID)["tags"]["team"] == "azure"


def test_taking_the_value_into_the_manifest_fixes_it(flapping):
    flapping.says(group=TAGGED.replace("team: git", "team: azure"))
    found = run(flapping)
    assert (found.action, found.condition.is_ready) == (Action.NONE, True)


def test_what_has_moved_only_now_and_then_is_fixed_each_time(tmp_path):
    """Four times in two weeks somebody sets a tag by hand: no controller."""
    world = World(tmp_path).says(group=TAGGED)
    run(world)
    for _ in range(4):
        world.outside("PUT", GROUP_ID, {"location": "westeurope", "tags": {"team": "azure", "env": "git"}})
        assert run(world).action is Action.UPDATE
        world.clock.elapsed += 80 * HOUR
        assert run(world).action is Action.NONE


def test_what_is_deleted_after_every_write_is_not_made_without_end(tmp_path):
    world = World(tmp_path, rules=controller("{delete: true}")).says(group=TAGGED)
    found = run_until_reported(world)
    assert (found.verdict, found.condition.reason) == (Verdict.MISSING, "Flapping")
    assert "something deletes it" in found.condition.message
    assert world.writes == []


def test_the_children_of_what_is_flapping_are_kept_up(world):
    world.says(group=TAGGED, vnet=VNET, subnet=SUBNET)
    assert run_until_reported(world).condition.reason == "Flapping"
    world.says(group=TAGGED, vnet=VNET.replace("10.0.0.0/16", "10.0.0.0/8"), subnet=SUBNET)
    assert of(world.sync(), "VirtualNetwork").action is Action.UPDATE
    assert world.writes == [f"PUT {VNET_ID}"]


def test_a_record_of_before_there_were_rows_is_read(world):
    run(world)
    run(world)
    (path,) = world.state.rglob("ResourceGroup/*.json")
    text = path.read_text()
    assert '    "row": {\n      "at": ' in text
    head, _, rest = text.partition('    "row": {\n')
    path.write_text(head + rest[rest.index('    "schema":') :])
    assert run(world).action is Action.UPDATE
