"""The table of values that Azure gives to what a PUT leaves out, from recordings."""

import json
import lzma
from pathlib import Path

import pytest

from tests.tools.tool_runs import run_script

TOOL = Path(__file__).resolve().parents[2] / "tools" / "build_azure_defaults.py"
TYPE, OTHER = "Microsoft.Storage/storageAccounts", "Microsoft.KeyVault/vaults"
VERSIONS = {TYPE: "2023-01-01", OTHER: "2023-07-01"}


def record(number, properties, *, put=None, arm_type=TYPE):
    path = f"/subscriptions/s/resourceGroups/g/providers/{arm_type}/a{number}"
    get = {"id": path, "properties": properties, "tags": {"a": "b"}}
    return {"path": path, "apiVersion": VERSIONS[arm_type], "put": put, "get": get}


def build(folder, recordings):
    folder.mkdir()
    lines = [f"{json.dumps(recording)}\n" for recording in recordings]
    (folder / "some.jsonl").write_text("".join(lines), encoding="utf-8")
    file = folder / "table.xz"
    done = run_script(TOOL, folder, f"--file={file}")
    if done.returncode:
        return done.stderr.strip()
    return json.loads(lzma.decompress(file.read_bytes()))


@pytest.mark.parametrize(
    ("recordings", "types", "names", "why"),
    [
        (
            [record(1, {"accessTier": "Hot", "isHnsEnabled": True})],
            {"/properties/accesstier": {'"hot"': 1}, "/properties/ishnsenabled": {"true": 1}},
            {},
            "a choice and a switch of one resource",
        ),
        (
            [record(1, {"accessTier": "Hot"}), record(1, {"accessTier": "Hot"}), record(2, {"accessTier": "Cool"})],
            {"/properties/accesstier": {'"hot"': 1, '"cool"': 1}},
            {},
            "resources are counted, and another value of a choice counts too",
        ),
        (
            [
                record(
                    1, {"accessTier": "Hot", "minimumTlsVersion": "TLS1_2"}, put={"properties": {"accessTier": "Hot"}}
                )
            ],
            {"/properties/minimumtlsversion": {'"tls1_2"': 1}},
            {},
            "nobody asks for what the PUT has",
        ),
        (
            [record(number, {"customDomain": {"name": f"a{number}x"}, "isHnsEnabled": True}) for number in (1, 2)],
            {"/properties/customdomain/name": {"": 2}, "/properties/ishnsenabled": {"true": 2}},
            {},
            "each has another text",
        ),
        (
            [
                record(1, {"publicNetworkAccess": "Enabled"}),
                record(1, {"publicNetworkAccess": "Enabled"}, arm_type=OTHER),
            ],
            {"/properties/publicnetworkaccess": {'"enabled"': 1}},
            {"publicnetworkaccess": ['"enabled"']},
            "two types have the value under one name",
        ),
        (
            [record(1, {"customDomain": {"name": "a"}, "isHnsEnabled": True, "provisioningState": "Succeeded"})],
            {"/properties/ishnsenabled": {"true": 1}},
            {},
            "one text that somebody chose, what Azure alone sets, and tags",
        ),
    ],
)
def test_packed(tmp_path, recordings, types, names, why):
    table = build(tmp_path / "recordings", recordings)
    assert (table["types"][TYPE.casefold()], table["names"]) == (types, names), why


def test_nothing_to_pack(tmp_path):
    assert build(tmp_path / "recordings", []).endswith("no recordings in there")
