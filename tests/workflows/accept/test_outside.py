"""`gitsync accept` of changes outside of git's fields: git sets them from now on, to the byte and proven."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gitsync.desired.problems.field_path import format_field
from gitsync.errors import ConfigError
from gitsync.model.outside import OutsideChange, ResetValue
from gitsync.model.report import Report
from gitsync.model.secret import MASKED, Secret
from gitsync.model.verdict import Verdict
from gitsync.workflows.accept.accept import accept_drift
from gitsync.workflows.accept.drift import Accepted
from gitsync.workflows.accept.outside_moves import collect_outside_moves
from tests.support.world import World
from tests.workflows.accept.drift_table import (
    AROUND,
    GROUP,
    LOCATIONS,
    PLANS,
    PREFIXES,
    Drift,
    cosmos,
    group,
    storage,
    vnet,
)
from tests.workflows.accept.test_accept import accept, open_world_tree, result_of, write

FLOW = """\
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {{name: {name}}}
spec:
  type: Microsoft.Logic/workflows@2019-05-01
  owner: {{group: resources.azure.com, kind: ResourceGroup, name: core}}
  body:
    location: westeurope
    properties:
      definition: {{steps: [first]}}
"""
DNS = {"/properties/dhcpOptions": {"dnsServers": ["10.0.0.4", "10.0.0.5"]}}
NEW_MEMBERS = """\
parameters:
  a:
    value:
      $$reference: x
