"""The round trip over recordings: import, validate, render, compare."""

import json

import import_round_trip
import pytest

from tests.support.recordings import FOLDER, needs_recordings
from tests.tools.tool_runs import run_tool

ROUNDS = [
    ("arm-traffic", []),
    ("arm-traffic", ["--any-type"]),
    ("arm-traffic-az", []),
    ("arm-traffic-az", ["--any-type"]),
    ("arm-traffic-any", []),
]
VAULT = "/subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/safe"
TENANT = "72f988bf-0000-4000-8000-2d7cd011db47"
POLICY = {"tenantId": TENANT, "objectId": "o", "permissions": {"keys": ["get", "dance"]}}


def run(folder, lines, *flags):
    folder.mkdir()
    (folder / "some.jsonl").write_text("".join(lines), encoding="utf-8")
    return run_tool(import_round_trip.main, *flags, folder)


@pytest.mark.parametrize(
    ("traffic", "flags"), [pytest.param(*row, marks=needs_recordings(FOLDER / row[0])) for row in ROUNDS]
)
def test_every_tenth_recording_comes_back_without_a_difference(traffic, flags, tmp_path):
    pairs = FOLDER / traffic / "put-get-pairs"
    lines = [line for file in sorted(pairs.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines(True)]
    done = run(tmp_path / "pairs", lines[::10], *flags)
    assert done.returncode == 0, done.stdout + done.stderr
    *_, summary = done.stdout.splitlines()
    proven, _, total, *_ = summary.split()
    assert int(proven) == int(total) >= 0.9 * len(lines[::10]), summary


def test_a_value_that_no_manifest_can_say_is_named(tmp_path):
    properties = {"accessPolicies": [POLICY], "tenantId": TENANT, "sku": {"name": "standard", "family": "A"}}
    body = {"id": VAULT, "location": "westeurope", "properties": properties}
    done = run(tmp_path / "made", [json.dumps({"path": VAULT, "apiVersion": "2023-07-01", "get": body})])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of    1  Microsoft.KeyVault/vaults" in done.stdout
    assert "/properties/accessPolicies/*/permissions/keys/*: not allowed by the kind" in done.stdout


def test_a_manifest_that_cannot_be_valid_is_a_failure(tmp_path):
    body = {"id": VAULT, "location": "westeurope", "properties": {"tenantId": TENANT, "sku": {"name": "odd"}}}
    done = run(tmp_path / "made", [json.dumps({"path": VAULT, "apiVersion": "2023-07-01", "get": body})])
    assert done.returncode == 1
    assert "0 of    1  Microsoft.KeyVault/vaults" in done.stdout
    assert "MissingField spec.properties: spec.properties is required." in done.stdout
