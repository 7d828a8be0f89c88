"""`gitsync unmanaged`: what exists and git does not have, right to the resource, over a real socket."""

import json

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.emulator.http.messages import ListFault
from gitsync.model.arm_id import ArmId
from tests.support.command_line import azure, run_here
from tests.support.filled_store import fill, make_bodies, read_version
from tests.workflows.unmanaged.estate import BEYOND, FORMER, NETWORK, STRAYS, TRACKED, make_estate

ALL = [*STRAYS, FORMER, *BEYOND]


@pytest.fixture(scope="module")
def estate(tmp_path_factory):
    return make_estate(tmp_path_factory.mktemp("estate"))


@pytest.fixture(scope="module")
def listed(estate, tmp_path_factory):
    """What the command has printed as JSON, and the metrics that it has written."""
    file = tmp_path_factory.mktemp("metrics") / "unmanaged.prom"
    done, _ = look(estate, "-o", "json", "--metrics", str(file), "--fail-above", str(len(ALL)))
    return done, file.read_text()


def look(world, *arguments, rules=(), **settings):
    """Run the command; returns how it ended, and the requests."""
    with azure(world.store, world.clock, rules=tuple(rules), **settings) as served:
        done = run_here(
            "unmanaged",
            f"--status-dir={world.state}",
            "--who=off",
            *arguments,
            folder=world.folder,
            **served.variables,
        )
        assert {method for method, path, _ in served.sent() if "ResourceGraph" not in path} <= {"GET"}
        return done, served.sent()


def read(done):
    return json.loads(done.out)


def list_ids(document):
    return {ArmId(resource["armId"]).key for resource in document["resources"]}


def test_there_are_thirty_kinds_of_strays():
    assert len(ALL) >= 30


def test_lists_find_each_stray_and_nothing_else(listed):
    done, _ = listed
    assert list_ids(read(done)) == {ArmId(drift).key for drift in ALL}
    assert done.code == 0, done.err


def test_full_finds_the_same(estate):
    done, _ = look(estate, "-o", "json", "--full")
    assert list_ids(read(done)) == {ArmId(drift).key for drift in ALL}


def test_resource_graph_finds_what_is_directly_in_a_group(estate):
    done, _ = look(estate, "-o", "json", "--fast")
    assert list_ids(read(done)) == {ArmId(arm_id).key for arm_id in (*TRACKED, *BEYOND)}


def test_what_looks_like_a_stray_is_counted_with_its_reason(listed):
    done, _ = listed
    reasons = {row["reason"] for row in read(done)["leftOut"]}
    assert reasons == {
        "as Azure made it with its parent",
        "made by Azure",
        "made by the resource that manages it",
        "resource group that Azure manages",
    }


def test_the_share_counts_what_git_has(listed):
    document = read(listed[0])
    assert (document["managed"], document["unmanaged"]) == (15, len(ALL))
    kinds = {kind["kind"]: (kind["managed"], kind["unmanaged"]) for kind in document["kinds"]}
    assert kinds["VirtualNetwork"] == (1, 1)
    assert kinds["UserAssignedIdentity"] == (1, 2), "a record is enough, and what git let go of is a stray"
    assert kinds["LoadBalancersInboundNatRule"] == (1, 1), "the manifest of the balancer names one of them"
    assert document["share"] == round(15 / (15 + len(ALL)), 4)


def test_its_figures_are_metrics(listed):
    done, metrics = listed
    document = read(done)
    samples = [sample for family in parse(metrics) for sample in family.samples]
    for word in ("managed", "unmanaged"):
        figures = {
            sample.labels["kind"]: sample.value for sample in samples if sample.name == f"gitsync_{word}_resources"
        }
        assert figures == {kind["kind"]: kind[word] for kind in document["kinds"]}
    assert {sample.labels["command"] for sample in samples} == {"unmanaged"}


def test_text_has_each_group_with_the_command_that_imports_it_and_a_limit_decides_about_the_exit_code(estate):
    done, _ = look(estate, "--fail-above", str(len(ALL) - 1))
    assert done.code == 4
    assert "  VirtualNetworksSubnet\n    hub/by-hand" in done.out
    assert "  Microsoft.Logic/workflows\n    flow" in done.out
    assert (
        "To write manifests for them:\n  gitsync import --resource-group other --out azure\n  gitsync import --resource-group shop --out azure\n"
        in done.out
    )
    assert done.out.splitlines()[-1].startswith(f"{len(ALL)} resources not in git. Git has 15 of 53 resources")


def test_the_import_that_it_names_takes_what_has_a_kind(estate, listed, tmp_path):
    with azure(estate.store, estate.clock) as served:
        command = read(listed[0])["imports"][1].split()[1:]
        done = run_here(*command, folder=tmp_path, **served.variables)
    assert "55 resources imported" in done.out, done.err
    assert "by-hand" in "".join(path.read_text() for path in (tmp_path / "azure").rglob("*.yaml"))


