"""For how long Azure works on the writes of each type."""

import pytest

from gitsync.desired.catalog import data
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.packed_tables import read_typical_durations
from gitsync.model.schedule import TypicalDuration
from gitsync.planning.planned_writes import DEFAULT_SECONDS


def test_a_type_has_what_recordings_show():
    durations = read_typical_durations()

    assert durations["microsoft.compute/virtualmachines"] == TypicalDuration(create=45, update=12, delete=40)
    assert durations["microsoft.resources/resourcegroups"].create == 1
    assert durations["microsoft.storage/storageaccounts"].update is None


def test_every_type_is_in_lower_case_and_one_that_manifests_have():
    catalog = open_catalog()
    unknown = {arm_type for arm_type in read_typical_durations() if catalog.group_kind_of(arm_type) is None}

    assert all(arm_type == arm_type.casefold() for arm_type in read_typical_durations())
    assert not unknown


def test_every_type_has_a_figure():
    assert all(
        any(seconds is not None and seconds >= 1 for seconds in row) for row in read_typical_durations().values()
    )


def test_each_published_figure_is_of_a_slow_type_and_names_its_source():
    types = {arm_type.casefold() for arm_type in open_catalog().list_api_versions()}
    rows = [line.split("\t") for line in data.read("published_durations.tsv").decode().splitlines()]

    assert rows == sorted(rows)
    for arm_type, seconds, source in rows:
        assert arm_type in types
        assert float(seconds) > 10 * DEFAULT_SECONDS
        assert source.startswith("https://") or "public Terraform log" in source


@pytest.mark.parametrize(
    ("arm_type", "least"),
    [
        ("microsoft.containerservice/managedclusters", 60),
        ("microsoft.cache/redis", 600),
        ("microsoft.dbforpostgresql/flexibleservers", 60),
        ("microsoft.network/virtualnetworkgateways", 1200),
    ],
)
def test_a_slow_type_takes_minutes(arm_type, least):
    typical = read_typical_durations()[arm_type]
    assert (typical.create or typical.published) > least
