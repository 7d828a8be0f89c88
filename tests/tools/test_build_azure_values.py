"""The table of values that Azure gives to leaves by itself, from recordings."""

import json
import lzma

import build_azure_values
import pytest

from tests.tools.tool_runs import run_tool

TYPE = "Microsoft.Storage/storageAccounts"


def record(number, *, put=None, get=None):
    path = f"/subscriptions/s/resourceGroups/g/providers/{TYPE}/a{number}"
    return {"path": path, "apiVersion": "2023-01-01", "put": put or {}, "get": {"id": path, **(get or {})}}


def build(folder, recordings):
    folder.mkdir()
    (folder / "some.jsonl").write_text(
        "".join(f"{json.dumps(recording)}\n" for recording in recordings), encoding="utf-8"
    )
    file = folder / "table.xz"
    done = run_tool(build_azure_values.main, folder, f"--file={file}")
    assert done.returncode == 0, done.stderr
    return json.loads(lzma.decompress(file.read_bytes()))


COOL = {"properties": {"accessTier": "Cool"}}
BASE = {"properties": {"isHnsEnabled": False}}
PACKED = {"same": {"/properties/isHnsEnabled": False}, "made": []}


@pytest.mark.parametrize(
    ("further", "extra", "why"),
    [
        ({}, {}, "always one value, and no one asks"),
        ({"tags": {"a": "b"}}, {}, "tags are those of people"),
        (COOL, {"put": COOL, "get": COOL}, "somebody asks for a tier"),
    ],
)
def test_what_is_packed(tmp_path, further, extra, why):
    get = {**BASE, **further, "properties": {**BASE["properties"], **further.get("properties", {})}}
    recordings = [*(record(number, get=get) for number in range(3)), record(9, **extra)]
    assert build(tmp_path / "recordings", recordings) == {TYPE.casefold(): PACKED}, why


def test_a_leaf_of_few_resources_or_of_several_values_is_not_packed_but_one_that_a_machine_makes(tmp_path):
    few = [record(number, get={"properties": {"accessTier": "Hot"}}) for number in (0, 0, 1)]
    various = [record(number, get={"properties": {"isHnsEnabled": number > 2}}) for number in range(2, 5)]
    made = [
        record(number, get={"properties": {"azureFilesIdentityBasedAuthentication": {"activeDirectoryProperties": {
            "domainGuid": f"0e4aea02-581f-4128-a1c3-84055598261{number}"}}}})
        for number in range(5, 8)
    ]  # fmt: skip
    leaf = "/properties/azureFilesIdentityBasedAuthentication/activeDirectoryProperties/domainGuid"
    table = build(tmp_path / "recordings", [*few, *various, *made])
    assert table == {TYPE.casefold(): {"same": {}, "made": [leaf]}}
