"""Recorded answers, most about types that ASO does not have, compared as an `AzureResource`: what differs falsely, and what is
missed.
"""

import json
from dataclasses import replace
from functools import cache

import pytest

from gitsync.desired.catalog.any_type import TypeAndVersion
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.model.arm_id import ArmId
from gitsync.planning.diff.hints import make_kind_hints
from gitsync.planning.diff.three_way import Remembered, compare, make_baseline
from tests.support.recordings import FOLDER, needs_recordings

TRAFFIC = FOLDER / "arm-traffic-any"
OF_KINDS = [FOLDER / "arm-traffic", FOLDER / "arm-traffic-az"]
pytestmark = needs_recordings(TRAFFIC)

FALSE = {
    ("Microsoft.AppPlatform/Spring/apps", "/properties/public"): "Azure ignored the request",
    ("Microsoft.AppPlatform/Spring/apps", "/properties/vnetAddons/publicEndpoint"): "Azure ignored the request",
    ("Microsoft.BotService/botServices/channels", "/properties/properties/enableVideo"): "Azure ignored the request",
    ("Microsoft.DBforMySQL/servers/administrators", "/properties/login"): "another client changed it",
    ("Microsoft.DBforMySQL/servers/administrators", "/properties/sid"): "another client changed it",
    ("Microsoft.DBforPostgreSQL/servers/administrators", "/properties/login"): "another client changed it",
    ("Microsoft.DBforPostgreSQL/servers/administrators", "/properties/sid"): "another client changed it",
    ("Microsoft.DBforPostgreSQL/flexibleServers/migrations", "/location"): "Azure ignored the request",
    (
        "Microsoft.Devices/IotHubs/privateEndpointConnections",
        "/properties/privateLinkServiceConnectionState/description",
    ): "Azure approved it by itself",
    (
        "Microsoft.PowerBI/privateLinkServicesForPowerBI/privateEndpointConnections",
        "/properties/privateLinkServiceConnectionState/description",
    ): "Azure ignored the request",
    (
        "Microsoft.HybridCompute/machines/extensions",
        "/properties/instanceView/status/message",
    ): "a state of the machine, which the type does not call read-only",
    (
        "Microsoft.NetworkCloud/virtualMachines",
        "/properties/vmImageRepositoryCredentials/registryUrl",
    ): "the request that was recorded is masked",
}
"""Differences at first sight that remain, with the reason of each."""

MISSED = {
    (
        "Microsoft.RecoveryServices/vaults/backupPolicies",
        ("properties", "protectedItemsCount"),
    ): "Azure counts, which the type does not state"
}


@cache
def read(folder, traffic=TRAFFIC):
    files = sorted((traffic / folder).glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


@cache
def hints(arm_type, api_version):
    return make_kind_hints(open_catalog().any_type(TypeAndVersion(arm_type, api_version)))


def find_differences(row, live, baseline=None):
    of = hints(ArmId(row["path"]).arm_type, row["apiVersion"])
    remembered = Remembered(row["put"], make_baseline(row["put"], baseline)) if baseline is not None else None
    of = replace(of, own_id=row["path"])
    return [difference.path for difference in compare(row["put"], live, remembered, of).differences]


def list_values(body, path=()):
    """The paths of the plain values of a body that are in no list."""
    for key, value in body.items():
        if isinstance(value, dict):
            yield from list_values(value, (*path, key))
        elif isinstance(value, str | int) and (*path, key)[-1] not in {"name", "type", "id"}:
            yield (*path, key)


def find(body, path):
    for step in path:
        body = body.get(step) if isinstance(body, dict) else None
    return body


def change(body, path):
    step, *below = path
    value = body[step]
    if below:
        return {**body, step: change(value, below)}
    other = not value if isinstance(value, bool) else value + 7 if isinstance(value, int) else f"{value}-else"
    return {**body, step: other}


def is_expected_to_be_missed(row, path):
    """A value that Azure alone sets or withholds, and the empty text, for a default."""
    of, desired = hints(ArmId(row["path"]).arm_type, row["apiVersion"]), find(row["put"], path)
    return of.is_set_by_azure(path) or of.is_unproven(path, desired)


def test_false_drift_at_first_sight():
    rows = read("put-get-pairs")
    found = [(ArmId(row["path"]).arm_type, find_differences(row, row["get"])) for row in rows]
    false = [(arm_type, paths) for arm_type, paths in found if paths]
    assert {(arm_type, path) for arm_type, paths in false for path in paths} <= FALSE.keys()
    assert len(false) <= len(rows) * 0.03


def test_false_drift_with_a_baseline():
    rows = read("get-get-pairs")
    assert [row["path"] for row in rows if find_differences(row, row["later"], row["first"])] == []


@pytest.mark.parametrize(
    "traffic", [pytest.param(traffic, marks=needs_recordings(traffic), id=traffic.name) for traffic in OF_KINDS]
)
def test_types_of_asos_kinds_have_no_more_false_drift_than_their_kinds(traffic):
    rows = read("put-get-pairs", traffic)
    assert len([row for row in rows if find_differences(row, row["get"])]) <= len(rows) * 0.0075
    rows = read("get-get-pairs", traffic)
    assert [row["path"] for row in rows if find_differences(row, row["later"], row["first"])] == []


def test_no_change_is_missed_at_first_sight():
    missed, count = [], 0
    for row in read("put-get-pairs"):
        for path in list_values(row["put"]):
            if find(row["put"], path) == find(row["get"], path) and not is_expected_to_be_missed(row, path):
                count += 1
                if not find_differences(row, change(row["get"], path)):
                    missed.append((ArmId(row["path"]).arm_type, path))
    assert count > 1000
    assert set(missed) <= MISSED.keys()


def test_no_change_is_missed_with_a_baseline():
    missed, count = [], 0
    for row in read("get-get-pairs"):
        for path in list_values(row["put"]):
            live = find(row["later"], path)
            is_azures = is_expected_to_be_missed(row, path) and find(row["first"], path) != find(row["put"], path)
            is_probe = isinstance(live, str | int) and not is_azures
            if is_probe and find(changed := change(row["later"], path), path) != find(row["put"], path):
                count += 1
                if not find_differences(row, changed, row["first"]):
                    missed.append((ArmId(row["path"]).arm_type, path))
    assert count > 500
    assert set(missed) == set()
