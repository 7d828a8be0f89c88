"""The round trip over recordings: import, validate, render, compare."""

import json
import subprocess
import sys
from pathlib import Path

from recordings import FOLDER, needs_recordings

TOOL = Path(__file__).resolve().parents[2] / "tools" / "import_round_trip.py"
PAIRS = FOLDER / "arm-traffic" / "put-get-pairs"
VAULT = "/subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/v"
POLICY = {"tenantId": "t", "objectId": "o", "permissions": {"keys": ["get", "dance"]}}


def run(folder, lines):
    folder.mkdir()
    (folder / "some.jsonl").write_text("".join(lines), encoding="utf-8")
    return subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True, check=False)


@needs_recordings(PAIRS)
def test_every_tenth_recording_comes_back_without_a_difference(tmp_path):
    lines = [line for file in sorted(PAIRS.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines(True)]
    done = run(tmp_path / "pairs", lines[::10])
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(lines[::10])} of {len(lines[::10])} without a difference" in done.stdout


def test_a_value_that_no_manifest_can_say_is_a_difference(tmp_path):
    body = {"id": VAULT, "properties": {"accessPolicies": [POLICY], "tenantId": "t", "sku": {"name": "standard"}}}
    done = run(tmp_path / "made", [json.dumps({"path": VAULT, "apiVersion": "2023-07-01", "get": body})])
    assert done.returncode == 1
    assert "0 of    1  Microsoft.KeyVault/vaults" in done.stdout
    assert "/properties/accessPolicies/*/permissions/keys/*: not allowed by the kind" in done.stdout
