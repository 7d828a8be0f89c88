"""Azure's recorded answers, where they are at hand: the emulator answers in the same shapes."""

import json

import pytest
from asked import OPEN, play
from recordings import FOLDER as RECORDINGS
from recordings import needs_recordings

from gitsync.emulator.http.target import PathShape, parse
from gitsync.emulator.types.recorded import spell, ways_of

RECORDED = RECORDINGS / "arm-traffic"

pytestmark = needs_recordings(RECORDED)


def lines(folder):
    files = sorted((RECORDED / folder).glob("*.jsonl")) if RECORDED.is_dir() else []
    return {path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in files}


PAIRS = lines("put-get-pairs")
OPERATIONS = lines("long-running")


def make_place(emulator, path):
    """Whatever must be there before the path can be written."""
    target = parse(path)
    if target.group and target.shape is not PathShape.GROUP:
        emulator.put(target.group_path, {"location": "westus2"})
    for above in target.ancestors:
        emulator.put(above.path, {})


@pytest.mark.parametrize("namespace", PAIRS)
def test_every_recorded_put_can_be_sent_and_read_back(namespace):
    rows = PAIRS[namespace]

    async def scenario(azure):
        found = []
        for row in rows:
            make_place(azure.emulator, row["path"])
            if row["put"].get("properties", {}).get("createMode") == "recover":
                azure.emulator.put(row["path"], row["put"])
                await azure.delete(row["path"])
            sent = await azure.put(row["path"], row["put"], version=row["apiVersion"])
            assert sent.status in {200, 201, 202}, (row["path"], sent.body)
            reads = ways_of(parse(row["path"]).type).gets
            found.append(await azure.settled(row["path"]) if reads else None)
            azure.emulator.remove(row["path"])
        return found

    for row, shown in zip(rows, play(scenario, OPEN), strict=True):
        if shown is None:
            continue
        assert shown["id"].casefold() == row["path"].casefold()
        for name in ("location", "sku", "kind", "tags"):
            if row["put"].get(name):
                assert shown[name] == row["put"][name]


def seen(rows, of):
    """What was recorded of each type; versions of one type may differ."""
    found = {}
    for row in rows:
        found.setdefault(parse(row["path"]).type, set()).add(of(row))
    return found


TRAITS = {
    "state": (lambda body: "provisioningState" in (body.get("properties") or {}), lambda kind: ways_of(kind).state),
    "systemData": (lambda body: "systemData" in body, lambda kind: ways_of(kind).system_data),
    "etag": (
        lambda body: next((name for name in ("etag", "eTag") if name in body), ""),
        lambda kind: ways_of(kind).etag,
    ),
    "type": (lambda body: body.get("type", "").rstrip("/"), spell),
}
DEVIANTS = {
    ("Microsoft.Communication/emailServices/domains/senderUsernames", "type"),  # it leaves its namespace out
    ("Microsoft.ContainerService/managedClusters/maintenanceConfigurations", "type"),  # it has none
}


@pytest.mark.parametrize("trait", TRAITS)
@pytest.mark.parametrize("namespace", PAIRS)
def test_types_show_what_was_recorded(namespace, trait):
    recorded, ours = TRAITS[trait]
    found = seen(PAIRS[namespace], lambda row: recorded(row["get"]))
    wrong = {
        kind: values for kind, values in found.items() if ours(kind) not in values and (kind, trait) not in DEVIANTS
    }
    assert wrong == {}


def told(row):
    """How a recorded answer tells of an operation: accepted, with an Azure-AsyncOperation."""
    headers = {name.casefold() for name in row["headers"]}
    return row["status"] == 202, "azure-asyncoperation" in headers


@pytest.mark.parametrize("namespace", OPERATIONS)
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_types_start_operations_as_recorded(namespace, method):
    rows = [row for row in OPERATIONS[namespace] if row["method"] == method and row["status"] != 200]
    wrong = {}
    for kind, ways_told in seen(rows, told).items():
        style = ways_of(kind).put if method == "PUT" else ways_of(kind).delete
        if (style.is_accepted, style.has_async) not in ways_told:
            wrong[kind] = (style, ways_told)
    assert wrong == {}


@pytest.mark.parametrize("namespace", OPERATIONS)
def test_types_take_updates_as_recorded(namespace):
    rows = [row for row in OPERATIONS[namespace] if row["method"] == "PUT" and row["status"] == 200]
    wrong = {}
    for kind, ways_told in seen(rows, told).items():
        style = ways_of(kind).update or ways_of(kind).put
        if (style.is_accepted, style.has_async) not in ways_told:
            wrong[kind] = (style, ways_told)
    assert wrong == {}
