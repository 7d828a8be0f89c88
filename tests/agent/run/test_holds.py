"""Holds: until the end of a day a resource stays as it is in Azure, whatever git, drift or a prune say."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitsync.model.result import Outcome
from gitsync.model.verdict import Action, Verdict
from gitsync.report import json as report_json
from gitsync.report import junit, markdown, sarif, text
from gitsync.report.html import page
from gitsync.report.records import describe_record
from gitsync.report.summary import render as render_summary
from gitsync.repository.git.state.plan_file import encode_plan
from tests.support.hypothesis_profile import scale
from tests.support.json_schemas import list_faults
from tests.support.world import GROUP, GROUP_ID, SUBNET, SUBNET_ID, VNET, VNET_ID, World, annotated, of

HOLD = {"gitsync/hold": "until 2026-03-02, incident 4711"}
HELD = annotated(VNET, **HOLD)
WIDER = VNET.replace("10.0.0.0/16", "10.1.0.0/16")
PRUNING = {"prune": True, "max_deletes": 40}
TO_THE_LAST_SECOND = 36 * 3600 - 1  # from the noon at which the clock starts, to the end of the day of the hold


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def drift(world, space="10.9.0.0/16"):
    live = world.read(VNET_ID, api_version="2024-03-01")
    live["properties"]["addressSpace"]["addressPrefixes"] = [space]
    world.outside("PUT", VNET_ID, live, api_version="2024-03-01")


@pytest.fixture(scope="module")
def subnet_holds(tmp_path_factory):
    """Worlds in which a subnet was synced and then held, by whether it is detached when it is removed from git."""
    worlds = {}
    for name, policy in {"managed": {}, "detached": {"reconcile_policy": "detach-on-delete"}}.items():
        worlds[name] = world = World(tmp_path_factory.mktemp(name))
        world.synced(group=GROUP, network=VNET, subnet=SUBNET)
        report = world.says(group=GROUP, network=VNET, subnet=annotated(SUBNET, **HOLD, **policy)).sync()
        assert (of(report, "VirtualNetworksSubnet").verdict, report.exit_code) == (Verdict.IN_SYNC, 0)
    return worlds


@pytest.fixture
def with_held_subnet(subnet_holds, tmp_path):
    return subnet_holds["managed"].copy(tmp_path)


def read_space(world):
    live = world.read(VNET_ID, api_version="2024-03-01")
    return live["properties"]["addressSpace"]["addressPrefixes"] if "properties" in live else None


def test_a_hold_lasts_to_the_end_of_its_day(world):
    world.synced(group=GROUP, network=VNET)
    world.says(group=GROUP, network=HELD)
    drift(world)
    planned = world.plan(detailed_exitcode=True)
    assert (planned.exit_code, of(planned, "VirtualNetwork").verdict) == (0, Verdict.HELD)
    for _ in range(2):
        report = world.sync()
        found = of(report, "VirtualNetwork")
        assert (report.exit_code, world.writes) == (0, [])
        assert (found.verdict, found.comparison.withheld, found.action) == (Verdict.HELD, Verdict.DRIFTED, Action.NONE)
        assert (found.outcome, found.condition.reason) == (Outcome.BLOCKED, "Held")
        assert found.condition.message == "It stays as it is until 2026-03-02: incident 4711."
        assert [difference.live for difference in found.differences] == [["10.9.0.0/16"]]
        assert str(found.record.manifest.hold) == "until 2026-03-02: incident 4711"
        world.clock.elapsed = TO_THE_LAST_SECOND
    world.clock.elapsed += 1
    over = world.sync()
    assert (of(over, "VirtualNetwork").verdict, read_space(world)) == (Verdict.DRIFTED, ["10.0.0.0/16"])
    assert [(p.code, p.is_error, p.path, p.line) for p in over.problems] == [("HoldEnded", False, "network.yaml", 5)]
    assert of(over, "VirtualNetwork").record.manifest.hold is None


def test_the_exit_code_counts_it_only_if_it_is_named(world):
    world.synced(group=GROUP, network=VNET)
    world.says(group=GROUP, network=HELD)
    assert world.plan(fail_on=("held",)).exit_code == 0, "it is held, and in sync"
    drift(world)
    assert world.plan(fail_on=("drift",), detailed_exitcode=True).exit_code == 0
    assert world.plan(fail_on=("held",)).exit_code == 1
    assert world.sync(fail_on=("held",)).exit_code == 1


def test_all_reports_have_every_hold_in_their_headline(world):
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    reason = "until 2026-03-05, <b>see</b> `x` |x| [x](y) \\e[31m"
    world.says(group=GROUP, network=HELD, subnet=annotated(SUBNET, **{"gitsync/hold": reason}))
    drift(world, space="10.0.0.0/15")
    report = world.sync()
    records = [result.record for result in report.results]
    forms = {
        "text": text.render(report),
        "markdown": markdown.render(report),
        "page": page.render(report),
        "summary": render_summary(records, revision=None),
    }
    for name, form in forms.items():
        assert "1 held until 2026-03-02, 1 until 2026-03-05" in form, name
        assert "incident 4711" in form or name == "page", name
        assert "\x1b" not in form, name
        assert "<b>see" not in form or name == "text", name
        assert "|x|" not in form or name in {"text", "page"}, name
    described = [line for record in records for line in describe_record(record, revision=None)]
    assert "Hold:                until 2026-03-02: incident 4711" in described
    findings = json.loads(sarif.render(report))["runs"][0]["results"]
    assert [(finding["ruleId"], finding["level"]) for finding in findings] == [("held", "note")]
    assert "<failure" not in junit.render(report)
    document = json.loads(report_json.render(report))
    assert list_faults("report", document) == []
    held = {resource["kind"]: resource.get("hold") for resource in document["resources"]}
    assert held["VirtualNetwork"] == {"until": "2026-03-02", "reason": "incident 4711", "verdict": "drifted"}
    assert (held["VirtualNetworksSubnet"]["verdict"], held["ResourceGroup"]) == ("in-sync", None)


CHANGES = [
    (annotated(WIDER, **HOLD), False, Verdict.PENDING, "git changed"),
    (annotated(WIDER, **HOLD), True, Verdict.CONFLICT, "both changed"),
    (annotated(VNET.replace("westeurope", "northeurope"), **HOLD, **{"gitsync/replace": "location=northeurope"}), False,
     Verdict.PENDING, "a replacement with consent"),
    (annotated(VNET, **HOLD, reconcile_policy="detach-on-delete"), True, Verdict.DRIFTED, "another policy"),
]  # fmt: skip


def name_network(text, row):
    return text.replace("name: hub", f"name: row{row}")


def test_it_is_not_written(world):
    """Each row is a network of its own."""
    world.synced(group=GROUP, **{f"row{row}": name_network(VNET, row) for row in range(len(CHANGES))})
    ids = [VNET_ID.replace("hub", f"row{row}") for row in range(len(CHANGES))]
    for network_id, (_, drifts, _, _) in zip(ids, CHANGES, strict=True):
        if drifts:
            world.azure().change(network_id, "/properties/addressSpace/addressPrefixes", ["10.9.0.0/16"])
    before = [world.azure().received(network_id) for network_id in ids]
    texts = {f"row{row}": name_network(network, row) for row, (network, *_) in enumerate(CHANGES)}
    report = world.says(group=GROUP, **texts).sync(**PRUNING)
    after, writes = [world.azure().received(network_id) for network_id in ids], world.writes
    later = {name: text.replace("2026-03-02", "2026-03-03") for name, text in texts.items()}
    again = world.says(group=GROUP, **later).sync(**PRUNING)
    for row, (_, _, withheld, why) in enumerate(CHANGES):
        found, then = (of(end, "VirtualNetwork", f"row{row}") for end in (report, again))
        assert (found.verdict, found.comparison.withheld) == (Verdict.HELD, withheld), why
        assert then.comparison.withheld == withheld, f"{why}: the record knows what was sent last"
        assert after[row] == before[row], why
    assert (writes, world.writes, report.exit_code) == ([], [], 0)


def test_what_does_not_exist_is_not_created_and_its_dependents_wait(world):
    world.says(group=GROUP, network=HELD, subnet=SUBNET)
    assert of(world.plan(), "VirtualNetwork").comparison.withheld is Verdict.CREATE
    report = world.sync()
    assert world.writes == [f"PUT {GROUP_ID}"]
    assert (of(report, "VirtualNetwork").verdict, report.exit_code) == (Verdict.HELD, 0)
    assert of(report, "VirtualNetworksSubnet").verdict is Verdict.BLOCKED
    world.clock.elapsed = TO_THE_LAST_SECOND + 1
    assert world.sync().exit_code == 0
    assert world.writes == [f"PUT {VNET_ID}", f"PUT {SUBNET_ID}"]


def test_what_was_deleted_in_azure_is_not_created_again(world):
    world.synced(group=GROUP, network=VNET)
    world.says(group=GROUP, network=HELD)
    world.outside("DELETE", VNET_ID, api_version="2024-03-01")
    report = world.sync()
    assert (of(report, "VirtualNetwork").comparison.withheld, world.writes, report.exit_code) == (
        Verdict.MISSING,
        [],
        0,
    )


def test_dependents_of_a_held_resource_go_on(world):
    world.synced(group=GROUP, network=VNET)
    drift(world, "10.0.0.0/8")
    report = world.says(group=GROUP, network=HELD, subnet=SUBNET).sync()
    assert (world.writes, report.exit_code) == ([f"PUT {SUBNET_ID}"], 0)


REMOVED = [
    ({"group": GROUP, "network": VNET}, [], "its manifest goes"),
    ({"group": GROUP}, [], "its owner goes, too"),
    ({"other": GROUP.replace("core", "other")}, [f"PUT {GROUP_ID.replace('core', 'other')}"], "all goes"),
]


@pytest.mark.parametrize(("documents", "writes", "why"), REMOVED, ids=[row[-1] for row in REMOVED])
def test_the_record_keeps_the_hold(with_held_subnet, documents, writes, why):
    """A held child holds its owners, too."""
    world = with_held_subnet
    report = world.says(**documents).sync(**PRUNING)
    found = of(report, "VirtualNetworksSubnet")
    assert (found.verdict, found.comparison.withheld, world.writes, report.exit_code) == (
        Verdict.HELD,
        Verdict.DELETE,
        writes,
        0,
    )
    assert world.plan(**PRUNING, fail_on=("held",)).exit_code == 1
    world.clock.elapsed = TO_THE_LAST_SECOND + 1
    over = world.sync(**PRUNING)
    assert of(over, "VirtualNetworksSubnet").action is Action.DELETE, why


def test_a_hold_counts_that_no_run_has_seen(world):
    """It came and went with its manifest between two runs: the history has it."""
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    world.says(group=GROUP, network=VNET, subnet=annotated(SUBNET, **HOLD)).says(group=GROUP, network=VNET)
    found = of(world.sync(**PRUNING), "VirtualNetworksSubnet")
    assert (found.verdict, world.writes) == (Verdict.HELD, [])
    assert str(found.record.manifest.hold) == "until 2026-03-02: incident 4711"


def test_a_plan_reports_that_the_hold_of_a_removed_manifest_has_ended(with_held_subnet):
    world = with_held_subnet
    world.clock.elapsed = TO_THE_LAST_SECOND + 1
    planned = world.says(group=GROUP, network=VNET).plan(**PRUNING)
    assert "Its hold ended on 2026-03-02." in of(planned, "VirtualNetworksSubnet").condition.message


def test_a_hold_counts_for_a_record_that_would_only_be_forgotten(subnet_holds, tmp_path):
    world = subnet_holds["detached"].copy(tmp_path)
    found = of(world.says(group=GROUP, network=VNET).sync(**PRUNING), "VirtualNetworksSubnet")
    assert (found.verdict, found.comparison.withheld) == (Verdict.HELD, Verdict.DETACH)
    assert found.record is not None


def test_a_held_child_that_was_never_adopted_holds_the_delete_of_its_owner(world):
    world.synced(group=GROUP, network=VNET)
    world.outside("PUT", SUBNET_ID, {"properties": {"addressPrefix": "10.0.9.0/24"}}, api_version="2024-03-01")
    held = of(world.says(group=GROUP, network=VNET, subnet=annotated(SUBNET, **HOLD)).sync(), "VirtualNetworksSubnet")
    assert (held.comparison.withheld, held.record.claim) == (Verdict.ADOPT, "none")
    report = world.says(group=GROUP).sync(**PRUNING)
    assert (of(report, "VirtualNetwork").verdict, world.writes) == (Verdict.BLOCKED, [])


def test_a_held_child_holds_the_replacement_of_its_owner(world):
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    far = annotated(VNET.replace("westeurope", "northeurope"), **{"gitsync/replace": "location=northeurope"})
    world.says(group=GROUP, network=far, subnet=annotated(SUBNET, **HOLD))
    for report in (world.plan(**PRUNING), world.sync(**PRUNING)):
        held = of(report, "VirtualNetwork").change.replacement.kept_because
        assert "VirtualNetworksSubnet.network.azure.com/default/one is below it, and is held until 2026-03-02" in held
    assert world.writes == []


def test_the_policy_skip_stays_what_it_is(world):
    world.synced(group=GROUP, network=VNET)
    drift(world)
    report = world.says(group=GROUP, network=annotated(VNET, **HOLD, reconcile_policy="skip")).sync()
    found = of(report, "VirtualNetwork")
    assert (found.verdict, str(found.manifest.hold), world.writes) == (
        Verdict.SKIP,
        "until 2026-03-02: incident 4711",
        [],
    )


def test_one_manifest_holds_the_resource_of_several(world):
    twins = [
        path.replace("name: hub", "name: twin").replace("spec:\n", "spec:\n      azureName: hub\n", 1)
        for path in (VNET, WIDER)
    ]
    world.synced(group=GROUP, network=VNET, twin=twins[0])
    world.says(group=GROUP, network=WIDER, twin=annotated(twins[1], **HOLD))
    report = world.sync()
    assert (of(report, "VirtualNetwork", "hub").verdict, world.writes) == (Verdict.HELD, [])


def test_a_wrong_one_stops_the_resource(world):
    """Each row is a network of its own."""
    wrong = ("until 2026-05-31, x", "until soon, x", "4711")
    world.synced(group=GROUP, **{f"row{row}": name_network(VNET, row) for row in range(len(wrong))})
    for row in range(len(wrong)):
        network_id = VNET_ID.replace("hub", f"row{row}")
        world.azure().change(network_id, "/properties/addressSpace/addressPrefixes", ["10.9.0.0/16"])
    texts = {
        f"row{row}": annotated(name_network(VNET, row), **{"gitsync/hold": text}) for row, text in enumerate(wrong)
    }
    report = world.says(group=GROUP, **texts).sync()
    assert [(p.code, p.path, p.line) for p in report.problems] == [
        ("HoldAnnotation", f"{name}.yaml", 5) for name in texts
    ]
    found = {text: of(report, "VirtualNetwork", name).verdict for name, text in zip(texts, wrong, strict=True)}
    assert (found, world.writes) == (dict.fromkeys(wrong, Verdict.INVALID), [])


FAR = annotated(VNET.replace("westeurope", "northeurope"), **{"gitsync/replace": "location=northeurope"})
VARIANTS = {
    "group": [GROUP, GROUP + "      tags: {team: a}\n", ""],
    "network": [VNET, WIDER, FAR, ""],
    "subnet": [SUBNET, SUBNET.replace("10.0.0.0/24", "10.0.3.0/24"), ""],
}
IDS = {"group": GROUP_ID, "network": VNET_ID, "subnet": SUBNET_ID}


def hold(document):
    if "annotations:" in document:
        return document.replace("annotations:\n", f'annotations:\n        gitsync/hold: "{HOLD["gitsync/hold"]}"\n', 1)
    return annotated(document, **HOLD)


def read_lives(world, names):
    """What Azure has of each, without what is a resource of its own."""
    lives = {name: world.read(IDS[name], "2021-04-01" if name == "group" else "2024-03-01") for name in names}
    for live in lives.values():
        live.pop("etag", None)
        live.get("properties", {}).pop("subnets", None)
    return lives


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("small"))
    world.synced(group=GROUP, network=VNET, subnet=SUBNET)
    return world


STEPS = st.fixed_dictionaries({name: st.sampled_from(texts) for name, texts in VARIANTS.items()})
OF_RUNS = [PRUNING, {}, {**PRUNING, "always_put": True}, {**PRUNING, "flap_limit": 1}]


@settings(max_examples=scale(5), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    held=st.sets(st.sampled_from(sorted(IDS)), min_size=1, max_size=2),
    steps=st.lists(st.tuples(STEPS, st.booleans(), st.sampled_from(OF_RUNS)), min_size=1, max_size=3),
)
def test_no_run_changes_what_is_held(small, tmp_path_factory, held, steps):
    """Whatever git has of it and of what is around it, and whatever drifts."""
    world = small.copy(tmp_path_factory.mktemp("drawn"))
    world.says(**{name: hold(texts[0]) if name in held else texts[0] for name, texts in VARIANTS.items()}).sync()
    for documents, drifts, how in steps:
        texts = {name: hold(text) if name in held and text else text for name, text in documents.items()}
        world.says(**{name: text for name, text in texts.items() if text}, more="# nothing\n")
        if drifts and "properties" in world.read(VNET_ID, api_version="2024-03-01"):
            drift(world)
        before = read_lives(world, held)
        world.sync(**how)
        assert read_lives(world, held) == before, (held, texts, how)


def test_a_reviewed_plan_writes_nothing_that_is_held_now(world, tmp_path):
    world.synced(group=GROUP, network=VNET)
    drift(world)
    file = tmp_path / "plan.json"
    planned = world.says(group=GROUP, network=HELD).plan(plan_out=str(file))
    file.write_text(encode_plan(planned.plan.review))
    assert world.sync(plan_file=str(file)).exit_code == 0
    assert world.writes == []
    world.clock.elapsed = TO_THE_LAST_SECOND + 1
    report = world.sync(plan_file=str(file))
    assert (of(report, "VirtualNetwork").condition.reason, world.writes) == ("NotReviewed", [])
