"""The packed table of fields that Azure fixes."""

from __future__ import annotations

import pytest

from gitsync.desired.catalog import data
from gitsync.desired.catalog.arm_fields import find_misfit
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.packed_tables import is_immutable
from gitsync.model.gvk import GVK

ROWS = [line.split("\t") for line in data.read("immutable_fields.tsv").decode().splitlines()]


HOMES = {
    open_catalog().arm_type(group, kind).casefold(): (group, kind)
    for group in open_catalog().all_groups()
    for kind in open_catalog().kinds(group)
}


@pytest.mark.parametrize(
    ("arm_type", "pointer", "expected", "why"),
    [
        ("Microsoft.Compute/disks", "/properties/creationData", True, "in the table"),
        ("microsoft.compute/DISKS", "/properties/creationData/imageReference/id", True, "below it, in any case"),
        ("Microsoft.Compute/disks", "/properties/creationDatas", False, "another field"),
        ("Microsoft.Compute/disks", "/properties", False, "above it"),
        ("Microsoft.Unknown/things", "/properties/creationData", False, "nothing is known of the type"),
    ],
)
def test_look_ups(arm_type, pointer, expected, why):
    assert is_immutable(arm_type, pointer) is expected, why


def test_rows_are_sorted_and_each_has_its_evidence():
    assert sorted(ROWS) == ROWS
    assert {row[2] for row in ROWS} == {"aso", "create-only", "described", "refused"}


def test_a_manifest_can_set_every_field():
    catalog = open_catalog()
    assert {arm_type for arm_type, *_ in ROWS} <= HOMES.keys()
    for arm_type, pointer, _ in ROWS:
        group, kind = HOMES[arm_type]
        kinds = [catalog.kind(GVK(group, version, kind)) for version in catalog.versions(group, kind)]
        steps = pointer.split("/")[1:]
        assert any(find_misfit(k, steps, any_step="*", chooses=lambda _: False) is None for k in kinds), pointer
