"""The table of what a PUT does to members that its body lacks, from recordings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.recordings import FOLDER
from tests.tools.tool_runs import run_script

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "build_put_effects.py"
PACKED = ROOT / "gitsync" / "desired" / "catalog" / "data" / "put_effects.tsv"
RECORDINGS = [FOLDER / name / "put-get-pairs" for name in ("arm-traffic", "arm-traffic-any", "arm-traffic-az")]
TYPE, VAULTS = "Microsoft.Storage/storageAccounts", "Microsoft.KeyVault/vaults"


def record(name, put, get, arm_type=TYPE):
    path = f"/subscriptions/s/resourceGroups/g/providers/{arm_type}/{name}"
    return {"path": path, "apiVersion": "2023-01-01", "put": put, "get": {"id": path, **get}}


def run(folders, file):
    return run_script(TOOL, *folders, f"--file={file}")


def build(folder, recordings):
    folder.mkdir()
    (folder / "some.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in recordings), encoding="utf-8")
    done = run([folder], folder / "table.tsv")
    assert done.returncode == 0, done.stderr
    rows = (line.split("\t") for line in (folder / "table.tsv").read_text("utf-8").splitlines())
    return {pointer: effect for _, pointer, *effect in rows}


def having(**properties):
    return {"properties": properties}


HOT, COLD, SILENT = having(accessTier="Hot"), having(accessTier="Cool"), having()
RULE = {"virtualNetworkRules": [{"name": "a", "action": "Allow"}]}
BORN = having(accessTier="Cool", creationTime="2023-01-01T00:00:00Z")
REBORN = having(accessTier="Hot", creationTime="2023-01-02T00:00:00Z")
TAGGED = {"tags": {"owner": "amy"}}
GONE = {"/tags/*": ["reset", "1", ""]}  # in each table, so that none is empty
ROWS = [
    ([("a", COLD, COLD), ("a", SILENT, HOT)], {"/properties/accessTier": ["reset", "1", '"Hot"']}, "another value"),
    ([("a", COLD, COLD), ("a", SILENT, SILENT)], {"/properties/accessTier": ["reset", "1", ""]}, "none any more"),
    ([("a", COLD, COLD), ("a", SILENT, COLD), ("b", SILENT, HOT)], {"/properties/accessTier": ["kept", "1", ""]}, "kept: others get another value"),
    ([("a", COLD, COLD), ("a", SILENT, COLD), ("b", SILENT, COLD)], {}, "the value that Azure gives anyway"),
    ([("a", COLD, COLD), ("a", SILENT, COLD)], {}, "nothing shows what Azure gives"),
    ([("a", COLD, COLD), ("a", HOT, HOT)], {}, "the second body sets it"),
    ([("a", COLD, HOT), ("a", SILENT, HOT)], {}, "the first answer does not show what was sent"),
    ([("a", COLD, BORN), ("a", SILENT, REBORN)], {}, "created again in between"),
    ([("a", COLD, COLD), ("a", SILENT, HOT), ("b", COLD, COLD), ("b", SILENT, COLD)], {"/properties/accessTier": ["reset", "1", '"Hot"']}, "evidence of both"),
    ([("a", having(provisioningState="Busy"), having(provisioningState="Busy")), ("a", SILENT, SILENT)], {}, "only Azure sets it"),
    ([("a", having(networkAcls=RULE), having(networkAcls=RULE)), ("a", SILENT, SILENT)], {"/properties/networkAcls/virtualNetworkRules": ["reset", "1", ""]}, "a list is one member"),
]  # fmt: skip


@pytest.mark.parametrize(("recordings", "expected", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_what_two_recordings_in_a_row_tell(tmp_path, recordings, expected, why):
    further = [record("tagged", TAGGED, TAGGED, VAULTS), record("tagged", {}, {}, VAULTS)]
    table = build(tmp_path / "recordings", [*(record(*row) for row in recordings), *further])
    assert table == GONE | expected, why


def test_recordings_without_evidence_are_an_error(tmp_path):
    done = run([tmp_path], tmp_path / "table.tsv")
    assert (done.returncode, done.stderr) == (1, "The recordings show no member that a later body lacks.\n")


@pytest.mark.skipif(not all(folder.exists() for folder in RECORDINGS), reason="needs recordings that are not here")
def test_the_packed_table_is_that_of_the_recordings(tmp_path):
    done = run(RECORDINGS, tmp_path / "table.tsv")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "table.tsv").read_bytes() == PACKED.read_bytes()
