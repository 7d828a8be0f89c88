"""Changes in the portal of 38 resources, then an unrelated update of git. A plan reports each change once, as what it
is: drift, or outside of git; that of the update names what it may reset, and the PUT resets just that.

One estate has all rows of tests/support/portal_changes.yaml, each in a group of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
import yaml

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import find_facts
from gitsync.desired.formats.json_pointer import parse_pointer
from gitsync.emulator.patch import set_value
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import GVK
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.model.verdict import Verdict
from tests.support.portal_changes import ROWS, ChangeKind, PortalChange, PortalRow
from tests.support.world import CATALOG, World

NAMES = [row.name for row in ROWS]
MOVING = ("etag", "eTag", "systemData")
"""Members that change with every write."""


class Runs(NamedTuple):
    """The runs of the estate, and Azure after them."""

    ids: dict[str, str]  # the ARM id of the resource of each row
    plan: Report  # after the changes in the portal
    update_plan: Report  # then, after the unrelated change in git
    updated: World  # then, after the sync of it
    undisturbed: World  # after the same sync, without changes in the portal


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    undisturbed = World(tmp_path_factory.mktemp("undisturbed"))
    first = say(undisturbed, is_updated=False).sync()
    ids = {row.name: str(find_result(first, row).arm_id) for row in ROWS}
    updated = undisturbed.copy(tmp_path_factory.mktemp("updated"))
    for row in ROWS:
        updated.somebody_moves(ids[row.name], row.move)
    plan = updated.plan()
    update_plan = say(updated, is_updated=True).plan()
    updated.sync()
    say(undisturbed, is_updated=True).sync()
    return Runs(ids, plan, update_plan, updated, undisturbed)


def say(world: World, *, is_updated: bool) -> World:
    return world.says(**{row.name: row.write(is_updated=is_updated) for row in ROWS})


def find_result(report: Report, row: PortalRow) -> Result:
    wanted = (row.name, row.kind, row.resource_name)
    (found,) = (each for each in report.results if (each.key.namespace, each.key.kind, each.key.name) == wanted)
    return found


def read(world: World, arm_id: str) -> dict[str, Any]:
    body = world.azure().resource(arm_id) or {}
    return {name: value for name, value in body.items() if name not in MOVING}


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_plan_reports_each_change_as_what_it_is(runs: Runs, row: PortalRow) -> None:
    result = find_result(runs.plan, row)
    assert result.verdict is Verdict.DRIFTED
    assert {each.path for each in result.differences} == {each.member for each in row.list_changes(ChangeKind.DESIRED)}


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_plan_reports_each_change_outside_of_git_once(runs: Runs, row: PortalRow) -> None:
    result = find_result(runs.plan, row)
    assert list_members(row.outside, [change.path for change in result.comparison.outside]) == name(row.outside)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_plan_of_an_unrelated_update_names_what_it_resets(runs: Runs, row: PortalRow) -> None:
    result = find_result(runs.update_plan, row)
    assert list_members(row.outside, [reset.path for reset in result.change.resets]) == name(row.reset)


def list_members(changes: Sequence[PortalChange], paths: Sequence[str]) -> set[str]:
    """The changed members that paths are in or at: each path is in just one, and none is below another."""
    assert not [path for path in paths for other in paths if path != other and f"{path}/".startswith(f"{other}/")]
    members = name(changes)
    found = [[member for member in members if f"{path}/".startswith(f"{member}/")] for path in paths]
    assert all(len(each) == 1 for each in found), paths
    return {member for each in found for member in each}


def name(changes: Sequence[PortalChange]) -> set[str]:
    return {change.member for change in changes}


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_plan_of_an_unrelated_update_has_only_what_git_changes(runs: Runs, row: PortalRow) -> None:
    paths = {each.path for each in find_result(runs.update_plan, row).differences}
    assert paths > {each.member for each in row.list_changes(ChangeKind.DESIRED)}
    assert paths.isdisjoint(each.member for each in (*row.outside, *row.list_changes(ChangeKind.READ_ONLY)))


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_an_unrelated_put_resets_just_what_azure_resets(runs: Runs, row: PortalRow) -> None:
    arm_id = runs.ids[row.name]
    assert any(write.startswith(f"PUT {arm_id}") for write in runs.updated.writes)
    expected = read(runs.undisturbed, arm_id)
    for change in row.changes:
        if change.kind is ChangeKind.READ_ONLY or change.is_kept:
            expected = set_value(expected, change.pointer, change.value)
        elif change.default is not None:
            expected = set_value(expected, change.member, change.default)
    assert read(runs.updated, arm_id) == expected


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_only_azure_sets_what_is_read_only(runs: Runs, row: PortalRow) -> None:
    """The rows are right by the types of ARM."""
    arm_type, version = find_version(row, runs.ids[row.name])
    body = open_arm_types().find_body(arm_type, version)
    assert body is not None
    for change in row.changes:
        facts = find_facts(body, parse_pointer(change.pointer))
        assert facts is not None, change.pointer
        assert facts.is_read_only is (change.kind is ChangeKind.READ_ONLY), change.pointer


def find_version(row: PortalRow, arm_id: str) -> tuple[str, str]:
    """The ARM type and the api-version of a row."""
    document = yaml.safe_load(row.manifest)
    if row.kind == "AzureResource":
        arm_type, _, version = document["spec"]["type"].partition("@")
        return arm_type, version
    group, _, version = document["apiVersion"].partition("/")
    kind = CATALOG.kind(GVK(group, version, row.kind))
    assert kind is not None
    return ArmId(arm_id).arm_type, kind.api_version


def test_the_rows_have_thirty_resources_and_changes_of_every_kind() -> None:
    assert len(ROWS) >= 30
    assert len({row.kind for row in ROWS}) >= 25
    assert {change.kind for row in ROWS for change in row.changes} == set(ChangeKind)