@pytest.mark.parametrize("text", ["-1", "many", "²"])
def test_a_limit_is_a_number(estate, text):
    done, _ = look(estate, f"--fail-above={text}")
    assert done.code == 2
    assert "is not a whole number" in done.err


def test_a_missing_right_is_not_an_empty_list(estate):
    refused = Canned(status=403, body={"error": {"code": "AuthorizationFailed", "message": "No."}})
    rule = FaultRule(match=Match(path="*/servers/shopsql/firewallrules"), answer=refused)
    done, _ = look(estate, "-o", "json", "--fail-above=0", rules=[rule])
    assert done.code == 1
    assert [line.partition(": ")[2] for line in read(done)["gaps"]] == ["AuthorizationFailed, no right to read it"]


def test_a_group_that_is_named_must_exist(estate):
    done, _ = look(estate, "--resource-group", "nowhere")
    assert done.code == 2
    assert "Resource group nowhere does not exist" in done.err


def test_a_named_group_is_searched_although_git_does_not_have_it(estate):
    document = read(look(estate, "-o", "json", "--resource-group", "other")[0])
    assert [resource["kind"] for resource in document["resources"]] == ["ResourceGroup", "VirtualNetwork"]
    assert document["managed"] == 0


@pytest.mark.parametrize("way", ["--full", "--fast"])
def test_a_group_that_azure_manages_is_left_out(estate, way):
    document = read(look(estate, "-o", "json", "--resource-group", "MC_nodes", way)[0])
    assert document["resources"] == []
    assert [row["reason"] for row in document["leftOut"]] == ["resource group that Azure manages"]


def test_a_group_that_git_will_create_is_not_an_error(tmp_path):
    (tmp_path / "a.yaml").write_text(GROUP.format(name="later"))
    with azure() as served:
        done = run_here("unmanaged", folder=tmp_path, **served.variables)
    assert done.code == 0, done.err
    assert done.out.startswith("0 resources not in git. Git has 0 of 0 resources in 1 resource group (100 %)")


GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: {name}}}
spec: {{location: westeurope}}
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("apiVersion: network.azure.com/v20250301\nkind: [", "a.yaml"),
        ("{}", "has no resource in a resource group"),
    ],
    ids=["what a broken file has is not known", "nowhere to look"],
)
def test_a_source_that_reports_too_little_is_refused(tmp_path, text, message):
    (tmp_path / "a.yaml").write_text(text)
    with azure() as served:
        done = run_here("unmanaged", folder=tmp_path, **served.variables)
        assert served.sent() == []
    assert done.code == 2
    assert message in done.err


def test_resource_graph_is_not_believed_about_what_is_gone(estate, tmp_path):
    world = estate.copy(tmp_path)
    gone = f"{NETWORK}/natGateways/out"
    world.clock.elapsed += 3600
    stale = FaultRule(match=Match(path="*/microsoft.resourcegraph/resources"), list_fault=ListFault(stale=1800))
    world.outside("DELETE", gone, api_version=read_version(gone), rules=(stale,))
    done, sent = look(world, "-o", "json", "--fast", rules=[stale])
    assert ("GET", gone, 404) in [(method, path.partition("?")[0], status) for method, path, status in sent]
    assert list_ids(read(done)) == {ArmId(arm_id).key for arm_id in (*(TRACKED - {gone}), *BEYOND)}


def test_resource_graph_that_does_not_answer_is_a_gap(estate):
    refused = Canned(status=403, body={"error": {"code": "AuthorizationFailed", "message": "No."}})
    rule = FaultRule(match=Match(path="*/microsoft.resourcegraph/resources"), answer=refused)
    done, _ = look(estate, "-o", "json", "--fast", rules=[rule])
    assert done.code == 1
    assert read(done)["gaps"] == ["Resource Graph: Azure returned 403 AuthorizationFailed."]


def test_many_resources_take_less_than_a_third_of_a_request_each(tmp_path):
    """Of more than 20 accounts, two are looked at before the others are read."""
    bodies = make_bodies(25, containers=24)
    count = len(bodies) + 3 * 25  # each network has three subnets
    (tmp_path / "groups.yaml").write_text("---\n".join(GROUP.format(name=f"g{number:02}") for number in range(25)))
    store = fill(bodies)
    for way in ("-o=json", "--fast"):
        with azure(store) as served:
            done = run_here("unmanaged", "-o=json", way, folder=tmp_path, **served.variables)
            assert len(served.sent()) <= 0.3 * count
        assert len(read(done)["resources"]) == (count - 25 if way == "-o=json" else 50)
