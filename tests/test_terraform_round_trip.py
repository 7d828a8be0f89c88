"""An estate of OpenTofu's comes to gitsync and goes back: with the programs themselves, against the emulator over TLS."""

import pytest

from bench.terraform_round_trip import PASSWORD, list_secrets, start
from tests.support.programs import needs_opentofu

pytestmark = needs_opentofu

INSTANCES = 60
"""Of azapi in bench/terraform."""
FROM_BODIES = 3
"""Subnets and rules that a block declares inside of its parent: each gets a manifest of its own."""


@pytest.fixture(scope="module")
def trip(tmp_path_factory):
    with start(tmp_path_factory.mktemp("trip")) as trip:
        trip.apply()
        yield trip


@pytest.fixture(scope="module")
def imported(trip):
    return trip.import_state()


def test_every_instance_is_taken(imported):
    assert imported.code == 0, imported.out + imported.err
    rows = imported.document["outcomes"]
    assert len({row["address"] for row in rows}) == INSTANCES + 1
    assert {row["address"]: row["reason"] for row in rows if row["outcome"] != "taken"} == {
        "terraform_data.release": "a value or a step of Terraform"
    }
    assert imported.document["imported"] == imported.document["nothingToChange"] == INSTANCES + FROM_BODIES


def test_no_secret_leaves_the_state(trip, imported):
    assert PASSWORD in trip.state.read_text(), "the state has one"
    texts = [path.read_text() for path in trip.repository.rglob("*.yaml")]
    assert texts
    assert PASSWORD not in "".join([*texts, imported.out, imported.err])
    assert {secret["name"] for secret in list_secrets(imported.document)} == {
        "mailer-containerapp",
        "shop-orders-flexibleserver",
    }


def test_a_plan_has_nothing_to_do(trip, imported):
    planned = trip.plan(list_secrets(imported.document))
    assert planned.code == 0, planned.out + planned.err
    assert planned.document["headline"] == "A sync would change nothing"


def test_opentofu_forgets_all_and_deletes_nothing(trip, imported):
    there, writes = trip.list_in_azure(), trip.count_writes()
    trip.forget()
    assert trip.list_in_state() == []
    assert trip.count_writes() == writes
    assert trip.list_in_azure() == there


def test_opentofu_imports_all_that_is_exported_and_changes_only_what_has_secrets(trip, imported):
    exported = trip.export()
    assert exported.code == 0, exported.out + exported.err
    assert PASSWORD not in "".join(path.read_text() for path in trip.exported.iterdir())
    planned = trip.plan_exported()
    manifests = INSTANCES + FROM_BODIES
    assert planned.summary == f"Plan: {manifests} to import, 0 to add, 2 to change, 0 to destroy."
    assert sorted(planned.changed) == sorted(row["address"] for row in exported.document["changes"])
    there, writes = trip.list_in_azure(), trip.count_writes()
    trip.apply_exported()
    assert trip.count_writes() == writes + len(planned.changed)
    assert trip.list_in_azure() == there
    assert trip.plan_exported().summary.startswith("No changes.")
