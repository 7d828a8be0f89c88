"""Outside changes and resets over recordings: what would be noise, and what somebody really changed."""

import hashlib
import json
from collections import Counter
from functools import cache
from statistics import median

import pytest
from build_azure_defaults import build_table, read_recording

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.azure_defaults import AzureDefaults, find_azure_defaults
from gitsync.model.arm_id import ArmId
from gitsync.planning.outside.resets import MOST, list_resets
from tests.support.outside_views import view
from tests.support.recordings import FOLDER, needs_recordings

TRAFFIC = [FOLDER / name for name in ("arm-traffic", "arm-traffic-az", "arm-traffic-any")]
pytestmark = [needs_recordings(traffic) for traffic in TRAFFIC]

IDENTITY = (
    "/identity/userAssignedIdentities/~1subscriptions~100000000-0000-0000-0000-000000000000~1resourceGroups~1"
    "AzSecPackAutoConfigRG~1providers~1Microsoft.ManagedIdentity~1userAssignedIdentities~1"
    "AzSecPackAutoConfigUA-westeurope"
)
REAL = {
    ("Microsoft.AppPlatform/Spring/apps/deployments", "/properties/active"): "an action set the deployment active",
    ("Microsoft.Compute/virtualMachineScaleSets", "/identity/type"): "a policy of the tenant assigned an identity",
    ("Microsoft.Compute/virtualMachineScaleSets", IDENTITY): "a policy of the tenant assigned an identity",
}
"""Changes between two reads without a write, with who made them."""

OF_ANOTHER_CLIENT = {
    (f"Microsoft.{service}/servers/administrators", f"/properties/{name}"): "another client made another administrator"
    for service in ("DBforMySQL", "DBforPostgreSQL")
    for name in ("login", "sid")
}
"""Those of fields that the recorded client sets, if git sets none."""


@cache
def read(folder):
    files = (file for traffic in TRAFFIC for file in sorted((traffic / folder).glob("*.jsonl")))
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    known = [row for row in rows if find_body(row) is not None]
    assert len(known) >= 0.95 * len(rows)
    return known


@cache
def read_for_table():
    return [read_recording(row) for row in read("put-get-pairs")]


def find_body(row):
    return open_arm_types().find_body(ArmId(row["path"]).arm_type, row["apiVersion"])


def make_view(row):
    return view((ArmId(row["path"]).arm_type, row["apiVersion"]), arm_id=ArmId(row["path"]))


def count_changes(rows, before, now, *, covered=True, is_partial=False):
    found = Counter()
    for row in rows:
        of, cover = make_view(row), (row.get("put") or {}) if covered else {}
        changes = of.find_changes(of.record(row[before], cover), row[now], (cover, cover), is_partial=is_partial)
        found.update((of.arm_type, change.path) for change in changes)
    return found


def test_two_reads_show_no_change_but_those_that_somebody_made():
    rows = read("get-get-pairs")
    assert len(rows) > 1300
    assert count_changes(rows, "first", "later").keys() == REAL.keys()


def test_a_resource_of_which_git_sets_nothing_is_as_silent():
    rows = read("get-get-pairs")
    assert count_changes(rows, "first", "later", covered=False).keys() == {*REAL, *OF_ANOTHER_CLIENT}


def test_an_entry_of_a_list_shows_no_change_and_most_need_no_comparison():
    rows = read("list-get-pairs")
    assert len(rows) > 500
    assert not any("put" in row for row in rows)
    assert count_changes(rows, "get", "entry", covered=False, is_partial=True) == {}
    plain = 0
    for row in rows:
        of = make_view(row)
        plain += of.is_plainly_unchanged(of.record(row["get"], {}), row["entry"])
    assert plain >= 0.85 * len(rows)


def count_resets(rows, find_defaults):
    return [
        len(list_resets(make_view(row), row["get"], row["put"] or {}, None, find_defaults=find_defaults))
        for row in rows
    ]


def test_few_values_are_named_before_the_first_write():
    counts = count_resets(read("put-get-pairs"), find_azure_defaults)
    assert (median(counts), max(counts)) == (0, MOST)
    assert sum(not count for count in counts) >= 0.9 * len(counts)


@pytest.mark.parametrize(
    ("key", "least", "why"),
    [
        (str.casefold, 0.8, "other resources of the types that were recorded"),
        (lambda path: ArmId(path).arm_type.casefold(), 0.55, "types that were not recorded"),
    ],
)
def test_few_values_are_named_of_resources_that_were_not_recorded(key, least, why):
    rows, recorded = read("put-get-pairs"), read_for_table()
    folds = [hashlib.sha256(key(row["path"]).encode()).digest()[0] % 3 for row in rows]
    counts = []
    for fold in range(3):
        table = build_table(each for each, other in zip(recorded, folds, strict=True) if other != fold)

        def find_defaults(arm_type, table=table):
            return AzureDefaults(table["types"].get(arm_type.casefold(), {}), table["names"])

        counts += count_resets([row for row, own in zip(rows, folds, strict=True) if own == fold], find_defaults)
    assert len(counts) == len(rows)
    assert (median(counts), max(counts)) == (0, MOST), why
    assert sum(not count for count in counts) >= least * len(counts), why


def test_the_packed_defaults_are_those_of_the_recordings():
    table, arm_types = build_table(read_for_table()), {ArmId(row["path"]).arm_type for row in read("put-get-pairs")}
    for arm_type in arm_types:
        packed = find_azure_defaults(arm_type)
        assert (packed.own, packed.everywhere) == (table["types"].get(arm_type.casefold(), {}), table["names"])