state: Disabled
"""
LONG = "long " * 300
RUN = {"digest_key": Secret("a" * 64), "reads": "each"}
"""Without a key, whether a secret or a long text changed is unknown; so is what an entry of a list lacks."""

ROWS = (
    Drift(
        why="the first tag of a manifest",
        name="firsttag",
        text=group("firsttag"),
        changes={"/tags": {"owner": "eve"}},
        edits=(("  location: westeurope\n", "  location: westeurope\n  tags:\n    owner: eve\n"),),
    ),
    Drift(
        why="two tags beside those of git",
        name="othertags",
        text=group("othertags", "tags:\n  env: dev  # as ever\n"),
        changes={"/tags/owner": "eve", "/tags/cost": "7"},
        edits=(("env: dev  # as ever\n", 'env: dev  # as ever\n    cost: "7"\n    owner: eve\n'),),
    ),
    Drift(
        why="a field beside a drifted one",
        name="besidedrift",
        text=storage("besidedrift"),
        changes={"/sku/name": "Premium_LRS", "/properties/accessTier": "Cool"},
        edits=(("    name: Standard_LRS\n", "    name: Premium_LRS\n  accessTier: Cool\n"),),
    ),
    Drift(
        why="a list that git does not set, as a whole",
        name="wholelist",
        text=vnet("wholelist", PREFIXES),
        changes=DNS,
        edits=(
            (
                PREFIXES.splitlines()[1] + "\n",
                PREFIXES.splitlines()[1]
                + "\n  dhcpOptions:\n    dnsServers:\n      - 10.0.0.4\n      - 10.0.0.5\n",
            ),
        ),
    ),
    Drift(
        why="a member of an entry that git sets, which Azure has at another index",
        name="inentry",
        text=cosmos("inentry", LOCATIONS),
        changes={
            "/properties/locations": [
                {"locationName": "North Europe", "failoverPriority": 1, "isZoneRedundant": True},
                {"locationName": "West Europe", "failoverPriority": 0},
            ]
        },
        edits=(
            ("      failoverPriority: 1\n", "      failoverPriority: 1\n      isZoneRedundant: true\n"),
        ),
    ),
    Drift(
        why="a reference by its ARM id",
        name="newreference",
        text=vnet("newreference", PREFIXES),
        changes={"/properties/ddosProtectionPlan": {"id": f"{PLANS}/two"}},
        edits=(
            (
                PREFIXES.splitlines()[1] + "\n",
                PREFIXES.splitlines()[1]
                + f"\n  ddosProtectionPlan:\n    reference:\n      armId: {PLANS}/two\n",
            ),
        ),
    ),
    Drift(
        why="a member of the body of an AzureResource, and one whose name is a word there",
        name="flow",
        text=FLOW.format(name="flow"),
        changes={"/properties/state": "Disabled", "/properties/parameters": {"a": {"value": {"$reference": "x"}}}},
        edits=(
            (
                "      definition: {steps: [first]}\n",
                "      definition: {steps: [first]}\n" + textwrap.indent(NEW_MEMBERS, " " * 6),
            ),
        ),
    ),
    Drift(
        why="a tag that is gone, which git never had",
        name="gonetag",
        text=group("gonetag"),
        changes={},
        remove=("/tags/outside",),
        left={"spec.tags.outside": "It was removed in Azure, and git does not set it."},
    ),
    Drift(
        why="what makes the estate weaker takes its name",
        name="weakening",
        text=storage("weakening"),
        changes={"/properties/allowBlobPublicAccess": True, "/properties/accessTier": "Cool"},
        edits=(("    name: Standard_LRS\n", "    name: Standard_LRS\n  accessTier: Cool\n"),),
        left={"spec.allowBlobPublicAccess": ""},
    ),
    Drift(
        why="what makes the estate weaker is taken by name",
        name="weakeningbyname",
        text=storage("weakeningbyname"),
        changes={"/properties/allowBlobPublicAccess": True},
        edits=(("    name: Standard_LRS\n", "    name: Standard_LRS\n  allowBlobPublicAccess: true\n"),),
        is_named=True,
    ),
    Drift(
        why="a secret by its name",
        name="secretname",
        text=FLOW.format(name="secretname"),
        changes={"/properties/parameters": {"apiSecret": {"value": "Not-really-1"}}},
        left={"spec.body.properties.parameters.apiSecret.value": "Its value may be a secret"},
    ),
    Drift(
        why="a value of which the record has a digest only",
        name="toolong",
        text=group("toolong"),
        changes={"/tags": {"text": LONG}},
        left={"spec.tags.text": "too long for the record"},
    ),
    Drift(
        why="text that a tool would replace",
        name="templates",
        text=group("templates", "tags: {env: dev}\n"),
        changes={"/tags/a": "${HOME}"},
        left={"spec.tags.a": ""},
    ),
    Drift(
        why="an identity, by name only",
        name="identities",
        text=storage("identities"),
        changes={
            "/identity": {
                "type": "UserAssigned",
                "userAssignedIdentities": {
                    f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/one": {"clientId": "1"}
                },
            }
        },
        left={
            "spec.identity.type": "It changes who may do what",
            "spec.identity.userAssignedIdentities": "references to identities",
        },
    ),
    Drift(
        why="what git ignores",
        name="ignored",
        text=group("ignored").replace("name: ignored\n", "name: ignored\n  annotations: {gitsync/ignore: '[spec.tags]'}\n"),
        changes={"/tags": {"owner": "eve"}},
    ),
    Drift(
        why="what somebody holds takes its name",
        name="heldoutside",
        text=group("heldoutside"),
        git=group("heldoutside").replace(
            "name: heldoutside\n",
            'name: heldoutside\n  annotations: {gitsync/hold: "until 2026-03-20, incident 4711"}\n',
        ),
        changes={"/tags": {"owner": "eve"}},
        left={"": "until 2026-03-20: incident 4711"},
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Story:
    folder: Path
    found: Report
    keys: Mapping[str, Any]
    bulk: Accepted
    by_name: Accepted
    after: Report


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    world = World(tmp_path_factory.mktemp("outside"))
    write(world, {row.path: row.text.encode() for row in ROWS} | {"core.yaml": AROUND["core.yaml"].encode()})
    world.somebody_creates(f"{GROUP.rpartition('/')[0]}/gonetag", {"location": "westeurope", "tags": {"outside": "x"}})
    report = world.sync(**RUN)
    assert not [f"{result.key} {result.message}" for result in report.results if not result.is_fine]
    assert not any(result.comparison.outside for result in world.plan(**RUN).results)
    for row in ROWS:
        arm_id = next(each for each in world.azure().ids() if each.casefold().endswith(f"/{row.name}"))
        world.somebody_changes(arm_id, row.changes, remove=row.remove)
    write(world, {row.path: row.before for row in ROWS})
    tree = open_world_tree(world)
    keys = {row.name: next(key for key in tree.prepared if key.name == row.name) for row in ROWS}
    found = world.plan(**RUN)
    bulk = accept(world, found)
    named = tuple(row.name for row in ROWS if row.is_named)
    by_name = accept(world, world.plan(only=named, **RUN), named)
    return Story(world.folder, found, keys, bulk, by_name, world.plan(**RUN))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_git_sets_what_changed_outside_of_it(story: Story, row: Drift) -> None:
    assert (story.folder / row.path).read_text() == (row.after or b"").decode(), row.why


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_is_left_has_a_reason_a_location_and_a_way_out(story: Story, row: Drift) -> None:
    accepted = story.by_name if row.is_named else story.bulk
    left = {refusal.field: refusal for refusal in accepted.left if refusal.key == story.keys[row.name]}
    assert left.keys() == row.left.keys(), [refusal.reason for refusal in left.values()]
    for field, reason in row.left.items():
        assert reason in left[field].reason
        assert left[field].advice
        assert [location for location in left[field].locations if location.line]
    assert "Not-really" not in repr(accepted)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_next_plan_shows_no_change_that_was_accepted(story: Story, row: Drift) -> None:
    before, after = (result_of(report, story.keys[row.name]) for report in (story.found, story.after))
    assert before
    assert after
    assert bool(before.comparison.outside) is (row.name != "ignored"), row.why
    assert bool(after.comparison.outside) is bool(row.left), after.comparison.outside
    assert (after.found, after.differences) == (Verdict.IN_SYNC, ())


MOVES = [
    ("/tags/a", {}, {"tags": {"a": "1"}}, [(("tags", "a"), "1")], "a value that git does not set"),
    ("/tags/a", {"tags": {"b": "1"}}, {"tags": {"b": "1"}}, [(("tags", "a"), None)], "a value that is gone"),
    ("/l/0/b", {}, {"l": [{"a": 1, "b": 2}]}, [(("l",), [{"a": 1, "b": 2}])], "a list of Azure alone, as a whole"),
    ("/l/0", {}, {"l": []}, [(("l",), None)], "an empty list has nothing to set"),
    (
        "/l/1/b",
        {"l": [{"name": "y"}, {"name": "x"}]},
        {"l": [{"name": "x"}, {"name": "Y", "b": 2}]},
        [(("l", 0, "b"), 2)],
        "an entry that git has at another index",
    ),
    (
        "/l/0/in/1",
        {"l": [{"name": "x"}]},
        {"l": [{"name": "x", "in": ["a", "b"]}]},
        [(("l", 0, "in"), ["a", "b"])],
        "a list in an entry that git sets",
    ),
    ("/l/0/b", {"l": [{"a": 1}]}, {"l": [{"a": 1, "b": 2}]}, [(("l", 0, "b"), 2)], "entries that nothing names"),
    ("/L/B", {"l": {"a": 1}}, {"l": {"a": 1, "b": 2}}, [(("L", "B"), 2)], "a case that differs from Azure's"),
]


@pytest.mark.parametrize(("pointer", "desired", "live", "expected", "why"), MOVES, ids=[row[-1] for row in MOVES])
def test_a_change_becomes_what_git_would_set(
    pointer: str, desired: Any, live: Any, expected: list[tuple[Any, Any]], why: str
) -> None:
    moves = collect_outside_moves([OutsideChange(path=pointer, before=None, now="x")], desired, live)
    assert [(move.path, move.live) for move in moves] == expected, why


def test_changes_of_one_list_are_one_value_with_the_worst_of_them() -> None:
    live = {"l": [{"name": "x"}, {"name": "y"}]}
    changes = [
        OutsideChange(path="/l/0", before=None, now={"name": "x"}),
        OutsideChange(path="/l/1", before=None, now=MASKED, weakens="It opens it."),
    ]
    (move,) = collect_outside_moves(changes, {}, live)
    assert (move.path, move.weakens, move.is_hidden) == (("l",), "It opens it.", True)


class OutsideNotes(NamedTuple):
    outside: tuple[OutsideChange, ...] = ()
    resets: tuple[ResetValue, ...] = ()


def find_shop(tmp_path: Path, notes: OutsideNotes, verdict: Verdict) -> tuple[World, Report]:
    """Plan a storage account, with what a run would have found there."""
    world = World(tmp_path)
    world.synced(shop=storage("shop"), core=AROUND["core.yaml"])
    report = world.plan()
    results = tuple(
        replace(
            result,
            verdict=verdict,
            comparison=replace(result.comparison, outside=notes.outside, live_body=LIVE),
            change=replace(result.change, resets=notes.resets),
            record=None if verdict is Verdict.ADOPT else result.record,
        )
        if result.key.name == "shop"
        else result
        for result in report.results
    )
    return world, replace(report, results=results)


LIVE = {
    "location": "westeurope",
    "kind": "StorageV2",
    "sku": {"name": "Standard_LRS"},
    "properties": {"accessTier": "Cool", "allowBlobPublicAccess": True, "aNewMember": 5},
}


def test_a_member_that_the_kind_does_not_have_is_skipped(tmp_path: Path) -> None:
    notes = OutsideNotes(outside=(OutsideChange(path="/properties/aNewMember", before=None, now=5),))
    world, report = find_shop(tmp_path, notes, Verdict.IN_SYNC)
    accepted = accept_drift(report, open_world_tree(world))
    assert not accepted.texts
    (left,) = accepted.left
    assert left.reason == "The manifest has no field for /properties/aNewMember."
    name = "StorageAccount/shop"
    ways = f"To keep it, run gitsync acknowledge {name}; to undo it, gitsync revert {name}"
    assert left.advice == f"Set it in the annotation gitsync/body. {ways}"


ADOPTIONS = [
    ((), [], [], "a bulk accept skips an adoption"),
    (("Storage*/shop",), ["spec.accessTier"], ["spec.allowBlobPublicAccess"], "a pattern takes what weakens nothing"),
    (("StorageAccount/shop",), ["spec.accessTier", "spec.allowBlobPublicAccess"], [], "a name takes all"),
]


@pytest.mark.parametrize(("names", "taken", "left", "why"), ADOPTIONS, ids=[row[-1] for row in ADOPTIONS])
def test_what_an_adoption_may_reset_is_accepted(
    tmp_path: Path, names: tuple[str, ...], taken: list[str], left: list[str], why: str
) -> None:
    resets = (
        ResetValue(path="/properties/accessTier", live="Cool"),
        ResetValue(path="/properties/allowBlobPublicAccess", live=True),
        ResetValue(path="", live=None, entries=2),
    )
    world, report = find_shop(tmp_path, OutsideNotes(resets=resets), Verdict.ADOPT)
    accepted = accept_drift(report, open_world_tree(world), names)
    fields = [format_field(field.path) for resource in accepted.resources for field in resource.fields]
    unnamed = "Its write may reset 2 more values, which the plan does not name."
    assert [refusal.reason for refusal in accepted.left if not refusal.field] == [unnamed] * bool(names)
    assert (sorted(fields), [refusal.field for refusal in accepted.left if refusal.field]) == (taken, left), why


CHANGED = (
    OutsideChange(path="/properties/accessTier", before=None, now="Cool"),
    OutsideChange(path="/properties/allowBlobPublicAccess", before=None, now=True, weakens="It opens it."),
)


@pytest.mark.parametrize("field", ["spec.accessTier", "/properties/accessTier"])
def test_only_the_fields_that_are_named_are_accepted(tmp_path: Path, field: str) -> None:
    world, report = find_shop(tmp_path, OutsideNotes(outside=CHANGED), Verdict.IN_SYNC)
    accepted = accept_drift(report, open_world_tree(world), ("StorageAccount/shop",), (field,))
    assert [each.pointer for resource in accepted.resources for each in resource.fields] == ["/properties/accessTier"]
    assert not accepted.left


def test_a_field_without_a_change_is_an_error_with_the_nearest_one(tmp_path: Path) -> None:
    world, report = find_shop(tmp_path, OutsideNotes(outside=CHANGED), Verdict.IN_SYNC)
    with pytest.raises(ConfigError) as refused:
        accept_drift(report, open_world_tree(world), (), ("spec.accesTier",))
    assert "Did you mean spec.accessTier?" in refused.value.hint


def test_a_resource_that_is_adopted_keeps_its_values_by_accept(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.says(core=AROUND["core.yaml"]).sync()
    world.somebody_creates(
        f"{GROUP}/providers/Microsoft.Storage/storageAccounts/shop",
        {
            "location": "westeurope",
            "kind": "StorageV2",
            "sku": {"name": "Premium_LRS"},
            "tags": {"owner": "eve"},
            "properties": {"publicNetworkAccess": "Disabled", "allowSharedKeyAccess": False},
        },
    )
    world.says(core=AROUND["core.yaml"], shop=storage("shop"))
    plan = world.plan()
    assert not accept(world, plan).resources
    (accepted,) = accept(world, plan, ("StorageAccount/shop",)).resources
    paths = {reset.path for result in plan.results for reset in result.change.resets}
    assert {field.pointer for field in accepted.fields} == paths
    world.git("add", "-A")
    world.git("commit", "-qm", "Take the values of Azure")
    (result,) = (result for result in world.plan().results if result.key.name == "shop")
    assert (result.verdict, result.change.resets) == (Verdict.ADOPT, ())
    assert [difference.path for difference in result.differences] == ["/sku/name"], "git's own value is kept"
