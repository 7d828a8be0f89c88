"""`--path FILE`: a run of one file, beside others that have the same names. Nothing of those is deleted."""

from __future__ import annotations

from textwrap import dedent

import pytest

from gitsync.errors import SourceError
from tests.support.git_repositories import commit_all
from tests.support.world import GROUP as INDENTED_GROUP
from tests.support.world import GROUP_ID, VNET_ID, World, of
from tests.support.world import VNET as INDENTED_VNET

GROUP, VNET = dedent(INDENTED_GROUP), dedent(INDENTED_VNET)
ONE, TWO = "templates/one.yaml", "templates/two.yaml"
BOTH = f"{GROUP}---\n{VNET}"
OTHER = GROUP.replace("core", "other")


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


@pytest.fixture(scope="module")
def synced(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("synced"))
    assert world.says_files({ONE: BOTH, TWO: OTHER}).sync(path=ONE).exit_code == 0
    return world


@pytest.fixture
def one_synced(synced, tmp_path):
    """A world with two files, of which a run has synced one."""
    return synced.copy(tmp_path)


def collect_units(world):
    lines = (line for file in world.state.rglob("default/**/*.json") for line in file.read_text().splitlines())
    return {line.split()[1].strip('",') for line in lines if line.strip().startswith('"unit":')}


def test_one_of_many_templates_with_the_same_names(world):
    """The whole folder declares everything twice; each file by itself is planned, synced and then silent."""
    world.says_files(
        {ONE: BOTH, TWO: BOTH.replace("westeurope", "northeurope"), "templates/broken.yaml": "a: [azure.com"}
    )
    assert {"ArmIdTwice", "InvalidYaml"} & {problem.code for problem in world.plan(path="templates").problems}
    assert [result.key.name for result in world.plan(path=ONE).results] == ["hub", "core"]
    assert world.sync(path=ONE).exit_code == 0
    again = world.sync(path=ONE, prune=True)
    assert (again.exit_code, world.writes, collect_units(world)) == (0, [], {ONE})


def test_what_one_file_drops_is_pruned_and_what_others_have_stays(world):
    world.says_files({ONE: BOTH, TWO: OTHER})
    for path in (ONE, TWO):
        assert world.sync(path=path, prune=True).exit_code == 0
    world.says_files({ONE: GROUP, TWO: OTHER})
    planned = world.plan(path=ONE, prune=True)
    assert [result.key.name for result in planned.results] == ["hub", "core"], "nothing of the other file is shown"
    assert world.sync(path=ONE, prune=True).exit_code == 0
    assert world.sent("DELETE") == [VNET_ID]


@pytest.mark.parametrize(
    ("files", "said", "why"),
    [
        ({TWO: f"{OTHER}---\n{VNET}"}, f"{TWO}:8 declares VirtualNetwork", "it was moved"),
        ({TWO: OTHER, "elsewhere/hub.yaml": VNET}, "elsewhere/hub.yaml:1 declares", "to another folder"),
        ({TWO: f"{OTHER}---\n{VNET.replace('name: hub', 'name: renamed')}  azureName: hub\n"}, "declares VirtualNetwork.network.azure.com/default/renamed", "and renamed"),
        ({TWO: VNET.replace("name: hub", "name: [hub")}, "cannot be read", "to a file that does not parse"),
        ({TWO: VNET.replace("kind: VirtualNetwork", "kind: VirtualNetwrk")}, "VirtualNetwrk is not a kind", "with a slip"),
    ],
)  # fmt: skip
def test_what_another_file_declares_or_may_declare_is_held(one_synced, files, said, why):
    one_synced.says_files({ONE: GROUP, **files})
    for report in (one_synced.plan(path=ONE, prune=True), one_synced.sync(path=ONE, prune=True)):
        assert said in of(report, "VirtualNetwork").condition.message, why
    assert one_synced.sent("DELETE") == [], why


def test_a_file_that_is_ignored_deletes_nothing(one_synced):
    one_synced.says_files({ONE: GROUP, ".gitsyncignore": "one.yaml\n"})
    assert (one_synced.sync(path=ONE, prune=True).results, one_synced.writes) == ((), [])


def test_what_a_run_of_the_folder_recorded_is_left_to_it(world):
    """A record of the folder does not show which file had the resource."""
    world.says_files({ONE: BOTH, TWO: OTHER}).sync()
    world.says_files({ONE: GROUP, TWO: OTHER})
    world.sync(path=ONE, prune=True)
    assert world.sent("DELETE") == []
    world.sync(prune=True)
    assert world.sent("DELETE") == [VNET_ID]


def test_a_run_of_the_folder_takes_over_from_one_of_a_file(one_synced):
    one_synced.sync()
    assert collect_units(one_synced) == {"templates"}
    one_synced.says_files({ONE: GROUP, TWO: OTHER}).sync(path=ONE)
    one_synced.says_files({TWO: OTHER})
    one_synced.sync(prune=True, max_deletes=2)
    assert one_synced.sent("DELETE") == [GROUP_ID], "with the network in it"


def test_options_of_the_folder_count_for_its_files(world):
    world.says_files(
        {
            ONE: GROUP.replace("core", "$NAME"),
            "gitsync.yaml": "units: [{path: templates, variables: envsubst, substitute: {NAME: core}}]\n",
        }
    )
    assert [result.arm_id for result in world.plan(path=ONE).results] == [GROUP_ID]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("templates/none.yaml", "There is no folder or file templates/none.yaml"),
        ("templates/notes.txt", r"templates/notes.txt is not a \*.yaml"),
        ("overlay/kustomization.yaml", "defines how its folder is built"),
        ("templates/link.yaml", "is a symbolic link"),
    ],
)
def test_a_path_that_is_not_a_file_of_manifests_is_refused(world, path, said):
    world.says_files({ONE: GROUP, "templates/notes.txt": "a", "overlay/kustomization.yaml": "resources: [a.yaml]\n"})
    (world.folder / "templates/link.yaml").symlink_to("one.yaml")
    commit_all(world.folder)
    with pytest.raises(SourceError, match=said):
        world.plan(path=path)
