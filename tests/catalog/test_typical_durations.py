"""For how long Azure works on the writes of each type."""

from gitsync.catalog.catalog import open_catalog
from gitsync.catalog.packed_tables import read_typical_durations
from gitsync.model.schedule import TypicalDuration


def test_a_type_has_what_recordings_show():
    durations = read_typical_durations()

    assert durations["microsoft.compute/virtualmachines"] == TypicalDuration(create=45, update=12, delete=40)
    assert durations["microsoft.resources/resourcegroups"].create == 1
    assert durations["microsoft.storage/storageaccounts"].update is None


def test_every_type_is_in_lower_case_and_one_that_manifests_have():
    catalog = open_catalog()
    unknown = {arm_type for arm_type in read_typical_durations() if catalog.home_of(arm_type) is None}

    assert all(arm_type == arm_type.casefold() for arm_type in read_typical_durations())
    assert not unknown


def test_every_type_has_a_figure():
    assert all(
        any(seconds is not None and seconds >= 1 for seconds in row) for row in read_typical_durations().values()
    )
